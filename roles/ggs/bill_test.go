package ggs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/internal/steptest"
	"orch/roles/loop"
)

// billing is a stage on which steps begin, end, and cost something.
type billing struct {
	*stage
	*steptest.Clock
	sensor *blackboard.Board
}

func newBilling(t *testing.T) *billing {
	clock := &steptest.Clock{}
	clock.Add(noon.Sub(clock.Now()))
	s := stageAt(t, clock)
	return &billing{s, clock, s.open("meta-validator-1", false, message.MetaValidator)}
}

// begin starts a step of a role; the function it returns ends it.
func (b *billing) begin(role message.Role) (end func(class string, cost float64)) {
	b.t.Helper()
	started := b.Now()
	s := message.StepStarting{Role: role, Subject: string(testGoal), Cause: message.ID(fmt.Sprint(role, b.goal().Steps)), Agent: message.AgentID(role + "-1"), Try: 1}
	b.say(b.people, message.Message{From: message.Supervisor, Subject: s.Subject, Cause: s.Cause, Body: s})
	return func(class string, cost float64) {
		b.t.Helper()
		b.say(b.people, message.Message{From: message.Supervisor, Subject: s.Subject, Cause: s.Cause, Body: message.StepEnded{
			Role: role, Subject: s.Subject, Cause: s.Cause, Agent: s.Agent, Class: class, Cost: cost, DurationMS: b.Now().Sub(started).Milliseconds(),
		}})
	}
}

// spend is a whole step: two minutes that cost what is said.
func (b *billing) spend(role message.Role, cost float64) {
	b.t.Helper()
	end := b.begin(role)
	b.Add(2 * time.Minute)
	end(message.EndDone, cost)
}

// matched has everything of a plan match, for half a dollar and in two minutes,
// and the goal judged in four minutes by a step that has not ended yet.
func (b *billing) matched() (cause message.ID, end func(class string, cost float64)) {
	b.t.Helper()
	b.start(false)
	summary := b.passPlan("a")
	b.spend(message.Executor, 0.5)
	end = b.begin(message.MetaValidator)
	b.Add(4 * time.Minute)
	summary.Cost, summary.ElapsedMS = 0.5, (6 * time.Minute).Milliseconds()
	said := b.say(b.sensor, message.Message{Body: summary})
	b.Add(time.Minute)
	return said.ID, end
}

func (b *billing) answer(bd Board) {
	b.t.Helper()
	if err := b.resident(bd).Answer(b.t.Context(), testGoal); err != nil {
		b.t.Fatal(err)
	}
}

func (b *billing) wantResult(cost float64, elapsed time.Duration) {
	b.t.Helper()
	g := b.goal()
	if g.Final == nil {
		b.t.Fatal("there is no result")
	}
	if f := g.Final; f.Cost != cost || f.ElapsedMS != elapsed.Milliseconds() {
		b.t.Errorf("the result says $%g and %d ms, want $%g and %d ms", f.Cost, f.ElapsedMS, cost, elapsed.Milliseconds())
	}
}

func TestAResultHasTheWholeCostAndTimeOfItsGoal(t *testing.T) {
	b := newBilling(t)
	cause, end := b.matched()
	controller := b.ggs()
	b.answer(controller)
	b.wantOnce(cause) // nothing before the step has ended
	end(message.EndDone, 0.25)
	b.answer(controller)
	b.wantOnce(cause, "Megram:1", "Megram:2", "FinalResult")
	b.wantResult(0.75, 7*time.Minute)
	if g := b.goal(); g.Cost != g.Final.Cost || g.ActiveMS != g.Final.ElapsedMS {
		t.Errorf("the goal has $%g and %d ms, its result $%g and %d ms", g.Cost, g.ActiveMS, g.Final.Cost, g.Final.ElapsedMS)
	}
}

