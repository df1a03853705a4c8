package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/roles/act/check"
	tests "orch/roles/act/ledger"
	"orch/roles/act/process"
	"orch/roles/act/runner"
	rules "orch/roles/loop/code"
	"orch/roles/planner"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
	"orch/roles/think"
	"orch/roles/think/agent"
	"orch/roles/think/choose"
	"orch/roles/think/thinker"
)

// codeEnv is what a step of a coder, a reviewer or the planner of a coding goal
// gets beside the rest; nil for other roles.
func (a *app) codeEnv(ctx context.Context, b *blackboard.Board, cfg config.Config, c supervisor.Claim, in message.UserInput, m *choose.Meter, w agent.World, asks *step.Requests, speaks []string, keep *keeper) (*step.Code, error) {
	role := c.Activation.Key.Role
	switch {
	case role == message.Planner && in.Profile == codeProfile:
		return a.planEnv(ctx, b, cfg, c, in, m, w)
	case role != message.Coder && role != message.CodeReviewer:
		return nil, nil
	}
	p, err := a.codeOf(ctx, b, cfg, c.Activation.Goal)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("goal %s is not a coding goal", c.Activation.Goal)
	}
	redact := blackboard.NewRedactor(os.Environ())
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	code := &step.Code{
		Repo: p.repo, Place: p.place, Integration: p.ref, Requests: asks, Env: []string{supervisor.AgentEnv + "=" + string(c.Agent)},
		Checks: func(ctx context.Context, dir string, ch check.Check) check.Verdict {
			spec, err := keep.around(w.Process, dir)
			if err != nil {
				return check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: "the check can not be confined: " + err.Error()}
			}
			return check.Run(ctx, ch, check.Env{Workspace: dir, WallMS: cfg.Limits.CheckWallMS, Process: spec, Redact: redact})
		},
		Judged: func(ctx context.Context, dir string, ch check.Check, only []tests.Name) (check.Verdict, tests.Ledger) {
			spec, err := keep.around(w.Process, dir)
			if err != nil {
				return check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: "the check can not be confined: " + err.Error()}, tests.Ledger{}
			}
			return runner.Check(ctx, exe, w.Scratch, ch, check.Env{Workspace: dir, WallMS: cfg.Limits.CheckWallMS, Process: spec, Redact: redact}, only)
		},
		Ledgers:     runner.Store{Dir: ledgersOf(b, c.Activation.Goal)},
		TestCommand: func(dir string) (string, error) { return a.testCommand(cfg.Code, dir) },
		Blob:        blobsOf(b, c.Activation.Goal),
	}
	path, err := ownProgram(w.Scratch, os.Getenv("PATH"))
	if err != nil {
		return nil, err
	}
	code.Env = append(code.Env, path, "TMPDIR="+w.Scratch)
	code.Env = append(code.Env, speaks...)
	if cfg.Code.Setup != "" {
		code.Setup = func(ctx context.Context, dir string) error {
			spec, err := keep.around(w.Process, dir)
			if err != nil {
				return err
			}
			return setUp(ctx, cfg.Code, spec, dir)
		}
	}
	return code, a.codeMinds(cfg, in, role, m, w, code)
}

// planReviewModel lets another model look at plans.
const planReviewModel = "model"

// planEnv is what the planner of a coding goal gets beside the rest. Whether a
// spec has to exist is the environment's to say, which a supervisor hands on.
func (a *app) planEnv(ctx context.Context, b *blackboard.Board, cfg config.Config, c supervisor.Claim, in message.UserInput, m *choose.Meter, w agent.World) (*step.Code, error) {
	p, err := a.codeOf(ctx, b, cfg, c.Activation.Goal)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("goal %s is not a coding goal", c.Activation.Goal)
	}
	code := &step.Code{Repo: p.repo, Place: p.place, Integration: p.ref, File: p.file, Blob: blobsOf(b, c.Activation.Goal),
		SkipSpecCheck: os.Getenv(planner.SkipSpecCheckEnv) == "true"}
	if cfg.Code.PlanReview != planReviewModel {
		return code, nil
	}
	links, err := a.links(cfg, choose.Chain(cfg, in, choose.PlanReviewer), w)
	if err != nil || len(links) == 0 {
		return code, err
	}
	var reviewers []choose.PlanReviewing
	for _, l := range links {
		x, err := thinker.New(choose.NewInnerClient(m, l), thinkerOptions(cfg))
		if err != nil {
			return code, err
		}
		reviewers = append(reviewers, choose.PlanReviewing{Entry: l.Entry, Reviewer: x})
	}
	code.PlanReviewer = choose.NewPlanReviewers(m, reviewers)
	return code, nil
}

// blobsOf reads what the board keeps under a hash in a goal's folder.
func blobsOf(b *blackboard.Board, goal message.GoalID) func(hash string) ([]byte, error) {
	return func(hash string) ([]byte, error) {
		return plainfile.Read(filepath.Join(b.GoalDir(goal), "blobs", filepath.Base(hash)))
	}
}

