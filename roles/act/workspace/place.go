package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"orch/blackboard/message"
	"orch/roles/act/process"
)

// Place is where the workspaces of one board are: outside the repository, so
// that an agent can be kept to one of them and away from the rest.
//
//	<root>/<goal>/<task>-<coder>-<fence>   a coder's worktree
//	<root>/<goal>/review-<task>-<fence>    what a reviewer reads
//	<root>/<goal>/review-<task>-<fence>-checks    where its checks run
//	<root>/<goal>/merge                    where a merge is tried
//	<root>/<goal>/base                     what the goal began at, while orch fills caches with it
//	<root>/<goal>/lower                    these caches, which lie below all others
//	<worktree>.caches                      what is cached for it, and gone with it
type Place struct{ Root string }

// PlaceOf is the place of a board below a person's state directory.
func PlaceOf(stateHome, board string) Place { return Place{filepath.Join(stateHome, "orch", board)} }

// StateHome is $XDG_STATE_HOME, or where it is when that is not set.
func StateHome(env func(string) string) (string, error) {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("neither XDG_STATE_HOME nor HOME says where workspaces go")
	}
	return filepath.Join(home, ".local", "state"), nil
}

const (
	reviewPrefix = "review-"
	mergeName    = "merge"
	baseName     = "base"
	lowerName    = "lower"
	cachesSuffix = ".caches"
	leftName     = "left"
	nameBytes    = 6 // of a hash: no two tasks of a board get one name
)

// Coder is the worktree a coder gets under a claim.
func (p Place) Coder(goal message.GoalID, task message.TaskID, coder message.AgentID, fence message.Fence) string {
	return filepath.Join(p.Root, string(goal), fmt.Sprintf("%s-%s-%d", brief(task), coder, fence))
}

// Review is what a reviewer reads under a claim.
func (p Place) Review(goal message.GoalID, task message.TaskID, fence message.Fence) string {
	return filepath.Join(p.Root, string(goal), fmt.Sprintf("%s%s-%d", reviewPrefix, brief(task), fence))
}

// Checks is where a reviewer's step runs checks, which may write there.
func (p Place) Checks(goal message.GoalID, task message.TaskID, fence message.Fence) string {
	return p.Review(goal, task, fence) + "-checks"
}

// ChecksOfBase is where it runs checks on the commit that the work began at, while
// those on the work go on.
func (p Place) ChecksOfBase(goal message.GoalID, task message.TaskID, fence message.Fence) string {
	return p.Checks(goal, task, fence) + "-base"
}

// Merge is where a merge is tried.
func (p Place) Merge(goal message.GoalID) string {
	return filepath.Join(p.Root, string(goal), mergeName)
}

// Base is where the commit that a goal began at is checked out, to be tested
// before anybody works on it, and where what is cached meanwhile is kept.
func (p Place) Base(goal message.GoalID) (dir, lower string) {
	return filepath.Join(p.Root, string(goal), baseName), filepath.Join(p.Root, string(goal), lowerName)
}

// MakeCaches makes the directory that the caches of a worktree are kept in.
func MakeCaches(worktree string) (dir string, err error) {
	return worktree + cachesSuffix, mkdirAll(worktree + cachesSuffix)
}

// brief stands for a task in a short name. Tasks of one plan are made in one
// moment, and a UUID begins with the time, so a part of the id would not do.
func brief(t message.TaskID) string {
	sum := sha256.Sum256([]byte(t))
	return hex.EncodeToString(sum[:nameBytes])
}

// Goals lists the goals that have workspaces.
func (p Place) Goals() ([]message.GoalID, error) {
	entries, err := os.ReadDir(p.Root)
	if err != nil && !missing(err) {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	var all []message.GoalID
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, message.GoalID(e.Name()))
		}
	}
	return all, nil
}

// Needed says which workspaces of a goal are still in use.
type Needed func(context.Context) (func(path string) bool, error)

// Tidy removes the workspaces of a goal that are not needed. It lists what is
// there before it asks what is needed: whatever is there was claimed before
// that, and what is claimed later is not on the list. What a
// coder's worktree holds and no ref does is brought into the repository first,
// under refs/orch/<goal>/left/<name>, so that no commit and no unfinished file
// is lost; what was never whole holds nothing. Of one whose own repository is no
// longer whole the files are kept. A worktree that can not be read at all is
// left where it is, and named in the error.
func (p Place) Tidy(ctx context.Context, r Repo, goal message.GoalID, needed Needed, left Leftover) (removed []string, err error) {
	dir := filepath.Join(p.Root, string(goal))
	if _, err := os.Lstat(dir); missing(err) {
		return nil, nil
	}
	// One process at a time: another one would rescue what is half removed.
	lock := flock.New(p.Root + ".lock")
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for who tidies up: %w", err)
	}
	defer lock.Close()
	entries, err := os.ReadDir(dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the workspaces of %s: %w", goal, err)
	}
	keep, err := needed(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		path := strings.TrimSuffix(filepath.Join(dir, e.Name()), cachesSuffix)
		if !e.IsDir() || keep(path) {
			continue
		}
		if err := r.rescue(ctx, goal, path, left); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := errors.Join(Remove(path), process.RemoveTree(path+cachesSuffix)); err != nil {
			errs = append(errs, err)
			continue
		}
		if e.Name() == filepath.Base(path) {
			removed = append(removed, path)
		}
	}
	// The directories go when they are empty, and only then.
	_ = os.Remove(dir)
	_ = os.Remove(p.Root)
	return removed, errors.Join(errs...)
}

// beside is below which names the refs are that are of the same work as ref:
// those of its task, or of what was left in one worktree only itself.
func beside(ref string) string {
	if dir := path.Dir(ref); path.Base(dir) != leftName {
		return dir
	}
	return ref
}

// holdsAll tells whether everything in a worktree is in the repository already,
// as it is once the work is merged: no file differs from its last commit, and a
// ref holds that commit and all others the worktree names.
func (r Repo) holdsAll(ctx context.Context, path string) (bool, error) {
	own, err := openOwn(path)
	if err != nil {
		return false, err
	}
	defer own.Close()
	head, _, err := own.head()
	if err != nil || own.halfDone() {
		return false, err
	}
	named := own.tips()
	if !slices.Contains(named, head) {
		named = append(named, head)
	}
	for _, c := range named {
		if held, err := r.held(ctx, c, "refs/heads"); err != nil || !held {
			return false, err
		}
	}
	differs, err := r.Differs(ctx, path, head)
	return !differs, err
}

// rescue brings what a worktree holds into the repository, unless it is there.
func (r Repo) rescue(ctx context.Context, goal message.GoalID, path string, left Leftover) error {
	name := filepath.Base(path)
	if !Made(path) || strings.HasPrefix(name, reviewPrefix) || slices.Contains([]string{mergeName, baseName, lowerName}, name) {
		return nil
	}
	base, err := os.ReadFile(path + ready)
	if err != nil {
		return fmt.Errorf("read where %s began: %w", path, err)
	}
	if held, err := r.holdsAll(ctx, path); err == nil && held {
		return nil
	}
	began := Commit(strings.TrimSpace(string(base)))
	ref := "refs/orch/" + string(goal) + "/" + leftName + "/" + name
	_, err = r.Harvest(ctx, path, ref, began, left)
	var rewritten *RewrittenError
	var tampered *TamperedError
	switch {
	case errors.As(err, &rewritten):
		err = nil // it is pinned all the same
	case errors.As(err, &tampered):
		_, err = r.Salvage(ctx, path, ref, began, left)
	}
	if err != nil {
		return err
	}
	_, err = r.Others(ctx, path, ref)
	return err
}
