package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/caches"
	"orch/roles/act/process"
	"orch/roles/run/socket"
	"orch/roles/run/supervisor"
)

// garbage is what a collection removed, or would remove.
type garbage struct {
	Paths []string // relative to .orch
	Bytes int64
}

// collectGarbage removes the step logs of all ended goals but the newest, and
// left-over files of editors. It keeps whatever a message could refer to.
func collectGarbage(ctx context.Context, b *blackboard.Board, keep int, dry bool) (garbage, error) {
	var ended []blackboard.Goal
	err := b.View(ctx, func(st *blackboard.State) error {
		for _, g := range st.Goals() {
			if g.Status == blackboard.GoalEnded {
				ended = append(ended, g)
			}
		}
		return nil
	})
	if err != nil {
		return garbage{}, err
	}
	slices.SortFunc(ended, func(x, y blackboard.Goal) int { return y.FinalRef.TS.Compare(x.FinalRef.TS) })
	var r garbage
	for _, g := range ended[min(keep, len(ended)):] {
		if err := r.drop(b.Dir(), stepLogs(b, g.ID), dry); err != nil {
			return r, err
		}
	}
	return r, r.dropScratch(b, dry)
}

// scratchAge keeps gc away from what a living step or editor may still use.
const scratchAge = 24 * time.Hour

// dropScratch removes directories that killed steps and editors left behind.
func (r *garbage) dropScratch(b *blackboard.Board, dry bool) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	// The last one is where all steps of versions before shared their caches.
	for _, pattern := range []string{filepath.Join(b.Dir(), blackboard.RunDir, "edit-*"), filepath.Join(os.TempDir(), supervisor.ScratchPrefix+"*"), filepath.Join(socket.Folder(), "*"), filepath.Join(cache, "orch", "build")} {
		left, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, dir := range left {
			info, err := os.Stat(dir)
			if err != nil || time.Since(info.ModTime()) < scratchAge {
				continue
			}
			if err := r.drop(b.Dir(), dir, dry); err != nil {
				return err
			}
		}
	}
	dead, err := process.DeadTemp(caches.Places()...)
	if err != nil {
		return err
	}
	for _, dir := range dead { // nobody uses them, however new they are
		if err := r.drop(b.Dir(), dir, dry); err != nil {
			return err
		}
	}
	return nil
}

func stepLogs(b *blackboard.Board, goal message.GoalID) string {
	return filepath.Join(b.GoalDir(goal), "steps")
}

// drop adds everything below a directory to the garbage and removes it.
func (r *garbage) drop(base, dir string, dry bool) error {
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, p)
		if err != nil {
			return err
		}
		r.Paths, r.Bytes = append(r.Paths, rel), r.Bytes+info.Size()
		return nil
	})
	if err != nil || dry {
		return err
	}
	return process.RemoveTree(dir)
}
