package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// seenBy makes hooks that note what they are told, and returns what they noted.
func seenBy(t *testing.T, s *Supervisor, names ...string) func() []string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		text := "#!/bin/sh\necho \"$ORCH_HOOK ${ORCH_GOAL:-board} $(cat)\" >> seen\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.Hooks = Hooks{Dir: dir, Root: dir, LimitMS: 60_000, Env: os.Environ(), Warn: s.Warn}
	return func() []string {
		raw, err := os.ReadFile(filepath.Join(dir, "seen"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(raw)), "\n")
	}
}

func escalationOf(t *testing.T, b *blackboard.Board) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.Dir(), EscalationFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(raw)
}

// Of two supervisors one tells, once a level, by the file and by the hook.
func TestAStaleCheckpointIsToldThreeTimes(t *testing.T) {
	w := newWorld(t)
	s, other := w.supervisor(&spawner{}), w.supervisor(&spawner{})
	seen, others := seenBy(t, s, "on-escalate"), seenBy(t, other, "on-escalate")
	human := w.board("human-1", message.Human)
	w.say(human, "", message.CheckpointReached{Name: "by hand", Reason: "look"})
	turn := func() {
		t.Helper()
		for _, sv := range []*Supervisor{s, s, other} {
			if _, err := sv.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	turn()
	if text := escalationOf(t, s.Board); text != "" {
		t.Fatalf("told at once:\n%s", text)
	}
	var told []string
	for i, wait := range []time.Duration{30 * time.Minute, 90 * time.Minute, 6 * time.Hour} {
		w.pass(wait, wait)
		turn()
		if text := escalationOf(t, s.Board); !strings.Contains(text, "goal g\n") || !strings.Contains(text, "orch resume") ||
			!strings.Contains(text, []string{"told   1 of", "told   2 of", "told   3 of"}[i]) {
			t.Errorf("level %d:\n%s", i+1, text)
		}
		told = seen()
		if len(told) != i+1 || !strings.HasPrefix(told[i], "on-escalate g {") {
			t.Errorf("level %d: hooks ran: %q", i+1, told)
		}
	}
	w.pass(99*time.Hour, 99*time.Hour)
	turn()
	if again := seen(); !slices.Equal(again, told) || w.count(&s.Starter, "Escalated") != 3 {
		t.Errorf("told %q, then %q; %d messages", told, again, w.count(&s.Starter, "Escalated"))
	}
	if !strings.Contains(told[2], `"level":3`) || !strings.Contains(told[2], `"waited_ms":28800000`) {
		t.Errorf("the hook got %q, want the message", told[2])
	}
	if got := others(); !slices.Equal(got, []string{""}) {
		t.Errorf("the other supervisor told as well: %q", got)
	}
	w.say(human, "", message.Resumed{Reason: "seen"})
	if err := KeepEscalation(t.Context(), s.Board); err != nil {
		t.Fatal(err)
	}
	if text := escalationOf(t, s.Board); text != "" {
		t.Errorf("after it was answered:\n%s", text)
	}
}

// Between the message and the file everything may stop: the next look mends
// it. A file that says something else, or of what is over, is put right.
func TestTheEscalationFileFollowsTheBoard(t *testing.T) {
	w := newWorld(t)
	s := w.supervisor(&spawner{})
	w.say(w.board("human-1", message.Human), "", message.CheckpointReached{Name: "by hand", Reason: "look"})
	w.pass(time.Hour, time.Hour)
	if said, err := s.Starter.Housekeep(t.Context(), s.Spawner); err != nil || len(said) != 1 {
		t.Fatalf("said %v, %v", said, err)
	}
	if text := escalationOf(t, s.Board); text != "" {
		t.Fatalf("written by housekeeping itself:\n%s", text)
	}
	keep := func() string {
		t.Helper()
		if err := KeepEscalation(t.Context(), s.Board); err != nil {
			t.Fatal(err)
		}
		return escalationOf(t, s.Board)
	}
	want := keep()
	if !strings.Contains(want, "look") {
		t.Errorf("after the crash:\n%s", want)
	}
	path := filepath.Join(s.Board.Dir(), EscalationFile)
	if err := os.WriteFile(path, []byte("torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := keep(); got != want {
		t.Errorf("a torn file stays: %q", got)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	keep()
	if now, err := os.Stat(path); err != nil || !os.SameFile(before, now) {
		t.Errorf("a true file was written again, %v", err)
	}
}

// What cannot be written is said once, and stops nothing.
func TestAnEscalationThatCannotBeWrittenIsSaidOnce(t *testing.T) {
	w := newWorld(t)
	s := w.supervisor(&spawner{})
	var warned []string
	s.Warn = func(err error) { warned = append(warned, err.Error()) }
	if err := os.MkdirAll(filepath.Join(s.Board.Dir(), EscalationFile, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.housekeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(warned) != 1 || !strings.Contains(warned[0], EscalationFile) {
		t.Errorf("warned %q", warned)
	}
}

// A run that stays says once what it waits for, starts nothing meanwhile, goes
// on by itself, and ends when it is told to.
func TestARunThatStaysGoesOnByItself(t *testing.T) {
	w := newWorld(t)
	human := w.board("human-1", message.Human)
	ctx, stop := context.WithCancel(t.Context())
	p := &spawner{play: func(ctx context.Context, _ Claim) End {
		stop()
		<-ctx.Done()
		return End{Exit: -1, Class: message.EndInterrupted}
	}}
	s := w.supervisor(p)
	seen := seenBy(t, s, "on-checkpoint", "on-escalate")
	w.say(human, "", message.CheckpointReached{Name: "by hand", Reason: "look"})
	var asked []string
	s.Stay = func(x Wait) bool {
		asked = append(asked, x.Goal.Suspended.Detail)
		if len(p.steps) > 0 {
			t.Errorf("started %v while waiting", p.steps)
		}
		return true
	}
	looks := 0
	s.Tend = func(context.Context) time.Time {
		switch looks++; looks {
		case 1, 2: // nothing changed
		case 3:
			w.say(human, "", message.Resumed{Reason: "seen"})
			w.say(human, "", message.CheckpointReached{Name: "again", Reason: "once more"})
		case 5:
			w.say(human, "", message.Resumed{Reason: "seen"})
		}
		return w.Now()
	}
	if ending, err := s.Run(ctx); err != nil || ending != Interrupted {
		t.Fatalf("%s, %v", ending, err)
	}
	if want := []string{"by hand: look", "again: once more"}; !slices.Equal(asked, want) {
		t.Errorf("said %q, want %q", asked, want)
	}
	if len(p.steps) != 1 {
		t.Errorf("%d steps after it was answered", len(p.steps))
	}
	if got := seen(); len(got) != 2 || !strings.HasPrefix(got[0], "on-checkpoint g ") || !strings.HasPrefix(got[1], "on-checkpoint g ") {
		t.Errorf("hooks ran: %q", got)
	}
}

func TestARunThatMayNotStayEnds(t *testing.T) {
	w := newWorld(t)
	s := w.supervisor(&spawner{})
	w.say(w.board("human-1", message.Human), "", message.CheckpointReached{Name: "by hand"})
	asked := 0
	s.Stay = func(Wait) bool { asked++; return false }
	if ending, err := s.Run(t.Context()); err != nil || ending != Waiting || asked != 1 {
		t.Fatalf("%s after %d questions, %v", ending, asked, err)
	}
}

func TestARunThatStaysEndsWhenItIsTold(t *testing.T) {
	w := newWorld(t)
	s := w.supervisor(&spawner{})
	w.say(w.board("human-1", message.Human), "", message.CheckpointReached{Name: "by hand"})
	ctx, stop := context.WithCancel(t.Context())
	s.Stay = func(Wait) bool { return true }
	s.Tend = func(context.Context) time.Time { stop(); return time.Time{} }
	if ending, err := s.Run(ctx); err != nil || ending != Interrupted {
		t.Fatalf("%s, %v", ending, err)
	}
	if n := w.count(&s.Starter, "StepStarting"); n != 0 {
		t.Errorf("%d steps while waiting", n)
	}
}
