package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
)

// waiting plays a run whose steps nobody answers before a moment: it starts what
// is due, moves the clock to when something will be, and stops when nothing ever
// will be.
type waiting struct {
	*world
	*Starter
	up    time.Time // when the provider answers again
	takes time.Duration
	tries []time.Time
}

func (w *waiting) play() (g blackboard.Goal) {
	w.t.Helper()
	for range 10_000 {
		if _, err := w.Housekeep(w.t.Context(), &spawner{}); err != nil {
			w.t.Fatal(err)
		}
		if err := w.Starter.Board.View(w.t.Context(), func(st *blackboard.State) error { g, _ = st.Goal("g"); return nil }); err != nil {
			w.t.Fatal(err)
		}
		due := w.due(w.Starter)
		if len(due) == 0 {
			return g
		}
		if wait := due[0].NotBefore.Sub(w.Now()); wait > 0 {
			w.pass(wait, wait)
			continue
		}
		c, err := w.Start(w.t.Context(), due[0])
		if err != nil {
			w.t.Fatal(err)
		}
		w.tries = append(w.tries, w.Now())
		w.pass(w.takes, w.takes)
		end := End{Class: message.EndDone, DurationMS: w.takes.Milliseconds()}
		if w.Now().Before(w.up) {
			end = End{Exit: 42, Class: message.EndOutage, DurationMS: w.takes.Milliseconds(), Down: &Down{Accounts: []string{"openai/api"}, Reason: "m: server (HTTP 500): broken"}}
		} else if _, err := w.board("perceiver-9", message.Perceiver).Append(w.t.Context(), message.Message{Goal: "g", Subject: "g",
			Body: message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x", Declarative: true}}); err != nil {
			w.t.Fatal(err)
		}
		if err := w.End(w.t.Context(), c, end); err != nil {
			w.t.Fatal(err)
		}
	}
	w.t.Fatal("it never comes to rest")
	return g
}

// A goal waits for a provider that fails, with growing pauses and at no cost,
// for as long as its run has patience; then it asks a person.
func TestInvariant_AnOutageIsWaitedForAndCostsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		outage, patience time.Duration
		again            bool // a second run goes on after the first
		answered         bool
		tries            int
	}{
		"85 seconds":                  {outage: 85 * time.Second, patience: 10 * time.Minute, answered: true, tries: 6},
		"an hour, in the foreground":  {outage: time.Hour, patience: 10 * time.Minute, tries: 8},
		"an hour, and then again":     {outage: time.Hour, patience: 10 * time.Minute, again: true, answered: true, tries: 9},
		"an hour, with --wait":        {outage: time.Hour, patience: 24 * time.Hour, answered: true, tries: 18},
		"for good, with --wait":       {outage: 1e6 * time.Hour, patience: 3 * time.Hour, tries: 42},
		"for good, and then again":    {outage: 1e6 * time.Hour, patience: 10 * time.Minute, again: true, tries: 16},
		"no patience":                 {outage: time.Hour, patience: 0, tries: 1},
		"less patience than a pause ": {outage: time.Hour, patience: 3 * time.Second, tries: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := &waiting{world: newWorld(t), takes: time.Second}
			w.Starter, w.up = w.starter(1), w.Now().Add(c.outage)
			w.Policy.Began, w.Policy.OutageMS = w.Now(), c.patience.Milliseconds()
			began := w.Now()
			g := w.play()
			if !c.answered || c.again {
				if g.Suspended == nil || g.Suspended.Why != blackboard.WhyOutage || g.Suspended.Command != "orch run --continue g" {
					t.Fatalf("after %d tries it is %s: %+v", len(w.tries), g.Status, g.Suspended)
				}
				if waited := w.Now().Sub(began); waited < c.patience || waited > c.patience+3*w.takes {
					t.Errorf("it waited %s", waited)
				}
				for _, part := range []string{"openai/api", "HTTP 500", "orch run --continue g", "--wait", "fallback"} {
					if !strings.Contains(g.Suspended.Detail, part) {
						t.Errorf("%q does not say %q", g.Suspended.Detail, part)
					}
				}
			}
			if c.again {
				if c.answered {
					w.pass(w.up.Sub(w.Now()), 0)
				}
				w.Policy.Began = w.Now()
				if _, err := w.board("human-1", message.Human).Append(t.Context(), message.Message{Goal: "g", Subject: "g", Body: message.Unblocked{Reason: "again"}}); err != nil {
					t.Fatal(err)
				}
				at := len(w.tries)
				g = w.play()
				if len(w.tries) == at || !w.tries[at].Equal(w.Policy.Began) {
					t.Error("a new run did not try at once")
				}
			}
			if answered := g.Spec != nil; answered != c.answered || len(w.tries) != c.tries {
				t.Errorf("answered: %v, after %d tries", answered, len(w.tries))
			}
			w.cost(t, c.answered)
		})
	}
}

