package planner

import (
	"encoding/json"
	"fmt"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/steptest"
)

func failedNow(c message.Criterion, kind string) message.Verdict {
	return message.Verdict{CriterionID: c.ID, Criterion: c.Criterion, Required: c.Required, Verdict: message.Fail, Kind: kind, By: message.ByCode}
}

// A new plan may not leave out, reword, loosen or swap the check of a required
// criterion of the goal that failed when it was last judged.
func TestANewPlanDoesNotMoveTheGoal(t *testing.T) {
	suite, lint, weighed := steptest.Checked("goal.1", "suite"), steptest.Checked("goal.2", "lint"), steptest.Weighed("goal.3")
	reworded := suite
	reworded.Criterion, reworded.Required, reworded.Check = "all is green", false, json.RawMessage(` {"run": {"command":"suite"}}`)
	swapped := suite
	swapped.Check = steptest.RunCheck("echo fine")
	twin := suite
	twin.ID, twin.Criterion = "goal.4", "what the suite says holds"
	both := [][]message.Verdict{{failedNow(suite, ""), failedNow(twin, "")}}
	passed := failedNow(suite, "")
	passed.Verdict = message.Pass
	for name, c := range map[string]struct {
		rounds   [][]message.Verdict
		proposed []message.Criterion
		want     []message.Criterion
	}{
		"left out":                   {[][]message.Verdict{{failedNow(suite, "")}}, []message.Criterion{lint}, []message.Criterion{lint, suite}},
		"reworded and made optional": {[][]message.Verdict{{failedNow(suite, "")}}, []message.Criterion{reworded}, []message.Criterion{suite}},
		"with another check":         {[][]message.Verdict{{failedNow(suite, "")}}, []message.Criterion{swapped}, []message.Criterion{suite}},
		"whose program is missing":   {[][]message.Verdict{{failedNow(suite, "tool")}}, []message.Criterion{swapped}, []message.Criterion{swapped}},
		"two rounds ago":             {[][]message.Verdict{{failedNow(suite, "")}, nil}, []message.Criterion{lint}, []message.Criterion{lint, suite}},
		"that passed since":          {[][]message.Verdict{{failedNow(suite, "")}, {passed}}, []message.Criterion{lint}, []message.Criterion{lint}},
		"that share a check":         {both, []message.Criterion{suite, twin}, []message.Criterion{suite, twin}},
		"that shared a check":        {both, []message.Criterion{lint, suite}, []message.Criterion{lint, suite, twin}},
		"reworded, of two":           {both, []message.Criterion{reworded}, []message.Criterion{suite, twin}},
		"that was never required":    {[][]message.Verdict{{failedNow(weighed, "")}}, []message.Criterion{lint}, []message.Criterion{lint}},
	} {
		g := blackboard.Goal{Plan: &message.DispatchManifest{TaskCriteria: []message.Criterion{suite, lint, weighed, twin}}}
		for _, v := range c.rounds {
			g.Rounds = append(g.Rounds, blackboard.Round{Request: &message.ReplanRequest{TaskVerdicts: v}})
		}
		for i := range c.proposed {
			c.proposed[i].ID = fmt.Sprintf("goal.%d", i+1)
		}
		got := stillNeeded(c.proposed, g)
		same := len(got) == len(c.want)
		ids := map[string]bool{}
		for i := range got {
			ids[got[i].ID] = true
			same = same && got[i].Criterion == c.want[i].Criterion && got[i].Required == c.want[i].Required && sameCheck(got[i].Check, c.want[i].Check)
		}
		if !same || len(ids) != len(got) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
