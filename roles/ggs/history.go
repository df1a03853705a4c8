package ggs

import (
	"fmt"
	"math"

	"orch/blackboard/message"
)

// Round is one request to the controller. Exactly one of Request, Summary and
// PlanFailure is set.
type Round struct {
	Request     *message.ReplanRequest
	Summary     *message.OutcomeSummary
	PlanFailure *message.PlanRejected
	Directive   *message.PlanDirective // the answer given; nil for the round to be decided

	// The goal's own figures when the step that asked had ended; 0 where that is
	// not known. Then those of the message are all there is.
	ElapsedMS int64
	Cost      float64 // US dollars
}

// History is all the controller may know of a goal: its rounds, oldest first.
// All but the last have been answered.
type History struct {
	Goal   message.GoalID
	Intent string              // of the TaskSpec, for people; may be empty
	Space  string              // memory space of the intent; empty: intent:<goal>
	Tags   []string            // of the TaskSpec: what is learned is found by them
	Rules  []message.SOPRecord // of the memory, under which the last plan was made
	Strict bool                // every criterion is required
	Rounds []Round

	// Criteria are the goal's own in the plan the last round is about; none where
	// that is not known.
	Criteria []message.Criterion

	InDoubt []string // calls of which nobody knows whether they took effect
}

// HistoryError says what makes a history undecidable.
type HistoryError struct {
	Round int // from 1; 0 when it is about the whole
	What  string
}

func (e *HistoryError) Error() string {
	if e.Round == 0 {
		return "history: " + e.What
	}
	return fmt.Sprintf("history: round %d %s", e.Round, e.What)
}

func (h History) validate() error {
	if len(h.Rounds) == 0 {
		return &HistoryError{What: "there is no round to decide"}
	}
	for i, r := range h.Rounds {
		last := i == len(h.Rounds)-1
		switch {
		case r.count() != 1:
			return &HistoryError{Round: i + 1, What: "has to be exactly one of request, summary and plan failure"}
		case last && r.Directive != nil:
			return &HistoryError{Round: i + 1, What: "is already answered"}
		case !last && r.Directive == nil:
			return &HistoryError{Round: i + 1, What: "is not answered, and only the last one may be open"}
		case !finite(r.cost()) || !finite(r.Cost):
			return &HistoryError{Round: i + 1, What: "has a cost that is not a number"}
		}
	}
	return nil
}

func (r Round) count() int {
	n := 0
	if r.Request != nil {
		n++
	}
	if r.Summary != nil {
		n++
	}
	if r.PlanFailure != nil {
		n++
	}
	return n
}

func (r Round) cost() float64 {
	switch {
	case r.Request != nil:
		return r.Request.Cost
	case r.Summary != nil:
		return r.Summary.Cost
	}
	return 0
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// RuleNoApproachLeft is the violation by which a planner says that nothing it
// knows is allowed any more. It releases what is blocked.
const RuleNoApproachLeft = "no_approach_left"

// sensed is a round as the sensors reported it, in one shape for all three kinds.
type sensed struct {
	outcomes  []message.SubTaskOutcome
	verdicts  []message.Verdict // of the goal's own criteria
	standing  []message.Verdict // failures of earlier rounds on them that nobody has judged since
	merged    string
	elapsedMS int64 // active time so far; where nobody knows more, what was known before
	cost      float64
	planFails bool
	exhausted bool // the planner has nothing left to try
	summary   bool
	refusals  []message.Violation
	answer    *message.PlanDirective
}

// measured tells whether the round ran anything that could be compared with another.
func (s sensed) measured() bool { return len(s.outcomes) > 0 }

// sense brings the rounds into one shape. Elapsed time and cost never shrink,
// so that Ω only grows.
func sense(h History) []sensed {
	out := make([]sensed, 0, len(h.Rounds))
	var elapsedMS int64
	var cost float64
	for _, r := range h.Rounds {
		s := sensed{answer: r.Directive}
		switch {
		case r.Request != nil:
			s.outcomes, s.verdicts, s.merged = r.Request.Outcomes, r.Request.TaskVerdicts, r.Request.MergedOutput
			elapsedMS, cost = max(elapsedMS, r.Request.ElapsedMS), max(cost, r.Request.Cost)
		case r.Summary != nil:
			s.summary = true
			s.outcomes, s.verdicts, s.merged = r.Summary.Outcomes, r.Summary.TaskVerdicts, r.Summary.MergedOutput
			elapsedMS, cost = max(elapsedMS, r.Summary.ElapsedMS), max(cost, r.Summary.Cost)
		default:
			s.planFails, s.refusals = true, r.PlanFailure.Violations
			for _, v := range r.PlanFailure.Violations {
				s.exhausted = s.exhausted || v.Rule == RuleNoApproachLeft
			}
		}
		elapsedMS, cost = max(elapsedMS, r.ElapsedMS), max(cost, r.Cost)
		s.elapsedMS, s.cost = elapsedMS, cost
		out = append(out, s)
	}
	stand(out)
	return out
}
