package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/process"
	"orch/roles/act/workspace"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
)

// integrated is what a coding goal has merged so far, for the role that judges
// it as a whole: its criteria are about the integration branch, and not about
// the person's checkout.
type integrated struct {
	project *codeProject
	goal    message.GoalID
	dir     string // where it is checked out when somebody asks
	setup   func(ctx context.Context, dir string) error

	mu   sync.Mutex
	head workspace.Commit // empty while nothing is checked out
}

func newIntegrated(p *codeProject, cfg config.Code, goal message.GoalID, scratch string, spec process.Spec) *integrated {
	i := &integrated{project: p, goal: goal, dir: filepath.Join(scratch, "integrated")}
	if cfg.Setup != "" {
		i.setup = func(ctx context.Context, dir string) error { return setUp(ctx, cfg, spec, dir) }
	}
	return i
}

// judgedWhole is what a step that judges a coding goal looks at; nil for others.
func (a *app) judgedWhole(ctx context.Context, b *blackboard.Board, cfg config.Config, c supervisor.Claim, scratch string, spec process.Spec) (*integrated, error) {
	if c.Activation.Key.Role != message.MetaValidator {
		return nil, nil
	}
	p, err := a.codeOf(ctx, b, cfg, c.Activation.Goal)
	if err != nil || p == nil {
		return nil, err
	}
	return newIntegrated(p, cfg.Code, c.Activation.Goal, scratch, spec), nil
}

// checkout makes the checkout, once.
func (i *integrated) checkout(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.head != "" {
		return nil
	}
	head, err := i.project.Base(ctx, i.goal)
	if err != nil {
		return err
	}
	err = i.project.repo.Make(ctx, i.dir, workspace.Spec{Commit: workspace.Commit(head), Included: true}, i.setup)
	if err != nil {
		return fmt.Errorf("check the integration branch out: %w", err)
	}
	i.head = workspace.Commit(head)
	return nil
}

// intact is an error if the branch lost what was merged into it, which a person
// must mend, or if it went on since it was checked out.
func (i *integrated) intact(ctx context.Context) error {
	at, err := i.project.Base(ctx, i.goal)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.head != "" && string(i.head) != at {
		return fmt.Errorf("%w: the branch was at %.12s when it was judged, and is at %.12s", step.ErrMoved, i.head, at)
	}
	return nil
}

// checks runs a check of the goal on the checkout.
func (i *integrated) checks(env check.Env, heed checking) step.Checks {
	env.Workspace = i.dir
	return func(ctx context.Context, ch check.Check) check.Verdict {
		if err := i.checkout(ctx); err != nil {
			return check.Verdict{Class: check.Environmental, Evidence: err.Error()}
		}
		return heed(ctx, ch, env)
	}
}

// change is the diff from where the goal began to what is integrated.
func (i *integrated) change(ctx context.Context) (string, error) {
	if err := i.checkout(ctx); err != nil {
		return "", err
	}
	start, err := i.project.repo.At(ctx, workspace.StartRef(i.goal))
	if err != nil {
		return "", err
	}
	if start == "" {
		return "", fmt.Errorf("nothing says where %s began: %s is gone", i.goal, workspace.StartRef(i.goal))
	}
	diff, err := i.project.repo.Diff(ctx, start, i.head)
	return string(diff), err
}
