package think

import (
	"context"
	"fmt"

	"orch/blackboard/message"
)

// Coder works on one task in its worktree, for one iteration.
type Coder interface {
	Code(context.Context, CodeInput) (CodeReport, error)
}

// CodeInput is all a coder may read beside its worktree.
type CodeInput struct {
	Goal      message.GoalID    `json:"goal"`
	Task      message.SubTask   `json:"task"`
	Iteration int               `json:"iteration"` // from 1, of this coder on this task
	Dir       string            `json:"dir"`       // the worktree
	Env       []string          `json:"-"`         // added to the agent's environment: who it is, and how it reaches its step
	Base      string            `json:"base"`      // commit the work began at
	Spec      string            `json:"spec"`      // the task's spec as it is on the integration branch now; empty without one
	Pending   []message.Blocker `json:"pending"`
	Checks    []message.Verdict `json:"checks"`  // what the last review ran
	Handoff   *message.Handoff  `json:"handoff"` // of the iteration before
	Fix       *CodeFix          `json:"fix"`     // the work is done, and only has to be made to fit
	Answers   []string          `json:"answers"` // what was said about the task since: answers to its questions, a person's notes
	Values    string            `json:"values"`
}

// CodeFix is why approved work did not fit the integration branch.
type CodeFix struct {
	Integration string   `json:"integration"` // commit the branch is at: git merge it
	Conflict    []string `json:"conflict"`
	Command     string   `json:"command"` // what failed on the merged tree
	Output      string   `json:"output"`
}

// Ends of an iteration.
const (
	CodeSubmit  = "submit"
	CodeBlocked = "blocked"
	CodeHandoff = "handoff"
)

// CodeReport is what a coder says at the end of an iteration. What it did is
// in the worktree.
type CodeReport struct {
	End       string // one of the ends; empty when it says nothing of it
	Summary   string
	Blocked   message.Blocked // reason, questions and attempts, for CodeBlocked
	Handoff   message.Handoff // for CodeHandoff
	Anomalies []message.Anomaly
	Usage     message.Usage
	Cost      *float64 // US dollars, when the agent states it
}

// Reviewer judges one exact commit.
type Reviewer interface {
	Review(context.Context, ReviewInput) (Review, error)
}

// Panel is a chain of reviewers of whom one is to give the verdict.
type Panel interface {
	// InTurn lets ask put the question to the first reviewer that can be asked,
	// and returns what it returned. An *UnusableError of ask hands the question
	// on to the next; of the last it is the panel's, so that nobody has judged.
	InTurn(ctx context.Context, ask func(context.Context, Reviewer) (Review, error)) (Review, error)
}

// ReviewInput is all a reviewer may read beside the checkout of the commit.
type ReviewInput struct {
	Word        string            `json:"word"` // of this question, see NewWord; the verdict repeats it
	Goal        message.GoalID    `json:"goal"`
	Task        message.SubTask   `json:"task"`
	Dir         string            `json:"dir"` // checkout of the commit, read-only
	Env         []string          `json:"-"`
	Coder       message.AgentID   `json:"coder"`
	Commit      string            `json:"commit"`
	Base        string            `json:"base"`
	Diff        string            `json:"diff"`         // from base to commit
	Spec        string            `json:"spec"`         // as it is on the integration branch now
	SpecChanged bool              `json:"spec_changed"` // since the coder began
	Notes       string            `json:"notes"`        // what the coder says about its work
	Checks      []message.Verdict `json:"checks"`
	Findings    []CodeFinding     `json:"findings"`
	Pending     []message.Blocker `json:"pending"` // earlier blockers to speak about
	Second      bool              `json:"second"`  // a crosscheck of an approval
	Refused     string            `json:"refused"` // why its last verdict does not bind; empty for the first
	Values      string            `json:"values"`
}

// CodeFinding is something code saw in the change that a reviewer has to
// answer.
type CodeFinding struct {
	ID   string `json:"id"` // what a reviewer accepts it by
	File string `json:"file"`
	Line int    `json:"line"`
	Kind string `json:"kind"`
	What string `json:"what"`
	Sure bool   `json:"sure"` // it is a blocker unless the reviewer accepts it
	Let  bool   `json:"let"`  // a person lets it stand
}

// Place is where it was seen.
func (f CodeFinding) Place() string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

// Acceptance is a reviewer's word that a finding may stand.
type Acceptance struct {
	Finding string `json:"finding"` // the ID
	Reason  string `json:"reason"`
}

// Review is a verdict a backend proposes. Anything but a clear approval is a
// rejection.
type Review struct {
	Approved  bool
	Checks    []message.Verdict // of the criteria no check decides
	Blockers  []message.Blocker
	Concerns  []string
	Feedback  []message.Feedback
	Accepted  []Acceptance // findings that the task demands
	Anomalies []message.Anomaly
	Usage     message.Usage
	Cost      *float64
}
