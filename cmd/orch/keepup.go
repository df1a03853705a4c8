package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/journal"
)

func newGC(a *app) *cobra.Command {
	var dry bool
	var keep int
	c := &cobra.Command{
		Use: "gc", Short: "remove what finished goals left behind and nothing refers to", Args: cobra.NoArgs,
		Long: `Remove step logs and temporary files of ended goals and old checkpoints, what
killed processes left in the temporary folder, and worktrees of tasks and goals
that have ended; what was made in those and no ref holds is kept under
refs/orch/GOAL/left. Refs of goals that ended code.keep_refs_days ago go when
their commits are on the integration branch or on yours. Never the log, its
archive, a commit that no branch has, or a blob a message names.`,
		Example: "  orch board gc --dry-run",
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := a.open(person())
			if err != nil {
				return err
			}
			defer b.Close()
			r, err := collectGarbage(c.Context(), b.Board, keep, dry)
			if err != nil {
				return err
			}
			cfg, err := a.config(b.Root())
			if err != nil {
				return err
			}
			w, err := a.collectWorktrees(c.Context(), b.Board, cfg, dry)
			if err != nil {
				return err
			}
			for _, g := range w.Open {
				a.warn(hinted{fmt.Errorf("goal %s is not over, its worktrees stay", g), "orch run --continue " + string(g) + " goes on, orch goals drop " + string(g) + " gives it up"})
			}
			word := "removed"
			if dry {
				word = "would remove"
			}
			return a.report(map[string]any{"version": 1, "removed": r.Paths, "bytes": r.Bytes, "worktrees": w.Removed, "open": w.Open,
				"refs": w.Refs, "refs_kept": w.Kept, "dry_run": dry},
				"%s %s, %d bytes, %s, %s", word, count(len(r.Paths), "file"), r.Bytes, count(w.Removed, "worktree"), count(len(w.Refs), "ref"))
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show, and remove nothing")
	c.Flags().IntVar(&keep, "keep", 20, "ended goals whose step logs are kept")
	return c
}

func newTrack(a *app) *cobra.Command {
	var off bool
	c := &cobra.Command{
		Use: "track", Short: "let git track the log as well", Args: cobra.NoArgs, Example: "  orch board track",
		Long: "Let git track .orch/log.jsonl. Do not stash, clean or check it out while orch\nruns: git must not move the truth under a living process.",
		RunE: func(*cobra.Command, []string) error {
			root, err := a.root()
			if err != nil {
				return err
			}
			if err := blackboard.Track(journal.OSFS{}, root, !off); err != nil {
				return err
			}
			return a.report(map[string]any{"version": 1, "tracked": !off}, "the log is %s", map[bool]string{true: "tracked", false: "ignored by git"}[!off])
		},
	}
	c.Flags().BoolVar(&off, "off", false, "ignore the log again")
	return c
}
