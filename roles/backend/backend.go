// Package backend says how a step thinks or acts: the interfaces every backend
// fulfils in part, and the data that crosses them.
//
// It owns the shapes only. A backend proposes; the roles check, assign ids,
// decide and append. A backend never touches the board.
package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"orch/blackboard/message"
)

// Perceiver turns a person's words into a spec, or into questions.
type Perceiver interface {
	Perceive(context.Context, PerceiveInput) (Perception, error)
}

// PerceiveInput is all a perceiver may read.
type PerceiveInput struct {
	Goal    message.GoalID    `json:"goal"`
	Input   message.UserInput `json:"input"`
	Clarify []QA              `json:"clarify"` // earlier rounds
	Values  string            `json:"values"`  // the person's values.md
}

// QA is one question with its answer.
type QA struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Perception is a perceived goal, or questions when no reasonable reading exists.
type Perception struct {
	Intent      string
	Constraints message.Constraints
	Tags        []string
	Declarative bool
	Questions   []string
	Usage       message.Usage
}

// Planner proposes plans.
type Planner interface {
	// Candidates lists the pairs a plan for the input could use, for the memory query.
	Candidates(context.Context, PlanInput) ([]message.Pair, error)
	// Plan proposes tasks. It returns *NoPlanError when nothing allowed is left.
	Plan(context.Context, PlanInput) (Proposal, error)
}

// NoPlanError says that no plan can be made under the constraints, slot by slot.
type NoPlanError struct {
	Slots []string
	Why   string
}

func (e *NoPlanError) Error() string { return "no approach is left: " + e.Why }

// PlanInput is all a planner may read.
type PlanInput struct {
	Goal       message.GoalID         `json:"goal"`
	Spec       message.TaskSpec       `json:"spec"`
	Playbook   string                 `json:"playbook"` // asked for by name
	Workspace  string                 `json:"workspace"`
	Strict     bool                   `json:"strict"`
	Constraint Constraints            `json:"constraint"`
	Directive  *message.PlanDirective `json:"directive"`  // nil for the first plan
	Previous   []PreviousTask         `json:"previous"`   // tasks of earlier plans, oldest first
	Violations []message.Violation    `json:"violations"` // why the last proposal of this round was refused
	Lessons    []string               `json:"lessons"`    // standing rules of the memory, in words
	Values     string                 `json:"values"`
	Code       *CodePlan              `json:"code,omitempty"` // of the coding profile; nil for other goals
}

// PreviousTask is what became of a task of an earlier plan.
type PreviousTask struct {
	ID       message.TaskID  `json:"id"`
	Slot     string          `json:"slot"`
	Approach string          `json:"approach"`
	Target   string          `json:"target"`
	Status   string          `json:"status"` // matched, failed or skipped
	Reason   string          `json:"reason"`
	Plan     message.PlanID  `json:"plan"`
	Action   json.RawMessage `json:"action,omitempty"` // what it ran, as SubTask.Action says; may be empty
}

// Constraints are what a plan must not and should do.
type Constraints struct {
	MustNot []Ban          `json:"must_not"`
	Prefer  []message.Pair `json:"prefer"`  // memory says exploit
	Caution []message.Pair `json:"caution"` // nothing speaks clearly for or against them: other ways first
	// AskFirst are those of them the memory is of two minds about, because they
	// worked and failed: what has effects needs a yes.
	AskFirst []message.Pair `json:"ask_first,omitempty"`
	// SetAside are the slots in which the memory's bans do not bind, because
	// they would leave nothing to try.
	SetAside []string
}

// Ban forbids an approach or an (approach, target) pair, for one slot or for all.
type Ban struct {
	Slot     string `json:"slot"`     // empty: every slot
	Approach string `json:"approach"` // empty: any approach
	Target   string `json:"target"`   // empty: any target
	Source   string `json:"source"`   // memory or directive
	Because  string `json:"because"`
}

