package agent

import (
	"context"
	"fmt"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/agent/cli"
	"orch/roles/think/answer"
	"orch/roles/think/closing"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
)

var (
	_ think.Coder    = (*Agent)(nil)
	_ think.Reviewer = (*Agent)(nil)
)

// Code lets the agent work on a task in its worktree by itself. What it did is
// in the worktree; how it wants the iteration to end is in its last message,
// unless it said so before, with orch submit or orch note.
func (a *Agent) Code(ctx context.Context, in think.CodeInput) (think.CodeReport, error) {
	p, err := prompt.ForCoder(in)
	if err != nil {
		return think.CodeReport{}, err
	}
	res, err := a.act(ctx, Task{Dir: in.Dir, Env: in.Env, Access: a.set.access, Role: string(message.Coder), Input: p.Input}, p)
	out := think.CodeReport{Summary: res.Text, Usage: usage(a, res), Cost: res.Cost}
	if err != nil {
		return out, err
	}
	var said codeAnswer
	if answer.Parse(res.Text, p.Schema, &said) != nil {
		return out, nil // an agent that just stops has said nothing of the end
	}
	return said.into(out), nil
}

// codeAnswer is a coder's last message.
type codeAnswer struct {
	End              string            `json:"end"`
	Summary          string            `json:"summary"`
	BlockedReason    string            `json:"blocked_reason"`
	BlockedQuestions []string          `json:"blocked_questions"`
	Attempted        []string          `json:"attempted"`
	NextAction       string            `json:"next_action"`
	NextSteps        []string          `json:"next_steps"`
	Anomalies        []closing.Anomaly `json:"anomalies"`
}

func (s codeAnswer) into(out think.CodeReport) think.CodeReport {
	out.End, out.Summary = s.End, s.Summary
	out.Blocked = message.Blocked{BlockedReason: s.BlockedReason, BlockedQuestions: s.BlockedQuestions, Attempted: listed(s.Attempted)}
	out.Handoff = message.Handoff{Summary: s.Summary, NextAction: s.NextAction, NextSteps: listed(s.NextSteps), Blockers: []string{}, FilesModified: []string{}}
	out.Anomalies = closing.Anomalies(s.Anomalies)
	return out
}

func listed(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Review lets the agent look at a commit and judge it.
func (a *Agent) Review(ctx context.Context, in think.ReviewInput) (think.Review, error) {
	p, err := prompt.ForReviewer(in)
	if err != nil {
		return think.Review{}, err
	}
	res, err := a.act(ctx, Task{Dir: in.Dir, Env: in.Env, Access: cli.Read, Role: string(message.CodeReviewer), Input: p.Input}, p)
	out := think.Review{Usage: usage(a, res), Cost: res.Cost}
	if err != nil {
		return out, err
	}
	var said closing.Review
	if err := answer.Bound(res.Text, p.Schema, in.Word, "decision", &said); err != nil {
		return out, &model.Error{Kind: model.Malformed, Model: a.Model(), Account: a.Account(), Detail: "its verdict can not be read: " + err.Error()}
	}
	return said.Into(out, in), nil
}

// act runs the agent on a composed prompt.
func (a *Agent) act(ctx context.Context, t Task, p prompt.Prompt) (Result, error) {
	q := p.Request()
	t.Prompt = q.System + "\n\n" + q.Turns[0].Text
	if a.set.json() {
		q.Role, q.Input = t.Role, p.Input
		t.Prompt = a.request(t, q)
	}
	res, err := a.Run(ctx, t)
	if err != nil && ctx.Err() != nil {
		return res, fmt.Errorf("run %s: %w", a.Model(), context.Cause(ctx))
	}
	return res, err
}
