package ggs

import (
	"slices"

	"orch/blackboard/message"
	"orch/roles/loop"
)

// gated tells whether some task did not match. Then the goal's own criteria are
// not fully judged, and those that fail fail because the work is not done.
func (s sensed) gated() bool {
	return slices.ContainsFunc(s.outcomes, func(o message.SubTaskOutcome) bool { return o.Status != message.Matched })
}

// ofGoal are the verdicts on the goal's own criteria that hold after the round.
func (s sensed) ofGoal() []message.Verdict { return slices.Concat(s.verdicts, s.standing) }

// telling are the criteria that say how far the result is from the intent and
// why. While a task failed, the goal's own would only say once more that the
// work is not done: a figure that stays at 1 would hide whether it moves.
func (f figures) telling() []criterion {
	if f.gated {
		return f.tasks
	}
	return slices.Concat(f.tasks, f.goal)
}

// stand notes for every round which failures of earlier ones on the goal's own
// criteria nobody has judged since.
func stand(rounds []sensed) {
	var open []message.Verdict
	for i := range rounds {
		rounds[i].standing = loop.Unjudged(open, rounds[i].verdicts)
		open = loop.Standing(open, rounds[i].verdicts)
	}
}

// owed are the required criteria of the goal of which nothing says that they
// hold: when something last ran they were not judged, or a model's word stands
// where a check was to run. What failed as required is in the verdicts already.
func owed(h History, rounds []sensed) []message.Verdict {
	last := situation{rounds: rounds}.lastMeasured()
	var out []message.Verdict
	for _, c := range h.Criteria {
		if (!c.Required && !h.Strict) || last.passes(c) || last.fails(c, h.Strict) {
			continue
		}
		why := "nobody judged it when the tasks last ran"
		if c.HasCheck() {
			why = "its check did not run when the tasks last ran"
		}
		out = append(out, message.Verdict{CriterionID: c.ID, Criterion: c.Criterion, Mode: c.Mode, Required: true,
			Verdict: message.Fail, Evidence: why, By: message.ByCode})
	}
	return out
}

// passes tells whether the round itself shows that a criterion of the goal
// holds. Only code can say so of a check.
func (s sensed) passes(c message.Criterion) bool {
	return slices.ContainsFunc(s.verdicts, func(v message.Verdict) bool {
		return v.CriterionID == c.ID && v.Criterion == c.Criterion && v.Passed() && (!c.HasCheck() || v.By == message.ByCode)
	})
}

// fails tells whether a failure of a required criterion stands, whichever plan
// it was part of.
func (s sensed) fails(c message.Criterion, strict bool) bool {
	return slices.ContainsFunc(s.ofGoal(), func(v message.Verdict) bool {
		return v.Criterion == c.Criterion && !v.Passed() && (strict || v.Required)
	})
}
