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

// runs is the same where an agent program takes the steps.
func runs() Policy {
	p := testPolicy
	p.Thinks = func(blackboard.Goal, message.Role) Thinks { return Thinks{Paid: true, Runs: true} }
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
		p := runs()
		p.Caps = Caps{Reserve: c.reserve, Role: map[message.Role]float64{message.Planner: c.role}}
		if n := len(Due(b, p, t0)); n != c.due {
			t.Errorf("%s: %d due, want %d", name, n, c.due)
		}
	}
}

// What a question to a model may cost is known before it is sent, so that a
// step which asks one is started as long as anything is left.
func TestAStepThatAsksAModelNeedsNoShare(t *testing.T) {
	for name, c := range map[string]struct {
		policy         Policy
		cost, reserved float64
		due            int
	}{
		"code":                     {testPolicy, 0.99, 0, 1},
		"code, all is used":        {testPolicy, 1, 0, 0},
		"a model":                  {paid(), 0.99, 0, 1},
		"others hold the rest":     {paid(), 0.5, 0.5, 0},
		"an agent":                 {runs(), 0.4, 0, 1},
		"an agent without a share": {runs(), 0.99, 0, 0},
	} {
		g := perceived()
		g.Cost, g.Reserved, g.Input.Budget.MaxCost = c.cost, c.reserved, 1
		b := &board{goals: []blackboard.Goal{g}, usual: map[message.Role]float64{message.Planner: 0.5}}
		if n := len(Due(b, c.policy, t0)); n != c.due {
			t.Errorf("%s: %d due, want %d", name, n, c.due)
		}
	}
}

func TestATaskHasACap(t *testing.T) {
	b := claimable()
	p := runs()
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
	type others struct{ spent, doubt, underWay float64 }
	for name, c := range map[string]struct {
		cap, role, task, cost, doubt float64
		own, same, other             others // this step, one of its role on its task, one of another role
		want                         float64
		waits                        bool
		by                           string
	}{
		"no cap":                      {cost: 5},
		"all of it":                   {cap: 2, want: 2, by: message.CapCost},
		"what is left":                {cap: 2, cost: 0.5, want: 1.5, by: message.CapCost},
		"doubt counts":                {cap: 2, cost: 0.5, doubt: 0.25, want: 1.25, by: message.CapCost},
		"its own counts":              {cap: 2, own: others{0.5, 0.25, 0.25}, want: 1, waits: true, by: message.CapCost},
		"what others spent is gone":   {cap: 2, other: others{0.5, 0.5, 0}, want: 1, by: message.CapCost},
		"what others reserved may go": {cap: 2, other: others{0, 0, 1}, want: 1, waits: true, by: message.CapCost},
		"nothing is left":             {cap: 1, cost: 1, by: message.CapCost},
		"a cap that was lowered":      {cap: 1, cost: 2, want: -1, by: message.CapCost},
		"the narrower of two":         {cap: 9, role: 1, same: others{0.5, 0, 0}, want: 0.5, by: "cost of the role executor"},
		"another role's is its own":   {cap: 9, role: 1, other: others{0, 0, 5}, want: 1, by: "cost of the role executor"},
		"the task's":                  {cap: 9, task: 1, same: others{0.25, 0.25, 0.25}, want: 0.25, waits: true, by: "cost of the task t"},
	} {
		b := claimable()
		g := &b.goals[0]
		g.Cost, g.Doubt, g.Input.Budget.MaxCost = c.cost, c.doubt, c.cap
		g.ByRole = map[message.Role]blackboard.Spend{}
		key := blackboard.ActivationKey{Role: message.Executor, Subject: "t", Cause: "made"}
		run := func(role message.Role, subject string, o others) {
			asked := &blackboard.Asked{Reserved: o.underWay, Spent: []message.Spent{{Cost: o.spent, Doubt: o.doubt}}}
			b.activations = append(b.activations, blackboard.Activation{ActivationKey: blackboard.ActivationKey{Role: role, Subject: subject, Cause: "made"}, Goal: "g", Asked: asked})
			g.Reserved += asked.Total()
			s := g.ByRole[role]
			s.Reserved += asked.Total()
			g.ByRole[role] = s
		}
		run(message.Executor, "t", c.own)
		run(message.Executor, "t", c.same)
		run(message.AgentValidator, "u", c.other)
		p := paid()
		p.Caps.Role, p.Caps.Task = map[message.Role]float64{message.Executor: c.role}, c.task
		got := RoomOf(b, p, Activation{Key: key, Goal: "g"})
		by := ""
		if got.Cap != nil {
			by = got.Cap.Cap
		}
		if got.Capped != (c.by != "") || by != c.by || got.USD != c.want || got.Waits != c.waits {
			t.Errorf("%s: %+v by %q, want $%g by %q, waits %t", name, got, by, c.want, c.by, c.waits)
		}
	}
}

func TestAStepThatWasKilledLeavesItsBill(t *testing.T) {
	took := message.Spent{Model: "m", Cost: 0.5, Usage: message.Usage{InputTokens: 10, ModelCalls: 1}}
	for name, c := range map[string]struct {
		asked *blackboard.Asked
		said  []message.Spent
		cost  float64
		doubt float64
		parts int
	}{
		"it asked nothing":      {},
		"it reported":           {&blackboard.Asked{Model: "m", Spent: []message.Spent{took}}, []message.Spent{{Model: "m", Cost: 0.75}}, 0, 0, 1},
		"between two questions": {&blackboard.Asked{Model: "m", Spent: []message.Spent{took}}, nil, 0.5, 0, 1},
		"in a question":         {&blackboard.Asked{Model: "m", Reserved: 0.25, Spent: []message.Spent{took}}, nil, 0.5, 0.25, 1},
		"in its first question": {&blackboard.Asked{Model: "m", Reserved: 0.25}, nil, 0, 0.25, 1},
		"in one to another":     {&blackboard.Asked{Model: "n", Reserved: 0.25, Spent: []message.Spent{took}}, nil, 0.5, 0.25, 2},
	} {
		got := Billed(blackboard.Activation{Asked: c.asked}, message.StepEnded{Spent: c.said})
		_, doubt := message.SumOf(got.Spent)
		if got.Cost != c.cost || doubt != c.doubt || len(got.Spent) != c.parts || doubt > 0 != hasUnpriced(got.Spent) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func hasUnpriced(all []message.Spent) bool {
	for _, s := range all {
		if s.Unpriced {
			return true
		}
	}
	return false
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
