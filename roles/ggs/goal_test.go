package ggs

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard/message"
)

// needs is a required criterion of the goal with a check.
func needs(name string) message.Criterion {
	return message.Criterion{ID: name, Criterion: name, Mode: message.Verifiable, Required: true, Check: []byte(`{"run":{"command":"true"}}`)}
}

// nearly is a task of which one optional criterion of ten failed: D 0.1.
func nearly() message.SubTaskOutcome { return ran("s", "a", "x", of(10, 1, 0)...) }

// Seen from outside: one optional criterion that failed was enough for success
// although the goal's required check never ran, or had failed in the round before.
func TestTheGoalsOwnChecksAreNotWaived(t *testing.T) {
	passed, failed := required(byCheck(pass("suite"))), required(byCheck(fails("suite", logical)))
	for name, c := range map[string]struct {
		rounds []Round
		strict bool
		ends   bool
		named  bool
	}{
		"it never ran":                        {rounds: []Round{request(nearly())}, named: true},
		"it failed in the round before":       {rounds: []Round{requestOver([]message.Verdict{failed}, one("b", "x", 10, 0, 0)), request(nearly())}, named: true},
		"it failed two rounds before":         {rounds: []Round{requestOver([]message.Verdict{failed}, one("b", "x", 10, 0, 0)), noPlan("x"), request(nearly())}, named: true},
		"it failed":                           {rounds: []Round{requestOver([]message.Verdict{failed}, nearly())}, named: true},
		"a model says it passed":              {rounds: []Round{requestOver([]message.Verdict{required(pass("suite"))}, nearly())}, named: true},
		"it passed in an earlier round":       {rounds: []Round{requestOver([]message.Verdict{passed}, one("b", "x", 10, 9, 0)), request(nearly())}, named: true},
		"it passed":                           {rounds: []Round{requestOver([]message.Verdict{passed}, nearly())}, ends: true},
		"it failed before, and passed":        {rounds: []Round{requestOver([]message.Verdict{failed}, one("b", "x", 10, 0, 0)), requestOver([]message.Verdict{passed}, nearly())}, ends: true},
		"another failed before, and was left": {rounds: []Round{requestOver([]message.Verdict{required(byCheck(fails("lint", logical))), passed}, one("b", "x", 10, 0, 0)), requestOver([]message.Verdict{passed}, nearly())}},
	} {
		for _, policy := range []string{message.LikeForLike, message.V08, message.V07} {
			p := Defaults(policy)
			p.MaxReplans = 100
			h := history(c.rounds...)
			h.Criteria = []message.Criterion{needs("suite")}
			for i := range h.Rounds[:len(h.Rounds)-1] {
				h.Rounds[i] = answered(h.Rounds[i], message.PlanDirective{Loss: message.Loss{D: 1, L: 1}})
			}
			d := decide(t, policy, p, h)
			ends := c.ends && policy != message.V07 // which ends with D = 0 only
			if (d.Final != nil) != ends {
				t.Errorf("%s, %s: got %+v", name, policy, d.Body())
			}
			p.W1, p.MaxReplans = 10, 1 // the budget is spent: now it has to end
			h.Rounds[len(h.Rounds)-1].Directive = nil
			d = decide(t, policy, p, h)
			if d.Final == nil || (d.Final.Directive == message.Success) != (c.ends && policy == message.LikeForLike) {
				t.Errorf("%s, %s, without a budget: got %+v", name, policy, d.Body())
			}
			if d.Final != nil && strings.Contains(fmt.Sprint(d.Final.UnmetCriteria), "suite") != c.named {
				t.Errorf("%s, %s: unmet are %+v", name, policy, d.Final.UnmetCriteria)
			}
		}
	}
}

// A failure on record that nobody judged again is no accept either, and gives an
// order: the plan that left the criterion out has to take it back.
func TestACriterionThatWasLeftOutIsNoAccept(t *testing.T) {
	for _, policy := range message.Policies() {
		first := answered(requestOver([]message.Verdict{required(byCheck(fails("suite", logical)))}, one("b", "x", 3, 0, 0)), message.PlanDirective{})
		d := decide(t, policy, Defaults(policy), history(first, summary(one("a", "x", 3, 0, 0))))
		if d.Directive == nil || d.Directive.Loss.D != 1 || d.Directive.FailedCriterion != "suite" {
			t.Errorf("%s: got %+v", policy, d.Body())
		}
	}
}

// What is tried from outside knows which criteria of the goal are required.
func TestRoundsSayWhatTheGoalRequires(t *testing.T) {
	const text = `{"version": 1, "goal_required": ["suite"], "rounds": [{"tasks": [{"slot": "s", "approach": "a", "pass": ["1", "2", "3", "4"], "fail": ["5"]}]%s}]}`
	for goal, ends := range map[string]bool{``: false, `, "goal": {"pass": ["suite"]}`: true, `, "goal": {"pass": ["lint"]}`: false} {
		in, err := ParseRounds(strings.NewReader(fmt.Sprintf(text, goal)))
		if err != nil {
			t.Fatal(err)
		}
		if d := decide(t, in.Policy, in.Params, in.History); (d.Final != nil) != ends {
			t.Errorf("%q: got %+v", goal, d.Body())
		}
	}
}

