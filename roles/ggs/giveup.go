package ggs

import (
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// giveUp is the decision about a goal that a person gave up. Nothing is learned
// of it: that somebody changed their mind says nothing about an approach.
func giveUp(policy string, g blackboard.Goal) Decision {
	f := &message.FinalResult{
		TaskID: g.ID, Policy: policy, Replans: max(len(g.Rounds)-1, 0),
		PrevDirective: message.Init, Directive: message.Abandon, MacroState: message.Abandon,
		Rationale: "A person gave it up: " + g.GiveUp.Reason, Cost: g.Cost, ElapsedMS: g.ActiveMS,
		NextMoves: []string{fmt.Sprintf("orch run %q begins anew", short(g.Input.Text)), "orch goals lists what is still open"},
	}
	for _, r := range g.Rounds {
		if r.Directive != nil {
			f.PrevDirective, f.Loss, f.GradL = r.Directive.Directive, r.Directive.Loss, r.Directive.GradL
		}
	}
	if g.Spec != nil {
		h := historyOf(g)
		rounds := sense(h)
		last := situation{rounds: rounds}.lastMeasured()
		f.Accomplished, f.Output = accomplished(last), output(last)
		if last.measured() {
			f.UnmetCriteria = situation{rounds: []sensed{last}}.unmet(last, owed(h, rounds))
		}
	}
	f.Summary = fmt.Sprintf("Given up by a person: %s. %s", strings.TrimRight(g.GiveUp.Reason, ". "), reached(len(f.Accomplished)))
	return Decision{Final: f, Trace: []string{fmt.Sprintf("abandon: a person gave %s up", g.ID)}}
}

func reached(criteria int) string {
	if criteria == 0 {
		return "No criterion was seen to pass."
	}
	return fmt.Sprintf("%d criteria passed when they were last looked at.", criteria)
}