// file is a file as it is on the integration branch.
func (p *codeProject) file(ctx context.Context, path string) ([]byte, bool, error) {
	at, err := p.repo.At(ctx, p.ref)
	if err != nil || at == "" {
		return nil, false, err
	}
	return p.repo.Show(ctx, at, path)
}

// ownProgram is a PATH on which orch is this program, so that orch submit and
// orch note reach the step whatever is installed.
func ownProgram(scratch, path string) (env string, err error) {
	exe, err := executable()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(scratch, "bin")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a place for the agent's orch: %w", err)
	}
	if err := os.Symlink(exe, filepath.Join(dir, "orch")); err != nil {
		return "", fmt.Errorf("give the agent its orch: %w", err)
	}
	return "PATH=" + dir + string(filepath.ListSeparator) + path, nil
}

// setUp runs the project's setup in a new worktree.
func setUp(ctx context.Context, c config.Code, spec process.Spec, dir string) error {
	spec.Argv, spec.Dir, spec.WallMS = []string{"/bin/sh", "-c", c.Setup}, dir, c.SetupWallMS
	r := process.Run(ctx, spec)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.Err != nil:
		return r.Err
	case !r.OK():
		return fmt.Errorf("%s: exit %d %s: %s", c.Setup, r.Exit, r.Why(), step.Cut(string(r.Output()), step.EvidenceBytes))
	}
	return nil
}

// codeMinds adds who codes or reviews. A coder needs an agent: a program that
// works on files by itself. A reviewer may be a plain model.
func (a *app) codeMinds(cfg config.Config, in message.UserInput, role message.Role, m *choose.Meter, w agent.World, code *step.Code) error {
	switch role {
	case message.Coder:
		var links []choose.Coding
		for _, e := range choose.Chain(cfg, in, role) {
			x, err := codingAgent(e, w)
			if err != nil {
				return choose.Missing(e, err)
			}
			links = append(links, choose.Coding{Entry: e, Coder: x})
		}
		if len(links) > 0 {
			code.Coder = choose.NewCoder(m, links)
		}
	case message.CodeReviewer:
		var err error
		if code.Reviewer, err = a.reviewerOf(cfg, choose.Chain(cfg, in, role), m, w); err != nil {
			return err
		}
		if cfg.Code.Crosscheck {
			if code.Crosscheck, err = a.reviewerOf(cfg, choose.Chain(cfg, in, message.Crosscheck), m, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// reviewerOf lets agents look at a checkout, and models at what they are shown.
func (a *app) reviewerOf(cfg config.Config, chain []choose.Entry, m *choose.Meter, w agent.World) (think.Panel, error) {
	var links []choose.Reviewing
	for _, e := range chain {
		one, err := a.reviewing(cfg, e, m, w)
		if err != nil {
			return nil, choose.Missing(e, err)
		}
		links = append(links, one)
	}
	if len(links) == 0 {
		return nil, nil
	}
	return choose.NewReviewers(m, links), nil
}

func (a *app) reviewing(cfg config.Config, e choose.Entry, m *choose.Meter, w agent.World) (choose.Reviewing, error) {
	if e.IsAgent() {
		x, err := newAgent(e, w)
		return choose.Reviewing{Entry: e, Reviewer: x}, err
	}
	c, err := newClient(cfg, e, w)
	if err != nil {
		return choose.Reviewing{}, err
	}
	x, err := thinker.New(choose.NewInnerClient(m, choose.Link{Entry: e, Client: c}), thinkerOptions(cfg))
	return choose.Reviewing{Entry: e, Reviewer: x, Metered: true}, err
}

func codingAgent(e choose.Entry, w agent.World) (*agent.Agent, error) {
	if !e.IsAgent() {
		return nil, errors.New("a coder needs an agent program: backend exec or acp")
	}
	return newAgent(e, w)
}

// Base and Path let the project say where coders work.
var _ supervisor.Worktrees = (*codeProject)(nil)

// codeIsPossible refuses a coding run that nobody could work on.
func codeIsPossible(cfg config.Config, in message.UserInput) error {
	if len(choose.Chain(cfg, in, message.Planner)) == 0 {
		return usagef("set models.planner or models.default in .orch/config.yaml; see docs/models.md", "nobody is there to be the planner: playbooks do not plan code")
	}
	if err := choose.CheckPlanReviewer(cfg, in); err != nil {
		return &exitError{exitUsage, err}
	}
	coders, reviewers := choose.Chain(cfg, in, message.Coder), choose.Chain(cfg, in, message.CodeReviewer)
	if len(coders) == 0 {
		return usagef("set models.coder to an exec or acp backend in .orch/config.yaml; orch agent ls shows what is installed", "nobody is there to be the coder")
	}
	if len(reviewers) == 0 {
		return usagef("set models.code-reviewer in .orch/config.yaml; see docs/models.md", "nobody is there to be the code-reviewer")
	}
	for _, e := range coders {
		if _, err := codingAgent(e, agent.World{}); err != nil {
			return usagef("orch agent ls shows what is installed", "models.%s: %v", e.Name, err)
		}
	}
	err := chainUsable(cfg, reviewers)
	if err == nil {
		err = rules.CheckReviewer(coders[0].Title(), reviewers[0].Title(), cfg.Code.OtherModel)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}
