package ggs

import (
	"errors"
	"math"
	"testing"

	"orch/blackboard/message"
)

func plausible(v message.Verdict) message.Verdict { v.Mode = message.Plausible; return v }

func measured(r Round) figures { return measure(Defaults(message.V08), sense(history(r)), nil) }

func TestDistance(t *testing.T) {
	gap := func(attempt int, names ...string) message.Gap {
		g := message.Gap{Attempt: attempt}
		for _, n := range names {
			g.FailedCriteria = append(g.FailedCriteria, message.FailedCriterion{CriterionID: n, Criterion: n})
		}
		return g
	}
	weighed := func(attempts int, gaps ...message.Gap) message.SubTaskOutcome {
		o := ran("s", "a", "x", pass("p"), plausible(fails("q", logical)))
		o.Attempts, o.GapTrajectory = attempts, gaps
		return o
	}
	skipped := ran("u", "a", "x", pass("p"), pass("q"))
	skipped.Status = message.Skipped
	silent := message.SubTaskOutcome{SubtaskID: "t", Slot: "s", Status: message.Failed}
	odd := ran("s", "a", "x", pass("p"))
	odd.Status = message.Failed
	for name, c := range map[string]struct {
		r    Round
		want float64
	}{
		"half":                              {request(one("a", "x", 4, 2, 1)), 0.5},
		"over all tasks":                    {request(one("a", "x", 1, 1, 1), ran("u", "a", "x", of(3, 0, 0)...)), 0.25},
		"no outcome":                        {request(), 1},
		"no outcome, goal judged":           {requestOver([]message.Verdict{pass("g")}), 1},
		"no plan":                           {noPlan("x"), 1},
		"goal criteria when worse":          {requestOver([]message.Verdict{fails("g", logical), pass("h")}, one("a", "x", 4, 0, 0)), 0.5},
		"task criteria when worse":          {requestOver([]message.Verdict{fails("g", logical), pass("h")}, one("a", "x", 4, 3, 0)), 0.75},
		"skipped counts in full":            {request(skipped, ran("s", "a", "x", of(2, 0, 0)...)), 0.5},
		"skipped without criteria":          {request(message.SubTaskOutcome{Status: message.Skipped}, one("a", "x", 1, 0, 0)), 0.5},
		"failed without a verdict":          {request(silent), 1},
		"failed although everything passed": {request(odd), 0.5},
		"plausible, failed in 1 of 1":       {request(weighed(1, gap(1, "q"))), 0.5},
		"plausible, failed in 3 of 3":       {request(weighed(3, gap(1, "q"), gap(2, "q"), gap(3, "q"))), 0.5},
		"plausible, failed in 2 of 4":       {request(weighed(4, gap(1, "p"), gap(2, "q"), gap(3, "p"), gap(4, "q"))), 0.25},
		"plausible, last one not a gap":     {request(weighed(2, gap(1, "p"))), 0.25},
		"plausible, more gaps than runs":    {request(weighed(1, gap(0, "q"), gap(1, "q"))), 0.5},
		"everything":                        {request(one("a", "x", 3, 3, 3)), 1},
	} {
		if f := measured(c.r); f.D != c.want {
			t.Errorf("%s: D %v, want %v", name, f.D, c.want)
		}
	}
}

func TestImplausibility(t *testing.T) {
	skipped := one("a", "x", 4, 4, 4)
	skipped.Status = message.Skipped
	call := called(message.SubTaskOutcome{SubtaskID: "t", Slot: "s", Status: message.Failed}, "a", "x", "transient")
	for name, c := range map[string]struct {
		r     Round
		want  float64
		class message.FailureClass
	}{
		"all logical":         {request(one("a", "x", 3, 3, 3)), 1, message.Logical},
		"all environmental":   {request(one("a", "x", 3, 3, 0)), 0, message.Environmental},
		"mixed only on a tie": {request(one("a", "x", 4, 4, 2)), 0.5, message.Mixed},
		"mostly logical":      {request(one("a", "x", 3, 3, 2)), exact(2.0 / 3), message.Logical},
		"unclassified":        {request(ran("s", "a", "x", fails("c", ""))), 0, ""},
		"skipped is silent":   {request(skipped, ran("u", "a", "x", fails("c", environmental))), 0, message.Environmental},
		"goal criteria count": {requestOver([]message.Verdict{fails("g", logical)}, one("a", "x", 1, 0, 0)), 1, message.Logical},
		"no plan":             {noPlan("x"), 1, message.Logical},
		"accept":              {summary(one("a", "x", 2, 0, 0)), 0.5, ""},
		"all passed, request": {request(one("a", "x", 2, 0, 0)), 0, ""},
		"no verdict but a call that failed for outside reasons": {request(call), 0, message.Environmental},
	} {
		if f := measured(c.r); f.P != c.want || f.class != c.class {
			t.Errorf("%s: P %v %q, want %v %q", name, f.P, f.class, c.want, c.class)
		}
	}
}

