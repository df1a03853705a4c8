package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"os"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/coder"
	"orch/roles/codereviewer"
	"orch/roles/executor"
	"orch/roles/loop"
	"orch/roles/planner"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
	"orch/roles/think"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
	"orch/roles/think/thinker"
)

// errShown ends a role where it would have said something.
var errShown = errors.New("nothing is said while a prompt is shown")

// lookingBoard lets a role read the board, and say nothing.
type lookingBoard struct{ *blackboard.Board }

func (lookingBoard) AppendFunc(context.Context, func(*blackboard.State) (message.Message, error), ...blackboard.AppendOption) (message.Message, error) {
	return message.Message{}, errShown
}
func (lookingBoard) Barrier(context.Context, uint64) error          { return nil }
func (lookingBoard) PutBlob(message.GoalID, []byte) (string, error) { return "", errShown }
func (b lookingBoard) Messages(from uint64) iter.Seq2[message.Message, error] {
	return b.Board.Messages(from)
}

// listener is a model that notes what it is asked and gives no answer.
type listener struct {
	prompts  []prompt.Prompt
	requests []model.Request
}

func (l *listener) Complete(_ context.Context, r model.Request) (model.Response, error) {
	l.requests = append(l.requests, r)
	return model.Response{}, &model.Error{Kind: model.Ended, Model: l.Model(), Detail: "nothing is asked while a prompt is shown"}
}
func (*listener) Model() string   { return "nobody" }
func (*listener) Account() string { return "nobody" }

// ask lets the role do its step up to the first thing it would say. An
// executor, a coder or a reviewer would have to hold the task, so only its
// question is asked.
func ask(ctx context.Context, e *step.Env, think *thinker.Thinker, heard *listener) error {
	role := e.Key.Role
	if role == message.Planner {
		return askPlanner(ctx, e, think)
	}
	if role != message.Executor && role != message.Coder && role != message.CodeReviewer {
		return acts[role](ctx, e)
	}
	t, g, err := e.ReadTask(ctx)
	if err != nil {
		return err
	}
	if role != message.Executor && e.Code == nil {
		return usagef("coders and reviewers work on goals of the coding profile", "%s is no task of a coding goal", t.ID)
	}
	switch role {
	case message.Coder:
		in, err := coder.Input(ctx, e, t, g)
		if err != nil {
			return err
		}
		return heard.hear(prompt.ForCoder(in))
	case message.CodeReviewer:
		in, err := codereviewer.Input(ctx, e, t, g)
		if err != nil {
			return err
		}
		return heard.hear(prompt.ForReviewer(in))
	}
	in, err := executor.Input(ctx, e, t, g)
	if err != nil {
		return err
	}
	_, err = think.Execute(ctx, in, noTools{})
	return err
}

// askPlanner asks for a plan, or for an answer to what woke the planner.
func askPlanner(ctx context.Context, e *step.Env, think *thinker.Thinker) error {
	g, err := e.ReadGoal(ctx)
	if err != nil {
		return err
	}
	if g.PlanCause.ID != "" {
		return planner.Run(ctx, e)
	}
	in, asked, err := planner.WakeInput(ctx, e, g)
	if err != nil || !asked {
		return err
	}
	_, err = think.Answer(ctx, in)
	return err
}

// hear notes what an agent would be told.
func (l *listener) hear(p prompt.Prompt, err error) error {
	if err == nil {
		l.prompts, l.requests = append(l.prompts, p), append(l.requests, p.Request())
	}
	return err
}

// noTools are the tools of an executor that is only looked at.
type noTools struct{}

func (noTools) Do(context.Context, string, json.RawMessage) (think.ToolResult, error) {
	return think.ToolResult{}, errShown
}

// lookingEnv is the environment of a step that reads and does nothing else.
func (a *app) lookingEnv(ctx context.Context, b *blackboard.Board, role message.Role, subject string) (*step.Env, error) {
	cfg, err := a.config(b.Root())
	if err != nil {
		return nil, err
	}
	key := blackboard.ActivationKey{Role: role, Subject: subject}
	var goal message.GoalID
	err = b.View(ctx, func(st *blackboard.State) error {
		key.Subject, key.Cause, goal, err = subjectOf(st, role, subject)
		return err
	})
	if err != nil {
		return nil, err
	}
	values, err := valuesFor(ctx, b, goal, role)
	if err != nil {
		return nil, err
	}
	code, err := a.lookingCode(ctx, b, cfg, goal)
	if err != nil {
		return nil, err
	}
	return &step.Env{
		Board: lookingBoard{b}, Key: key, Code: code, Goal: goal, Agent: message.AgentID(string(role) + "-1"), Workspace: b.Root(), Values: values,
		Checks: func(context.Context, check.Check) check.Verdict {
			return check.Verdict{Pass: true, Evidence: "not run while a prompt is shown"}
		},
		Clock: supervisor.SystemClock{}, IDs: journal.UUIDs{}, Random: rand.Reader, Redact: blackboard.NewRedactor(os.Environ()), Config: cfg, Log: func(string, ...any) {},
	}, nil
}

// lookingCode is what a step of a coding goal sees of the repository; nil for
// other goals.
func (a *app) lookingCode(ctx context.Context, b *blackboard.Board, cfg config.Config, goal message.GoalID) (*step.Code, error) {
	p, err := a.codeOf(ctx, b, cfg, goal)
	if err != nil || p == nil {
		return nil, err
	}
	return &step.Code{Repo: p.repo, Place: p.place, Integration: p.ref, File: p.file, Blob: blobsOf(b, goal)}, nil
}

// subjectOf finds what a role would act on, and the message that asks for it.
func subjectOf(st *blackboard.State, role message.Role, name string) (subject string, cause message.ID, goal message.GoalID, err error) {
	switch role {
	case message.Executor, message.AgentValidator, message.Coder, message.CodeReviewer:
		t, err := resolveTask(st, name)
		return string(t.ID), t.ResultRef.ID, t.Goal, err
	}
	g, ok := st.Goal(message.GoalID(name))
	switch {
	case ok && role == message.Planner:
		if wakes := loop.Wakes(st, g); len(wakes) > 0 {
			return wakes[0].Subject, wakes[0].Cause.ID, g.ID, nil
		}
		return name, g.PlanRef.ID, g.ID, nil
	case ok:
		return name, g.PlanRef.ID, g.ID, nil
	case role == message.Planner:
		return wakeAbout(st, name)
	}
	return "", "", "", usagef("orch goals lists them", "there is no goal %q", name)
}

// wakeAbout finds what woke the planner about a task.
func wakeAbout(st *blackboard.State, name string) (subject string, cause message.ID, goal message.GoalID, err error) {
	t, err := st.ResolveTask(name)
	if err != nil {
		return "", "", "", usagef("orch goals lists them", "there is no goal %q, and %v", name, err)
	}
	g, _ := st.Goal(t.Goal)
	for _, w := range loop.Wakes(st, g) {
		if w.Task == t.ID {
			return w.Subject, w.Cause.ID, g.ID, nil
		}
	}
	return string(t.ID), "", t.Goal, nil
}
