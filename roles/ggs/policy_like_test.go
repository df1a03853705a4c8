package ggs

import (
	"slices"
	"testing"

	"orch/blackboard/message"
)

var (
	logical       = message.Logical
	environmental = message.Environmental
)

// one is a task in slot s whose criteria fail as given.
func one(approach, target string, n, bad, wrong int) message.SubTaskOutcome {
	return ran("s", approach, target, of(n, bad, wrong)...)
}

func like(t *testing.T, rounds ...Round) []Decision {
	t.Helper()
	return play(t, message.LikeForLike, Defaults(message.LikeForLike), rounds...)
}

func pairIs(p *message.Pair, tool, target string) bool {
	return p != nil && *p == message.Pair{Tool: tool, Target: target}
}

func TestRule1TransientRefinesTheSamePairAndBlocksNothing(t *testing.T) {
	o := order(t, last(like(t, request(called(one("a", "x", 3, 3, 3), "shell:curl", "url", "transient")))), "s")
	if o.Directive != message.Refine || !pairIs(o.Keep, "a", "x") || o.Hint != HintWait || o.Rule != RuleTransient {
		t.Errorf("got %+v", o)
	}
	if len(o.BlockedApproaches)+len(o.BlockedPairs) != 0 {
		t.Errorf("blocks %v %v", o.BlockedApproaches, o.BlockedPairs)
	}
}

func TestRule1ToolChangesTheApproach(t *testing.T) {
	for _, k := range []string{"tool", "permission"} {
		byCall := request(called(one("a", "x", 3, 1, 0), "shell:tsc", "x", k))
		byVerdict := request(ran("s", "a", "x", pass("c0"), kind(fails("c1", environmental), k)))
		for _, r := range []Round{byCall, byVerdict} {
			o := order(t, last(like(t, r)), "s")
			if o.Directive != message.ChangeApproach || o.Rule != RuleTool || !slices.Equal(o.BlockedApproaches, []string{"a"}) {
				t.Errorf("%s: got %+v", k, o)
			}
		}
	}
}

func TestRule1MissingToolOutranksAnOutage(t *testing.T) {
	r := request(ran("s", "a", "x", kind(fails("c0", environmental), "transient"), kind(fails("c1", environmental), "tool")))
	if o := order(t, last(like(t, r)), "s"); o.Rule != RuleTool {
		t.Errorf("got %+v", o)
	}
}

func TestRule2StaysWhileThereIsProgress(t *testing.T) {
	list := like(t, request(one("a", "x", 5, 4, 4)), request(one("a", "x", 5, 3, 3)), request(one("a", "x", 5, 3, 3)))
	for i, want := range []string{RuleStay, RuleStay, RuleApproach} {
		if o := order(t, list[i], "s"); o.Rule != want || (want == RuleStay && !pairIs(o.Keep, "a", "x")) {
			t.Errorf("round %d: got %+v, want rule %s", i+1, o, want)
		}
	}
}

func TestRule2ExceptWhenCorrectionsMovedNothing(t *testing.T) {
	build := func(bad, wrong, attempts int, gaps ...int) message.SubTaskOutcome {
		o := one("a", "x", 5, bad, wrong)
		o.Attempts = attempts
		for i, n := range gaps {
			g := message.Gap{Attempt: i + 1}
			for _, v := range of(5, n, n)[:n] {
				g.FailedCriteria = append(g.FailedCriteria, message.FailedCriterion{CriterionID: v.CriterionID, Criterion: v.Criterion})
			}
			o.GapTrajectory = append(o.GapTrajectory, g)
		}
		return o
	}
	for name, c := range map[string]struct {
		o    message.SubTaskOutcome
		want string
	}{
		"corrections moved nothing":         {build(3, 3, 3, 3, 3, 3), RuleApproach},
		"and the last attempt is not a gap": {build(3, 3, 3, 3, 3), RuleApproach},
		"they moved something":              {build(3, 3, 3, 4, 3, 3), RuleStay},
		"half of the criteria":              {build(2, 2, 3, 2, 2, 2), RuleStay},
		"P = ρ":                             {build(4, 2, 3, 4, 4, 4), RuleStay},
		"no correction was made":            {build(3, 3, 1, 3), RuleStay},
	} {
		if o := order(t, last(like(t, request(c.o))), "s"); o.Rule != c.want {
			t.Errorf("%s: got %s, want %s", name, o.Rule, c.want)
		}
	}
}

