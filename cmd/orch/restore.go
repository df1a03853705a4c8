package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/roles/auditor"
)

func newRestore(a *app) *cobra.Command {
	var r blackboard.RestoreOptions
	c := &cobra.Command{
		Use: "restore", Short: "put a damaged, shortened or replaced log together again", Args: cobra.NoArgs,
		Long: `Put the log together again from every whole message that is left in its files, and
from a copy if one is given: a backup of .orch, of the project, or just of
log.jsonl, of any age. Messages prove each other by their hashes, and the heads
that this machine noted prove the last of them: so an older copy fills a gap, and
what was written since then is taken from here.

If messages are gone that are known to have been there, nothing is changed and it
says which. --accept gives them up. Whatever is replaced is kept below
.orch/archive, and the log says what was done.`,
		Example: "  orch board restore\n  orch board restore --from ~/backup/project/.orch\n  orch board restore --from log.jsonl.old --accept\n  orch board restore --accept",
		RunE:    func(c *cobra.Command, _ []string) error { return a.restore(c.Context(), r) },
	}
	c.Flags().StringVar(&r.Copy, "from", "", "a copy: of .orch, of the project, or of a log")
	c.Flags().BoolVar(&r.Accept, "accept", false, "give up messages that are known to have been there and are gone")
	return c
}

func (a *app) restore(ctx context.Context, r blackboard.RestoreOptions) error {
	root, err := a.rootOrLost()
	if err != nil {
		return err
	}
	done, err := a.putTogether(ctx, root, r)
	if err != nil {
		return err
	}
	if !changed(done) {
		return a.report(map[string]any{"version": 1, "restore": done}, "the log is the one this machine remembers: message %d is its last", done.Head.Seq)
	}
	return a.report(map[string]any{"version": 1, "restore": done}, "%s", strings.Join(restoredLines(done), "\n"))
}

// rootOrLost is the project's directory, also where its .orch is gone.
func (a *app) rootOrLost() (string, error) {
	root, err := a.root()
	if !errors.Is(err, blackboard.ErrNoBoard) {
		return root, err
	}
	here, aerr := filepath.Abs(a.dir)
	if aerr != nil {
		return "", err
	}
	if blackboard.Lost(here, a.options(person())) == nil {
		return "", err
	}
	return here, nil
}

// putTogether restores the log and all that is made from it.
func (a *app) putTogether(ctx context.Context, root string, r blackboard.RestoreOptions) (blackboard.Restored, error) {
	r.Known = append(r.Known, auditPins(root, a.auditOptions())...)
	done, err := blackboard.Restore(ctx, root, a.options(person()), r)
	if err != nil {
		return done, leadOut(err, r)
	}
	if err := auditor.Accept(ctx, auditDir(root), a.auditOptions(), done.Head); err != nil {
		return done, err
	}
	return done, a.refreshView(ctx, root)
}

// auditPins are the heads of the log that the auditor noted.
func auditPins(root string, o journal.Options) []journal.Known {
	known, err := auditor.ReadPins(auditDir(root), o)
	if err != nil {
		return nil // the audit says what is wrong with it
	}
	return known
}

// leadOut says what to do when a restore can not do it all.
func leadOut(err error, r blackboard.RestoreOptions) error {
	var lost *journal.LossError
	var none *blackboard.NoCopyError
	var blob *blackboard.BlobError
	switch {
	case errors.As(err, &none):
		return &exitError{exitUsage, hinted{err, "COPY stands for a backup of .orch or of its log; if there is none, `orch board restore --accept` goes on with what is left"}}
	case errors.As(err, &lost) && r.Copy != "":
		return &exitError{exitUsage, hinted{err, "run `orch board restore --from " + shellWord(r.Copy) + " --accept` to give them up, or give a newer copy"}}
	case errors.As(err, &lost), errors.As(err, &blob) && r.Copy == "":
		return &exitError{exitUsage, hinted{err, "run `orch board restore --from COPY`, with COPY a backup of .orch; `orch board restore --accept` gives them up"}}
	case errors.As(err, &blob):
		return &exitError{exitUsage, hinted{err, "run `orch board restore --from " + shellWord(r.Copy) + " --accept` to go on without them"}}
	}
	return err
}

// shellWord makes one word of a text for a shell.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`!*?[](){}<>|&;#~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func changed(r blackboard.Restored) bool {
	return r.Changed || r.New || r.LostTo > 0 || r.Files > 0 || len(r.Moved)+len(r.GivenUp) > 0
}

// restoredLines tells a person what a restore did.
func restoredLines(r blackboard.Restored) []string {
	lines := []string{fmt.Sprintf("the log is whole: message %d is its last", r.Head.Seq)}
	if r.New {
		lines[0] = "no message was left: a new board is begun"
	}
	if r.Copied > 0 {
		lines = append(lines, count(r.Copied, "message")+" came from the copy")
	}
	if r.LostTo > 0 {
		lines = append(lines, fmt.Sprintf("messages %d to %d are given up", r.LostFrom, r.LostTo))
	}
	if r.Foreign > 0 {
		lines = append(lines, count(r.Foreign, "message")+" that did not belong to it are out of it")
	}
	if r.Files > 0 {
		lines = append(lines, count(r.Files, "file")+" that messages name came from the copy")
	}
	if n := len(r.GivenUp); n > 0 {
		lines = append(lines, count(n, "file")+" that messages name are given up")
	}
	if len(r.Moved) > 0 {
		lines = append(lines, strings.Join(r.Moved, ", ")+": no file or folder as it should be; moved to .orch/moved-…")
	}
	if r.Kept != "" {
		lines = append(lines, "what was there before is kept in "+r.Kept)
	}
	return lines
}

// refreshView writes state.yaml anew. What is there is kept if it may be of a
// person: it is of a log that is gone.
func (a *app) refreshView(ctx context.Context, root string) error {
	path := filepath.Join(root, blackboard.DirName, "state.yaml")
	// An edit that a person made of this log is taken in first.
	s, err := a.openAt(root, person())
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return err
	}
	b, err := a.read()
	if err != nil {
		return err
	}
	how, err := a.viewAgrees(ctx, b)
	if cerr := b.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if how == viewSame {
		return nil
	}
	if how == viewDiffers {
		err := os.Rename(path, path+".rejected-"+journal.SystemClock{}.Now().UTC().Format("20060102T150405.000Z"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keep the old state.yaml: %w", err)
		}
	}
	if s, err = a.openAt(root, person()); err != nil {
		return err
	}
	return s.Close()
}
