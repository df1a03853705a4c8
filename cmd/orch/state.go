package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/plainfile"
	"orch/blackboard/view"
)

func newState(a *app) *cobra.Command {
	var full bool
	var at string
	c := &cobra.Command{
		Use: "state", Short: "print the blackboard, now or at an earlier point", Args: cobra.NoArgs,
		Example: "  orch board state\n  orch board state --at 120\n  orch board state --at 2026-01-31T12:00:00Z",
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := a.stateText(c.Context(), at, full)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]any{"version": 1, "yaml": string(text)})
			}
			_, err = a.out.Write(text)
			return err
		},
	}
	c.Flags().BoolVar(&full, "full", false, "every task, not only the first open ones")
	c.Flags().StringVar(&at, "at", "", "seq or time to look back to")
	return c
}

// stateText renders the board at a point; the empty point is now.
func (a *app) stateText(ctx context.Context, at string, full bool) ([]byte, error) {
	b, err := a.read()
	if err != nil {
		return nil, err
	}
	defer b.Close()
	cfg, err := a.config(b.Root())
	if err != nil {
		return nil, err
	}
	o := view.Options{MaxTasks: cfg.View.MaxTasks, Full: full}
	if at == "" {
		var text []byte
		err = b.View(ctx, func(st *blackboard.State) error { text = view.Render(st, o); return nil })
		return text, err
	}
	seq, err := seqAt(ctx, b, at)
	if err != nil {
		return nil, err
	}
	st, err := b.StateAt(ctx, seq)
	if err != nil {
		return nil, err
	}
	return view.Render(st, o), nil
}

// seqAt reads a point in the log: a seq, or the last message not after a time.
func seqAt(ctx context.Context, b *blackboard.Board, at string) (uint64, error) {
	if seq, err := strconv.ParseUint(at, 10, 64); err == nil {
		head, err := headOf(ctx, b)
		if err == nil && seq > head {
			err = usagef("orch log", "there is no message %d: the log ends at %d", seq, head)
		}
		return seq, err
	}
	t, err := parseSince(at, time.Now())
	if err != nil {
		return 0, usagef("for example 120, 10m or 2026-01-31T12:00:00Z", "%q is neither a seq nor a time", at)
	}
	var last uint64
	for m, err := range b.Messages(1) {
		if err != nil {
			return 0, err
		}
		if m.TS.After(t) {
			break
		}
		last = m.Seq
	}
	if last == 0 {
		return 0, usagef("orch log", "the log starts after %s", t.Format(time.RFC3339))
	}
	return last, nil
}

// headOf returns the seq of the last message.
func headOf(ctx context.Context, b *blackboard.Board) (seq uint64, err error) {
	err = b.View(ctx, func(s *blackboard.State) error { seq, _ = s.Head(); return nil })
	return seq, err
}

func newDiff(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "diff A [B]", Short: "show what changed on the blackboard between two points", Args: cobra.RangeArgs(1, 2),
		Example: "  orch diff 10 20\n  orch diff 10m",
		RunE: func(c *cobra.Command, args []string) error {
			from, err := a.stateText(c.Context(), args[0], true)
			if err != nil {
				return err
			}
			to := ""
			if len(args) == 2 {
				to = args[1]
			}
			now, err := a.stateText(c.Context(), to, true)
			if err != nil {
				return err
			}
			diff := view.DiffYAML(from, now)
			if a.asJSON {
				return a.printJSON(map[string]any{"version": 1, "diff": diff})
			}
			_, err = fmt.Fprint(a.out, diff)
			return err
		},
	}
}

func newReplay(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "replay", Short: "fold the whole log again and compare with the board, its checkpoint and its view", Args: cobra.NoArgs,
		Example: "  orch board replay",
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := a.read()
			if err != nil {
				return err
			}
			defer b.Close()
			r, err := b.Replay(c.Context())
			if err != nil {
				return err
			}
			viewOK, err := a.viewAgrees(c.Context(), b)
			if err != nil {
				return err
			}
			if a.asJSON {
				err = a.printJSON(map[string]any{"version": 1, "replay": r, "view": viewOK})
			} else {
				_, err = say(a.out, "replayed %s in %s: %s, %s and the state compared, %s\nview: %s\n", count(int(r.Messages), "message"),
					r.Took.Round(time.Millisecond), count(r.Records, "record"), count(r.Checkpoints, "checkpoint"), count(len(r.Differences), "difference"), viewOK)
			}
			if err == nil && (len(r.Differences) > 0 || viewOK == viewDiffers) {
				return &exitError{code: exitInternal, cause: hinted{errors.New("the log and what was made from it differ"), "run `orch board repair`: it makes them anew from the log"}}
			}
			return err
		},
	}
}

