package coder

import (
	"context"
	"fmt"

	"orch/blackboard/message"
	"orch/roles/loop/code"
	"orch/roles/run/step"
)

// hear takes what the agent asks for through orch submit and orch note. Notes
// are said at once. How the iteration is to end is kept until the agent is
// gone, and can be asked for once: what comes of it, the worktree decides.
func (it *iteration) hear(ctx context.Context, body message.Body) (message.ID, error) {
	switch b := body.(type) {
	case message.Anomaly:
		return it.e.RelayAnomaly(ctx, b)
	case message.Discovery:
		m, err := it.e.Relay(ctx, b)
		return m.ID, err
	case message.ReviewRequested:
		if b.ReviewCommit != "" {
			return "", &step.NotYoursError{What: "which commit is reviewed is for code to say: what the worktree is at when you are done", Do: "orch submit --notes TEXT"}
		}
		return "", it.endWith(b.Task, b)
	case message.Blocked:
		if b.Kind == "" {
			b.Kind = message.BlockedSpec
		}
		asked := b.Task
		b.Task = it.task.ID
		if problem := code.BlockProblem(b); problem != "" {
			return "", &step.NotYoursError{What: problem, Do: "orch note blocked --reason TEXT --question TEXT? [--question TEXT?]"}
		}
		return "", it.endWith(asked, b)
	case message.Handoff:
		if b.Summary == "" || b.NextAction == "" {
			return "", &step.NotYoursError{What: "a handoff needs a summary and a next action", Do: "orch note handoff --summary TEXT --next TEXT"}
		}
		asked := b.Task
		b.Task, b.Refused = it.task.ID, "" // whether work is taken is for code to say
		return "", it.endWith(asked, b)
	}
	return "", &step.NotYoursError{What: fmt.Sprintf("a coder may not say %s", body.Type()), Do: "orch submit, or orch note anomaly, discovery, blocked or handoff"}
}

func (it *iteration) endWith(task message.TaskID, ask message.Body) error {
	if err := it.mine(task); err != nil {
		return err
	}
	if it.ask != nil {
		return &step.NotYoursError{What: fmt.Sprintf("this iteration already ends with %s", it.ask.Type()), Do: "stop now; the step does the rest"}
	}
	it.ask = ask
	return nil
}

// mine refuses to speak about another's task.
func (it *iteration) mine(task message.TaskID) error {
	if task == "" || task == it.task.ID {
		return nil
	}
	return &step.NotYoursError{What: fmt.Sprintf("%s works on %s, and speaks about nothing else", it.e.Agent, it.task.ID), Do: "orch note discovery for what concerns others"}
}
