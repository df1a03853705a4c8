package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/integrator"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
)

// codeProfile is the name of the profile of coders and reviewers.
const codeProfile = "code"

// codeProject is the repository a coding goal works on, and where its coders work.
type codeProject struct {
	repo  workspace.Repo
	place workspace.Place
	ref   string // of the integration branch
	name  string // author of merge commits
	email string
}

// openCode finds the repository of a board.
func openCode(ctx context.Context, root, board string, cfg config.Code) (*codeProject, error) {
	repo, err := workspace.Open(ctx, root)
	if err != nil {
		return nil, asUsage(err)
	}
	if same, err := sameDir(root, repo.Dir); err != nil || !same {
		return nil, errors.Join(err, usagef("cd "+repo.Dir+" && orch run --profile code …", "%s is not the top of its repository, which the coding profile works on", root))
	}
	state, err := workspace.StateHome(os.Getenv)
	if err != nil {
		return nil, asUsage(err)
	}
	p := &codeProject{repo: repo, place: workspace.PlaceOf(state, board), ref: "refs/heads/" + cfg.Integration}
	p.name, p.email = repo.Author(ctx)
	return p, nil
}

func sameDir(a, b string) (bool, error) {
	one, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two), err
}

// asUsage makes what a person has to mend first exit as such.
func asUsage(err error) error {
	if not, ok := errors.AsType[*workspace.NotReadyError](err); ok {
		return usagef(not.Do, "%s", not.What)
	}
	return err
}

// checkCode refuses a coding run that could not begin, before anything is written.
func checkCode(ctx context.Context, root string, cfg config.Code, f runFlags) error {
	p, err := openCode(ctx, root, "", cfg)
	if err != nil {
		return err
	}
	ready, err := p.repo.Ready(ctx, p.ref)
	if err == nil {
		err = p.repo.Filtered(ctx, ready.Commit)
	}
	if err != nil {
		return asUsage(err)
	}
	if f.spec == "" {
		return nil
	}
	spec, _, _ := strings.Cut(f.spec, "#")
	head, err := p.repo.Head(ctx)
	if err != nil {
		return asUsage(err)
	}
	text, ok, err := p.repo.Show(ctx, head.Commit, filepath.ToSlash(filepath.Clean(spec)))
	if err != nil {
		return err
	}
	if !ok {
		hint := "write it, and commit it: coders work on commits"
		if _, err := os.Stat(filepath.Join(root, spec)); err == nil {
			hint = "git add " + spec + " && git commit: coders work on commits"
		}
		return usagef(hint, "the spec %s is in no commit", spec)
	}
	if err := blackboard.Text("the spec "+spec, string(text)); err != nil {
		return &exitError{code: exitUsage, cause: err}
	}
	return nil
}

// start makes the integration branch if it is not there, and notes where the
// goal begins. Once that is noted, it does nothing: a branch that is gone later
// is not made anew behind a person's back.
func (p *codeProject) start(ctx context.Context, goal message.GoalID) error {
	if began, err := p.repo.At(ctx, workspace.StartRef(goal)); err != nil || began != "" {
		return err
	}
	head, err := p.repo.Head(ctx)
	if err != nil {
		return asUsage(err)
	}
	at, err := p.repo.EnsureBranch(ctx, p.ref, head.Commit)
	if err != nil {
		return err
	}
	_, err = p.repo.EnsureBranch(ctx, workspace.StartRef(goal), at)
	return err
}

// Base is the commit new work begins at: what is integrated so far.
func (p *codeProject) Base(ctx context.Context, goal message.GoalID) (string, error) {
	at, err := p.repo.Intact(ctx, goal, p.ref)
	return string(at), err
}

// Path is the worktree of a coder's claim.
func (p *codeProject) Path(goal message.GoalID, task message.TaskID, coder message.AgentID, fence message.Fence) string {
	return p.place.Coder(goal, task, coder, fence)
}