// Forbids tells whether the ban covers an approach on a target in a slot.
func (b Ban) Forbids(slot, approach, target string) bool {
	if b.Approach == "" && b.Target == "" {
		return false
	}
	return (b.Slot == "" || b.Slot == slot) && (b.Approach == "" || b.Approach == approach) && (b.Target == "" || b.Target == target)
}

// Sources of a ban.
const (
	FromMemory    = "memory"
	FromDirective = "directive"
)

// ForSlot are the bans that hold in a slot, without those about other slots.
func (c Constraints) ForSlot(slot string) []Ban {
	return slices.DeleteFunc(slices.Clone(c.Binding(slot)), func(b Ban) bool { return b.Slot != "" && b.Slot != slot })
}

// Binding are the bans that hold in a slot.
func (c Constraints) Binding(slot string) []Ban {
	if !slices.Contains(c.SetAside, slot) {
		return c.MustNot
	}
	return slices.DeleteFunc(slices.Clone(c.MustNot), func(b Ban) bool { return b.Source == FromMemory })
}

// Forbidden returns the first ban that covers an approach on a target in a slot.
func (c Constraints) Forbidden(slot, approach, target string) (Ban, bool) {
	for _, b := range c.Binding(slot) {
		if b.Forbids(slot, approach, target) {
			return b, true
		}
	}
	return Ban{}, false
}

// CriterionSpec is a proposed criterion; the runtime assigns its id.
type CriterionSpec struct {
	Text     string          `json:"criterion" yaml:"criterion"`
	Mode     message.Mode    `json:"mode,omitempty" yaml:"mode"`         // verifiable when it has a check
	Required *bool           `json:"required,omitempty" yaml:"required"` // default: see docs/playbooks.md
	Check    json.RawMessage `json:"check,omitempty" yaml:"-"`
}

// ProposedTask is one task of a proposal. Slots name the parts of a goal and
// stay the same over replans.
type ProposedTask struct {
	Slot      string
	Intent    string
	Criteria  []CriterionSpec
	Context   string
	Sequence  int
	Approach  string
	Target    string
	Action    json.RawMessage
	Tools     []string
	Targets   []string
	ReadOnly  bool
	DependsOn []string // slots
	Priority  int

	SpecRef         string // these four are of the coding profile
	DoneWhen        string
	Scope           string
	ExemptFromTests bool
}

// Proposal is a plan before code has checked it.
type Proposal struct {
	TaskCriteria []CriterionSpec
	Tasks        []ProposedTask
	Keep         []message.TaskID // approved tasks of earlier plans that still count
	Source       string           // playbook name@hash, or the model
	SpecGaps     []string         // what the spec leaves out, seen while planning
	Usage        message.Usage
}

// Executor acts on one task.
type Executor interface {
	Execute(context.Context, ExecuteInput, Tools) (Execution, error)
}

// ExecuteInput is all an executor may read.
type ExecuteInput struct {
	Goal       message.GoalID            `json:"goal"`
	Task       message.SubTask           `json:"task"`
	Attempt    int                       `json:"attempt"` // from 1
	Correction *message.CorrectionSignal `json:"correction"`
	Inputs     map[string]string         `json:"inputs"` // outputs of lower sequences by slot
	Spec       message.TaskSpec          `json:"spec"`
	Workspace  string                    `json:"workspace"`
	Values     string                    `json:"values"`
	MustNot    []Ban                     `json:"must_not,omitempty"` // what binds in the slot of the task
}

// Tools is the gated, journalled tool layer an executor acts through.
type Tools interface {
	// Do runs one tool call. Both sides of it are journalled; a refused call
	// comes back with Denied set.
	Do(ctx context.Context, tool string, input json.RawMessage) (ToolResult, error)
}

// DeclaredTools is a tool layer that can be told that a call is harmless to run
// again after a crash, beyond what can be seen from the call itself. It may
// still change things, the second time as the first.
type DeclaredTools interface {
	Tools
	DoIdempotent(ctx context.Context, tool string, input json.RawMessage) (ToolResult, error)
}

