package blackboard

import (
	"math"
	"testing"

	"orch/blackboard/message"
)

// spend lets a step of a role on a subject reserve and then cost something.
func (c *script) spend(role message.Role, subject string, reserve, cost float64, parts ...message.Spent) {
	c.t.Helper()
	agent := message.AgentID(string(role) + "-9")
	cause := message.ID("cause-" + string(role) + "-" + subject)
	a, _ := c.s.Activation(ActivationKey{Role: role, Subject: subject, Cause: cause})
	c.say(message.StepStarting{Role: role, Subject: subject, Cause: cause, Agent: agent, Try: a.Try + 1, Reserve: reserve}, inGoal("g"))
	if g := c.goal("g"); g.Reserved != reserve || g.ByRole[role].Reserved != reserve {
		c.t.Fatalf("while it runs: %+v, %g reserved", g.ByRole, g.Reserved)
	}
	c.say(message.StepEnded{Role: role, Subject: subject, Cause: cause, Agent: agent, Class: message.EndAgain, Cost: cost, Spent: parts}, inGoal("g"))
}

func TestMoneyIsBookedToGoalRoleAndTask(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("t1", "p", 1))
	if _, ok := c.s.Usual(message.Planner); ok {
		t.Error("a role without history has a usual cost")
	}
	c.spend(message.Planner, "g", 0.5, 0.25)
	c.spend(message.Executor, "t1", 0.5, 0.5, message.Spent{Model: "m", Cost: 0.5, Unpriced: true})
	c.spend(message.Executor, "t1", 0, 0.125)
	c.spend(message.AgentValidator, "t1", 0, 0)
	g := c.goal("g")
	if g.Cost != 0.875 || g.Reserved != 0 || g.Unpriced != 1 || g.ByRole[message.Executor] != (Spend{Cost: 0.625}) || g.ByRole[message.Planner].Cost != 0.25 || len(g.ByRole) != 2 {
		t.Errorf("goal: %g, %g reserved, %d unpriced, %+v", g.Cost, g.Reserved, g.Unpriced, g.ByRole)
	}
	if cost := c.task("t1").Cost; cost != 0.625 {
		t.Errorf("task: %g", cost)
	}
	if usd, ok := c.s.Usual(message.Executor); !ok || usd != 0.5 {
		t.Errorf("usual: %g %t", usd, ok)
	}
	for range usualSteps {
		c.spend(message.Executor, "t1", 0, 0.0625)
	}
	if usd, _ := c.s.Usual(message.Executor); usd != 0.0625 {
		t.Errorf("what was long ago is still usual: %g", usd)
	}
	over := reopened(t, c.s)
	if usd, ok := over.Usual(message.Executor); !ok || usd != 0.0625 {
		t.Errorf("over a checkpoint: %g %t", usd, ok)
	}
}

func TestAStepThatCostsNoAmountIsRefused(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.say(message.StepStarting{Role: message.Planner, Subject: "g", Cause: "m3", Agent: "planner-1", Try: 1}, inGoal("g"))
	end := message.StepEnded{Role: message.Planner, Subject: "g", Cause: "m3", Agent: "planner-1", Class: message.EndDone}
	end.Spent = []message.Spent{{Model: "m", Cost: -1}}
	c.refused("m cost -1", end, inGoal("g"))
	end.Spent = nil
	c.say(end, inGoal("g"))
}

func TestAPersonRaisesTheCapOfAGoal(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.say(message.BudgetReached{Cap: message.CapCost, Limit: 1, Used: 1}, inGoal("g"))
	c.refused("a new cap", message.Resumed{MaxCost: -1}, inGoal("g"))
	c.refused("a new cap", message.Resumed{MaxCost: math.Inf(1)}, inGoal("g"))
	c.refused("a new cap", message.Resumed{MaxCost: 2})
	c.say(message.Resumed{MaxCost: 2}, inGoal("g"))
	if g := c.goal("g"); g.Status != GoalOpen || g.Input.Budget.MaxCost != 2 {
		t.Errorf("%s, cap %g", g.Status, g.Input.Budget.MaxCost)
	}
	c.say(message.Resumed{}, inGoal("g"))
	if g := c.goal("g"); g.Input.Budget.MaxCost != 2 {
		t.Errorf("a resume without a cap changed it to %g", g.Input.Budget.MaxCost)
	}
}

