package message

import (
	"encoding/json"
	"errors"
	"fmt"
)

// StateBefore is how things stood before the first attempt at a task, as orch
// saw it: what changed since is an effect of the work, and a check that held
// already does not show that the work was done.
type StateBefore struct {
	Task   TaskID `json:"task"`
	Files  string `json:"files,omitempty"` // SHA-256 of the list of the workspace's files in the goal's folder
	Checks []Held `json:"checks"`          // of the task and of its goal
}

// Held is whether a check held.
type Held struct {
	Check    json.RawMessage `json:"check"`
	Held     bool            `json:"held"`
	Evidence string          `json:"evidence"`
}

// ToolStarted is written, durably, before a tool acts.
type ToolStarted struct {
	Call       CallID          `json:"call"`
	Tool       string          `json:"tool"`
	Input      json.RawMessage `json:"input"`
	Approach   string          `json:"approach"`
	Target     string          `json:"target"`
	Idempotent bool            `json:"idempotent"`
}

// CallName is a call as a person would write it: a shell command as typed.
func CallName(tool string, input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) == nil && in.Command != "" {
		return "`" + in.Command + "`"
	}
	return tool + " " + string(input)
}

// ToolCall is what a tool did.
type ToolCall struct {
	Call       CallID          `json:"call"`
	Tool       string          `json:"tool"`
	Input      json.RawMessage `json:"input"`
	Approach   string          `json:"approach"`
	Target     string          `json:"target"`
	Exit       int             `json:"exit"`
	Head       string          `json:"head"`
	Tail       string          `json:"tail"`             // at most 120 characters
	Blob       string          `json:"blob,omitempty"`   // SHA-256 of the whole output in the goal's folder
	Denied     string          `json:"denied,omitempty"` // why the gate refused it
	Class      FailureClass    `json:"class,omitempty"`
	Kind       string          `json:"kind,omitempty"` // transient, tool, permission
	DurationMS int64           `json:"duration_ms"`
	// Observed is set for a call that an agent's own record shows. It was not
	// made through orch's tools, so it has no ToolStarted and proves less.
	Observed bool `json:"observed,omitempty"`
}

// Status of an execution or an outcome.
const (
	Completed = "completed"
	Failed    = "failed"
	Matched   = "matched"
	Skipped   = "skipped"
)

// ExecutionResult is what one attempt produced. It makes the task ready for review.
type ExecutionResult struct {
	SubtaskID  TaskID       `json:"subtask_id"`
	Attempt    int          `json:"attempt"`
	Status     string       `json:"status"` // completed or failed
	Output     string       `json:"output"`
	ToolCalls  []string     `json:"tool_calls"` // "tool:command → last 120 characters"
	Calls      []CallID     `json:"calls"`
	Infeasible string       `json:"infeasible,omitempty"`
	Class      FailureClass `json:"class,omitempty"` // of an attempt that failed before any criterion could be judged
	Reason     string       `json:"reason,omitempty"`
	MustNot    string       `json:"must_not,omitempty"` // what it did that its plan must not: nothing of the attempt counts
	CutOff     bool         `json:"cut_off,omitempty"`  // a call is in doubt, because a try died in it, and was not made again: the next attempt goes on behind what is on record
}

// Validate refuses a status that is neither completed nor failed.
func (r ExecutionResult) Validate() error {
	if r.Status != Completed && r.Status != Failed {
		return fmt.Errorf("status %q is not completed or failed", r.Status)
	}
	if r.MustNot != "" && r.Status == Completed {
		return errors.New("it did what its plan must not, and is called completed")
	}
	return nil
}

// CorrectionSignal sends a task back to the executor: one criterion, what was wrong, what to do.
type CorrectionSignal struct {
	SubtaskID       TaskID       `json:"subtask_id"`
	AttemptNumber   int          `json:"attempt_number"`
	FailedCriterion string       `json:"failed_criterion"`
	FailureClass    FailureClass `json:"failure_class"`
	WhatWasWrong    string       `json:"what_was_wrong"`
	WhatToDo        string       `json:"what_to_do"`
	Verdicts        []Verdict    `json:"verdicts"`
}

