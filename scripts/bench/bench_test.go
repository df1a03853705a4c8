package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orch/blackboard"
	"orch/blackboard/message"
)

// The test binary is also the children that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		if err := child(context.Background(), os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []int64
		share  float64
		want   int64
	}{
		{[]int64{7}, 0.5, 7},
		{[]int64{3, 1, 2}, 0.5, 2},
		{[]int64{4, 3, 2, 1}, 0.5, 2},
		{[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.99, 10},
		{[]int64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.9, 9},
		{[]int64{1, 2}, 0, 1},
	} {
		if got := quantile(c.values, c.share); got != c.want {
			t.Errorf("quantile(%v, %v) = %d, want %d", c.values, c.share, got, c.want)
		}
	}
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	got := ratios([]time.Duration{2, 30}, []time.Duration{1, 10})
	if got[0] != 2 || got[1] != 3 {
		t.Errorf("got %v, want [2 3]", got)
	}
}

func TestTheFirstRoundOnlyWarmsUp(t *testing.T) {
	var order []string
	side := func(name string) func(bool) error {
		return func(counts bool) error {
			order = append(order, fmt.Sprint(name, counts))
			return nil
		}
	}
	if err := turns(t.Context(), 2, side("a"), side("b")); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(order, " "), "afalse bfalse atrue btrue atrue btrue"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ only, want string }{
		{"3,1", "[3 1]"}, {" 9 ", "[9]"}, {"", "[1 2 3 4 5 6 7 8 9 10 11 12]"}, {"0", "error"}, {"x", "error"}, {"3,", "error"},
	} {
		chosen, err := choose(c.only)
		numbers := []int{}
		for _, b := range chosen {
			numbers = append(numbers, b.number)
		}
		got := fmt.Sprint(numbers)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("choose(%q) = %s, want %s", c.only, got, c.want)
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Microsecond: "1.23 ms", 345 * time.Microsecond: "0.345 ms", 12 * time.Millisecond: "12.0 ms", 1260 * time.Millisecond: "1260 ms",
	} {
		if got := ms(d); got != want {
			t.Errorf("ms(%v) = %s, want %s", d, got, want)
		}
	}
}

// testBench is a bench with the test binary as its children, and a board in it.
func testBench(t *testing.T) (*bench, string) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(temp, "state"))
	t.Setenv("LOCALAPPDATA", filepath.Join(temp, "state"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(temp, "project")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	o, err := options(unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := blackboard.Init(root, o)
	if err != nil {
		t.Fatal(err)
	}
	tasks := make([]message.SubTask, historyTasks)
	for n := range tasks {
		tasks[n] = message.SubTask{ID: taskID(n), Intent: "raise a timeout", ReadOnly: true}
	}
	if _, err := b.Append(t.Context(), message.Message{From: message.Human, Subject: "t-000000", Body: message.TaskAdded{Tasks: tasks}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return &bench{self: self, temp: temp, env: environment(temp), say: t.Logf}, root
}

func TestGrowsToWhatWasAskedFor(t *testing.T) {
	b, root := testBench(t)
	n, err := b.result(t.Context(), "grow", root, "500")
	if err != nil {
		t.Fatal(err)
	}
	if n[0] < 500 || n[0] > 505 {
		t.Errorf("it has %d messages, want 500 and at most the rest of a cycle", n[0])
	}
	r, err := b.result(t.Context(), "replay", root)
	if err != nil || r[0] != n[0] {
		t.Errorf("replayed %v %v, want %d messages", r, err, n[0])
	}
}

// Whatever an opening changed, the next one finds the crash as it was.
func TestTheSameCrashIsOpenedAgain(t *testing.T) {
	b, root := testBench(t)
	crashed, err := b.crash(t.Context(), &history{root: root})
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(root, blackboard.DirName, "log.jsonl")
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(before), `{"seq":`) {
		t.Fatal("the log does not end in a torn line")
	}
	for _, cache := range []bool{true, false, true} {
		if err := crashed.restore(cache); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(log)
		if err != nil || string(now) != string(before) {
			t.Fatalf("the log is not as the crash left it: %v", err)
		}
		took, err := b.result(t.Context(), "open", root)
		if err != nil {
			t.Fatal(err)
		}
		if len(took) != 2 || took[0] <= 0 || took[1] <= 0 {
			t.Errorf("opening printed %v, want two durations", took)
		}
		after, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(after), "JournalRepaired") {
			t.Errorf("the torn line was not set aside: %v", err)
		}
	}
}

func TestWritersWriteTogether(t *testing.T) {
	b, root := testBench(t)
	const processes, each = 3, 4
	for _, what := range []string{"append", "append-journal"} {
		before := countLines(t, filepath.Join(root, blackboard.DirName, "log.jsonl"))
		if _, err := b.together(t.Context(), processes, what, root, fmt.Sprint(each)); err != nil {
			t.Fatal(err)
		}
		if got := countLines(t, filepath.Join(root, blackboard.DirName, "log.jsonl")) - before; got != processes*each {
			t.Errorf("%s wrote %d lines, want %d", what, got, processes*each)
		}
	}
	if _, err := b.together(t.Context(), processes, "append-bare", filepath.Join(root, "bare"), fmt.Sprint(each), "100"); err != nil {
		t.Fatal(err)
	}
	if got := countLines(t, filepath.Join(root, "bare")); got != processes*each {
		t.Errorf("bare appenders wrote %d lines, want %d", got, processes*each)
	}
}

func TestAFailingChildIsAnError(t *testing.T) {
	b, root := testBench(t)
	if _, err := b.together(t.Context(), 2, "append", filepath.Join(root, "none"), "1"); err == nil {
		t.Error("appending to no board succeeded")
	}
	if _, err := b.result(t.Context(), "no such thing"); err == nil {
		t.Error("a child did something that is not there")
	}
}

func TestAWatcherAnswers(t *testing.T) {
	b, root := testBench(t)
	h, err := b.start(t.Context(), "watch", root)
	if err != nil {
		t.Fatal(err)
	}
	defer h.kill()
	board, err := openBoard(root, unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	defer board.Close()
	for range 3 {
		heard := answered(h)
		if _, err := board.Append(t.Context(), note()); err != nil {
			t.Fatal(err)
		}
		if a := <-heard; a.err != nil {
			t.Fatal(a.err)
		}
	}
}

func TestIdleResultsNameWhatIsMissed(t *testing.T) {
	rows := idleResults([]resident{{"run", 0.0015, 61e6, 9e6}, {"ggs", 0.0004, 20e6, 4e6}}, 20*time.Second, 0, 12_000)
	for n, want := range []verdict{met, missed, met} {
		if rows[n].verdict != want {
			t.Errorf("%s: %s, want %s", rows[n].what, rows[n].verdict, want)
		}
	}
}

func TestTheTableShowsEveryRow(t *testing.T) {
	table := newTable(true)
	table.add(3, result{what: "a claim", bar: "≤ 15 ms", measured: "16 ms", floor: "9 ms", verdict: missed, notes: []string{"why"}})
	var sb strings.Builder
	if err := table.print(&sb); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"quick", "a claim", "≤ 15 ms", "16 ms", "9 ms", "NO", "3: why"} {
		if !strings.Contains(sb.String(), want) {
			t.Errorf("there is no %q in\n%s", want, sb.String())
		}
	}
}

func countLines(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(raw), "\n")
}
