package ggs

import (
	"fmt"
	"testing"
	"time"

	"orch/blackboard/message"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// ids names things 1, 2, 3 …
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprint("id-", n) }
}

func pass(name string) message.Verdict {
	return message.Verdict{CriterionID: name, Criterion: name, Mode: message.Verifiable, Verdict: message.Pass, Evidence: "seen", By: message.ByModel}
}

// fails is a failed criterion that nothing makes required.
func fails(name string, class message.FailureClass) message.Verdict {
	return message.Verdict{CriterionID: name, Criterion: name, Mode: message.Verifiable, Verdict: message.Fail, FailureClass: class, Evidence: "not seen", By: message.ByModel}
}

func required(v message.Verdict) message.Verdict { v.Required = true; return v }

func byCheck(v message.Verdict) message.Verdict { v.By = message.ByCode; return v }

func kind(v message.Verdict, k string) message.Verdict { v.Kind = k; return v }

// ran is the outcome of a task; it matched when every verdict passed.
func ran(slot, approach, target string, verdicts ...message.Verdict) message.SubTaskOutcome {
	o := message.SubTaskOutcome{SubtaskID: message.TaskID(slot + "/" + approach + "/" + target), Slot: slot, Approach: approach, Target: target,
		Status: message.Matched, Attempts: 1, CriteriaVerdicts: verdicts}
	for _, v := range verdicts {
		if !v.Passed() {
			o.Status = message.Failed
		}
	}
	return o
}

func called(o message.SubTaskOutcome, tool, target, kind string) message.SubTaskOutcome {
	o.FailedCalls = append(o.FailedCalls, message.FailedCall{Pair: message.Pair{Tool: tool, Target: target}, Class: message.Environmental, Kind: kind})
	return o
}

// of is n criteria of which the first bad fail; logical of those are a wrong approach.
func of(n, bad, logical int) []message.Verdict {
	var out []message.Verdict
	for i := range n {
		name := fmt.Sprintf("c%02d", i)
		switch {
		case i < logical:
			out = append(out, fails(name, message.Logical))
		case i < bad:
			out = append(out, fails(name, message.Environmental))
		default:
			out = append(out, pass(name))
		}
	}
	return out
}

func request(outcomes ...message.SubTaskOutcome) Round {
	return Round{Request: &message.ReplanRequest{TaskID: "goal", Outcomes: outcomes}}
}

func requestOver(task []message.Verdict, outcomes ...message.SubTaskOutcome) Round {
	r := request(outcomes...)
	r.Request.TaskVerdicts = task
	return r
}

func at(elapsedMS int64, r Round) Round {
	switch {
	case r.Request != nil:
		r.Request.ElapsedMS = elapsedMS
	case r.Summary != nil:
		r.Summary.ElapsedMS = elapsedMS
	}
	return r
}

func summary(outcomes ...message.SubTaskOutcome) Round {
	return Round{Summary: &message.OutcomeSummary{TaskID: "goal", Outcomes: outcomes, MergedOutput: "merged"}}
}

func noPlan(rule string) Round {
	return Round{PlanFailure: &message.PlanRejected{PlanID: "p", Attempt: 3, Violations: []message.Violation{{Rule: rule, What: "nothing allowed"}}}}
}

// answered is a round with a directive that left this loss behind.
func answered(r Round, d message.PlanDirective) Round {
	if d.Directive == "" {
		d.Directive = message.ChangePath
	}
	r.Directive = &d
	return r
}

func history(rounds ...Round) History {
	return History{Goal: "goal", Intent: "make the tests pass", Space: "intent:make_the_tests", Rounds: rounds}
}

func decide(t *testing.T, policy string, p Params, h History) Decision {
	t.Helper()
	d, err := Decide(policy, p, h, noon, ids())
	if err != nil {
		t.Fatalf("decide: %v", err)
	}
	check(t, d)
	return d
}

// check is what holds of every decision.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, d Decision) {
	t.Helper()
	if (d.Final == nil) == (d.Directive == nil) {
		t.Fatalf("a decision is a directive or a result, got %+v", d)
	}
	if v, ok := d.Body().(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			t.Fatalf("the decision does not validate: %v", err)
		}
	}
	if len(d.Trace) == 0 {
		t.Fatalf("a decision without a trace")
	}
}

// play decides round after round, each answered by what was decided, until the
// goal ends or the rounds are used up. It returns every decision.
func play(t *testing.T, policy string, p Params, rounds ...Round) []Decision {
	t.Helper()
	var out []Decision
	for i := range rounds {
		d := decide(t, policy, p, history(rounds[:i+1]...))
		out = append(out, d)
		if d.Final != nil {
			return out
		}
		rounds[i].Directive = d.Directive
	}
	return out
}

// directives of a play, a result counting as one.
func directives(list []Decision) []message.Directive {
	var out []message.Directive
	for _, d := range list {
		if d.Final != nil {
			out = append(out, d.Final.Directive)
		} else {
			out = append(out, d.Directive.Directive)
		}
	}
	return out
}

func last[T any](list []T) T { return list[len(list)-1] }

// order is the directive for a slot.
func order(t *testing.T, d Decision, slot string) message.TaskDirective {
	t.Helper()
	if d.Directive == nil {
		t.Fatalf("the goal ended: %s", d.Final.Rationale)
	}
	for _, o := range d.Directive.TaskDirectives {
		if o.Slot == slot {
			return o
		}
	}
	t.Fatalf("no directive for %s in %+v", slot, d.Directive.TaskDirectives)
	return message.TaskDirective{}
}
