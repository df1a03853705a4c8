package ggs

import (
	"fmt"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
)

// A fact a person declares is remembered at the level of common sense, at once
// and without decay.
const (
	levelCommonSense = "C"
	factStrength     = 1 // like a fact that is added by hand
)

// remember is the decision about a goal that is a fact to remember, not work to
// do: nothing is planned, nothing is measured, and everything is accepted, unless
// there is nothing to remember it with.
func remember(policy string, g blackboard.Goal, now time.Time, newID func() string, off bool) Decision {
	words := strings.TrimSpace(g.Spec.RawInput)
	if off {
		return Decision{
			Final: &message.FinalResult{
				TaskID: g.ID, Policy: policy, Summary: "Not remembered, the memory is off: " + short(words),
				PrevDirective: message.Init, Directive: message.Abandon, MacroState: message.Abandon,
				Rationale: "It is a fact to remember, and the configuration says memory: off.", Cost: g.Bill.Cost, ElapsedMS: g.Bill.ActiveMS,
				NextMoves: []string{"Take memory: off out of .orch/config.yaml and say it again, or write it into .orch/values.md."},
			},
			Trace: []string{fmt.Sprintf("abandon: %s is a fact to remember, and the memory is off", g.ID)},
		}
	}
	return Decision{
		Final: &message.FinalResult{
			TaskID: g.ID, Policy: policy, Summary: "Remembered: " + short(words), Output: words,
			PrevDirective: message.Init, Directive: message.Accept, MacroState: message.Accept,
			Rationale: "It is a fact to remember, not work to do.", Cost: g.Bill.Cost, ElapsedMS: g.Bill.ActiveMS,
		},
		Megrams: []message.Megram{{
			ID: newID(), Level: levelCommonSense, CreatedAt: now, Space: loop.FactSpace(words), Entity: loop.LocalEntity,
			Content: message.MegramContent{Lesson: words, Tags: g.Spec.Tags, Category: categoryFact},
			State:   message.Accept, F: factStrength, Sigma: 1, Ordinal: 1,
		}},
		Trace: []string{fmt.Sprintf("accept: %s is a fact to remember", g.ID)},
	}
}