// How state.yaml stands against the log.
const (
	viewSame    = "the same, byte for byte"
	viewLags    = "older than the log, and true of its seq"
	viewMissing = "not written yet"
	viewDiffers = "differs from what the log says of its seq"
)

func (a *app) viewAgrees(ctx context.Context, b *blackboard.Board) (string, error) {
	raw, err := plainfile.Read(viewPath(b))
	if os.IsNotExist(err) {
		return viewMissing, nil
	}
	var not *plainfile.NotFileError
	if errors.As(err, &not) {
		return viewDiffers, nil
	}
	if err != nil {
		return "", err
	}
	head, err := headOf(ctx, b)
	if err != nil {
		return "", err
	}
	seq, ok := view.SeqOf(raw)
	if !ok || seq > head {
		return viewDiffers, nil
	}
	cfg, err := a.config(b.Root())
	if err != nil {
		return "", err
	}
	st, err := b.StateAt(ctx, seq)
	if err != nil {
		return "", err
	}
	if string(view.Render(st, view.Options{MaxTasks: cfg.View.MaxTasks})) != string(raw) {
		return viewDiffers, nil
	}
	if seq < head {
		return viewLags, nil
	}
	return viewSame, nil
}

func newVerify(a *app) *cobra.Command {
	var pinned string
	c := &cobra.Command{
		Use: "verify", Short: "check the chain, the fold and everything the log refers to", Args: cobra.NoArgs,
		Long: `Check that every message follows from the one before, that the fold takes each,
that the log has every head that this machine and the auditor noted, that nothing
follows its last message, and that the files the log names are as named. --head
checks as well that it has a head that was noted elsewhere, as in an audit report.
Whatever is wrong is said with the command that leads out of it.`,
		Example: "  orch board verify\n  orch board verify --head 120:3b489b6d…",
		RunE: func(c *cobra.Command, _ []string) error {
			noted, err := parseHead(pinned)
			if err != nil {
				return err
			}
			b, err := a.read()
			if err != nil {
				return err
			}
			defer b.Close()
			r, err := b.Verify(c.Context(), pinsOf(b.Root(), a.auditOptions(), noted)...)
			if err == nil {
				err = checkEnd(c.Context(), b, r)
			}
			if err != nil {
				return err
			}
			if a.asJSON {
				err = a.printJSON(map[string]any{"version": 1, "verify": r})
			} else {
				_, err = say(a.out, "chain intact: %s; every message follows; %s as named, %d missing\n",
					count(int(r.Messages), "message"), count(r.Blobs, "file"), len(r.Missing))
			}
			if err == nil && len(r.Missing) > 0 {
				return &exitError{code: exitInternal, cause: hinted{r.Missing[0], "the log is whole; run `orch board restore --from COPY`, with COPY a backup of .orch"}}
			}
			return err
		},
	}
	c.Flags().StringVar(&pinned, "head", "", "a head that the log must have had: the number of a message and its hash, SEQ:HASH")
	return c
}

func newRepair(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "repair", Short: "make the log whole and writable again from what is here, and what was made from it", Args: cobra.NoArgs, Example: "  orch board repair",
		Long: `Set aside what follows the last message, put messages that are all there in
order, let writers in after a failed sync, and make the checkpoints and state.yaml
anew. It never gives up a message: where one is gone it changes nothing and says
how to restore it.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.repair(c.Context()) },
	}
}

func (a *app) repair(ctx context.Context) error {
	root, err := a.rootOrLost()
	if err != nil {
		return err
	}
	var r journal.RepairReport
	b, err := blackboard.Open(root, a.options(person()))
	if err == nil {
		r, err = b.Repair(ctx)
		err = errors.Join(err, b.Close())
	}
	if err != nil && journal.FaultOf(err) != journal.OtherFault {
		return err // the disk's, not the log's
	}
	done, err := a.putTogether(ctx, root, blackboard.RestoreOptions{})
	if err != nil {
		return err
	}
	text := fmt.Sprintf("the log is whole up to message %d and can be written", done.Head.Seq)
	if r.Torn != nil {
		text += fmt.Sprintf("; %d bytes that were never acknowledged are kept as %s", r.Torn.Bytes, r.Torn.Path)
	}
	if changed(done) {
		text = strings.Join(restoredLines(done), "\n")
	}
	return a.report(map[string]any{"version": 1, "repair": r, "restore": done}, "%s", text)
}
