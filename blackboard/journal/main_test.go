package journal_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orch/blackboard/journal"
)

// The test binary is also the child processes that tests and benchmarks need.
// Arguments: what to do, where, how many times, who.
const childVariable = "JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childVariable); args != "" {
		if err := child(strings.Split(args, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// child says "ready", waits for its input to end, does its work, and prints the
// id of everything that was acknowledged.
func child(args []string) error {
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	work := map[string]func(string, int, string) error{"append": childAppends, "bare": childBare}[args[0]]
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadByte(); err == nil {
		return fmt.Errorf("unexpected input")
	}
	return work(args[1], count, args[3])
}

func childAppends(dir string, count int, who string) error {
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	out := bufio.NewWriter(os.Stdout)
	for n := range count {
		r, err := j.Append(context.Background(), childDraft(who, n), nil)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, r.Seq, r.ID)
	}
	return out.Flush()
}

func childDraft(who string, n int) journal.Draft {
	payload, _ := json.Marshal(map[string]any{"who": who, "n": n, "filler": strings.Repeat("x", 100)})
	return journal.Draft{From: who, To: "all", Type: "Note", Payload: payload}
}

// childBare appends lines of the usual size to one file with an fsync each: the
// least that several processes must do.
func childBare(dir string, count int, _ string) error {
	file, err := os.OpenFile(dir+"/bare", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	line := []byte(strings.Repeat("x", usualLineBytes-1) + "\n")
	for range count {
		if _, err := file.Write(line); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// usualLineBytes is how long the lines of childAppends are.
const usualLineBytes = 520

// children starts processes that do the same work at once, and returns what
// they printed, and how long the work took without the starting.
func children(tb testing.TB, work, dir string, processes, count int) ([]string, time.Duration) {
	tb.Helper()
	type running struct {
		command *exec.Cmd
		start   func() error
		out     *bufio.Reader
	}
	var all []running
	for n := range processes {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{work, dir, strconv.Itoa(count), fmt.Sprint("p", n)}, "\n"))
		command.Stderr = os.Stderr
		in, err := command.StdinPipe()
		if err != nil {
			tb.Fatal(err)
		}
		out, err := command.StdoutPipe()
		if err != nil {
			tb.Fatal(err)
		}
		if err := command.Start(); err != nil {
			tb.Fatal(err)
		}
		all = append(all, running{command, in.Close, bufio.NewReader(out)})
	}
	for _, r := range all {
		if line, err := r.out.ReadString('\n'); line != "ready\n" {
			tb.Fatalf("a child did not start: %q %v", line, err)
		}
	}
	begun := time.Now()
	for _, r := range all {
		if err := r.start(); err != nil {
			tb.Fatal(err)
		}
	}
	var printed []string
	for _, r := range all {
		for {
			line, err := r.out.ReadString('\n')
			if err != nil {
				break
			}
			printed = append(printed, strings.TrimSpace(line))
		}
		if err := r.command.Wait(); err != nil {
			tb.Errorf("a child failed: %v", err)
		}
	}
	return printed, time.Since(begun)
}
