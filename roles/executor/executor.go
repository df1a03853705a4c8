// Package executor works on one claimed task: one attempt through the tools,
// and an honest report of it.
//
// It promises that every effect is in the log on both sides, that what it
// reports as evidence is what the tools returned, that "infeasible" comes with
// evidence or not at all, and that an attempt which was cut off by a crash goes
// on behind what is on record as done: no call is repeated unless that is
// harmless.
//
// It never judges its own result, never retries by itself, and never plans.
package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/step"
	"orch/roles/think"
)

// Run does one attempt under the claim of the environment.
func Run(ctx context.Context, e *step.Env) error {
	if e.Executor == nil {
		return &step.NoBackendError{Role: message.Executor}
	}
	t, g, err := e.ReadTask(ctx)
	if err != nil {
		return err
	}
	if t.Status != blackboard.Claimed || t.Fence != e.Fence || t.Agent != e.Agent {
		return step.ErrMoved
	}
	a := attempt{e: e, task: t, goal: g, number: t.Attempt + 1}
	tools := e.Tools(t.SubTask, loop.ConstraintsOf(g), a.workspaceChanged(ctx))
	if err := tools.Read(ctx, t); err != nil {
		if _, lost := errors.AsType[*journal.MissingError](err); !lost {
			return err
		}
		reason := fmt.Sprintf("an earlier try of this attempt was cut off, and what it did can not be told, so nothing was done again: %v", err)
		return a.report(ctx, think.Execution{Status: message.Failed, Class: message.Environmental, Reason: reason}, nil)
	}
	if doubt := a.doubt(tools.Resume()); doubt != "" {
		return a.cutOff(ctx, doubt, tools.Calls())
	}
	working, stop := e.Work(ctx)
	defer stop()
	if err := e.NoteBefore(working, t, g); step.Late(err) || step.Late(context.Cause(working)) {
		return a.broken(ctx, working, tools, err)
	} else if err != nil {
		return err
	}
	done, err := a.execute(working, tools)
	if held, ok := errors.AsType[*step.HeldBackError](err); ok {
		e.Spend(done.Usage)
		return a.cutOff(ctx, held.Why, tools.Calls())
	}
	if err != nil {
		return a.broken(ctx, working, tools, err)
	}
	e.Spend(done.Usage)
	return a.report(ctx, done, tools.Calls())
}

// cutOff ends an attempt at a call in doubt. That says nothing of the work or
// its approach: the next attempt goes on behind what is on record.
func (a *attempt) cutOff(ctx context.Context, why string, calls []message.ToolCall) error {
	r := a.result(think.Execution{Status: message.Failed, Class: message.Environmental, Reason: why}, calls)
	r.CutOff = true
	return a.e.SayResult(ctx, a.task.Claim.ID, r)
}

// attempt is one try at a task.
type attempt struct {
	e      *step.Env
	task   blackboard.Task
	goal   blackboard.Goal
	number int
}

// doubt is about a call whose process died between its start and its end. A
// harmless one may be run again; of any other nobody knows whether it took
// effect, so the attempt says so instead of doing it twice.
func (a *attempt) doubt(done []think.Done) string {
	open := a.task.OpenCall
	if open == nil || open.Idempotent {
		return ""
	}
	call := step.CallLine(message.ToolCall{Tool: open.Tool, Input: open.Input, Tail: "its end is unknown"})
	call += ": an earlier try died while this ran. Whether it took effect is unknown, so it was not run again."
	if strings.HasPrefix(open.Tool, agentTool) {
		call += " What the agent was seen to do is on record; the next attempt starts it anew and tells it so."
	}
	if before := think.Effects(done); before != "" {
		call += " Done before it: " + before
	}
	return call
}

// agentTool begins the name of a call that is the run of an agent program. Its
// own calls are only observed, so none of them can be refused.
const agentTool = "agent:"

// workspaceChanged tells whether anything of this plan may have changed the
// workspace before this attempt.
func (a *attempt) workspaceChanged(ctx context.Context) bool {
	if a.task.Attempt > 0 && !a.task.ReadOnly {
		return true
	}
	changed := false
	err := a.e.Board.View(ctx, func(s *blackboard.State) error {
		for _, t := range s.PlanTasks(a.goal) {
			changed = changed || t.ID != a.task.ID && t.PlanID == a.task.PlanID && t.Attempt > 0 && !t.ReadOnly
		}
		return nil
	})
	return changed && err == nil
}

// execute hands the task to the backend with what lower sequences produced.
func (a *attempt) execute(ctx context.Context, tools *step.Journalled) (think.Execution, error) {
	in, err := Input(ctx, a.e, a.task, a.goal)
	if err != nil {
		return think.Execution{}, err
	}
	in.Done = tools.Resume()
	done, err := a.e.Executor.Execute(ctx, in, tools)
	if fatal := tools.Fatal(); fatal != nil {
		return done, fatal // whatever the backend made of it
	}
	return done, err
}

