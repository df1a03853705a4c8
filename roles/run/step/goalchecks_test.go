package step_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/ggs"
	"orch/roles/internal/steptest"
	"orch/roles/think"
)

// Whole goals whose checks and judges go one way or the other from round to
// round: none ends well unless its own check passed in the last round.
func TestNoGoalEndsWellWithoutItsOwnChecks(t *testing.T) {
	ends := map[message.Directive]int{}
	for seed := range uint64(18) {
		policy := message.Policies()[seed%3]
		w := steptest.New(t)
		w.Config.Limits.Corrections = 0
		rnd := rand.New(rand.NewPCG(seed, 1))
		w.Plan.Propose = manyCriteria
		w.Judge.Say = func(in think.JudgeInput) (think.Judgement, error) {
			j := steptest.Pass(in, "seen")
			j.Pass = in.Sceptical || rnd.IntN(8) > 0
			return j, nil
		}
		id := w.Start("make the tests pass")
		r := controllerOf(w, policy)
		passed := false // the goal's check, when the tasks last ran
		for range 20 {
			for _, c := range []string{"goal", "task"} {
				w.Verdicts[c] = check.Verdict{Pass: rnd.IntN(2) > 0, Class: check.Logical, Evidence: "looked"}
			}
			play(t, w, id)
			if rounds := w.Goal(id).Rounds; rounds[len(rounds)-1].PlanFailure == nil {
				passed = w.Verdicts["goal"].Pass
			}
			if err := r.Answer(context.Background(), id); err != nil {
				t.Fatal(err)
			}
			if w.Goal(id).Status == blackboard.GoalEnded {
				break
			}
		}
		g := w.Goal(id)
		if g.Final == nil {
			t.Fatalf("seed %d: it never ends", seed)
		}
		ends[g.Final.Directive]++
		named := slices.ContainsFunc(g.Final.UnmetCriteria, func(v message.Verdict) bool { return v.Criterion == "go test exits 0" })
		if (g.Final.Directive != message.Abandon && !passed) || named == passed {
			t.Errorf("seed %d, %s: %s, the goal's check passed: %t, unmet %+v", seed, policy, g.Final.Directive, passed, g.Final.UnmetCriteria)
		}
	}
	if ends[message.Success] == 0 || ends[message.Accept] == 0 || ends[message.Abandon] == 0 {
		t.Errorf("the goals do not reach every end: %v", ends)
	}
}

// manyCriteria proposes a task with nine criteria that need not be met.
func manyCriteria(in think.PlanInput) (think.Proposal, error) {
	p, err := oneTask(in)
	no := false
	for i := range 9 {
		p.Tasks[0].Criteria = append(p.Tasks[0].Criteria, think.CriterionSpec{Text: fmt.Sprintf("chapter %d reads well", i), Required: &no})
	}
	return p, err
}

func controllerOf(w *steptest.World, policy string) *ggs.Resident {
	n := 0
	return &ggs.Resident{Board: w.As("ggs-1"), Now: w.Clock.Now, NewID: func() string { n++; return fmt.Sprint("megram-", n) },
		Setup: func(blackboard.Goal) (string, ggs.Params, error) { return policy, ggs.Defaults(policy), nil }}
}
