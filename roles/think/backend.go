// Package think says how a step thinks or acts: the interfaces every backend
// fulfils in part, and the data that crosses them.
//
// It owns the shapes only. A backend proposes; the roles check, assign ids,
// decide and append. A backend never touches the board.
package think

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

// Executor acts on one task.
type Executor interface {
	Execute(context.Context, ExecuteInput, Tools) (Execution, error)
}

// ExecuteInput is all an executor may read.
type ExecuteInput struct {
	Goal       message.GoalID            `json:"goal"`
	Task       message.SubTask           `json:"task"`
	Attempt    int                       `json:"attempt"`            // from 1
	CutOffs    int                       `json:"cut_offs,omitempty"` // attempts before it that were cut off: they speak against nothing
	Correction *message.CorrectionSignal `json:"correction"`
	Inputs     map[string]string         `json:"inputs"` // outputs of lower sequences by slot
	Spec       message.TaskSpec          `json:"spec"`
	Workspace  string                    `json:"workspace"`
	Values     string                    `json:"values"`
	MustNot    []Ban                     `json:"must_not,omitempty"` // what binds in the slot of the task
	Done       []Done                    `json:"done,omitempty"`     // calls on record that the attempt goes on behind, oldest first
}

// Done is a call on record: of a try or an attempt that was cut off, or made by
// another backend. A backend goes on behind it.
type Done struct {
	Tool       string          `json:"tool"`
	Input      json.RawMessage `json:"input"` // as the log has it: secrets redacted, a very long one named by its hash
	Idempotent bool            `json:"idempotent"`
	Exit       int             `json:"exit"`
	Output     string          `json:"output"` // cut for reading
	// Doubt tells that nobody knows whether it took effect: it never ended.
	Doubt bool `json:"doubt,omitempty"`
	// Seen are the calls that an agent program was seen to make during this one.
	Seen []string `json:"seen,omitempty"`

	Class message.FailureClass `json:"class,omitempty"`
	Kind  string               `json:"kind,omitempty"`

	Whole string `json:"-"` // of the last call: all of its output that is kept
}

// Name is the call as a person would write it.
func (d Done) Name() string { return message.CallName(d.Tool, d.Input) }

// Effects names the calls that can not be made again without harm, the last
// ones if they are many; empty if there are none.
func Effects(done []Done) string {
	const most, each = 10, 200
	var names []string
	for _, d := range done {
		if name := []rune(d.Name()); !d.Idempotent && !d.Doubt {
			names = append(names, string(name[:min(len(name), each)]))
		}
	}
	return strings.Join(names[max(0, len(names)-most):], "; ")
}

// Result is the recorded result as the call itself gave it.
func (d Done) Result() ToolResult {
	return ToolResult{Exit: d.Exit, Output: d.Output, Class: d.Class, Kind: d.Kind}
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

// Recorder is a tool layer that knows the calls which are on record for the
// attempt, so that none is made twice because a process died or a backend failed.
type Recorder interface {
	Tools
	// Resume lists the calls on record, oldest first, for a backend that begins.
	Resume() []Done
	// Recall returns the record of a call that Resume listed, that ended, and that
	// is the same as this one. It gives each record once, and none any more after a new call
	// had an effect: from then on the same call is another one.
	Recall(tool string, input json.RawMessage) (Done, bool)
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
	Exhausted  bool // set by code only: every variant of the approach was run in earlier attempts
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
	Word      string            `json:"word"` // of this question, see NewWord; the verdict repeats it
	Criterion message.Criterion `json:"criterion"`
	Intent    string            `json:"intent"`
	Output    string            `json:"output"`    // what the judged party says: a claim
	Records   []Record          `json:"records"`   // what orch recorded: a pass quotes one of them
	Observed  []string          `json:"observed"`  // calls an agent program reports of itself: shown, no evidence
	Sceptical bool              `json:"sceptical"` // meta-validator: ambiguous evidence is a fail
	Second    bool              `json:"second"`    // an independent second judgement
	Values    string            `json:"values"`
}

// Judgement is a verdict a backend proposes. Anything but a clear pass, with a
// quote that is in the record it names, is a fail.
type Judgement struct {
	Pass     bool
	Class    message.FailureClass
	Evidence string
	Record   string // name of the record that decides a pass
	Quote    string // the words of the record that do
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

// MissingToolError says that a plan needs programs that are not on PATH, and
// that there is no other. The goal waits until a person has installed them.
type MissingToolError struct{ Commands []string }

func (e *MissingToolError) Error() string {
	return "not on PATH, and nothing else would do: " + strings.Join(e.Commands, ", ")
}

// Hint names what a person can do.
func (e *MissingToolError) Hint() string {
	return "install what is missing, or put it on PATH, then: orch resume"
}

// NotJudgedError says that nobody who may judge something, a criterion, a change
// or a plan, gave a verdict that can be used. It is neither passed nor failed,
// who did the work did nothing wrong, and its goal waits for a person when
// nothing else of it is left to do.
type NotJudgedError struct {
	What string
	Why  error // what the last judge made of it
}

func (e *NotJudgedError) Error() string {
	return fmt.Sprintf("%s is not judged: %v", e.What, e.Why)
}

// Unwrap returns what the last judge made of it.
func (e *NotJudgedError) Unwrap() error { return e.Why }

// Hint names what a person can do.
func (e *NotJudgedError) Hint() string {
	return "give the judge another model, or a fallback of its tier, under models in .orch/config.yaml, then: orch resume"
}