func TestRule3GoesBackToWhatCameOutBetter(t *testing.T) {
	first := request(one("a", "x", 5, 3, 3))
	list := like(t, first, request(one("b", "y", 5, 5, 5)))
	o := order(t, last(list), "s")
	if o.Directive != message.Refine || o.Rule != RuleGoBack || !pairIs(o.ReturnTo, "a", "x") || o.Keep != nil {
		t.Fatalf("got %+v", o)
	}
	// A pair that has stalled is not gone back to.
	list = like(t, first, request(one("a", "x", 5, 3, 3)), request(one("b", "y", 5, 5, 5)))
	if o := order(t, last(list), "s"); o.Rule != RuleApproach || o.ReturnTo != nil {
		t.Errorf("after stalling: got %+v", o)
	}
	// Nor is one on which nothing ever passed.
	list = like(t, request(one("a", "x", 5, 5, 0)), request(one("b", "y", 5, 5, 0)))
	if o := order(t, last(list), "s"); o.Rule != RulePath {
		t.Errorf("nothing passed before: got %+v", o)
	}
}

func TestRule3GoesBackAlthoughTheApproachWasBlocked(t *testing.T) {
	p := Defaults(message.LikeForLike)
	p.MaxReplans = 100
	list := play(t, message.LikeForLike, p,
		request(kindOf(one("a", "x", 5, 2, 2), "tool")), // rule 1: a is blocked
		request(one("b", "x", 5, 5, 5)))
	if o := order(t, list[0], "s"); !slices.Contains(o.BlockedApproaches, "a") {
		t.Fatalf("a is not blocked: %+v", o)
	}
	o := order(t, last(list), "s")
	if o.Rule != RuleGoBack || slices.Contains(o.BlockedApproaches, "a") {
		t.Errorf("what is to be refined is blocked: %+v", o)
	}
}

func needed(o message.SubTaskOutcome) message.SubTaskOutcome {
	o.CriteriaVerdicts[0].Required = true
	return o
}

func kindOf(o message.SubTaskOutcome, k string) message.SubTaskOutcome {
	return called(o, o.Approach, o.Target, k)
}

