package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// untrustedNow is why nothing must be acted by.
type untrustedNow struct{ error }

func (untrustedNow) Hint() string { return "run `orch config trust`" }

// Whether a hook may run is asked at each start of it.
func TestAHookThatIsNotTrustedDoesNotRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "on-final"), []byte("#!/bin/sh\necho x >> seen\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var warned []string
	var no error
	h := Hooks{Dir: dir, Root: dir, LimitMS: 60_000, Env: os.Environ(), Warn: func(err error) { warned = append(warned, err.Error()) },
		Trusted: func(context.Context) error { return no }}
	h.Run(t.Context(), Moment{Name: "on-final"}, nil)
	no = untrustedNow{errors.New("it was pulled")}
	h.Run(t.Context(), Moment{Name: "on-final"}, nil)
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil || string(seen) != "x\n" {
		t.Errorf("it ran %q times, %v", seen, err)
	}
	if want := []string{"hook on-final: it was pulled"}; !slices.Equal(warned, want) {
		t.Errorf("warned %q, want %q", warned, want)
	}
}

// A pull in the middle of a run starts nothing more, and says what to do.
func TestWhatIsNotTrustedStartsNoStep(t *testing.T) {
	w := newWorld(t)
	started := false
	s := w.supervisor(&spawner{})
	s.Trusted = func(context.Context) error { return untrustedNow{errors.New("config.yaml was pulled")} }
	if ending, err := s.Run(t.Context()); err != nil || ending != Waiting {
		t.Fatalf("%s, %v", ending, err)
	}
	err := s.Board.View(t.Context(), func(st *blackboard.State) error {
		g, _ := st.Goal("g")
		want := "untrusted: perceiver can not begin on g: config.yaml was pulled. run `orch config trust`, then: orch resume"
		if g.Suspended == nil || g.Suspended.Why != blackboard.WhyCheckpoint || g.Suspended.Detail != want {
			t.Errorf("suspended %+v", g.Suspended)
		}
		_, started = st.Activation(blackboard.ActivationKey{Role: message.Perceiver, Subject: "g", Cause: g.InputRef.ID})
		return nil
	})
	if err != nil || started {
		t.Errorf("a step was started: %v, %v", started, err)
	}
}
