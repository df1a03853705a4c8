package loop

import (
	"slices"

	"orch/blackboard/message"
)

// What failed of a goal's own criteria stands until it is judged again: neither
// a round that did not look at it nor a plan that leaves it out takes it away.
// Ids count anew in each plan, so a criterion is followed by its words.

// Unjudged are the open failures that a round's verdicts say nothing about.
func Unjudged(open, judged []message.Verdict) []message.Verdict {
	return slices.DeleteFunc(slices.Clone(open), func(v message.Verdict) bool {
		return slices.ContainsFunc(judged, func(now message.Verdict) bool { return now.Criterion == v.Criterion })
	})
}

// Standing are the failures that are open after a round: those before it that
// it did not judge, and its own.
func Standing(open, judged []message.Verdict) []message.Verdict {
	out := Unjudged(open, judged)
	for _, v := range judged {
		if !v.Passed() {
			out = append(out, v)
		}
	}
	return out
}
