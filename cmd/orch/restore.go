package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/journal"
)

func newRestore(a *app) *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use: "restore", Short: "say what to do when the log is not the one this machine remembers", Args: cobra.NoArgs,
		Long: `orch remembers, inside and outside the project, how far each log had come. When
a log went backwards or was replaced, everything stops. Put the right log back
(from a backup, or from .orch/archive); or, if the present one is right, say so
with --accept.`,
		Example: "  orch board restore\n  orch board restore --accept",
		RunE:    func(c *cobra.Command, _ []string) error { return a.restore(c.Context(), accept) },
	}
	c.Flags().BoolVar(&accept, "accept", false, "take the present log for the right one")
	return c
}

func (a *app) restore(ctx context.Context, accept bool) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	doubt := a.doubt(ctx, root)
	if doubt == nil {
		return a.report(map[string]any{"version": 1, "restore": "nothing to do"}, "the log is the one this machine remembers")
	}
	if !accept || !replaced(doubt) {
		return &exitError{exitUsage, hinted{doubt, "put the right log back from a backup or from .orch/archive, or take the present one with `orch board restore --accept`"}}
	}
	o := a.options(person())
	if err := journal.AcceptLog(ctx, filepath.Join(root, blackboard.DirName), journal.Options{FS: o.FS, Clock: o.Clock, IDs: o.IDs, UnsafeFS: o.UnsafeFS}); err != nil {
		return err
	}
	// There may be a note outside the project as well, that AcceptLog cannot know of.
	if doubt = a.doubt(ctx, root); doubt != nil {
		note := noteOf(doubt)
		if note == "" {
			return doubt
		}
		if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget the old log: %w", err)
		}
		if doubt = a.doubt(ctx, root); doubt != nil {
			return doubt
		}
	}
	return a.report(map[string]any{"version": 1, "restore": "accepted"}, "the present log is taken for the right one")
}

// doubt is what speaks against the present log.
func (a *app) doubt(ctx context.Context, root string) error {
	b, err := blackboard.Open(root, a.options(person()))
	if err != nil {
		return err
	}
	defer b.Close()
	return b.View(ctx, func(*blackboard.State) error { return nil })
}

// replaced tells whether the doubt is that the log is another one than before.
func replaced(err error) bool { return noteOf(err) != "" }

// noteOf is the file that remembers another log; empty if that is not the trouble.
func noteOf(err error) string {
	var back *journal.WentBackwardsError
	if errors.As(err, &back) {
		return back.Source
	}
	var other *journal.OtherBoardError
	if errors.As(err, &other) {
		return other.Path
	}
	return ""
}
