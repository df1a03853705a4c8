package think

import (
	"context"

	"orch/blackboard/message"
)

// Waker answers what wakes the planner of a coding goal while its plan is
// worked on.
type Waker interface {
	Answer(context.Context, WakeInput) (WakeAnswer, error)
}

// Answers to what woke the planner.
const (
	AnswerUnblock = "unblock" // reason is the answer to the coder's questions; another coder takes the task
	AnswerRescope = "rescope" // tasks take the task's place; reason is the root cause
	AnswerAbandon = "abandon"
	AnswerTriage  = "triage" // of what was found or is unclear; with tasks or without
)

// WakeInput is all a planner may read to answer one wake.
type WakeInput struct {
	Goal       message.GoalID   `json:"goal"`
	Spec       message.TaskSpec `json:"spec"`
	Workspace  string           `json:"workspace"`
	Kind       string           `json:"kind"` // blocked, hypothesis_exhaustion, integration_failure, immediate_discovery or system_ambiguity
	Why        string           `json:"why"`
	May        []string         `json:"may"` // the answers that are taken
	Task       *WakeTask        `json:"task,omitempty"`
	Raised     *Raised          `json:"raised,omitempty"`
	Said       []string         `json:"said"`     // by people since
	SpecRef    string           `json:"spec_ref"` // of the task, or what the person named
	SpecText   string           `json:"spec_text"`
	Plan       []PlanPart       `json:"plan"`
	Alignment  []string         `json:"alignment_history"` // oldest first
	Constraint Constraints      `json:"constraint"`
	Refused    string           `json:"refused"` // why the last answer was not taken; empty for the first
	Values     string           `json:"values"`
}

// WakeTask is a task that needs its planner, with all that happened to it.
type WakeTask struct {
	message.SubTask
	Status       string            `json:"status"`
	Rescopes     int               `json:"rescopes"` // of what it replaces
	BlockedKind  string            `json:"blocked_kind"`
	Reason       string            `json:"blocked_reason"`
	Questions    []string          `json:"blocked_questions"`
	Attempted    []string          `json:"attempted"`
	FailedBy     []message.AgentID `json:"failed_by"`
	Answered     []string          `json:"answered"` // to earlier blocks
	Commit       string            `json:"commit"`   // the last that was submitted
	ReviewCycles int               `json:"review_cycles"`
	Pending      []message.Blocker `json:"pending"`
	Checks       []message.Verdict `json:"checks"` // of the last review
	Handoff      *message.Handoff  `json:"handoff,omitempty"`
	Fix          *CodeFix          `json:"fix,omitempty"` // why it does not fit the integration branch
	Anomalies    []string          `json:"anomalies"`
}

// PlanPart is one task of the plan, in short.
type PlanPart struct {
	Slot      string   `json:"slot"`
	Intent    string   `json:"intent"`
	Status    string   `json:"status"`
	DependsOn []string `json:"depends_on"` // slots
}

// WakeAnswer is what a planner proposes to do about it.
type WakeAnswer struct {
	Answer    string
	Reason    string
	Alignment string
	Tasks     []ProposedTask
	SpecGaps  []string
	Usage     message.Usage
}
