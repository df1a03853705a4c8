package coder

import (
	"context"
	"fmt"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/run/step"
	"orch/roles/think"
)

// Input is what the agent of the next iteration on a task would be told, as
// things stand.
func Input(ctx context.Context, e *step.Env, t blackboard.Task, g blackboard.Goal) (think.CodeInput, error) {
	if t.Status == blackboard.IntegrationFailed {
		t.From = t.Status // a claim would note it
	}
	it := &iteration{e: e, w: e.Code, task: t, goal: g}
	return it.input(ctx)
}

// input is all the agent is told.
func (it *iteration) input(ctx context.Context) (think.CodeInput, error) {
	t := it.task
	in := think.CodeInput{
		Goal: it.goal.ID, Task: t.SubTask, Iteration: t.Review.Iterations + 1, Dir: t.Work, Env: it.w.Env, Base: t.Base,
		Pending: t.Review.Pending, Handoff: t.Review.Handoff, Answers: slices.Concat(t.Review.Answers, t.HumanNotes), Values: it.e.Values,
	}
	if v := t.Review.Verdict; v != nil {
		in.Checks = v.Checks
	}
	head, err := it.w.Repo.At(ctx, it.w.Integration)
	if err != nil {
		return in, err
	}
	if in.Spec, err = it.w.SpecAt(ctx, head, t.SubTask); err != nil {
		return in, err
	}
	if t.From == blackboard.IntegrationFailed {
		in.Fix, err = it.fix(ctx, head)
	}
	return in, err
}

// fix says why the work did not fit, as the log has it.
func (it *iteration) fix(ctx context.Context, head workspace.Commit) (*think.CodeFix, error) {
	fix := &think.CodeFix{Integration: string(head), Conflict: []string{}}
	for m, err := range it.e.Board.Messages(it.task.Created.Seq) {
		if err != nil {
			return nil, fmt.Errorf("look for why the work did not fit: %w", err)
		}
		if f, ok := m.Body.(message.IntegrationFailed); ok && f.Task == it.task.ID {
			fix.Conflict, fix.Command, fix.Output = f.Conflict, f.Command, f.Output
		}
	}
	if fix.Output == "" || it.w.Blob == nil {
		return fix, nil
	}
	raw, err := it.w.Blob(fix.Output)
	if err != nil {
		return nil, fmt.Errorf("read why the work did not fit: %w", err)
	}
	fix.Output = step.Cut(string(raw), step.OutputBytes)
	return fix, nil
}
