package ggs

import (
	"fmt"
	"slices"
	"testing"

	"orch/blackboard/message"
)

// The rows of v0.8's "Key Invariants" that belong to the controller.

func TestInvariant_GGSComputesLossAndGradient(t *testing.T) {
	if e := entry(t, message.PlanDirective{}); !slices.Equal(e.From(), []message.Role{message.GGS}) {
		t.Errorf("PlanDirective may come from %v", e.From())
	}
	r := request(one("a", "x", 4, 4, 4))
	r.Request.Recommendation = "abandon" // advice is logged, arithmetic decides
	if d := decide(t, message.V08, Defaults(message.V08), history(r)); d.Directive == nil || d.Directive.Loss.L == 0 {
		t.Errorf("got %+v", d.Body())
	}
}

func TestInvariant_ReplanRequestGoesToGGSOnly(t *testing.T) {
	if e := entry(t, message.ReplanRequest{}); !slices.Equal(e.To, []message.Role{message.GGS}) {
		t.Errorf("ReplanRequest may go to %v", e.To)
	}
}

func entry(t *testing.T, b message.Body) message.Entry {
	t.Helper()
	for _, e := range message.Catalogue() {
		if e.Type == b.Type() {
			return e
		}
	}
	t.Fatalf("%s is not in the catalogue", b.Type())
	return message.Entry{}
}

func TestInvariant_AbandonWhenBudgetSpentRegardlessOfOtherSignals(t *testing.T) {
	for _, bad := range []int{1, 3, 10} {
		for _, wrong := range []int{0, 1} {
			now := at(2*taskBudgetMS, request(one("a", "x", 10, bad, wrong*bad)))
			for _, l := range []float64{0, 0.5, 1} {
				d := decide(t, message.V08, Defaults(message.V08), history(answered(stalling(1), message.PlanDirective{Loss: message.Loss{L: l}}), now))
				if d.Final == nil || d.Final.Directive != message.Abandon {
					t.Errorf("D %d/10, L before %g: got %+v", bad, l, d.Body())
				}
			}
		}
	}
}

func TestInvariant_SuccessWhenCloseEnoughRegardlessOfPAndGradient(t *testing.T) {
	for _, wrong := range []int{0, 1, 3} {
		for _, l := range []float64{0, 0.3, 1} {
			for _, policy := range []string{message.V08, message.LikeForLike} {
				d := decide(t, policy, Defaults(policy), history(answered(stalling(1), message.PlanDirective{Loss: message.Loss{L: l}}), request(one("a", "x", 10, 3, wrong))))
				if d.Final == nil || d.Final.Directive != message.Success {
					t.Errorf("%s: got %+v", policy, d.Body())
				}
			}
		}
	}
}

func TestInvariant_BlockedTargetsAccumulate(t *testing.T) {
	p := Defaults(message.V08)
	p.MaxReplans = 100
	list := play(t, message.V08, p, stalling(1), stalling(2), noPlan("x"), stalling(3))
	got := last(list).Directive
	if got.Directive != message.Refine || !slices.Equal(got.BlockedTargets, []string{"x3"}) {
		t.Fatalf("refining while improving narrows to the latest: %s %v", got.Directive, got.BlockedTargets)
	}
	list = play(t, message.V08, p, stalling(1), stalling(2), stalling(3))
	for i, d := range list {
		want := []string{"x1", "x2", "x3"}[:i+1]
		if d.Directive.Directive != message.ChangePath || !slices.Equal(d.Directive.BlockedTargets, want) {
			t.Errorf("round %d: blocked %v, want %v", i+1, d.Directive.BlockedTargets, want)
		}
	}
}

func TestInvariant_BlockedToolsAccumulate(t *testing.T) {
	p := Defaults(message.V08)
	p.MaxReplans = 100
	list := play(t, message.V08, p, request(one("a", "x", 4, 4, 4)), request(one("b", "x", 4, 4, 4)), noPlan(RuleNoApproachLeft), request(one("a", "x", 4, 4, 4)))
	for i, want := range [][]string{{"a"}, {"a", "b"}, nil, {"a"}} {
		if d := list[i].Directive; d.Directive != message.BreakSymmetry || !slices.Equal(d.BlockedTools, want) || len(d.BlockedTargets) != 0 {
			t.Errorf("round %d: %s blocks %v, want %v", i+1, d.Directive, d.BlockedTools, want)
		}
	}
}

func TestInvariant_GGSIsTheSoleEmitterOfFinalResult(t *testing.T) {
	if e := entry(t, message.FinalResult{}); !slices.Equal(e.From(), []message.Role{message.GGS}) {
		t.Errorf("FinalResult may come from %v", e.From())
	}
	for want, r := range map[message.Directive]Round{
		message.Accept:  summary(one("a", "x", 3, 0, 0)),
		message.Success: request(one("a", "x", 10, 1, 0)),
		message.Abandon: at(2*taskBudgetMS, request(one("a", "x", 3, 3, 3))),
	} {
		for _, policy := range []string{message.V08, message.LikeForLike} {
			d := decide(t, policy, Defaults(policy), history(r))
			if d.Final == nil || d.Final.Directive != want {
				t.Errorf("%s: got %+v, want %s", policy, d.Body(), want)
			}
		}
	}
}

