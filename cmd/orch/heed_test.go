package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	tests "orch/roles/act/ledger"
	"orch/roles/act/runner"
)

// A merge is held to what a review is: tests must have run, and what was red in
// an earlier merge of the task may not be green by chance.
func TestAMergeIsHeldToItsTests(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	// of is a run in which TestA has a result; empty: no test ran.
	of := func(r tests.Result) (l tests.Ledger) {
		l.Saw("go")
		if r != "" {
			l.Add(tests.Name{Suite: "m", Test: "TestA"}, r)
		}
		return l
	}
	for _, c := range []struct {
		name   string
		exempt bool
		runs   []tests.Result // one after the other, over all merges
		merges int
		want   bool // of the last merge
		says   string
	}{
		{"green", false, []tests.Result{tests.Passed}, 1, true, ""},
		{"red", false, []tests.Result{tests.Failed}, 1, false, ""},
		{"no tests", false, []tests.Result{""}, 1, false, runner.NoTests},
		{"no tests and none are due", true, []tests.Result{""}, 1, true, ""},
		{"red, then green by chance", false, []tests.Result{tests.Failed, tests.Passed, tests.Passed, tests.Failed}, 2, false, "flaky, not fixed: m: TestA"},
		{"red, then fixed", false, []tests.Result{tests.Failed, tests.Passed, tests.Passed, tests.Passed}, 2, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, at := runner.Store{Dir: filepath.Join(t.TempDir(), "ledgers")}, 0
			run := func(context.Context, []tests.Name) (bool, []byte, tests.Ledger, error) {
				r := c.runs[at]
				at++
				return r != tests.Failed, []byte("it ran\n"), of(r), nil
			}
			task := blackboard.Task{SubTask: message.SubTask{ID: "t", ExemptFromTests: c.exempt}}
			var ok bool
			var out []byte
			for range c.merges {
				var err error
				if ok, out, err = heedMerge(t.Context(), store, 2, task, dir, "go test", run); err != nil {
					t.Fatal(err)
				}
			}
			if ok != c.want || at != len(c.runs) || !strings.Contains(string(out), c.says) {
				t.Errorf("passes: %v after %d runs\n%s", ok, at, out)
			}
			kept, err := os.ReadDir(store.Dir)
			if c.want != (len(kept) > 0 && err == nil) && c.merges == 1 && c.name != "red" {
				t.Errorf("kept %v, %v", kept, err)
			}
		})
	}
}