// isCode tells whether a goal is worked on by coders.
func isCode(g blackboard.Goal) bool { return g.Input.Profile == codeProfile }

// worktrees says where the coders of a board work.
func (a *app) worktrees(ctx context.Context, b *blackboard.Board, cfg config.Config) (supervisor.Worktrees, error) {
	board := ""
	if err := b.View(ctx, func(s *blackboard.State) error { board = s.BoardID(); return nil }); err != nil {
		return nil, err
	}
	p, err := openCode(ctx, b.Root(), board, cfg.Code)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// codeOf finds the repository of a goal, or nil for a goal that needs none.
func (a *app) codeOf(ctx context.Context, b *blackboard.Board, cfg config.Config, goal message.GoalID) (*codeProject, error) {
	var g blackboard.Goal
	var board string
	err := b.View(ctx, func(s *blackboard.State) error {
		g, _ = s.Goal(goal)
		board = s.BoardID()
		return nil
	})
	if err != nil || !isCode(g) {
		return nil, err
	}
	return openCode(ctx, b.Root(), board, cfg.Code)
}

// startCode makes what a goal needs in its repository before anybody works on
// it, whether it is new or a run of it was cut off; nothing for other profiles.
func (a *app) startCode(ctx context.Context, root string, cfg config.Config, goal message.GoalID) error {
	b, err := a.openAt(root, person())
	if err != nil {
		return err
	}
	defer b.Close()
	p, err := a.codeOf(ctx, b.Board, cfg, goal)
	if err != nil || p == nil {
		return err
	}
	return p.start(ctx, goal)
}

// finishCode removes the worktrees a run left and says where the work is. Once
// a run has told that, the branch is the person's, who may have moved or removed it.
func (a *app) finishCode(ctx context.Context, b *session, cfg config.Config, g blackboard.Goal, again bool) error {
	p, err := a.codeOf(ctx, b.Board, cfg, g.ID)
	if err != nil || p == nil {
		return err
	}
	if _, err := integrator.Tidy(ctx, b.Board, p.repo, p.place, p.name, p.email); err != nil {
		a.warn(err)
	}
	r, err := p.reportOf(ctx, b.Board, g)
	if err != nil {
		return err
	}
	path := filepath.Join(b.GoalDir(g.ID), "report.md")
	var gone error
	if _, err := os.Lstat(path); !again || err != nil {
		if err := os.WriteFile(path, []byte(r.markdown()), 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write the report: %w", err)
		}
		// Whoever takes the branch must know that it is not what was judged.
		_, gone = p.repo.Intact(ctx, g.ID, p.ref)
	}
	if a.asJSON {
		return gone
	}
	return errors.Join(r.print(a.out), gone)
}

// watched compares the person's checkout around every step that runs an agent,
// and stops the goal if it is no longer what it was.
type watched struct {
	supervisor.Spawner
	guard *checkoutGuard
}

// judgedNext is what is about to be done with the branch.
const judgedNext = "the goal is to be judged"

// Step runs the step and looks afterwards. Before a goal is judged it looks at
// the branch: what somebody added to it was reviewed by nobody.
func (w watched) Step(ctx context.Context, c supervisor.Claim) supervisor.End {
	if c.Activation.Key.Role == message.MetaValidator {
		if drift, err := w.guard.lookAtBranch(context.WithoutCancel(ctx), c.Activation.Key.Cause, judgedNext); err != nil {
			return supervisor.End{Exit: step.ExitCrash, Class: message.EndCrash, Detail: err.Error()}
		} else if drift != "" {
			return supervisor.End{Exit: step.ExitAgain, Class: message.EndAgain, Detail: drift}
		}
	}
	end := w.Spawner.Step(ctx, c)
	switch c.Activation.Key.Role {
	case message.Coder, message.CodeReviewer:
		if err := w.guard.look(context.WithoutCancel(ctx), c); err != nil {
			end.Detail = strings.TrimPrefix(cmp.Or(end.Detail, "")+"; "+err.Error(), "; ")
		}
	}
	return end
}
