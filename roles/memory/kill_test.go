package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// The test binary is also a process that dreams and dies: the variable holds the
// project's directory, the phase, and the place, counted, at which it kills itself.
const dreamerVariable = "MEMORY_TEST_DREAMER"

func openBoard(root string, open func(string, blackboard.Options) (*blackboard.Board, error)) (*blackboard.Board, error) {
	return open(root, blackboard.Options{UnsafeFS: true, Identity: blackboard.Identity{
		Agent: "memory-1", Speaks: []message.Role{message.Memory, message.Planner, message.Human},
	}})
}

func memoryOf(b *blackboard.Board) string { return filepath.Join(b.Dir(), blackboard.MemoryDir) }

// dreamToDeath is the process. Its exit code is 0 if it was not killed.
func dreamToDeath(args string) int {
	if err := dreamUntil(strings.Split(args, "\n")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func dreamUntil(args []string) error {
	at, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	b, err := openBoard(args[0], blackboard.Open)
	if err != nil {
		return err
	}
	dreams := false
	hook := func(string) {
		if at--; dreams && at <= 0 {
			if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
				select {} // dead before it gets here, or a moment later
			}
		}
	}
	s, err := openCaughtUp(b, Options{hook: hook, bufferBytes: 16 << 10})
	if err != nil {
		return err
	}
	dreams = true
	if err := dreamOn(b, s, Phase(args[1])); err != nil {
		return err
	}
	return errors.Join(s.Close(), b.Close())
}

func openCaughtUp(b *blackboard.Board, o Options) (*Store, error) {
	ctx := context.Background()
	s, err := Open(memoryOf(b), o)
	if err == nil {
		if err = s.CatchUp(ctx, b.Messages); err == nil {
			return s, nil
		}
		err = errors.Join(err, s.Close())
	}
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		return nil, err
	}
	s, _, err = Rebuild(ctx, memoryOf(b), o, b.Messages)
	return s, err
}

func dreamOn(b *blackboard.Board, s *Store, phases ...Phase) error {
	_, err := s.Dream(context.Background(), Pass{Phases: phases, Say: func(ctx context.Context, body message.Body) error {
		if _, err := b.Append(ctx, message.Message{From: message.Memory, Body: body}); err != nil {
			return err
		}
		return s.CatchUp(ctx, b.Messages)
	}})
	return err
}

