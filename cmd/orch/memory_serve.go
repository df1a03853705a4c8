package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/message"
	"orch/roles/memory"
)

func newMemoryServe(a *app) *cobra.Command {
	var attached bool
	c := &cobra.Command{
		Use: "serve", Short: "run the memory (orch run does this by itself)", Args: cobra.NoArgs,
		Long: `Answer the planners of this board from what was learned, index what is learned,
and consolidate it, until interrupted. Only one acts at a time; a second one
waits for its turn.`,
		Example: "  orch memory serve",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			if attached {
				var cancel context.CancelFunc
				ctx, cancel = untilEOF(ctx, a.in)
				defer cancel()
			}
			return a.serveMemory(ctx)
		},
	}
	c.Flags().BoolVar(&attached, "attached", false, "stop when standard input ends (given by a supervisor)")
	if err := c.Flags().MarkHidden("attached"); err != nil {
		panic(err) // the flag is defined one line above
	}
	return c
}

func (a *app) serveMemory(ctx context.Context) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	if err := a.checkTrust(ctx, root); err != nil {
		return err
	}
	release, err := holdResident(ctx, root, message.Memory)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer release()
	r, done, err := a.memoryResident(root, time.Now)
	if err != nil {
		return err
	}
	defer done()
	if err := r.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// memoryResident puts a memory together. Who calls it holds the resident's lock.
func (a *app) memoryResident(root string, now func() time.Time) (*memory.Resident, func(), error) {
	cfg, err := a.trustedConfig(context.Background(), root) // git on this machine is asked, at most
	if err != nil {
		return nil, nil, err
	}
	b, err := blackboard.Open(root, a.options(blackboard.Identity{Agent: "memory-1", Speaks: []message.Role{message.Memory}}))
	if err != nil {
		return nil, nil, err
	}
	options := memoryOptions(cfg, now)
	options.Distill = a.distiller(cfg, root)
	r := &memory.Resident{Board: b, Dir: memoryDir(root), Options: options, SettleMS: cfg.Memory.SettleMS, EveryMS: cfg.Memory.EveryMS,
		PartMS: cfg.Limits.GraceMS / 2} // then it still has time to leave
	return r, func() {
		if err := b.Close(); err != nil {
			a.warn(err)
		}
	}, nil
}

func residentLock(root string, role message.Role) *flock.Flock {
	return flock.New(filepath.Join(root, blackboard.DirName, blackboard.RunDir, string(role)+".lock"))
}

// memoryServed tells whether a resident is there to answer.
func memoryServed(root string) bool {
	l := residentLock(root, message.Memory)
	got, err := l.TryLock()
	if err != nil || !got {
		return err == nil
	}
	return l.Unlock() != nil
}

// dreamNow puts a request for the memory's consolidation on the bus and waits
// for the report. Where no resident is there to serve it, this process is the
// resident for as long as that takes.
func (a *app) dreamNow(ctx context.Context, phases []string, asOf string) (dreamReport, error) {
	now := time.Now
	if asOf != "" {
		then, err := parseAsOf(asOf, time.Now())
		if err != nil {
			return dreamReport{}, err
		}
		now = func() time.Time { return then }
	}
	root, err := a.root()
	if err != nil {
		return dreamReport{}, err
	}
	if err := a.checkTrust(ctx, root); err != nil {
		return dreamReport{}, err
	}
	if asOf != "" && memoryServed(root) {
		return dreamReport{}, usagef("wait for `orch run` to end", "--as-of needs the memory for itself, and a resident has it")
	}
	b, err := blackboard.Open(root, a.options(person()))
	if err != nil {
		return dreamReport{}, err
	}
	defer b.Close()
	asked, err := b.Append(ctx, message.Message{From: message.Human, To: message.Memory, Body: message.DreamRequest{Phases: phases}})
	if err != nil {
		return dreamReport{}, err
	}
	waiting, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	crash.Go(func() {
		err := a.standIn(waiting, root, now)
		if err != nil {
			stop()
		}
		served <- err
	})
	r, err := awaitReport(waiting, b, asked)
	stop()
	if failed := <-served; failed != nil {
		return r, failed
	}
	return r, err
}

// standIn is the resident until ctx is done, as soon as no other is.
func (a *app) standIn(ctx context.Context, root string, now func() time.Time) error {
	release, err := holdResident(ctx, root, message.Memory)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer release()
	r, done, err := a.memoryResident(root, now)
	if err != nil {
		return err
	}
	defer done()
	if err := r.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// dreamReport sums up the parts of a pass.
type dreamReport struct {
	Version      int                    `json:"version"`
	Request      message.ID             `json:"request"`
	Created      []string               `json:"created"`
	Demoted      []string               `json:"demoted"`
	Deleted      []string               `json:"deleted"`
	Consolidated []string               `json:"consolidated"`
	Rebuilt      *message.MemoryRebuilt `json:"rebuilt,omitempty"`
}

func awaitReport(ctx context.Context, b *blackboard.Board, asked message.Message) (dreamReport, error) {
	r := dreamReport{Version: 1, Request: asked.ID, Created: []string{}, Demoted: []string{}, Deleted: []string{}, Consolidated: []string{}}
	for m, err := range b.Watch(ctx, asked.Seq+1) {
		if err != nil {
			return r, err
		}
		if m.Cause != asked.ID {
			continue // it answers somebody else, or nobody
		}
		switch body := m.Body.(type) {
		case message.MemoryRebuilt:
			r.Rebuilt = &body
		case message.DreamReport:
			r.Created, r.Demoted = append(r.Created, body.Created...), append(r.Demoted, body.Demoted...)
			r.Deleted, r.Consolidated = append(r.Deleted, body.Deleted...), append(r.Consolidated, body.Consolidated...)
			if body.Last {
				return r, nil
			}
		}
	}
	return r, fmt.Errorf("wait for the memory's report: %w", context.Cause(ctx))
}