func TestReservationsOfAStepEndWithIt(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("t1", "p", 1))
	key := ActivationKey{Role: message.Executor, Subject: "t1", Cause: "why"}
	reserve := func(usd float64, spent ...message.Spent) message.CostReserved {
		return message.CostReserved{Role: key.Role, Subject: key.Subject, Cause: key.Cause, Model: "m", Reserved: usd, Spent: spent}
	}
	by := func(m *message.Message) { m.From, m.Agent, m.Goal = message.Executor, "executor-9", "g" }
	c.refused("no step of executor", reserve(1), by)
	c.say(message.StepStarting{Role: key.Role, Subject: key.Subject, Cause: key.Cause, Agent: "executor-9", Try: 1}, inGoal("g"))
	c.refused("it reserves -1", reserve(-1), by)
	c.refused("it reserves NaN", reserve(math.NaN()), by)
	c.refused("may have cost -1", reserve(1, message.Spent{Model: "m", Doubt: -1}), by)
	c.refused("the step is executor-9", reserve(1), func(m *message.Message) { m.From, m.Agent, m.Goal = message.Executor, "executor-8", "g" })
	for _, step := range []struct {
		say  message.CostReserved
		want float64
	}{
		{reserve(0.5), 0.5},
		{reserve(0.25), 0.25}, // it replaces the one before
		{reserve(0, message.Spent{Model: "m", Cost: 0.125}), 0.125},
		{reserve(0.5, message.Spent{Model: "m", Cost: 0.125, Doubt: 0.25, Unpriced: true}), 0.875},
	} {
		c.say(step.say, by)
		if g := c.goal("g"); g.Reserved != step.want || g.ByRole[message.Executor].Reserved != step.want || g.Cost != 0 {
			t.Fatalf("%+v: %g reserved, %+v", step.say, g.Reserved, g.ByRole)
		}
	}
	over := reopened(t, c.s)
	if a, ok := over.Activation(key); !ok || a.Asked.Total() != 0.875 || a.Asked.UnderWay() != 0.5 {
		t.Errorf("over a checkpoint: %+v", a.Asked)
	}
	c.say(message.StepEnded{Role: key.Role, Subject: key.Subject, Cause: key.Cause, Agent: "executor-9", Class: message.EndAgain, Cost: 0.125,
		Spent: []message.Spent{{Model: "m", Cost: 0.125, Doubt: 0.75, Unpriced: true}}}, inGoal("g"))
	g := c.goal("g")
	if g.Reserved != 0 || g.Cost != 0.125 || g.Doubt != 0.75 || g.ByRole[message.Executor] != (Spend{Cost: 0.125, Doubt: 0.75}) || g.Unpriced != 1 {
		t.Errorf("at its end: %+v", g)
	}
	if task := c.task("t1"); task.Cost != 0.125 || task.Doubt != 0.75 {
		t.Errorf("the task: %g and %g in doubt", task.Cost, task.Doubt)
	}
}

// The controller asks beside any step: what it reserved goes with the result.
func TestTheControllersReservationEndsWithTheResult(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	ask := message.CostReserved{Role: message.GGS, Subject: "g", Model: "m", Reserved: 0.5}
	by := func(m *message.Message) { m.From, m.Agent, m.Goal = message.GGS, "ggs-1", "g" }
	c.say(ask, by)
	ask.Reserved = 0.25
	c.say(ask, by)
	if g := c.goal("g"); g.Reserved != 0.25 || g.Advice.UnderWay() != 0.25 {
		t.Fatalf("%g reserved, %+v", g.Reserved, g.Advice)
	}
	word := c.say(message.GiveUp{Reason: "enough"}, inGoal("g"))
	c.say(message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"none"}, Spent: []message.Spent{{Model: "m", Cost: 0.125}}}, by, because(word.ID))
	if g := c.goal("g"); g.Reserved != 0 || g.Advice != nil || g.Cost != 0.125 || g.ByRole[message.GGS].Reserved != 0 {
		t.Errorf("after the result: %+v", g)
	}
}