// A step that was killed after it had its say is closed by its supervisor. If
// that is gone too, housekeeping closes it, which knows neither its cost nor its
// time: the message has the best there is.
func TestAStepThatIsLostAfterItsWordIsNotWaitedForInVain(t *testing.T) {
	for _, lost := range []bool{true, false} {
		b := newBilling(t)
		cause, end := b.matched()
		controller := b.ggs()
		b.answer(controller)
		b.wantOnce(cause)
		want := 6 * time.Minute
		if lost {
			b.keepHouse()
		} else { // by its supervisor, which saw it through
			want = 7 * time.Minute
			end(message.EndKilled, 0)
		}
		b.answer(controller)
		b.wantResult(0.5, want)
	}
}

// keepHouse says what a supervisor says that finds no process alive.
func (b *billing) keepHouse() {
	b.t.Helper()
	var said []message.Message
	err := b.people.View(b.t.Context(), func(st *blackboard.State) error {
		said = loop.Housekeeping(st, loop.Policy{CrashLimit: 3, KillLimit: 3}, func(message.Process) process.Liveness { return process.Dead }, b.Now(), 0)
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range said {
		b.say(b.people, m)
	}
}

// followed is a board that says when somebody begins to follow it.
type followed struct {
	Board
	begun chan struct{}
}

func (f followed) Watch(ctx context.Context, from uint64) iter.Seq2[message.Message, error] {
	close(f.begun)
	return f.Board.Watch(ctx, from)
}

func TestTheResidentIsWokenByTheEndOfTheStep(t *testing.T) {
	b := newBilling(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	_, end := b.matched()
	controller := followed{b.ggs(), make(chan struct{})}
	go func() { done <- b.resident(controller).Run(ctx) }()
	<-controller.begun
	end(message.EndDone, 0.25)
	b.await(t, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("run ended with %v", err)
	}
	b.wantResult(0.75, 7*time.Minute)
}

// What is spent while the controller is down between two of its words, and by
// whom nobody knows, is not part of what it said it decided by.
func TestAControllerKilledBetweenItsWordsSaysTheSame(t *testing.T) {
	for left := range 3 {
		for _, after := range []bool{false, true} {
			b := newBilling(t)
			cause, end := b.matched()
			end(message.EndDone, 0.25)
			controller := b.ggs()
			if err := b.resident(&mortal{Board: controller, left: left, after: after}).Answer(t.Context(), testGoal); !errors.Is(err, errKilled) {
				t.Fatalf("got %v", err)
			}
			if b.goal().Final == nil {
				b.spend(message.Planner, 4)
			}
			b.answer(controller)
			b.wantOnce(cause, "Megram:1", "Megram:2", "FinalResult")
			b.wantResult(0.75, 7*time.Minute)
		}
	}
}

// The loss of a round is worked out again for the gradient of the next one, and
// has to be what it was.
func TestABillIsPartOfThePressureOfItsRoundForGood(t *testing.T) {
	b := newBilling(t)
	b.start(false)
	controller := b.ggs()
	var said []*message.PlanDirective
	for len(said) < 2 {
		request := b.runPlan("a")
		end := b.begin(message.MetaValidator)
		b.Add(time.Minute)
		b.say(b.sensor, message.Message{Body: request})
		b.answer(controller)
		if d := lastRound(b.goal()).Directive; d != nil {
			t.Fatalf("it answered before the step had ended: %+v", d)
		}
		b.Add(time.Minute)
		end(message.EndDone, 0.25)
		b.answer(controller)
		b.spend(message.Planner, 1)
		said = append(said, lastRound(b.goal()).Directive)
	}
	p := Defaults(message.LikeForLike)
	for i, d := range said {
		elapsed := time.Duration(2+4*i) * time.Minute
		if want := exact(p.W1*float64(i+1)/float64(p.MaxReplans) + p.W2*float64(elapsed.Milliseconds())/float64(p.TimeBudgetMS)); d.BudgetPressure != want {
			t.Errorf("round %d: Ω %g, want %g", i+1, d.BudgetPressure, want)
		}
	}
	if got, want := said[1].GradL, exact(said[1].Loss.L-said[0].Loss.L); got != want {
		t.Errorf("∇L %g, want %g", got, want)
	}
}

func TestARoundWithoutAPlanHasThePlannersBill(t *testing.T) {
	b := newBilling(t)
	b.start(false)
	planner := b.open("planner-1", false, message.Planner, message.PlanValidator)
	end := b.begin(message.Planner)
	b.Add(time.Minute)
	for attempt := 1; attempt <= 3; attempt++ {
		b.say(planner, message.Message{From: message.PlanValidator, Body: message.PlanRejected{PlanID: message.PlanID(fmt.Sprint("p", attempt)), Attempt: attempt}})
	}
	controller := b.ggs()
	b.answer(controller)
	if d := lastRound(b.goal()).Directive; d != nil {
		t.Fatalf("it answered before the step had ended: %+v", d)
	}
	end(message.EndDone, 0.25)
	b.answer(controller)
	p := Defaults(message.LikeForLike)
	want := exact(p.W1/float64(p.MaxReplans) + p.W2*float64(time.Minute.Milliseconds())/float64(p.TimeBudgetMS))
	if d := lastRound(b.goal()).Directive; d == nil || d.BudgetPressure != want {
		t.Errorf("it says %+v, want Ω %g", d, want)
	}
}

func TestAFactToRememberHasThePerceiversBill(t *testing.T) {
	b := newBilling(t)
	perceiver := b.open("perceiver-1", false, message.Perceiver)
	const text = "tea is green"
	b.say(b.people, message.Message{Body: message.UserInput{Text: text, Profile: "task"}})
	end := b.begin(message.Perceiver)
	b.Add(time.Minute)
	b.say(perceiver, message.Message{Body: message.TaskSpec{TaskID: testGoal, Intent: text, RawInput: text, Declarative: true}})
	controller := b.ggs()
	b.answer(controller)
	b.wantOnce(b.goal().SpecRef.ID)
	end(message.EndDone, 0.25)
	b.answer(controller)
	b.wantOnce(b.goal().SpecRef.ID, "Megram:1", "FinalResult")
	b.wantResult(0.25, time.Minute)
}

func TestAPersonWhoGivesUpWaitsForNoBill(t *testing.T) {
	b := newBilling(t)
	_, end := b.matched()
	b.say(b.people, message.Message{From: message.Human, Body: message.GiveUp{Reason: "solved by hand"}})
	b.answer(b.ggs())
	if g := b.goal(); g.Status != blackboard.GoalEnded {
		t.Errorf("it is %s", g.Status)
	}
	end(message.EndKilled, 0.25)
}

func TestABillIsNeverLessThanWhatWasSaid(t *testing.T) {
	matched := message.OutcomeSummary{Cost: 2, ElapsedMS: 2_000}
	request := message.ReplanRequest{Cost: 3, ElapsedMS: 3_000}
	rounds := sense(History{Rounds: []Round{
		{Summary: &matched, Cost: 2.5, ElapsedMS: 2_500},
		{Summary: &matched, Cost: 1, ElapsedMS: 1_000},
		{Request: &request},
		{PlanFailure: &message.PlanRejected{}},
		{PlanFailure: &message.PlanRejected{}, Cost: 4, ElapsedMS: 4_000},
		{Request: &request, Cost: 5, ElapsedMS: 3_500},
	}})
	for i, want := range []sensed{{cost: 2.5, elapsedMS: 2_500}, {cost: 2.5, elapsedMS: 2_500}, {cost: 3, elapsedMS: 3_000},
		{cost: 3, elapsedMS: 3_000}, {cost: 4, elapsedMS: 4_000}, {cost: 5, elapsedMS: 4_000}} {
		if got := rounds[i]; got.cost != want.cost || got.elapsedMS != want.elapsedMS {
			t.Errorf("round %d: $%g and %d ms, want $%g and %d ms", i+1, got.cost, got.elapsedMS, want.cost, want.elapsedMS)
		}
	}
}