// FailedCriterion is one entry of a gap trajectory.
type FailedCriterion struct {
	CriterionID  string       `json:"criterion_id"`
	Criterion    string       `json:"criterion"`
	FailureClass FailureClass `json:"failure_class"`
}

// Gap is what was still wrong after one attempt.
type Gap struct {
	Attempt        int               `json:"attempt"`
	FailedCriteria []FailedCriterion `json:"failed_criteria"`
}

// FailedCall is the evidence of a tool call that failed during a task.
type FailedCall struct {
	Pair  Pair         `json:"pair"`
	Class FailureClass `json:"class"`
	Kind  string       `json:"kind"` // transient, tool, permission or empty
}

// SubTaskOutcome is the fast loop's last word on a task.
type SubTaskOutcome struct {
	SubtaskID        TaskID       `json:"subtask_id"`
	ParentTaskID     GoalID       `json:"parent_task_id"`
	Slot             string       `json:"slot"`
	Approach         string       `json:"approach"`
	Target           string       `json:"target"`
	Status           string       `json:"status"` // matched, failed or skipped
	Output           string       `json:"output"`
	FailureReason    *string      `json:"failure_reason"`
	Attempts         int          `json:"attempts"`
	CriteriaVerdicts []Verdict    `json:"criteria_verdicts"`
	GapTrajectory    []Gap        `json:"gap_trajectory"`
	FailedCalls      []FailedCall `json:"failed_calls"`
}

// Validate enforces the aggregation rule: matched if and only if every criterion passed.
func (o SubTaskOutcome) Validate() error {
	if o.Status != Matched && o.Status != Failed && o.Status != Skipped {
		return fmt.Errorf("status %q is not matched, failed or skipped", o.Status)
	}
	for _, v := range o.CriteriaVerdicts {
		if o.Status == Matched && !v.Passed() {
			return fmt.Errorf("status matched with failed criterion %s", v.CriterionID)
		}
	}
	if o.Status == Matched && len(o.CriteriaVerdicts) == 0 {
		return errors.New("status matched without a verdict")
	}
	return validateAll(o.CriteriaVerdicts)
}

// ReplanRequest tells the controller that a round fell short, with all it needs to measure.
type ReplanRequest struct {
	TaskID          GoalID           `json:"task_id"`
	PlanID          PlanID           `json:"plan_id"`
	GapSummary      string           `json:"gap_summary"`
	FailedSubtasks  []TaskID         `json:"failed_subtasks"`
	CorrectionCount int              `json:"correction_count"`
	ElapsedMS       int64            `json:"elapsed_ms"` // active time
	Cost            float64          `json:"cost"`       // US dollars so far
	Outcomes        []SubTaskOutcome `json:"outcomes"`
	TaskVerdicts    []Verdict        `json:"task_verdicts"`
	MergedOutput    string           `json:"merged_output"`
	Recommendation  string           `json:"recommendation"` // replan or abandon; advisory
}

// OutcomeSummary tells the controller that everything matched.
type OutcomeSummary struct {
	TaskID       GoalID           `json:"task_id"`
	PlanID       PlanID           `json:"plan_id"`
	Summary      string           `json:"summary"`
	MergedOutput string           `json:"merged_output"`
	TaskVerdicts []Verdict        `json:"task_verdicts"`
	Outcomes     []SubTaskOutcome `json:"outcomes"`
	ElapsedMS    int64            `json:"elapsed_ms"`
	Cost         float64          `json:"cost"`
}

// Validate refuses a summary over anything that did not match.
func (o OutcomeSummary) Validate() error {
	for _, s := range o.Outcomes {
		if s.Status != Matched {
			return fmt.Errorf("outcome of %s is %s, want matched", s.SubtaskID, s.Status)
		}
	}
	for _, v := range o.TaskVerdicts {
		if !v.Passed() {
			return fmt.Errorf("task criterion %s failed", v.CriterionID)
		}
	}
	return nil
}