func TestRule4BlocksTheApproachAndAccumulates(t *testing.T) {
	list := like(t, request(one("a", "x", 3, 3, 3)), request(one("b", "x", 3, 3, 2)), request(one("c", "x", 3, 3, 2)))
	for i, c := range []struct {
		want   message.Directive
		blocks []string
	}{
		{message.ChangeApproach, []string{"a"}},
		{message.ChangeApproach, []string{"a", "b"}},     // the verdicts changed
		{message.BreakSymmetry, []string{"a", "b", "c"}}, // they did not
	} {
		if o := order(t, list[i], "s"); o.Directive != c.want || o.Rule != RuleApproach || !sameSet(o.BlockedApproaches, c.blocks) {
			t.Errorf("round %d: got %+v, want %s blocking %v", i+1, o, c.want, c.blocks)
		}
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func TestRule4ReleasesWhenNothingIsLeftToTry(t *testing.T) {
	list := like(t, request(one("a", "x", 3, 3, 3)), request(one("b", "x", 3, 2, 2)), request(one("c", "x", 3, 3, 3)),
		request(one("b", "x", 3, 2, 2)), noPlan(RuleNoApproachLeft), request(one("b", "x", 3, 3, 3)))
	o := order(t, list[4], "s")
	if o.Rule != RuleRelease || o.Directive != message.Refine || !pairIs(o.ReturnTo, "b", "x") || len(o.BlockedApproaches) != 0 {
		t.Errorf("got %+v", o)
	}
	if o := order(t, list[5], "s"); slices.Contains(o.BlockedApproaches, "a") {
		t.Errorf("what was released is blocked again without having run: %+v", o)
	}
}

func TestOrdersStandWhenNoPlanPassed(t *testing.T) {
	list := like(t, request(one("a", "x", 3, 3, 3)), noPlan("fingerprint"), noPlan("fingerprint"))
	if a, b := order(t, list[0], "s"), order(t, list[1], "s"); b.Directive != a.Directive || !slices.Equal(a.BlockedApproaches, b.BlockedApproaches) {
		t.Errorf("got %+v, want %+v", b, a)
	}
	if o := order(t, list[2], "s"); o.Rule != RuleRelease {
		t.Errorf("twice in a row has to release: %+v", o)
	}
}

func TestFirstPlanThatNeverPassed(t *testing.T) {
	for _, policy := range message.Policies() {
		list := play(t, policy, Defaults(policy), noPlan("x"), noPlan("x"), noPlan("x"), noPlan("x"), noPlan("x"), noPlan("x"), noPlan("x"), noPlan("x"), noPlan("x"))
		f := last(list).Final
		if f == nil || f.Directive != message.Abandon || len(f.UnmetCriteria) != 1 || len(f.NextMoves) < 2 {
			t.Errorf("%s: got %+v", policy, last(list).Body())
		}
		if d := list[0].Directive; d.Loss.D != 1 || d.Loss.P != 1 || d.Directive != message.BreakSymmetry {
			t.Errorf("%s: a plan failure is D = 1, P = 1, got %+v", policy, d)
		}
	}
}

func TestRule5BlocksThePairForTheNextPlanOnly(t *testing.T) {
	list := like(t, request(one("a", "x", 3, 3, 0)), request(one("a", "y", 3, 3, 0)))
	if o := order(t, list[0], "s"); o.Directive != message.ChangePath || o.Rule != RulePath || !slices.Equal(o.BlockedPairs, []message.Pair{{Tool: "a", Target: "x"}}) {
		t.Errorf("got %+v", o)
	}
	if o := order(t, list[1], "s"); !slices.Equal(o.BlockedPairs, []message.Pair{{Tool: "a", Target: "y"}}) {
		t.Errorf("the older pair is still blocked: %+v", o)
	}
	// Not when some criterion passed on it.
	list = like(t, request(one("a", "x", 3, 2, 0)), request(one("a", "x", 3, 2, 0)))
	if o := order(t, last(list), "s"); o.Directive != message.ChangePath || len(o.BlockedPairs) != 0 {
		t.Errorf("got %+v", o)
	}
}

func TestGoalCriteriaStandInWhenEveryTaskMatched(t *testing.T) {
	tasks := []message.SubTaskOutcome{ran("s", "a", "x", pass("c")), ran("u", "b", "y", pass("c"))}
	d := last(like(t, requestOver([]message.Verdict{required(fails("tests pass", logical))}, tasks...)))
	for _, slot := range []string{"s", "u"} {
		if o := order(t, d, slot); o.Directive != message.ChangeApproach || o.Rule != RuleApproach {
			t.Errorf("got %+v", o)
		}
	}
	if d.Directive.Loss.D != 1 || d.Directive.FailedCriterion != "tests pass" {
		t.Errorf("got %+v", d.Directive)
	}
}

// A pair whose own work comes right is better than before, although the goal's
// criteria are judged for the first time and fail.
func TestMatchingATaskIsProgressEvenIfTheGoalFails(t *testing.T) {
	goal := []message.Verdict{pass("builds"), required(fails("tests pass", logical)), required(fails("vet passes", logical))}
	list := like(t, request(needed(one("a", "x", 5, 1, 1))), requestOver(goal, one("a", "x", 5, 0, 0)))
	if o := order(t, last(list), "s"); o.Rule != RuleStay {
		t.Errorf("got %+v", o)
	}
}

func TestSuccessIsAskedBeforeTheBudget(t *testing.T) {
	good, bad := one("a", "x", 10, 2, 2), one("a", "x", 10, 8, 0)
	d := last(like(t, request(bad), at(10*taskBudgetMS, request(good))))
	if d.Final == nil || d.Final.Directive != message.Success || d.Final.Loss.Omega != 1 {
		t.Fatalf("got %+v", d.Body())
	}
	if d.Final.MacroState != message.Abandon {
		t.Errorf("macro-state %s, v0.8 would have abandoned", d.Final.MacroState)
	}
	good.CriteriaVerdicts[0].Required = true
	if d := last(like(t, request(bad), at(10*taskBudgetMS, request(good)))); d.Final == nil || d.Final.Directive != message.Abandon {
		t.Errorf("a required criterion failed: got %+v", d.Body())
	}
}

func TestLaw2OnD(t *testing.T) {
	for name, c := range map[string]struct {
		rounds []Round
		want   message.Directive
	}{
		"risen twice":          {[]Round{request(one("a", "x", 10, 4, 4)), request(one("b", "x", 10, 5, 5)), request(one("c", "x", 10, 6, 6))}, message.Abandon},
		"risen once":           {[]Round{request(one("a", "x", 10, 4, 4)), request(one("b", "x", 10, 5, 5)), request(one("c", "x", 10, 5, 5))}, message.Refine},
		"fallen between":       {[]Round{request(one("a", "x", 10, 5, 0)), request(one("a", "x", 10, 6, 0)), request(one("a", "x", 10, 4, 0)), request(one("a", "x", 10, 5, 0))}, message.ChangePath},
		"no plan is no rise":   {[]Round{request(one("a", "x", 10, 4, 4)), request(one("b", "x", 10, 5, 5)), noPlan("x"), noPlan("x")}, message.Refine},
		"no plan in between":   {[]Round{request(one("a", "x", 10, 4, 4)), request(one("b", "x", 10, 5, 5)), noPlan("x"), request(one("c", "x", 10, 6, 6))}, message.Abandon},
		"close enough forgets": {[]Round{request(needed(one("a", "x", 100, 31, 0))), request(needed(one("b", "x", 100, 32, 0))), request(one("c", "x", 100, 30, 0))}, message.Success},
	} {
		if got := last(directives(like(t, c.rounds...))); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestGoalDirectiveIsTheMostDrasticAndBlocksOnlyWhatIsBlockedForAll(t *testing.T) {
	d := last(like(t, request(
		ran("wrong tool", "a", "x", fails("c", logical)),
		ran("wrong path", "b", "y", fails("c", environmental)),
	))).Directive
	if d.Directive != message.ChangeApproach || len(d.BlockedTools)+len(d.BlockedTargets) != 0 {
		t.Errorf("got %s blocking %v %v", d.Directive, d.BlockedTools, d.BlockedTargets)
	}
	if d.MacroState != message.ChangePath {
		t.Errorf("macro-state %s, want what v0.8 would order for P = 0.5", d.MacroState)
	}
	d = last(like(t, request(ran("s", "a", "x", fails("c", logical))))).Directive
	if !slices.Equal(d.BlockedTools, []string{"a"}) {
		t.Errorf("blocked for the only task, but not for the goal: %v", d.BlockedTools)
	}
	d = last(like(t, request(ran("s", "a", "x", fails("c", logical)), ran("u", "a", "y", pass("c"))))).Directive
	if len(d.BlockedTools) != 0 {
		t.Errorf("a tool that works for another task is blocked for the goal: %v", d.BlockedTools)
	}
}

func TestWholeBackendsAreNeverBlocked(t *testing.T) {
	for _, label := range []string{"", "shell", "agent", "playbook", "openai", "anthropic", "exec", "acp",
		"claude", "codex", "gemini", "qwen", "opencode", "copilot", "pi"} {
		for _, policy := range message.Policies() {
			d := last(play(t, policy, Defaults(policy), request(one(label, "x", 2, 2, 2)))).Directive
			blocked := slices.Clone(d.BlockedTools)
			for _, o := range d.TaskDirectives {
				blocked = append(blocked, o.BlockedApproaches...)
			}
			if len(blocked) > 0 {
				t.Errorf("%s blocks %q", policy, blocked)
			}
		}
	}
}
