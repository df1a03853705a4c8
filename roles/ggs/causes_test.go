package ggs

import (
	"slices"
	"strings"
	"testing"

	"orch/blackboard/message"
)

// The causes for which the default is not v0.8, one test each.

func TestCause_SlowRoundsWithNothingChangedAreNotWorsening(t *testing.T) {
	var rounds []Round
	for i := range int64(4) {
		rounds = append(rounds, at(i*taskBudgetMS*6/10, request(one("a", "x", 5, 4, 0))))
	}
	p := Defaults(message.V08)
	p.MaxReplans = 10
	if got := directives(play(t, message.V08, p, rounds...)); last(got) != message.Abandon || len(got) != 3 {
		t.Fatalf("v0.8 is said to take slow rounds for worsening: %v", got)
	}
	for i := range rounds {
		rounds[i].Directive = nil
	}
	p = Defaults(message.LikeForLike)
	p.MaxReplans = 10
	list := play(t, message.LikeForLike, p, rounds[:3]...)
	if f := last(list).Final; f != nil {
		t.Errorf("nothing got worse, but: %s", f.Rationale)
	}
}

func TestCause_OneMorePassingCriterionIsProgress(t *testing.T) {
	list := like(t, request(one("a", "x", 10, 8, 0)), at(100_000, request(one("a", "x", 10, 7, 0))))
	d := last(list).Directive
	if d.GradL < 0 {
		t.Fatalf("the loss was meant to drown the progress, ∇L %g", d.GradL)
	}
	if o := order(t, last(list), "s"); o.Rule != RuleStay {
		t.Errorf("got %+v", o)
	}
}

func TestCause_RightApproachWithABadParameterIsRefinedAtOnce(t *testing.T) {
	r := request(one("a", "x", 5, 2, 2)) // 3 of 5 pass
	if d := last(play(t, message.V08, Defaults(message.V08), r)).Directive; d.Directive != message.BreakSymmetry {
		t.Fatalf("v0.8 is said to throw it away: %s", d.Directive)
	}
	if o := order(t, last(like(t, r)), "s"); o.Directive != message.Refine || !pairIs(o.Keep, "a", "x") {
		t.Errorf("got %+v", o)
	}
}

func TestCause_TasksAreNotMixedInOneP(t *testing.T) {
	d := last(like(t, request(ran("tool", "a", "x", fails("c", logical)), ran("path", "b", "y", fails("c", environmental)))))
	if o := order(t, d, "tool"); o.Directive != message.ChangeApproach {
		t.Errorf("got %+v", o)
	}
	if o := order(t, d, "path"); o.Directive != message.ChangePath {
		t.Errorf("got %+v", o)
	}
}

func TestCause_ATargetIsNotBlockedForEverAfterAnOutage(t *testing.T) {
	list := like(t, request(one("a", "x", 3, 3, 0)), request(kindOf(one("a", "y", 3, 3, 0), "transient")))
	for _, o := range last(list).Directive.TaskDirectives {
		if len(o.BlockedPairs)+len(o.BlockedApproaches) != 0 || !pairIs(o.Keep, "a", "y") {
			t.Errorf("got %+v", o)
		}
	}
}

func TestCause_AnOutageIsNotTheBestOfAPair(t *testing.T) {
	list := like(t, request(kindOf(one("a", "x", 5, 4, 4), "transient")), request(one("a", "x", 5, 4, 4)))
	if o := order(t, last(list), "s"); o.Rule != RuleStay {
		t.Errorf("the first real measurement has to count as the first: %+v", o)
	}
}

func TestCause_AToolIsNotBlockedForAllTasksBecauseOneFailedWithIt(t *testing.T) {
	d := last(like(t, request(ran("s", "a", "x", fails("c", logical)), ran("u", "a", "y", pass("c0"), fails("c", environmental)))))
	if o := order(t, d, "u"); slices.Contains(o.BlockedApproaches, "a") || !pairIs(o.Keep, "a", "y") {
		t.Errorf("got %+v", o)
	}
	if slices.Contains(d.Directive.BlockedTools, "a") {
		t.Errorf("blocked for the goal: %v", d.Directive.BlockedTools)
	}
}

func TestCause_CommandNotFoundIsNoReasonForAnotherPath(t *testing.T) {
	o := order(t, last(like(t, request(kindOf(one("lint", "x", 3, 3, 0), "tool")))), "s")
	if o.Directive != message.ChangeApproach || !slices.Contains(o.BlockedApproaches, "lint") {
		t.Errorf("got %+v", o)
	}
	if !strings.Contains(o.Because, "not there") {
		t.Errorf("because %q", o.Because)
	}
}

func TestCause_Law2LooksAtD(t *testing.T) {
	// D falls a little while slow rounds push the loss up twice.
	rounds := []Round{request(one("a", "x", 100, 90, 0)), at(180_000, request(one("a", "y", 100, 89, 0))), at(360_000, request(one("a", "z", 100, 88, 0)))}
	p := Defaults(message.V08)
	p.MaxReplans = 10
	if f := last(play(t, message.V08, p, slices.Clone(rounds)...)).Final; f == nil || f.Directive != message.Abandon {
		t.Fatal("v0.8 is said to abandon here")
	}
	p = Defaults(message.LikeForLike)
	p.MaxReplans = 10
	if f := last(play(t, message.LikeForLike, p, slices.Clone(rounds)...)).Final; f != nil {
		t.Errorf("D never rose, but: %s", f.Rationale)
	}
}

func TestCause_AResultWithinDeltaAtTheLastRoundIsNotAbandoned(t *testing.T) {
	rounds := []Round{stalling(1), stalling(2), stalling(3), request(one("a", "x", 10, 2, 0))}
	if f := last(play(t, message.V08, Defaults(message.V08), slices.Clone(rounds)...)).Final; f == nil || f.Directive != message.Abandon {
		t.Fatal("v0.8 is said to abandon it")
	}
	p := Defaults(message.LikeForLike)
	p.MaxReplans = 3
	if f := last(play(t, message.LikeForLike, p, slices.Clone(rounds)...)).Final; f == nil || f.Directive != message.Success {
		t.Error("a result within δ was not taken")
	}
}
