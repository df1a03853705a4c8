package supervisor

import (
	"context"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
)

// coding is a board with one task for a coder.
func coding(t *testing.T) *world {
	w := newWorld(t)
	b := w.board("human-2", message.Human, message.Perceiver, message.Planner)
	say := func(m message.Message) message.Message {
		m.Goal = "c"
		said, err := b.Append(t.Context(), m)
		if err != nil {
			t.Fatalf("%T: %v", m.Body, err)
		}
		return said
	}
	say(message.Message{From: message.Human, Subject: "c", Body: message.UserInput{Text: "y", Profile: "code"}})
	spec := message.TaskSpec{TaskID: "c", Intent: "y", RawInput: "y"}
	seen := say(message.Message{From: message.Perceiver, Subject: "c", Body: spec})
	say(message.Message{From: message.Planner, To: message.Coder, Subject: "t", Cause: seen.ID, Body: message.SubTask{ID: "t", PlanID: "p", Intent: "x", Slot: "s", Approach: "a"}})
	say(message.Message{From: message.Planner, Subject: "c", Cause: seen.ID, Body: message.DispatchManifest{PlanID: "p", TaskID: "c", SubtaskIDs: []message.TaskID{"t"}, TaskSpec: spec, Fingerprint: "f"}})
	return w
}

// rival is a supervisor whose steps end at once.
func (w *world) rival(n int) *Supervisor {
	s := &Supervisor{Starter: *w.starter(n), Config: config.Default(), Random: func() float64 { return 0.5 }, lost: losses{},
		live: map[string]running{}, ended: make(chan ended, 1),
		Spawner: &spawner{play: func(context.Context, Claim) End { return End{} }}}
	return s
}

// coderDue is the activation of the task's coder, as a supervisor sees it now.
func (w *world) coderDue(s *Supervisor) loop.Activation {
	w.t.Helper()
	for _, a := range w.due(&s.Starter) {
		if a.Key.Role == message.Coder {
			return a
		}
	}
	w.t.Fatal("no coder is due")
	return loop.Activation{}
}

// Two supervisors saw the same task. One gets it; the other notes that it lost
// the claim, waits a random while, tries three times in all, and then leaves
// it alone for as long as a claim lasts.
func TestTwoSupervisorsCollideOnCodingWork(t *testing.T) {
	w := coding(t)
	first, second := w.rival(1), w.rival(2)
	seen := w.coderDue(second)
	if err := first.begin(t.Context(), w.coderDue(first)); err != nil {
		t.Fatal(err)
	}
	<-first.ended
	for i, wantMS := range []int64{3_000, 3_000, 60_000} {
		if err := second.begin(t.Context(), seen); err != nil {
			t.Fatal(err)
		}
		if got := second.lost.notBefore(seen).Sub(w.Now()); got != time.Duration(wantMS)*time.Millisecond {
			t.Errorf("after loss %d it waits %v, want %d ms", i+1, got, wantMS)
		}
	}
	claims, lost := 0, []string{}
	for m, err := range second.Board.Messages(1) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := m.Body.(type) {
		case message.Claimed:
			claims++
		case message.Anomaly:
			if b.Kind != message.ClaimFailed || b.Task != "t" || m.Subject != "t" {
				t.Errorf("noted %+v", b)
			}
			lost = append(lost, b.Details["what"])
		}
	}
	if claims != 1 || len(lost) != 3 || !strings.HasPrefix(lost[2], "coder-1 lost the claim for the 3. time") {
		t.Errorf("%d claims; lost: %q", claims, lost)
	}
	if n := len(second.Spawner.(*spawner).steps); n != 0 {
		t.Errorf("the second started %d steps", n)
	}
}

// Whoever loses other work only looks again: nothing of it is a coder's.
func TestLosingOtherWorkIsNotNoted(t *testing.T) {
	w := newWorld(t)
	first, second := w.rival(1), w.rival(2)
	due := w.due(&second.Starter)
	if len(due) != 1 || due[0].Key.Role != message.Perceiver {
		t.Fatalf("due: %+v", due)
	}
	if err := first.begin(t.Context(), due[0]); err != nil {
		t.Fatal(err)
	}
	<-first.ended
	if err := second.begin(t.Context(), due[0]); err != nil {
		t.Fatal(err)
	}
	if len(second.lost) != 0 {
		t.Errorf("lost: %+v", second.lost)
	}
}