// cost asserts that tries which nobody answered counted for nothing.
func (w *waiting) cost(t *testing.T, answered bool) {
	t.Helper()
	var said []message.Outage
	for m, err := range w.Starter.Board.Messages(1) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := m.Body.(type) {
		case message.Outage:
			said = append(said, b)
		case message.StepEnded:
			if b.Class != message.EndOutage && b.Class != message.EndDone {
				t.Errorf("a step ended as %s", b.Class)
			}
		}
	}
	if err := w.Starter.Board.View(t.Context(), func(st *blackboard.State) error {
		g, _ := st.Goal("g")
		a, _ := st.Activation(blackboard.ActivationKey{Role: message.Perceiver, Subject: "g", Cause: g.InputRef.ID})
		want := int64(0)
		if answered {
			want = w.takes.Milliseconds()
		}
		if a.Crashes+a.Kills != 0 || g.ActiveMS != want || (a.Outage == nil) != answered {
			t.Errorf("%d crashes, %d kills, %d ms active, outage %+v", a.Crashes, a.Kills, g.ActiveMS, a.Outage)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var pauses []string
	for i, o := range said {
		if o.Try < 1 || o.Until.Before(said[i].Since) {
			t.Errorf("outage %+v", o)
		}
		if i < 8 {
			pauses = append(pauses, fmt.Sprint(o.Try))
		}
	}
	if len(said) > 7 && !slices.IsSorted(pauses) {
		t.Errorf("tries %v", pauses)
	}
}

// A supervisor that was killed while its goal waited leaves the outage on the
// log, and the next run tries at once; so does one in whose step it was killed.
func TestAKillDuringAnOutageSpendsNothing(t *testing.T) {
	w := &waiting{world: newWorld(t), takes: time.Second}
	w.Starter, w.up = w.starter(1), w.Now().Add(time.Hour)
	w.Policy.Began = w.Now()
	for range 3 {
		due := w.due(w.Starter)
		w.pass(max(0, due[0].NotBefore.Sub(w.Now())), 0)
		c, err := w.Start(t.Context(), due[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := w.End(t.Context(), c, End{Exit: 42, Class: message.EndOutage, Down: &Down{Accounts: []string{"a"}, Reason: "m: overloaded"}}); err != nil {
			t.Fatal(err)
		}
	}
	if due := w.due(w.Starter); len(due) != 1 || due[0].NotBefore.Sub(w.Now()) != 20*time.Second {
		t.Fatalf("due %+v", due)
	}
	next := w.starter(2) // the first one is gone
	w.pass(time.Second, 0)
	next.Policy.Began = w.Now()
	due := w.due(next)
	if len(due) != 1 || due[0].NotBefore.After(w.Now()) {
		t.Fatalf("the next run does not try at once: %+v", due)
	}
	if _, err := next.Start(t.Context(), due[0]); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Second, 0)
	if _, err := w.starter(3).Housekeep(t.Context(), &spawner{dead: []int{2}}); err != nil { // killed in the step
		t.Fatal(err)
	}
	if err := w.Starter.Board.View(t.Context(), func(st *blackboard.State) error {
		g, _ := st.Goal("g")
		a, waits := loop.WaitsForProvider(st, g)
		if !waits || a.Outage == nil || a.Outage.Try != 3 || a.Crashes != 0 {
			t.Errorf("after the kill %+v", a)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