func TestResourceCost(t *testing.T) {
	p := Defaults(message.V08)
	for name, c := range map[string]struct {
		replans int
		elapsed int64
		cost    float64
		cap     float64
		w3      float64
		want    float64
	}{
		"the fourth replan of three is 0.8":  {4, 0, 0, 0, 0, 0.8},
		"time alone":                         {0, 300_000, 0, 0, 0, 0.4},
		"a ratio above 1 is not clamped":     {0, 600_000, 0, 0, 0, 0.8},
		"the sum is":                         {100, 0, 0, 0, 0, 1},
		"cost counts with a cap":             {0, 0, 5, 10, 0.5, 0.25},
		"and not without":                    {0, 0, 5, 0, 0.5, 0},
		"all three":                          {1, 150_000, 1, 10, 1, 0.5},
		"never below 0":                      {0, -1, 0, 0, 0, 0},
		"seven of nine thirds stay in place": {2, 0, 0, 0, 0, 0.4},
	} {
		p.CostCap, p.W3 = c.cap, c.w3
		if got := omega(p, c.replans, c.elapsed, c.cost); got != c.want {
			t.Errorf("%s: Ω %v, want %v", name, got, c.want)
		}
	}
}

func TestLossAndGradient(t *testing.T) {
	p := Defaults(message.V08)
	list := play(t, message.V08, p, at(60_000, request(one("a", "x", 10, 9, 3))), at(90_000, request(one("a", "y", 10, 5, 2))))
	a, b := list[0].Directive, list[1].Directive
	om := 0.6/3 + 0.4*60_000/300_000
	if want := 0.6*0.9 + 0.3*(1-om)/3 + 0.4*om; math.Abs(a.Loss.L-want) > 1e-8 {
		t.Errorf("L %v, want %v", a.Loss.L, want)
	}
	if want := b.Loss.L - a.Loss.L; math.Abs(b.GradL-want) > 1e-8 || b.GradL == 0 {
		t.Errorf("∇L %v, want %v", b.GradL, want)
	}
	if b.BudgetPressure != b.Loss.Omega {
		t.Errorf("budget pressure %v, Ω %v", b.BudgetPressure, b.Loss.Omega)
	}
}

func TestTimeAndCostNeverShrink(t *testing.T) {
	r := at(200_000, request(one("a", "x", 2, 2, 0)))
	r.Request.Cost = 3
	list := sense(history(r, noPlan("x"), at(100_000, request(one("a", "x", 2, 2, 0)))))
	for i, s := range list {
		if s.elapsedMS != 200_000 || s.cost != 3 {
			t.Errorf("round %d: %d ms, %v dollars", i+1, s.elapsedMS, s.cost)
		}
	}
}

func TestFailedCriterion(t *testing.T) {
	light := ran("s", "a", "x", plausible(fails("light", logical)), fails("heavy", logical), fails("heavy too", logical))
	light.Attempts = 2
	skipped := ran("first", "a", "x", fails("never ran", ""))
	skipped.Status = message.Skipped
	for want, r := range map[string]Round{
		"heavy": request(skipped, light),
		"goal":  requestOver([]message.Verdict{fails("goal", logical)}, one("a", "x", 1, 0, 0)),
		"":      noPlan("x"),
	} {
		if got := measured(r).heaviest(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParamsAreRefusedByNameValueAndRange(t *testing.T) {
	for name, change := range map[string]func(*Params){
		"alpha": func(p *Params) { p.Alpha = -1 }, "beta": func(p *Params) { p.Beta = 11 }, "lambda": func(p *Params) { p.Lambda = math.NaN() },
		"w1": func(p *Params) { p.W1 = 0 }, "w2": func(p *Params) { p.W2 = -0.1 }, "w3": func(p *Params) { p.W3 = math.Inf(1) },
		"epsilon": func(p *Params) { p.Epsilon = 1.1 }, "delta": func(p *Params) { p.Delta = -0.1 }, "rho": func(p *Params) { p.Rho = 2 },
		"theta": func(p *Params) { p.Theta = 0 }, "max_replans": func(p *Params) { p.MaxReplans = 0 },
		"time_budget_ms": func(p *Params) { p.TimeBudgetMS = 0 }, "cost_cap": func(p *Params) { p.CostCap = -1 }, "law2": func(p *Params) { p.Law2 = 0 },
	} {
		p := Defaults(message.LikeForLike)
		if err := p.Validate(); err != nil {
			t.Fatalf("the defaults are refused: %v", err)
		}
		change(&p)
		_, err := Decide(message.LikeForLike, p, history(stalling(1)), noon, ids())
		var e *ParamError
		if !errors.As(err, &e) || e.Name != name || e.Allowed == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestBudgetOfTheGoal(t *testing.T) {
	p := Defaults(message.LikeForLike)
	if got := p.WithBudget(message.Budget{}); got != p {
		t.Errorf("an empty budget changed %+v", got)
	}
	if got := p.WithBudget(message.Budget{TimeMS: 5, MaxReplans: 7, MaxCost: 9}); got.TimeBudgetMS != 5 || got.MaxReplans != 7 || got.CostCap != 9 {
		t.Errorf("got %+v", got)
	}
	if TimeBudgetMS("task", Playbooks) != 300_000 || TimeBudgetMS("task", Models) != 3_600_000 || TimeBudgetMS("task", Agents) != 14_400_000 ||
		TimeBudgetMS("code", Models) != 14_400_000 || TimeBudgetMS("mission", Agents) != 86_400_000 {
		t.Error("time budgets by profile")
	}
}

func TestTransitionLine(t *testing.T) {
	l := message.Loss{D: 0.25, P: 1.0 / 3, Omega: 0.41}
	for grad, want := range map[float64]string{-0.18: "↓0.18", 0.18: "↑0.18", 0.04: "⊥0.04", 0.1: "→0.10", -0.1: "→0.10", 0: "⊥0.00"} {
		if got := Transition(message.Refine, message.Success, l, grad, 0.1); got != "refine→success  D 0.25  P 0.33  ∇L "+want+"  Ω 0.41" {
			t.Errorf("got %q", got)
		}
	}
}