// nightmare makes a board with work for each phase, in this many pairs.
func nightmare(t *testing.T, root string, pairs int) {
	t.Helper()
	b, err := openBoard(root, blackboard.Init)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	say := func(body message.Body) {
		if m, ok := body.(message.Megram); ok {
			n++
			m.ID = fmt.Sprint("m", n)
			m.Content = message.MegramContent{Lesson: "lesson", Tags: []string{"a:b"}, Category: categoryProcedure}
			body = m
		}
		if _, err := b.Append(context.Background(), message.Message{Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC()
	for i := range pairs {
		about := func(kind string, m message.Megram) {
			m.Space, m.Entity = fmt.Sprintf("tool:%s:%d", kind, i), "path:x:y"
			if m.Level == "" {
				m.Level, m.K = LevelM, 0.05
			}
			if m.CreatedAt.IsZero() {
				m.CreatedAt = now
			}
			say(m)
		}
		for range 6 {
			about("promote", message.Megram{F: 0.9, Sigma: 1})
		}
		about("bankrupt", message.Megram{Level: LevelC, F: 0.9, Sigma: 1})
		say(message.NegativeFeedback{RuleID: fmt.Sprint("m", n)})
		about("contradict", message.Megram{Level: LevelC, F: 0.9, Sigma: 1})
		about("contradict", message.Megram{Level: LevelC, F: 0.9, Sigma: -1})
		about("forget", message.Megram{F: 0.9, Sigma: 1, CreatedAt: now.Add(-100 * day)})
		about("keep", message.Megram{F: 0.9, Sigma: 1})
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// Each phase is killed in its middle, over and over, until it is through; then
// it begins anew on a fresh board. In CI 25 times each, for the record 100.
func TestKilledDreamsLoseAndDoubleNothing(t *testing.T) {
	const pairs = 12
	kills := 25
	switch {
	case os.Getenv("ORCH_TORTURE") != "":
		kills = 100
	case raced:
		kills = 5
	}
	fresh := t.TempDir()
	nightmare(t, fresh, pairs)
	for _, phase := range Phases() {
		t.Run(string(phase), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			killed, rounds := 0, 0
			for killed < kills {
				root := t.TempDir()
				if err := os.CopyFS(root, os.DirFS(fresh)); err != nil {
					t.Fatal(err)
				}
				for run := 0; killed < kills || run == 0; run++ {
					died := dieDreaming(t, root, phase, 1+random.IntN(12))
					checkDreams(t, root, pairs, false)
					if !died {
						rounds++
						break
					}
					killed++
				}
				checkDreams(t, root, pairs, true)
			}
			t.Logf("killed %d times, through %d times", killed, rounds)
		})
	}
}

// dieDreaming runs the process, and tells whether it was killed.
func dieDreaming(t *testing.T, root string, phase Phase, at int) bool {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%d", dreamerVariable, root, phase, at))
	out, err := c.CombinedOutput()
	if err != nil && len(out) > 0 {
		t.Fatalf("%s: %v\n%s", phase, err, out)
	}
	return err != nil
}

// checkDreams compares the store with the log, and what the log says with what
// is due: all of it after a whole pass, at most that before.
func checkDreams(t *testing.T, root string, pairs int, through bool) {
	t.Helper()
	b, err := openBoard(root, blackboard.Open)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := openCaughtUp(b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if through {
		if err := dreamOn(b, s); err != nil {
			t.Fatal(err)
		}
	}
	var log []message.Message
	for m, err := range b.Messages(0) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, m)
	}
	compareDreams(t, s, log)
	if through {
		countDreams(t, log, pairs)
	}
}

// compareDreams: every memory is in the store as in the log, and nothing else.
func compareDreams(t *testing.T, s *Store, log []message.Message) {
	t.Helper()
	truth := replay(log)
	all, err := s.Recent(context.Background(), "", true, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(truth.all) {
		t.Errorf("%d memories, the log has %d", len(all), len(truth.all))
	}
	for _, e := range all {
		want := truth.find(e.Megram.ID)
		if want == nil || e.Level != want.Level || e.Into != want.into || e.Weights.K != want.K {
			t.Errorf("%+v, the log has %+v", e, want)
		}
	}
}

// countDreams: each thing that was due happened, and once.
func countDreams(t *testing.T, log []message.Message, pairs int) {
	t.Helper()
	rules, dissonances, demoted, deleted := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, m := range log {
		switch x := m.Body.(type) {
		case message.Megram:
			if x.Through > 0 {
				rules[x.Space]++
			} else if x.ID[0] != 'm' {
				dissonances[x.Space]++
			}
		case message.DreamReport:
			for _, id := range x.Demoted {
				demoted[id]++
			}
			for _, id := range x.Deleted {
				deleted[id]++
			}
		}
	}
	for what, c := range map[string]struct {
		times map[string]int
		want  int
	}{
		"promoted": {rules, pairs}, "contradicted": {dissonances, pairs}, "demoted": {demoted, 2 * pairs}, "deleted": {deleted, pairs},
	} {
		if len(c.times) != c.want {
			t.Errorf("%d %s, want %d", len(c.times), what, c.want)
		}
		for id, n := range c.times {
			if n != 1 {
				t.Errorf("%s was %s %d times", id, what, n)
			}
		}
	}
	truth := replay(log)
	for _, r := range truth.all {
		if strings.HasPrefix(r.Space, "tool:promote") && r.Level == LevelM && r.into == "" {
			t.Errorf("%s neither counts for its rule nor was it left alone", r.ID)
		}
	}
	if kept := len(truth.all); kept != pairs*13 {
		t.Errorf("%d memories are left, want %d", kept, pairs*13)
	}
}
