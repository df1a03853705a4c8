package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/caches"
	"orch/roles/act/process"
	"orch/roles/act/workspace"
	"orch/roles/run/config"
)

// freshCaches gives a keeper caches that nobody has used, over a lower layer.
// end removes them.
func (k *keeper) freshCaches(lower string) (end func(), err error) {
	end = func() {}
	root, err := caches.Root()
	if err != nil {
		return end, err
	}
	own, err := process.MakeTempIn(root)
	if err != nil {
		return end, err
	}
	end = func() { _ = process.RemoveTree(own) } // what stays is removed when its process is gone
	k.caches, err = caches.Open(root, own, lower, k.layers)
	return end, err
}

// keptCaches gives a keeper the caches of a worktree.
func (k *keeper) keptCaches(worktree, lower string) error {
	root, err := caches.Root()
	if err != nil {
		return err
	}
	own, err := workspace.MakeCaches(worktree)
	if err != nil {
		return err
	}
	k.caches, err = caches.Open(root, own, lower, k.layers)
	return err
}

// judgesWork tells whether a role judges what others did by running it.
func judgesWork(role message.Role) bool {
	return role == message.AgentValidator || role == message.MetaValidator || role == message.CodeReviewer
}

// openCaches gives the step's commands their caches: a coder those of its
// worktree, everybody else fresh ones. Where nothing confines a worker uses the
// person's, and who judges it does not.
func (m *stepMaker) openCaches(ctx context.Context, spec process.Spec) (err error) {
	role, goal := m.claim.Activation.Key.Role, m.claim.Activation.Goal
	if m.keep == nil {
		if !judgesWork(role) {
			return nil
		}
		if m.keep, err = bareKeeper(); err != nil {
			return err
		}
	}
	p, err := m.codeOf(ctx, m.board, m.cfg, goal)
	if err != nil {
		return err
	}
	lower := ""
	switch {
	case p != nil && (role == message.Coder || judgesWork(role)):
		lower, err = m.goalCaches(ctx, p, m.cfg, goal, spec, m.keep)
	case p == nil && (role == message.Executor || judgesWork(role)):
		lower, err = m.toolchainCaches(ctx, namesIn(m.board.Root()), spec, m.keep)
	}
	if err != nil {
		return err
	}
	work := ""
	if role == message.Coder {
		if work, err = m.worktree(ctx); err != nil {
			return err
		}
	}
	if work != "" {
		err = m.keep.keptCaches(work, lower)
	} else {
		m.world.shut, err = m.keep.freshCaches(lower)
	}
	if err == nil && lower != "" && m.keep.caches.How == caches.Empty {
		say(m.err, "caches begin empty: %s is too large to be copied, and nothing can be laid over it here\n", lower)
	}
	return err
}

// worktree is where the coder of this step works. A later claim may go on with
// the worktree of an earlier one. Empty: it is not the coder's any more.
func (m *stepMaker) worktree(ctx context.Context) (path string, err error) {
	id := message.TaskID(m.claim.Activation.Key.Subject)
	err = m.board.View(ctx, func(s *blackboard.State) error {
		t, _ := s.Task(id)
		path = t.Work
		return nil
	})
	return path, err
}

