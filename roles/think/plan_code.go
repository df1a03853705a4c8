package think

import (
	"context"

	"orch/blackboard/message"
)

// CodePlan is what a planner of the coding profile is told beside the rest.
type CodePlan struct {
	SpecRef string   `json:"spec_ref"` // what the person named; may be empty
	Spec    string   `json:"spec"`     // its text, as it is on the integration branch
	Raised  []Raised `json:"raised"`   // what was found on the way and nobody has answered
}

// Raised is something a role found or could not tell.
type Raised struct {
	Kind     string `json:"kind"` // discovery or system_ambiguity
	What     string `json:"what"`
	Advice   string `json:"advice"`
	Severity string `json:"severity"`
	Urgency  string `json:"urgency"`
	By       string `json:"by"`
	Slot     string `json:"slot"` // the task it came up in; may be empty
}

// PlanReviewer looks at a plan of the coding profile before it is worked on.
type PlanReviewer interface {
	ReviewPlan(context.Context, PlanReviewInput) (PlanReview, error)
}

// PlanReviewInput is all a plan reviewer may read. The drafts passed the gates.
type PlanReviewInput struct {
	Word         string              `json:"word"` // of this question, see NewWord; the verdict repeats it
	Goal         message.GoalID      `json:"goal"`
	Spec         message.TaskSpec    `json:"spec"`
	Code         CodePlan            `json:"code"`
	TaskCriteria []message.Criterion `json:"task_criteria"`
	Tasks        []message.SubTask   `json:"tasks"`
	Kept         []PreviousTask      `json:"kept"` // merged before
	Values       string              `json:"values"`
}

// PlanReview is what a plan reviewer thinks. Anything but a clear acceptance is
// a rejection.
type PlanReview struct {
	Accepted bool
	Reason   string
	Problems []PlanProblem
	Usage    message.Usage
}

// PlanProblem is one thing that is wrong with a plan.
type PlanProblem struct {
	Slot    string `json:"slot"` // empty: the plan as a whole
	Problem string `json:"problem"`
	Fix     string `json:"fix"`
}