// While a task failed, the goal's checks decide whether the goal may end, and
// neither how far it is nor what kind of change is ordered.
func TestTheGoalsChecksDoNotHideWhetherTheWorkMoves(t *testing.T) {
	bare := measured(request(one("a", "x", 4, 1, 0)))
	f := measured(requestOver([]message.Verdict{required(byCheck(fails("suite", logical)))}, one("a", "x", 4, 1, 0)))
	if f.D != bare.D || f.P != bare.P || f.heaviest() != bare.heaviest() || len(f.facts(false)) != 1 {
		t.Errorf("D %v P %v %q, want D %v P %v %q; facts %v", f.D, f.P, f.heaviest(), bare.D, bare.P, bare.heaviest(), f.facts(false))
	}
}

// Over all histories and policies: what ends well shows a pass of every required
// criterion of the goal in its last round, by a record where there is a check,
// and nothing of the goal that failed before and was not judged since.
func TestPropertyNoGoalEndsWellWithoutItsOwnChecks(t *testing.T) {
	ended := map[message.Directive]int{}
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom(message.Policies()).Draw(t, "policy")
		p := Defaults(policy)
		p.Delta = rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "delta")
		h := history()
		h.Strict = rapid.IntRange(0, 3).Draw(t, "strict") == 0
		var all []message.Criterion
		for i := range rapid.IntRange(0, 3).Draw(t, "criteria") {
			c := needs(fmt.Sprint("g", i))
			c.Required = rapid.IntRange(0, 3).Draw(t, "optional") > 0
			if rapid.IntRange(0, 2).Draw(t, "weighed") == 0 {
				c.Check = nil
			}
			all = append(all, c)
		}
		for n := 1; ; n++ {
			h.Criteria = all[:rapid.IntRange(max(0, len(all)-1), len(all)).Draw(t, "in the plan")]
			h.Rounds = append(h.Rounds, drawGoalRound(t, n, h.Criteria))
			d, err := Decide(policy, p, h, noon, ids())
			if err != nil {
				t.Fatal(err)
			}
			if d.Final == nil {
				h.Rounds[n-1].Directive = d.Directive
				continue
			}
			ended[d.Final.Directive]++
			if d.Final.Directive != message.Abandon {
				checkGoal(t, h, d.Final)
			}
			return
		}
	})
	if ended[message.Success] == 0 || ended[message.Accept] == 0 || ended[message.Abandon] == 0 {
		t.Errorf("the histories do not reach every end: %v", ended)
	}
}

// drawGoalRound is mostly close to the goal, so that many rounds could end it.
func drawGoalRound(t *rapid.T, n int, criteria []message.Criterion) Round {
	if rapid.IntRange(0, 7).Draw(t, "no plan") == 0 {
		return noPlan("x")
	}
	var verdicts []message.Verdict
	for _, c := range criteria {
		v := pass(c.Criterion)
		switch rapid.IntRange(0, 7).Draw(t, "verdict") {
		case 0:
			continue
		case 1:
			v = fails(c.Criterion, logical)
		}
		v.Required, v.By = c.Required, message.ByModel
		if c.HasCheck() && rapid.IntRange(0, 5).Draw(t, "by a model") > 0 {
			v.By = message.ByCode
		}
		verdicts = append(verdicts, v)
	}
	r := requestOver(verdicts, one("a", fmt.Sprint("x", n), 10, rapid.IntRange(0, 3).Draw(t, "bad"), 0))
	if r.Request.Outcomes[0].Status == message.Matched && len(criteriaFailed(verdicts)) == 0 {
		r = summary(r.Request.Outcomes...)
		r.Summary.TaskVerdicts = verdicts
	}
	return r
}

func criteriaFailed(verdicts []message.Verdict) (failed []string) {
	for _, v := range verdicts {
		if !v.Passed() {
			failed = append(failed, v.Criterion)
		}
	}
	return failed
}

func checkGoal(t *rapid.T, h History, f *message.FinalResult) {
	unmet := fmt.Sprint(criteriaFailed(f.UnmetCriteria))
	latest := map[string]message.Verdict{}
	for i, r := range h.Rounds {
		for _, v := range verdictsIn(r) {
			latest[v.Criterion] = v
			if i == len(h.Rounds)-1 {
				latest["now "+v.Criterion] = v
			}
		}
	}
	for _, c := range h.Criteria {
		v, judged := latest["now "+c.Criterion]
		if (c.Required || h.Strict) && (!judged || !v.Passed() || c.HasCheck() && v.By != message.ByCode) {
			t.Fatalf("%s although %s is %+v in the last round", f.Directive, c.Criterion, v)
		}
	}
	for _, v := range latest {
		if v.Passed() {
			continue
		}
		if v.Required || h.Strict || f.Directive == message.Accept {
			t.Fatalf("%s although %s failed when it was last judged", f.Directive, v.Criterion)
		}
		if !strings.Contains(unmet, v.Criterion) {
			t.Fatalf("%s is not met and not named: %s", v.Criterion, unmet)
		}
	}
}

func verdictsIn(r Round) []message.Verdict {
	switch {
	case r.Request != nil:
		return r.Request.TaskVerdicts
	case r.Summary != nil:
		return r.Summary.TaskVerdicts
	}
	return nil
}