func namesIn(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // what can not be listed uses no toolchain that anybody could see
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// goalCaches is the lower layer of all who work for a coding goal: what its
// setup and its tests leave in empty caches, run by orch on the commit that the
// goal began at. Whoever needs it first makes it. Empty: the project fills none.
func (a *app) goalCaches(ctx context.Context, p *codeProject, cfg config.Config, goal message.GoalID, spec process.Spec, keep *keeper) (lower string, err error) {
	dir, lower := p.place.Base(goal)
	if workspace.Made(lower) {
		return lower, nil
	}
	began, err := p.repo.At(ctx, workspace.StartRef(goal))
	if err != nil || began == "" {
		return "", err
	}
	files, err := p.repo.Files(ctx, began)
	if err != nil || !caches.Uses(files) {
		return "", err
	}
	shared, err := a.toolchainCaches(ctx, files, spec, keep)
	if err != nil {
		return "", err
	}
	lock, err := waitFor(ctx, p.place.Root+".caches.lock")
	if err != nil || workspace.Made(lower) {
		return lower, errors.Join(err, lock.Close())
	}
	defer lock.Close()
	err = errors.Join(process.RemoveTree(lower), workspace.Remove(dir))
	if err == nil {
		err = fillCaches(keep, lower, shared, func(k *keeper) error { return a.tryBase(ctx, p.repo, cfg, dir, began, spec, k) })
	}
	if err = errors.Join(err, workspace.Remove(dir)); err != nil {
		return "", errors.Join(fmt.Errorf("fill the caches from where the goal began: %w", err), process.RemoveTree(lower))
	}
	return lower, workspace.MarkMade(lower, began)
}

// tryBase runs the project's setup and tests where a goal began. What they say
// is nobody's fault, and decides nothing.
func (a *app) tryBase(ctx context.Context, repo workspace.Repo, cfg config.Config, dir string, began workspace.Commit, spec process.Spec, k *keeper) error {
	spec, err := k.around(spec, dir)
	if err != nil {
		return err
	}
	var setup func(context.Context, string) error
	if cfg.Code.Setup != "" {
		setup = func(ctx context.Context, dir string) error { return setUp(ctx, cfg.Code, spec, dir) }
	}
	err = repo.Make(ctx, dir, workspace.Spec{Commit: began, Included: true}, setup)
	if _, unset := errors.AsType[*workspace.SetupError](err); unset && ctx.Err() == nil {
		return nil // whoever works there is told
	}
	if err != nil {
		return err
	}
	command, err := a.testCommand(cfg.Code, dir)
	if err != nil || command == "" {
		return err
	}
	spec.Argv, spec.Dir, spec.WallMS = []string{"/bin/sh", "-c", command}, dir, cfg.Limits.CheckWallMS
	process.Run(ctx, spec)
	return ctx.Err()
}

// fillCaches makes a directory a lower layer: seeded with another one, then
// filled by what fill runs under the keeper it is given.
func fillCaches(keep *keeper, dir, seed string, fill func(*keeper) error) error {
	root, err := caches.Root()
	if err != nil {
		return err
	}
	k := *keep
	if k.caches, err = caches.Fill(root, dir, k.layers); err != nil {
		return err
	}
	if seed != "" {
		if err := caches.Seed(seed, dir); err != nil {
			return err
		}
	}
	if err := fill(&k); err != nil {
		return err
	}
	return caches.Freeze(dir)
}

// toolchainUnused is after how long without a use what was built of a toolchain
// is removed.
const toolchainUnused = 30 * 24 * time.Hour

// toolchainCaches is a lower layer of what orch built of the toolchains alone
// that a project of these files uses; empty if there is nothing of that kind. It
// is made once for each version, and kept for all projects.
func (a *app) toolchainCaches(ctx context.Context, files []string, spec process.Spec, keep *keeper) (lower string, err error) {
	warm := caches.Warm(files)
	if len(warm) == 0 {
		return "", nil
	}
	root, err := caches.Root()
	if err != nil {
		return "", err
	}
	empty, err := process.MakeTempIn(root)
	if err != nil {
		return "", err
	}
	defer process.RemoveTree(empty)
	id := sha256.New()
	for _, w := range warm {
		r := runIn(ctx, spec, filepath.Join(empty, "none"), w.Identity)
		if !r.OK() {
			return "", ctx.Err() // it is not here: the project's own commands say so
		}
		id.Write(r.Output())
	}
	all := filepath.Join(root, "toolchain")
	lower = filepath.Join(all, hex.EncodeToString(id.Sum(nil)[:8]))
	if workspace.Made(lower) {
		return lower, workspace.MarkMade(lower, "")
	}
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", err
	}
	lock, err := waitFor(ctx, filepath.Join(root, "toolchain.lock"))
	if err != nil || workspace.Made(lower) {
		return lower, errors.Join(err, lock.Close())
	}
	defer lock.Close()
	if err := errors.Join(forgetToolchains(all), process.RemoveTree(lower)); err != nil {
		return "", err
	}
	err = fillCaches(keep, lower, "", func(k *keeper) error {
		spec, err := k.around(spec, empty)
		for _, w := range warm {
			if err == nil {
				runIn(ctx, spec, filepath.Join(empty, "none"), w.Fill)
				err = ctx.Err()
			}
		}
		return err
	})
	if err != nil {
		return "", errors.Join(fmt.Errorf("fill the caches of toolchains: %w", err), process.RemoveTree(lower))
	}
	return lower, workspace.MarkMade(lower, "")
}

// forgetToolchains removes what nobody has used for long.
func forgetToolchains(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if used, made := workspace.MadeAt(path); e.IsDir() && (!made || time.Since(used) > toolchainUnused) {
			errs = append(errs, workspace.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// runIn runs a command in an empty directory, which it makes.
func runIn(ctx context.Context, spec process.Spec, dir string, argv []string) process.Result {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return process.Result{Err: err, Exit: -1}
	}
	spec.Argv, spec.Dir = argv, dir
	return process.Run(ctx, spec)
}

// waitFor takes a lock that other processes may hold for minutes. The lock is
// never nil.
func waitFor(ctx context.Context, path string) (*flock.Flock, error) {
	lock := flock.New(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return lock, err
	}
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return lock, fmt.Errorf("wait for who fills the caches: %w", err)
	}
	return lock, nil
}