// Actor is a tool layer for a backend that acts by itself, such as an agent
// program. Its whole run is one journalled call, and what its own record shows
// of the calls in between is noted as observed.
type Actor interface {
	Tools
	// Act frames a run: its start is durable before run is called, and what run
	// returns is what the call did.
	Act(ctx context.Context, name string, input json.RawMessage, run func(context.Context) Acted) (ToolResult, error)
	// Observe notes a call that was seen, not made through the layer. It may be
	// used from another goroutine while Act is running. A *MustNotError says that
	// the call was forbidden: it is noted, and the run is to be ended.
	Observe(context.Context, Observed) error
	// May tells whether the layer would let a call pass, without making it.
	May(tool string, input json.RawMessage) bool
}

// Acted is what came of a run.
type Acted struct {
	Exit   int
	Output string
	Failed string // why it is no result: environmental; empty otherwise
}

// Observed is a call in an agent's own record.
type Observed struct {
	Tool    string
	Input   json.RawMessage
	Output  string
	Command string // as a shell line; empty if it is no command
	Failed  bool
	Denied  string // why the agent was refused; empty if it was not
}

// MustNotError says that a backend that acts by itself did what its plan must
// not. Nothing could keep it from that; its attempt counts as failed.
type MustNotError struct {
	What string // the command, or the approach it says it took
	Ban  Ban
}

func (e *MustNotError) Error() string {
	return fmt.Sprintf("it used %s, which this plan must not (%s: %s)", e.What, e.Ban.Source, e.Ban.Because)
}

// ToolResult is what came of a call.
type ToolResult struct {
	Exit   int
	Output string // cut for reading: head and tail
	Denied string
	Class  message.FailureClass
	Kind   string
}

// Execution is what an attempt produced.
type Execution struct {
	Status     string // completed or failed
	Approach   string // what it says it did instead of the task's approach; empty if it says nothing
	Output     string
	Infeasible string
	Class      message.FailureClass
	Reason     string
	MustNot    string // what it was seen to do that the plan must not; nothing of it counts then
	Usage      message.Usage
	Cost       *float64 // US dollars, when an agent states it
}

// Judge decides one criterion that no check can decide.
type Judge interface {
	Judge(context.Context, JudgeInput) (Judgement, error)
}

// JudgeInput is one criterion with the evidence there is.
type JudgeInput struct {
	Criterion message.Criterion `json:"criterion"`
	Intent    string            `json:"intent"`
	Output    string            `json:"output"`
	ToolCalls []string          `json:"tool_calls"`
	Sceptical bool              `json:"sceptical"` // meta-validator: ambiguous evidence is a fail
	Second    bool              `json:"second"`    // an independent second judgement
	Values    string            `json:"values"`
}

// Judgement is a verdict a backend proposes. Anything but a clear pass is a fail.
type Judgement struct {
	Pass     bool
	Class    message.FailureClass
	Evidence string
	WhatToDo string
	Usage    message.Usage
}

// Merger joins matched outputs into one result.
type Merger interface {
	Merge(context.Context, MergeInput) (Merged, error)
}

// MergeInput is every matched output of a plan.
type MergeInput struct {
	Spec     message.TaskSpec         `json:"spec"`
	Outcomes []message.SubTaskOutcome `json:"outcomes"`
	Values   string                   `json:"values"`
}

// Merged is the joined result.
type Merged struct {
	Summary string
	Output  string
	Usage   message.Usage
}

// UnusableError says that what a model answered could not be read, not even
// after it was told what was wrong. The step keeps Raw in the goal's folder.
type UnusableError struct {
	Role  string // the prompt that was answered
	Model string
	Why   string
	Raw   string // the last answer, as it came
}

func (e *UnusableError) Error() string {
	return fmt.Sprintf("what %s answered as the %s can not be used: %s", e.Model, e.Role, e.Why)
}

// Hint names what a person can do.
func (e *UnusableError) Hint() string {
	return "give the role a stronger model: models in .orch/config.yaml"
}
