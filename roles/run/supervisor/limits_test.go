package supervisor

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/loop"
)

// thinking lets every role of the world think with one account.
func thinking(s *Starter) {
	s.Policy.Thinks = func(blackboard.Goal, message.Role) loop.Thinks {
		return loop.Thinks{Accounts: []string{"acct"}, Paid: true}
	}
}

// usedUp lets a step find the account used up.
func (w *world) usedUp(until time.Time) {
	w.t.Helper()
	b, err := blackboard.Open(w.root, w.options("planner-9", message.Planner))
	if err != nil {
		w.t.Fatal(err)
	}
	defer b.Close()
	m := message.Message{From: message.Planner, To: message.All, Subject: "g", Body: message.LimitReached{Account: "acct", Until: until, Reason: "429"}}
	if _, err := b.Append(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
}

func TestAUsedUpAccountHoldsItsStepsWithoutCountingAgainstThem(t *testing.T) {
	w := newWorld(t)
	s := w.starter(1)
	thinking(s)
	w.plan(s)
	c := w.begin(s)
	until := w.Now().Add(time.Hour)
	w.usedUp(until)
	if err := s.End(t.Context(), c, End{Exit: 42, Class: message.EndAgain}); err != nil {
		t.Fatal(err)
	}
	if due := w.due(s); len(due) != 1 || !due[0].NotBefore.Equal(until) {
		t.Fatalf("due %+v, want the same at %s", due, until)
	}
	w.pass(time.Hour, time.Hour)
	again := w.begin(s)
	err := s.Board.View(t.Context(), func(st *blackboard.State) error {
		task, _ := st.Task("t-1")
		a, _ := st.Activation(again.Activation.Key)
		goal, _ := st.Goal("g")
		if task.Attempt != 0 || a.Crashes+a.Kills != 0 {
			t.Errorf("attempt %d, %d crashes, %d kills", task.Attempt, a.Crashes, a.Kills)
		}
		if goal.ActiveMS > 1000 {
			t.Errorf("the wait counts as %d ms of work", goal.ActiveMS)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatAPersonMustMendSuspendsTheGoal(t *testing.T) {
	w := newWorld(t)
	s := w.starter(1)
	c := w.begin(s)
	if err := s.End(t.Context(), c, End{Exit: 42, Class: message.EndAgain, Needs: "set OPENAI_API_KEY"}); err != nil {
		t.Fatal(err)
	}
	err := s.Board.View(t.Context(), func(st *blackboard.State) error {
		goal, _ := st.Goal("g")
		if goal.Status != blackboard.GoalSuspended || goal.Suspended.Detail != NeedsPerson+": set OPENAI_API_KEY" || goal.Running != 0 {
			t.Errorf("%s %+v", goal.Status, goal.Suspended)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Ten minutes in which nothing changes on the board, with every role on a model:
// nobody is started, so nobody asks one. The account is used up while something
// is to be done, or a step that asks is silent all the while.
func TestNothingChangedMeansNoStep(t *testing.T) {
	for name, c := range map[string]struct{ planned, silent bool }{
		"used up before the plan": {}, "used up before the task": {planned: true},
		"silent perceiver": {silent: true}, "silent executor": {planned: true, silent: true},
	} {
		t.Run(name, func(t *testing.T) { nothingChanges(t, c.planned, c.silent) })
	}
}

func nothingChanges(t *testing.T, planned, silent bool) {
	w := newWorld(t)
	started := make(chan message.Role, 100)
	p := &spawner{play: func(ctx context.Context, c Claim) End {
		started <- c.Activation.Key.Role
		if silent {
			<-ctx.Done()
			return End{Exit: -1, Class: message.EndInterrupted}
		}
		w.usedUp(w.Now().Add(time.Hour))
		return End{Exit: 42, Class: message.EndAgain}
	}}
	s := w.supervisor(p)
	thinking(&s.Starter)
	s.LeaseMS = 3_600_000 // a living step renews its lease; this one has no heart
	want := message.Perceiver
	if planned {
		w.plan(&s.Starter)
		want = message.Executor
	}
	ctx, stop := context.WithCancel(t.Context())
	turns := 0
	looked := make(chan struct{}, 1)
	s.Tend = func(context.Context) time.Time {
		if turns++; turns > 5 {
			w.pass(time.Second, time.Second)
		}
		if turns == 605 {
			looked <- struct{}{}
		}
		return w.Now() // look again at once: time is simulated
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	if role := <-started; role != want {
		t.Errorf("%s was started, want %s", role, want)
	}
	<-looked
	stop()
	<-done
	if n := len(started); n != 0 {
		t.Errorf("%d more steps were started in ten minutes without a change", n)
	}
}

func TestWhatAStepReportsReachesItsEnd(t *testing.T) {
	in := Report{Cost: 0.5, Needs: "n", Spent: []message.Spent{{Model: "m", Cost: 0.5}}}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	e := endOf(process.Result{Exit: 42}, raw)
	if e.Class != message.EndAgain || e.Needs != "n" || len(e.Spent) != 1 || e.Cost != 0.5 {
		t.Errorf("got %+v", e)
	}
}
