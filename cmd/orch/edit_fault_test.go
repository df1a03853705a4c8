//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// change replaces text in state.yaml the way an editor saves: a new file in its place.
func change(t *testing.T, root, from, to string) {
	t.Helper()
	path := filepath.Join(root, ".orch", "state.yaml")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(from)) {
		t.Fatalf("no %q in\n%s", from, raw)
	}
	write(t, path+".mine", strings.Replace(string(raw), from, to, 1))
	if err := os.Rename(path+".mine", path); err != nil {
		t.Fatal(err)
	}
}

// While a step runs commands, an edit could be theirs: it waits, and orch says
// for what. Nothing of it is lost.
func TestAnEditWhileAStepRunsWaitsAndSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	root := hostile(t, "echo x >> effects.txt\nwhile ! test -e go-on; do sleep 0.05; done\n", false, "1m")
	run := start(t, root, "run", "do it slowly")
	view := filepath.Join(root, ".orch", "state.yaml")
	until(t, "the task in state.yaml", func() bool {
		raw, err := os.ReadFile(view)
		return err == nil && effects(root) > 0 && bytes.Contains(raw, []byte("tool_running"))
	})
	change(t, root, "human_notes: []", "human_notes: [mind the gap]")
	until(t, "the way to go on", func() bool { return strings.Contains(run.out.String(), "hint: run `orch task edit accept`") })
	write(t, filepath.Join(root, "go-on"), "")
	if code := run.wait(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, run.out.String())
	}
	out, err := orchCommand(root, "edit", "accept").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 edit") {
		t.Errorf("%v\n%s", err, out)
	}
	if log, err := orchCommand(root, "log", "--type", "HumanEdit", "--json").Output(); err != nil || !strings.Contains(string(log), "mind the gap") {
		t.Errorf("the edit is not in the log: %v\n%s", err, log)
	}
	endState(t, root)
}

// An edit that is not allowed, or no YAML, is refused with the place, kept
// aside, and the view comes back as the log has it.
func TestAnEditThatCannotBeTakenInIsKeptAside(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"a field that is not a person's": {"intent: first thing", "intent: other", "intent: cannot be edited here"},
		"not YAML":                       {"human_notes: []", "human_notes: [", "line "},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, args := range [][]string{{"init"}, {"task", "add", "first thing", "--id", "t-1"}} {
				if out, err := orchCommand(root, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			change(t, root, c.from, c.to)
			var said bytes.Buffer
			until(t, "the refusal", func() bool {
				out, err := orchCommand(root, "edit", "accept").CombinedOutput()
				said.Write(out)
				kept, globErr := filepath.Glob(filepath.Join(root, ".orch", "state.yaml.rejected-*"))
				return err == nil && globErr == nil && len(kept) == 1
			})
			if !strings.Contains(said.String(), c.says) {
				t.Errorf("no %q in\n%s", c.says, said.String())
			}
			raw, err := os.ReadFile(filepath.Join(root, ".orch", "state.yaml"))
			if err != nil || !strings.Contains(string(raw), "intent: first thing") || !strings.Contains(string(raw), "human_notes: []") {
				t.Errorf("the view did not come back: %v\n%s", err, raw)
			}
		})
	}
}
