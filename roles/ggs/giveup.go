package ggs

import (
	"fmt"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// giveUp is the decision about a goal that a person gave up, or whose deadline
// has passed. Nothing is learned of it: neither says anything about an approach.
func giveUp(policy string, g blackboard.Goal) Decision {
	f := &message.FinalResult{
		TaskID: g.ID, Policy: policy, Replans: max(len(g.Rounds)-1, 0),
		PrevDirective: message.Init, Directive: message.Abandon, MacroState: message.Abandon,
		Rationale: "A person gave it up: " + g.GiveUp.Reason, Cost: g.Cost, ElapsedMS: g.ActiveMS, InDoubt: inDoubt(g),
		NextMoves: []string{fmt.Sprintf("orch run %q begins anew", short(g.Input.Text)), "orch goals lists what is still open"},
	}
	word, who := "Given up by a person", "a person gave it up"
	if d := g.GiveUp.Deadline; d != nil {
		word, who = "Out of time", "its deadline has passed"
		f.Rationale = fmt.Sprintf("The deadline of the goal, %s, has passed: no further step is begun.", d.UTC().Format(time.RFC3339))
		f.NextMoves[0] = fmt.Sprintf("say until when it may take now, then orch run %q begins anew", short(g.Input.Text))
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
	f.Summary = fmt.Sprintf("%s: %s. %s", word, strings.TrimRight(g.GiveUp.Reason, ". "), reached(len(f.Accomplished)))
	return Decision{Final: f, Trace: []string{fmt.Sprintf("abandon: %s: %s", g.ID, who)}}
}

func reached(criteria int) string {
	if criteria == 0 {
		return "No criterion was seen to pass."
	}
	return fmt.Sprintf("%d criteria passed when they were last looked at.", criteria)
}
