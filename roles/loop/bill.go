package loop

import (
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Billed is the end of a step with what is on record of its questions, where it
// reported nothing itself because it was killed. A question that was under way
// may have been billed: it counts as spent at its greatest cost, so that a cap
// holds whatever the provider says, and nothing stays reserved for the dead.
func Billed(a blackboard.Activation, e message.StepEnded) message.StepEnded {
	if a.Asked == nil || len(e.Spent) > 0 {
		return e
	}
	e.Spent = slices.Clone(a.Asked.Spent)
	if a.Asked.Reserved > 0 {
		i := slices.IndexFunc(e.Spent, func(s message.Spent) bool { return s.Model == a.Asked.Model })
		if i < 0 {
			i = len(e.Spent)
			e.Spent = append(e.Spent, message.Spent{Model: a.Asked.Model, Usage: message.Usage{Model: a.Asked.Model}})
		}
		e.Spent[i].Unpriced = true
		e.Spent[i].Doubt += a.Asked.Reserved
	}
	e.Cost, _ = message.SumOf(e.Spent)
	for _, s := range e.Spent {
		e.Usage.InputTokens += s.Usage.InputTokens
		e.Usage.OutputTokens += s.Usage.OutputTokens
		e.Usage.CachedTokens += s.Usage.CachedTokens
		e.Usage.ModelCalls += s.Usage.ModelCalls
		e.Usage.Model = s.Model
	}
	return e
}
