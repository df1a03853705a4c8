package blackboard

import (
	"testing"
	"time"

	"orch/blackboard/message"
)

// judging is the step that judges the plan of g; how long it says it ran, and
// what it cost, are known when it ends.
func judging(c *script, class string, cost float64, awake time.Duration) (message.StepStarting, message.StepEnded) {
	cause := c.goal("g").PlanRef.ID
	return message.StepStarting{Role: message.MetaValidator, Subject: "g", Cause: cause, Agent: "meta-validator-1", Try: 1},
		message.StepEnded{
			Role: message.MetaValidator, Subject: "g", Cause: cause, Agent: "meta-validator-1", Class: class, Cost: cost, DurationMS: awake.Milliseconds(),
		}
}

func lastBill(c *script) Bill {
	rounds := c.goal("g").Rounds
	return rounds[len(rounds)-1].Bill
}

func TestABillIsClosedWhenTheStepThatAskedEnds(t *testing.T) {
	for name, c := range map[string]struct {
		class string
		awake time.Duration
		want  time.Duration
	}{
		"done":             {message.EndDone, 6 * time.Minute, 6 * time.Minute},
		"killed after":     {message.EndKilled, 6 * time.Minute, 6 * time.Minute},
		"crashed after":    {message.EndCrash, 6 * time.Minute, 6 * time.Minute},
		"found dead":       {message.EndLost, 8 * time.Minute, 2 * ActiveGapMS * time.Millisecond},
		"half of it awake": {message.EndDone, 3 * time.Minute, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := fannedIn(t)
			s.spend(message.Executor, "ok", 0, 0.5)
			start, end := judging(s, c.class, 0.25, c.awake)
			s.say(start, inGoal("g"))
			s.after(4 * time.Minute)
			s.say(message.ReplanRequest{TaskID: "g", PlanID: "p", Cost: 0.5}, inGoal("g"), as("meta-validator-1"))
			if b := lastBill(s); !b.Open() || b.Cost != 0 || b.ActiveMS != 0 {
				t.Errorf("while the step goes on: %+v", b)
			}
			s.after(2 * time.Minute)
			s.say(end, inGoal("g"))
			g := s.goal("g")
			if want := (Bill{Cost: 0.75, ActiveMS: c.want.Milliseconds()}); lastBill(s) != want || g.Cost != want.Cost || g.ActiveMS != want.ActiveMS {
				t.Errorf("%+v, want %+v; the goal has %g, %d ms", lastBill(s), want, g.Cost, g.ActiveMS)
			}
			if again := dump(t, reopened(t, s.s)); again != dump(t, s.s) {
				t.Error("a checkpoint does not keep it")
			}
			// What comes later is the next round's.
			s.spend(message.Executor, "bad", 0, 4)
			if b := lastBill(s); b.Cost != 0.75 {
				t.Errorf("a later step is in it: %+v", b)
			}
		})
	}
}

func TestABillWaitsOnlyForTheStepThatAsked(t *testing.T) {
	t.Run("nobody's step", func(t *testing.T) {
		c := fannedIn(t)
		c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"), as("meta-validator-1"))
		if b := lastBill(c); b != (Bill{}) {
			t.Errorf("%+v", b)
		}
		c.spend(message.Executor, "ok", 0, 0.5)
		if b := lastBill(c); b != (Bill{}) {
			t.Errorf("it has another step's end: %+v", b)
		}
	})
	t.Run("a step that ended before", func(t *testing.T) {
		c := fannedIn(t)
		start, end := judging(c, message.EndLost, 0, 0)
		c.say(start, inGoal("g"))
		c.say(end, inGoal("g"))
		c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"), as("meta-validator-1"))
		if b := lastBill(c); b != (Bill{}) {
			t.Errorf("%+v", b)
		}
	})
	t.Run("a step of another goal", func(t *testing.T) {
		c := fannedIn(t)
		c.perceived("h")
		c.say(message.StepStarting{Role: message.MetaValidator, Subject: "h", Cause: "m1", Agent: "meta-validator-1", Try: 1}, inGoal("h"))
		c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"), as("meta-validator-1"))
		if b := lastBill(c); b != (Bill{}) {
			t.Errorf("%+v", b)
		}
	})
	t.Run("the end of another step", func(t *testing.T) {
		c := fannedIn(t)
		start, end := judging(c, message.EndDone, 0.25, 0)
		c.say(start, inGoal("g"))
		c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"), as("meta-validator-1"))
		c.spend(message.Executor, "ok", 0, 0.5)
		if b := lastBill(c); !b.Open() || b.Cost != 0 {
			t.Errorf("%+v", b)
		}
		c.say(end, inGoal("g"))
		if b := lastBill(c); b.Open() || b.Cost != 0.75 {
			t.Errorf("%+v", b)
		}
	})
}

