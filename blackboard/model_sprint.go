package blackboard

import (
	"time"

	"orch/blackboard/message"
)

// Sprint is a bounded part of the work, and what happened in it.
type Sprint struct {
	Opened   Ref                 `json:"opened"`
	Goal     message.GoalID      `json:"goal,omitempty"`
	Scope    message.SprintScope `json:"scope"`
	Deadline time.Time           `json:"deadline,omitzero"`
	Reached  []string            `json:"reached,omitempty"` // names of its checkpoints
	Closed   Ref                 `json:"closed,omitzero"`   // zero while it is open
	Metrics  map[string]float64  `json:"metrics,omitempty"`
	// Retrospective is what a person said of it at the end.
	Retrospective string `json:"retrospective,omitempty"`
	Approved      int    `json:"approved"` // verdicts
	FirstPass     int    `json:"first_pass"`
	Rejected      int    `json:"rejected"`
	Merged        int    `json:"merged"`
	Unmerged      int    `json:"integration_failed"`
	Blocked       int    `json:"blocked"`
	Rescoped      int    `json:"rescoped"`
	OutOfScope    int    `json:"out_of_scope"` // merged, but neither planned nor stretch
	SpecChanges   int    `json:"spec_changes"`
}

// Open tells whether the sprint goes on.
func (s *Sprint) Open() bool { return s != nil && s.Opened.Seq != 0 && s.Closed.Seq == 0 }

// Names of the checkpoints that code sets.
const (
	CheckpointSprintComplete = "sprint-complete"
	CheckpointSprintDeadline = "sprint-deadline"
	CheckpointPlanReview     = "plan-review"
)
