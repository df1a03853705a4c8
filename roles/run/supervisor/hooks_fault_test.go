//go:build linux

package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orch/blackboard/message"
)

// A hook that floods, or that starts something that outlives it, ends bounded
// and leaves nothing.
func TestAHookIsBoundedInOutputAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"on-final":  "#!/bin/sh\nexec yes flood\n",
		"post-step": "#!/bin/sh\nsetsid sleep 600 &\necho $! > \"$ORCH_ROOT/pid\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var warned []string
	h := Hooks{Dir: dir, Root: dir, LimitMS: 60_000, Env: append(os.Environ(), "LEFT="+dir), Warn: func(err error) { warned = append(warned, err.Error()) }}
	h.Run(t.Context(), Moment{Name: "on-final", Goal: "g"}, nil)
	h.Run(t.Context(), Moment{Name: "post-step", Goal: "g"}, nil)
	if want := []string{"hook on-final: too much output, ended"}; !slices.Equal(warned, want) {
		t.Errorf("warned %q, want %q", warned, want)
	}
	if left := carrying(t, "LEFT="+dir); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
}

// carrying lists the processes that have a variable in their environment.
func carrying(t *testing.T, variable string) (pids []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environs {
		raw, err := os.ReadFile(path)
		if err == nil && slices.Contains(strings.Split(string(raw), "\x00"), variable) {
			pids = append(pids, path)
		}
	}
	return pids
}

// The moments at which a run ends each have their hook.
func TestTheEndsOfARunHaveTheirHooks(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	for _, name := range []string{"on-final", "on-escalate", "on-checkpoint", "on-problem"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho $ORCH_HOOK $ORCH_GOAL $ORCH_RESULT >> seen\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := w.supervisor(&spawner{})
	s.Hooks = Hooks{Dir: dir, Root: dir, LimitMS: 60_000, Env: os.Environ(), Warn: s.Warn}
	w.say(s.Board, "", message.CheckpointReached{Name: "by hand", Reason: "look"})
	if ending, err := s.Run(t.Context()); err != nil || ending != Waiting {
		t.Fatalf("%s, %v", ending, err)
	}
	s.atEnd(t.Context(), "", os.ErrClosed)
	s.atEnd(t.Context(), Interrupted, nil)
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(seen)), "\n")
	if want := []string{"on-checkpoint g by hand: look", "on-problem g file already closed"}; !slices.Equal(lines, want) {
		t.Errorf("hooks ran: %q, want %q", lines, want)
	}
}
