package step

import (
	"context"
	"fmt"
	"io"
	"iter"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
	"orch/roles/act/tool/gate"
	"orch/roles/run/config"
	"orch/roles/think"
)

// Board is what a step needs of the board; *blackboard.Board is one.
type Board interface {
	// AppendFunc appends the message the function makes of the caught-up state,
	// under the log's lock. The message is durable when it returns.
	AppendFunc(context.Context, func(*blackboard.State) (message.Message, error), ...blackboard.AppendOption) (message.Message, error)
	View(context.Context, func(*blackboard.State) error) error
	Barrier(ctx context.Context, seq uint64) error
	Messages(from uint64) iter.Seq2[message.Message, error]
	PutBlob(goal message.GoalID, data []byte) (hash string, err error)
	// RecordViolation appends what the board has to say about a request it refused.
	RecordViolation(context.Context, message.BoundaryViolation) error
	// Blob is what PutBlob kept, or an error if it is not that any more.
	Blob(goal message.GoalID, hash string) ([]byte, error)
}

// Box is the gated tool layer; *tool.Box is one.
type Box interface {
	Do(context.Context, tool.Call) tool.Result
	Idempotent(tool.Call) bool
	May(tool.Call) bool
	Target(tool.Call) (approach, target string)
	// Writes are the paths a call is seen to change.
	Writes(tool.Call) []string
	// Permit asks for permission of something no call shows; nil: it is given.
	Permit(action gate.Action, target, why string) *tool.Denial
}

// Checks runs executable checks in the step's workspace.
type Checks func(context.Context, check.Check) check.Verdict

// Env is all a role gets. One is made for one activation.
type Env struct {
	Board Board
	Key   blackboard.ActivationKey
	Goal  message.GoalID
	Agent message.AgentID
	Fence message.Fence // of the claim; 0 for roles that hold no task

	Workspace string // where tools and checks act
	Values    string // the person's values.md

	Perceiver think.Perceiver // the backends may be nil
	Planner   think.Planner
	Executor  think.Executor
	Judge     think.Judge
	Merger    think.Merger

	Code *Code // of coders, reviewers and the planner of a coding goal; nil for other roles

	PlannedBy string // name of the planner's backend, for the manifest
	Box       Box
	Checks    Checks
	// ChecksApart runs checks on a copy of the workspace as it is; nil where
	// there can be none.
	ChecksApart Checks
	// Whole tells whether what a coding goal merged is still where it was merged,
	// and is what this step looked at; nil in other profiles.
	Whole func(context.Context) error
	// Change is the diff of what a coding goal has merged; nil in other profiles.
	Change   func(context.Context) (string, error)
	Lease    func() message.Lease   // a lease of the configured length, from now
	Heart    *Heart                 // told of progress by what runs the tools; may be nil
	Settings func() (string, error) // fingerprint of orch's own configuration; nil leaves it unwatched
	Clock    journal.Clock          // wall time
	IDs      journal.IDs            // UUIDs
	Random   io.Reader              // of the words that judges repeat
	Redact   func([]byte) []byte    // takes secrets out of what is read; nil takes out none
	Config   config.Config
	Log      func(format string, args ...any) // for the person who looks at the step's output

	Usage message.Usage // what the step consumed so far; added to by Spend
}

// Role is the role this step acts in.
func (e *Env) Role() message.Role { return e.Key.Role }

// Task is the subject as a task id.
func (e *Env) Task() message.TaskID { return message.TaskID(e.Key.Subject) }

// Say appends a message under the activation.
func (e *Env) Say(ctx context.Context, body message.Body) (message.Message, error) {
	return e.SayAs(ctx, e.Key.Role, e.Key.Cause, body)
}

// SayAs appends a message that answers another cause, or that the role says in
// another of its names.
func (e *Env) SayAs(ctx context.Context, from message.Role, cause message.ID, body message.Body) (message.Message, error) {
	return e.SayIf(ctx, from, cause, body, nil)
}

// SayIf appends a message if the condition holds on the caught-up state.
func (e *Env) SayIf(ctx context.Context, from message.Role, cause message.ID, body message.Body, holds func(*blackboard.State) error) (message.Message, error) {
	return e.SayTo(ctx, from, message.DefaultTo(body.Type()), cause, body, holds)
}

// SayTo appends a message to somebody else than its first addressee, if the
// condition (which may be nil) holds on the caught-up state.
func (e *Env) SayTo(ctx context.Context, from, to message.Role, cause message.ID, body message.Body, holds func(*blackboard.State) error) (message.Message, error) {
	said, err := e.Board.AppendFunc(ctx, func(s *blackboard.State) (message.Message, error) {
		if holds != nil {
			if err := holds(s); err != nil {
				return message.Message{}, err
			}
		}
		return e.message(from, to, cause, body), nil
	})
	if err != nil {
		return said, fmt.Errorf("say %s: %w", body.Type(), err)
	}
	return said, nil
}

// message addresses a body. Its subject is the step's, but a draft is its own.
func (e *Env) message(from, to message.Role, cause message.ID, body message.Body) message.Message {
	subject := e.Key.Subject
	switch b := body.(type) {
	case message.SubTask:
		subject = string(b.ID)
	case message.TaskGated:
		subject = string(b.Task)
	}
	return message.Message{
		From: from, To: to, Goal: e.Goal, Subject: subject,
		Cause: cause, Agent: e.Agent, Fence: e.Fence, Body: body,
	}
}

// ReadGoal returns the goal as it is now.
func (e *Env) ReadGoal(ctx context.Context) (blackboard.Goal, error) {
	var goal blackboard.Goal
	err := e.Board.View(ctx, func(s *blackboard.State) error {
		g, ok := s.Goal(e.Goal)
		if !ok {
			return fmt.Errorf("there is no goal %s", e.Goal)
		}
		goal = g
		return nil
	})
	if err != nil {
		return goal, fmt.Errorf("read goal: %w", err)
	}
	return goal, nil
}

// ReadTask returns the step's task and its goal as they are now.
func (e *Env) ReadTask(ctx context.Context) (blackboard.Task, blackboard.Goal, error) {
	var task blackboard.Task
	var goal blackboard.Goal
	err := e.Board.View(ctx, func(s *blackboard.State) error {
		t, ok := s.Task(e.Task())
		if !ok {
			return fmt.Errorf("there is no task %s", e.Task())
		}
		task = t
		goal, _ = s.Goal(t.Goal)
		return nil
	})
	if err != nil {
		return task, goal, fmt.Errorf("read task: %w", err)
	}
	return task, goal, nil
}

// NewID makes a UUID.
func (e *Env) NewID() (string, error) {
	id, err := e.IDs.NewID()
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return id, nil
}

// Spend adds what a backend consumed.
func (e *Env) Spend(u message.Usage) {
	e.Usage.InputTokens += u.InputTokens
	e.Usage.OutputTokens += u.OutputTokens
	e.Usage.CachedTokens += u.CachedTokens
	e.Usage.ModelCalls += u.ModelCalls
	if u.Model != "" {
		e.Usage.Model = u.Model
	}
}