func TestInvariant_FinalResultDirectiveIsAcceptSuccessOrAbandon(t *testing.T) {
	for _, d := range []message.Directive{message.Init, message.Refine, message.ChangePath, message.ChangeApproach, message.BreakSymmetry, ""} {
		if err := (message.FinalResult{Directive: d}).Validate(); err == nil {
			t.Errorf("a result %q is taken", d)
		}
	}
}

func TestInvariant_AcceptNeedsEverythingMatched(t *testing.T) {
	skipped := one("a", "x", 3, 0, 0)
	skipped.Status = message.Skipped
	for name, r := range map[string]Round{
		"a request":          request(one("a", "x", 3, 0, 0)),
		"an empty summary":   summary(),
		"a skipped task":     summary(skipped),
		"a failed criterion": summary(one("a", "x", 10, 1, 1)),
	} {
		for _, policy := range message.Policies() {
			if d := decide(t, policy, Defaults(policy), history(r)); d.Final != nil && d.Final.Directive == message.Accept {
				t.Errorf("%s: %s is accepted", policy, name)
			}
		}
	}
}

func TestInvariant_OnlyGGSAndTheMemoryWriteMegrams(t *testing.T) {
	if e := entry(t, message.Megram{}); !slices.Equal(e.From(), []message.Role{message.GGS, message.Memory}) {
		t.Errorf("Megram may come from %v", e.From())
	}
}

func TestInvariant_OneMegramPerBlockedTarget(t *testing.T) {
	r := request(called(called(one("a", "x", 3, 3, 0), "shell:curl", "u1", ""), "shell:curl", "u2", ""), ran("u", "b", "y", fails("c", environmental)))
	d := decide(t, message.V08, Defaults(message.V08), history(r))
	if d.Directive.Directive != message.ChangePath || len(d.Directive.BlockedTargets) != 3 || len(d.Megrams) != 3 {
		t.Fatalf("%s blocks %v, %d megrams", d.Directive.Directive, d.Directive.BlockedTargets, len(d.Megrams))
	}
	for i, want := range []string{"u1", "u2", "y"} {
		if m := d.Megrams[i]; m.Entity != "path:"+want || m.F != 0.30 || m.Sigma != 0 || m.K != 0.2 || m.State != message.ChangePath {
			t.Errorf("megram %d: %+v", i, m)
		}
	}
}

func TestInvariant_PrevDirectiveIsInitThenThePriorOne(t *testing.T) {
	for _, policy := range message.Policies() {
		prev := message.Init
		for _, d := range play(t, policy, Defaults(policy), stalling(1), request(one("b", "x", 4, 4, 4)), stalling(2), stalling(3), stalling(4), stalling(5), stalling(6), stalling(7)) {
			got, next := message.Directive(""), message.Directive("")
			if d.Final != nil {
				got = d.Final.PrevDirective
			} else {
				got, next = d.Directive.PrevDirective, d.Directive.Directive
			}
			if got != prev {
				t.Errorf("%s: previous directive %s, want %s", policy, got, prev)
			}
			prev = next
		}
		if prev != "" {
			t.Errorf("%s: the goal did not end", policy)
		}
	}
}

func TestInvariant_Law2ForcesAbandon(t *testing.T) {
	for _, policy := range message.Policies() {
		p := Defaults(policy)
		p.MaxReplans = 100
		list := play(t, policy, p, request(one("a", "x", 10, 4, 0)), request(one("b", "x", 10, 6, 0)), request(one("c", "x", 10, 8, 0)))
		if f := last(list).Final; f == nil || f.Directive != message.Abandon || f.Loss.Omega >= p.Theta {
			t.Errorf("%s: got %+v", policy, last(list).Body())
		}
	}
}

func TestInvariant_EveryGoalEnds(t *testing.T) {
	for _, policy := range message.Policies() {
		for name, round := range map[string]func(int) Round{
			"always the same":    func(int) Round { return request(one("a", "x", 3, 3, 0)) },
			"always the outage":  func(int) Round { return request(kindOf(one("a", "x", 3, 3, 0), "transient")) },
			"always better":      func(n int) Round { return request(one("a", "x", 1000, 1000-n, 0)) },
			"never a plan":       func(int) Round { return noPlan(RuleNoApproachLeft) },
			"nothing ever runs":  func(int) Round { return request() },
			"another every time": func(n int) Round { return request(one(fmt.Sprint("a", n), "x", 3, 3, 3)) },
		} {
			var rounds []Round
			for n := 1; n <= 20; n++ {
				rounds = append(rounds, round(n))
			}
			list := play(t, policy, Defaults(policy), rounds...)
			if n := Defaults(policy).Bound(); len(list) > n || last(list).Final == nil {
				t.Errorf("%s, %s: %d rounds, want an end within %d", policy, name, len(list), n)
			}
		}
	}
}
