package loop

import (
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// paid is a policy under which every role thinks with the accounts.
func paid(accounts ...string) Policy {
	p := testPolicy
	p.Thinks = func(blackboard.Goal, message.Role) Thinks { return Thinks{Accounts: accounts, Paid: true} }
	return p
}

func TestNothingStartsThatCanNotBePaidFor(t *testing.T) {
	for name, c := range map[string]struct {
		usual, reserve float64
		cost, reserved float64
		cap, role      float64
		due            int
	}{
		"fits exactly":                       {usual: 0.2, cost: 0.5, reserved: 0.3, cap: 1, due: 1},
		"beyond the cap":                     {usual: 0.21, cost: 0.5, reserved: 0.3, cap: 1},
		"used up":                            {cost: 1, cap: 1},
		"no cap":                             {usual: 9, cost: 5, due: 1},
		"no history":                         {reserve: 0.5, cost: 0.6, cap: 1, due: 1}, // a tenth of the cap at most
		"no history, little room":            {reserve: 0.5, cost: 0.95, cap: 1},
		"a small reserve":                    {reserve: 0.01, cost: 0.95, cap: 1, due: 1},
		"the role has its own cap":           {usual: 0.2, cost: 0.5, cap: 9, role: 0.6},
		"the role's cap leaves enough":       {usual: 0.1, cost: 0.5, cap: 9, role: 0.6, due: 1},
		"the role's cap without a goal's":    {usual: 0.2, cost: 0.5, role: 0.6},
		"the role's cap counts running ones": {usual: 0.2, cost: 0.2, reserved: 0.3, role: 0.6},
	} {
		g := perceived()
		g.Cost, g.Reserved, g.Input.Budget.MaxCost = c.cost, c.reserved, c.cap
		g.ByRole = map[message.Role]blackboard.Spend{message.Planner: {Cost: c.cost, Reserved: c.reserved}}
		b := &board{goals: []blackboard.Goal{g}, usual: map[message.Role]float64{}}
		if c.usual > 0 {
			b.usual[message.Planner] = c.usual
		}
		p := paid()
		p.Caps = Caps{Reserve: c.reserve, Role: map[message.Role]float64{message.Planner: c.role}}
		if n := len(Due(b, p, t0)); n != c.due {
			t.Errorf("%s: %d due, want %d", name, n, c.due)
		}
	}
}

func TestCodeReservesNothing(t *testing.T) {
	g := perceived()
	g.Cost, g.Input.Budget.MaxCost = 0.99, 1
	b := &board{goals: []blackboard.Goal{g}, usual: map[message.Role]float64{message.Planner: 0.5}}
	if len(Due(b, testPolicy, t0)) != 1 {
		t.Error("a step that costs nothing was held back")
	}
	if a := Due(b, testPolicy, t0)[0]; ReserveOf(b, testPolicy, a) != 0 {
		t.Error("it reserves money")
	}
}

func TestATaskHasACap(t *testing.T) {
	b := claimable()
	p := paid()
	p.Caps.Task = 1
	b.tasks[0].Cost = 0.5
	b.usual = map[message.Role]float64{message.Executor: 0.5}
	if len(Due(b, p, t0)) != 1 {
		t.Fatal("what fits is not due")
	}
	b.tasks[0].Cost = 0.75
	if len(Due(b, p, t0)) != 0 {
		t.Error("due beyond the task's cap")
	}
	if got := chores(t, b, p, 0, 0); got != "BudgetReached/g" {
		t.Errorf("nothing else can be done: %q", got)
	}
}

// claimable is a board on which one task can be worked on.
func claimable() *board {
	g := perceived()
	g.PlanCause = blackboard.Ref{}
	g.Plan = &message.DispatchManifest{PlanID: "p", SubtaskIDs: []message.TaskID{"t"}}
	task := blackboard.Task{SubTask: message.SubTask{ID: "t", PlanID: "p"}, Goal: "g", Status: blackboard.Unclaimed, Created: blackboard.Ref{ID: "made", Seq: 5}}
	return &board{goals: []blackboard.Goal{g}, tasks: []blackboard.Task{task}}
}

func TestAUsedUpAccountIsWaitedForUnlessAnotherIsFree(t *testing.T) {
	for name, c := range map[string]struct {
		accounts []string
		limits   map[string]time.Time
		want     time.Time
	}{
		"free":             {[]string{"a"}, map[string]time.Time{"b": after(9000)}, time.Time{}},
		"used up":          {[]string{"a"}, map[string]time.Time{"a": after(9000)}, after(9000)},
		"another is free":  {[]string{"a", "b"}, map[string]time.Time{"a": after(9000)}, time.Time{}},
		"the earlier of 2": {[]string{"a", "b"}, map[string]time.Time{"a": after(9000), "b": after(4000)}, after(4000)},
		"code":             {nil, map[string]time.Time{"a": after(9000)}, time.Time{}},
	} {
		b := &board{goals: []blackboard.Goal{perceived()}, limits: c.limits}
		p := paid(c.accounts...)
		due := Due(b, p, t0)
		if len(due) != 1 || !due[0].NotBefore.Equal(c.want) {
			t.Errorf("%s: %+v, want %s", name, due, c.want)
		}
		now := IsDue(b, p, t0, due[0].Key)
		if now != c.want.IsZero() {
			t.Errorf("%s: due now is %t", name, now)
		}
		if !c.want.IsZero() && (IsDue(b, p, c.want.Add(-1), due[0].Key) || !IsDue(b, p, c.want, due[0].Key)) {
			t.Errorf("%s: it is not due from %s on", name, c.want)
		}
	}
}

func TestWhatARunningStepMaySpend(t *testing.T) {
	for name, c := range map[string]struct {
		cap, role, cost, reserved, own, want float64
	}{
		"no cap":                         {cost: 5, want: 0},
		"all of it":                      {cap: 2, want: 2},
		"what is left":                   {cap: 2, cost: 0.5, want: 1.5},
		"its own reserve is its own":     {cap: 2, cost: 0.5, reserved: 0.5, own: 0.5, want: 1.5},
		"what others reserved is theirs": {cap: 2, cost: 0.5, reserved: 1, own: 0.5, want: 1},
		"the narrower of two":            {cap: 9, role: 1, cost: 0.5, want: 0.5},
		"nothing is left, one may ask":   {cap: 1, cost: 2, want: smallestUSD},
	} {
		g := perceived()
		g.Cost, g.Reserved, g.Input.Budget.MaxCost = c.cost, c.reserved, c.cap
		g.ByRole = map[message.Role]blackboard.Spend{message.Planner: {Cost: c.cost, Reserved: c.reserved}}
		b := &board{goals: []blackboard.Goal{g}}
		p := paid()
		p.Caps.Role = map[message.Role]float64{message.Planner: c.role}
		a := Due(&board{goals: []blackboard.Goal{perceived()}}, testPolicy, t0)[0]
		b.activations = []blackboard.Activation{{ActivationKey: a.Key, Reserve: c.own}}
		if got := RoomOf(b, p, a); got != c.want {
			t.Errorf("%s: $%g, want $%g", name, got, c.want)
		}
	}
}

// What a step cost is known when it ends; what it said is known before.
func TestWhatFollowsFromAStepWaitsForItsBill(t *testing.T) {
	live := func(role message.Role, subject string) []blackboard.Activation {
		return []blackboard.Activation{{ActivationKey: blackboard.ActivationKey{Role: role, Subject: subject, Cause: "c"}, Goal: "g"}}
	}
	elsewhere := live(message.Planner, "h")
	elsewhere[0].Goal = "h"
	ended := live(message.Planner, "g")
	ended[0].Ended.Seq = 9
	for name, c := range map[string]struct {
		running []blackboard.Activation
		cap     float64
		policy  Policy
		due     int
	}{
		"nothing runs":              {nil, 1, paid(), 1},
		"the planner that made it":  {live(message.Planner, "g"), 1, paid(), 0},
		"no cap":                    {live(message.Planner, "g"), 0, paid(), 1},
		"it has ended":              {ended, 1, paid(), 1},
		"nothing costs anything":    {live(message.Planner, "g"), 1, testPolicy, 1},
		"another step on the task":  {live(message.AgentValidator, "t"), 1, paid(), 0},
		"a step on another task":    {live(message.Executor, "u"), 1, paid(), 1},
		"the planner of other work": {elsewhere, 1, paid(), 1},
	} {
		b := claimable()
		b.goals[0].Input.Budget.MaxCost = c.cap
		b.activations = c.running
		due := Due(b, c.policy, t0)
		if len(due) != c.due {
			t.Errorf("%s: %d due, want %d", name, len(due), c.due)
		}
		found, ok := Find(b, message.Executor, "t")
		if !ok || IsDue(b, c.policy, t0, found.Key) != (c.due > 0) {
			t.Errorf("%s: due now is %t", name, c.due == 0)
		}
	}
}

func TestWhatMayFollowFromWhat(t *testing.T) {
	step := func(role message.Role, subject string) Activation {
		return Activation{Key: blackboard.ActivationKey{Role: role, Subject: subject}, Goal: "g"}
	}
	for _, c := range []struct {
		a, b Activation
		want bool
	}{
		{step(message.Executor, "t"), step(message.AgentValidator, "t"), true},
		{step(message.Executor, "t"), step(message.AgentValidator, "u"), false},
		{step(message.AgentValidator, "t"), step(message.MetaValidator, "g"), true},
		{step(message.MetaValidator, "g"), step(message.Planner, "g"), true},
		{step(message.Planner, "g"), step(message.Coder, "t"), true},
		{step(message.Coder, "t"), step(message.Planner, "g"), false},
		{step(message.CodeReviewer, "t"), step(message.Planner, "g"), false},
		{step(message.CodeReviewer, "t"), step(message.MetaValidator, "g"), true},
	} {
		if got := mayPrecede(c.a, c.b); got != c.want {
			t.Errorf("%s on %s, then %s on %s: %t", c.a.Key.Role, c.a.Key.Subject, c.b.Key.Role, c.b.Key.Subject, got)
		}
	}
}