// Input is all a backend may read for the next attempt at a task.
func Input(ctx context.Context, e *step.Env, task blackboard.Task, goal blackboard.Goal) (think.ExecuteInput, error) {
	in := think.ExecuteInput{
		Goal: goal.ID, Task: task.SubTask, Attempt: task.Attempt + 1, CutOffs: task.CutOffs, Workspace: e.Workspace, Values: e.Values,
		Correction: task.Correction, Inputs: map[string]string{}, MustNot: loop.ConstraintsOf(goal).ForSlot(task.Slot),
	}
	if goal.Spec != nil {
		in.Spec = *goal.Spec
	}
	err := e.Board.View(ctx, func(s *blackboard.State) error {
		for _, t := range s.PlanTasks(goal) {
			if t.ID != task.ID && t.Sequence <= task.Sequence && t.Outcome != nil && t.Outcome.Status == message.Matched {
				in.Inputs[t.Slot] = t.Outcome.Output
			}
		}
		return nil
	})
	if err != nil {
		return in, fmt.Errorf("read what earlier tasks produced: %w", err)
	}
	return in, nil
}

// broken decides what an error means. A lost claim or a broken journal ends
// the step; being stopped is no result; anything else is the backend's fault
// and fails the attempt as environmental.
func (a *attempt) broken(ctx, working context.Context, tools *step.Journalled, err error) error {
	if cause := context.Cause(working); step.Late(cause) {
		err = cause
	}
	switch {
	case step.Late(err):
		r := a.result(think.Execution{Status: message.Failed, Class: message.Environmental, Reason: "the claim was lost"}, tools.Calls())
		return a.e.KeepLate(ctx, r)
	case tools.Fatal() != nil, ctx.Err() != nil, journal.FaultOf(err) == journal.DiskFull:
		return err
	}
	reason := fmt.Sprintf("the backend failed: %v", a.e.Unread(err))
	a.e.Log("%s", reason)
	return a.report(ctx, think.Execution{Status: message.Failed, Class: message.Environmental, Reason: reason}, tools.Calls())
}

// report says what came of the attempt.
func (a *attempt) report(ctx context.Context, done think.Execution, calls []message.ToolCall) error {
	r := a.result(done, calls)
	if len(done.Output) > step.OutputBytes {
		sha, err := a.e.Board.PutBlob(a.goal.ID, []byte(done.Output))
		if err != nil {
			return err
		}
		r.Output += "\n[the whole output: blobs/" + sha + "]"
	}
	return a.e.SayResult(ctx, a.task.Claim.ID, r)
}

func (a *attempt) result(done think.Execution, calls []message.ToolCall) message.ExecutionResult {
	r := message.ExecutionResult{
		SubtaskID: a.task.ID, Attempt: a.number, Status: message.Failed, Output: step.Cut(done.Output, step.OutputBytes),
		Class: done.Class, Reason: step.Cut(done.Reason, step.EvidenceBytes),
	}
	if done.Status == message.Completed {
		r.Status = message.Completed
	}
	for _, c := range calls {
		r.Calls = append(r.Calls, c.Call)
		r.ToolCalls = append(r.ToolCalls, step.CallLine(c))
	}
	r.ToolCalls = bounded(r.ToolCalls)
	if r.MustNot = step.Cut(cmp.Or(done.MustNot, a.forbidden(done)), step.EvidenceBytes); r.MustNot != "" {
		r.Status, r.Class, r.Reason = message.Failed, message.Logical, r.MustNot
	}
	if done.Infeasible != "" {
		r.Status = message.Failed
		if a.shown(done, calls) {
			r.Infeasible = step.Cut(done.Infeasible, step.EvidenceBytes)
		} else {
			r.Reason = "called infeasible, and no call on record shows it: " + step.Cut(done.Infeasible, step.EvidenceBytes)
		}
	}
	if r.Status == message.Failed {
		r.Class = failureClass(r.Class, calls)
	} else {
		r.Class, r.Reason = "", ""
	}
	return r
}

// forbidden says why an attempt that says it took another approach than the
// task's does not count: the plan must not use that one.
func (a *attempt) forbidden(done think.Execution) string {
	if done.Approach == "" || done.Approach == a.task.Approach {
		return ""
	}
	for _, b := range loop.ConstraintsOf(a.goal).Binding(a.task.Slot) {
		if b.Approach != "" && b.Forbids(a.task.Slot, done.Approach, a.task.Target) {
			return (&think.MustNotError{What: done.Approach, Ban: b}).Error()
		}
	}
	return ""
}

// failureClass promotes a failed attempt to environmental if its last call
// failed unmistakably for a reason outside it. It never demotes.
func failureClass(said message.FailureClass, calls []message.ToolCall) message.FailureClass {
	if n := len(calls); n > 0 && calls[n-1].Class == message.Environmental {
		return message.Environmental
	}
	if said == "" {
		return message.Logical
	}
	return said
}

// bounded keeps the first and the last calls of very many; all are in the log.
func bounded(calls []string) []string {
	const most = 100
	if len(calls) <= most {
		return calls
	}
	left := fmt.Sprintf("… %d calls left out, all are in the log …", len(calls)-most)
	return append(append(append([]string{}, calls[:most/2]...), left), calls[len(calls)-most/2:]...)
}