// Boards whose controller answered at once have such rounds. What was decided
// then was decided without the bill, so it is not made up later.
func TestAnAnswerClosesABill(t *testing.T) {
	c := fannedIn(t)
	start, end := judging(c, message.EndDone, 0.25, time.Minute)
	c.say(start, inGoal("g"))
	asked := c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"), as("meta-validator-1"))
	c.say(message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), because(asked.ID))
	if b := lastBill(c); b != (Bill{}) {
		t.Errorf("after the answer: %+v", b)
	}
	c.say(end, inGoal("g"))
	if b := lastBill(c); b != (Bill{}) || c.goal("g").Cost != 0.25 {
		t.Errorf("after the end: %+v", b)
	}
}

func TestARefusedPlanIsBilledWhenThePlannersStepEnds(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	key := message.StepStarting{Role: message.Planner, Subject: "g", Cause: "m3", Agent: "planner-1", Try: 1}
	c.say(key, inGoal("g"))
	for attempt := 1; attempt <= 3; attempt++ {
		c.say(message.PlanRejected{PlanID: message.PlanID("p" + string(rune('0'+attempt))), Attempt: attempt}, inGoal("g"), as("planner-1"))
	}
	if b := lastBill(c); b.Step != (ActivationKey{Role: message.Planner, Subject: "g", Cause: "m3"}) {
		t.Errorf("while it goes on: %+v", b)
	}
	c.after(time.Minute)
	c.say(message.StepEnded{Role: key.Role, Subject: key.Subject, Cause: key.Cause, Agent: key.Agent, Class: message.EndDone, Cost: 0.5, DurationMS: 60_000}, inGoal("g"))
	if b := lastBill(c); b != (Bill{Cost: 0.5, ActiveMS: 60_000}) {
		t.Errorf("%+v", b)
	}
}

func TestAFactIsBilledWhenThePerceiversStepEnds(t *testing.T) {
	for _, declarative := range []bool{true, false} {
		c := newScript(t)
		c.say(message.UserInput{Text: "tea is green", Profile: "task"}, inGoal("g"))
		cause := c.goal("g").InputRef.ID
		c.say(message.StepStarting{Role: message.Perceiver, Subject: "g", Cause: cause, Agent: "perceiver-1", Try: 1}, inGoal("g"))
		c.say(message.TaskSpec{TaskID: "g", Intent: "i", RawInput: "tea is green", Declarative: declarative}, inGoal("g"), as("perceiver-1"))
		if b := c.goal("g").Bill; b.Open() != declarative {
			t.Errorf("declarative %t: while the step goes on %+v", declarative, b)
		}
		c.after(time.Second)
		c.say(message.StepEnded{Role: message.Perceiver, Subject: "g", Cause: cause, Agent: "perceiver-1", Class: message.EndDone, Cost: 0.5, DurationMS: 1_000}, inGoal("g"))
		want := Bill{}
		if declarative {
			want = Bill{Cost: 0.5, ActiveMS: 1_000}
		}
		if b := c.goal("g").Bill; b != want {
			t.Errorf("declarative %t: %+v, want %+v", declarative, b, want)
		}
	}
}
