package planner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/loop"
)

// stillNeeded adds to the goal's criteria of a new plan the required ones of the
// plan before that failed when they were last judged: a plan may find another
// way to the goal, and must not move the goal. One that only has other words
// keeps the old ones, so that what became of it can be followed. A check that
// names a program that is not there may be replaced under the same words.
func stillNeeded(proposed []message.Criterion, g blackboard.Goal) []message.Criterion {
	if g.Plan == nil {
		return proposed
	}
	var open []message.Verdict
	for _, r := range g.Rounds {
		switch {
		case r.Request != nil:
			open = loop.Standing(open, r.Request.TaskVerdicts)
		case r.Summary != nil:
			open = loop.Standing(open, r.Summary.TaskVerdicts)
		}
	}
	out := slices.Clone(proposed)
	for _, c := range g.Plan.TaskCriteria {
		i := slices.IndexFunc(open, func(v message.Verdict) bool { return v.Criterion == c.Criterion })
		if i < 0 || !c.Required {
			continue
		}
		same := sameIn(out, c, g.Plan.TaskCriteria)
		switch replaceable := open[i].Kind == string(check.KindTool); {
		case same < 0:
			c.ID = fmt.Sprintf("goal.%d", len(out)+1)
			out = append(out, c)
		case replaceable && out[same].HasCheck():
			out[same].Required = true
		default:
			c.ID = out[same].ID
			out[same] = c
		}
	}
	return out
}

// sameIn is where a criterion of an earlier plan stands in a new one: under its
// own words, or with its check under words that the earlier plan did not have.
// Several criteria may share one check, and none of them stands for another.
func sameIn(proposed []message.Criterion, c message.Criterion, earlier []message.Criterion) int {
	words := func(text string) func(message.Criterion) bool {
		return func(n message.Criterion) bool { return n.Criterion == text }
	}
	if i := slices.IndexFunc(proposed, words(c.Criterion)); i >= 0 {
		return i
	}
	return slices.IndexFunc(proposed, func(n message.Criterion) bool {
		return c.HasCheck() && sameCheck(n.Check, c.Check) && !slices.ContainsFunc(earlier, words(n.Criterion))
	})
}

// sameCheck compares checks however they are written.
func sameCheck(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
