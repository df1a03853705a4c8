package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/ggs"
	"orch/roles/run/config"
)

func newGGS(a *app) *cobra.Command {
	var attached bool
	c := &cobra.Command{
		Use: "ggs", Short: "run the controller (orch run does this by itself)", Args: cobra.NoArgs,
		Long: `Run the controller of all goals of this board until interrupted. Only one acts
at a time; a second one waits for its turn.`,
		Example: "  orch role ggs",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			if attached {
				var cancel context.CancelFunc
				ctx, cancel = untilEOF(ctx, a.in)
				defer cancel()
			}
			return a.ggs(ctx)
		},
	}
	c.Flags().BoolVar(&attached, "attached", false, "stop when standard input ends (given by a supervisor)")
	if err := c.Flags().MarkHidden("attached"); err != nil {
		panic(err) // the flag is defined one line above
	}
	return c
}

func (a *app) ggs(ctx context.Context) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	cfg, err := a.trustedConfig(ctx, root)
	if err != nil {
		return err
	}
	release, err := holdResident(ctx, root, message.GGS)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer release()
	b, err := blackboard.Open(root, a.options(theController))
	if err != nil {
		return err
	}
	defer b.Close()
	r := controllerOf(b, cfg)
	w, done, err := a.agentWorld(ctx, cfg, root)
	if err != nil {
		return err
	}
	defer done()
	r.Moves = a.adviser(b, cfg, w)
	if err := r.Run(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// theController is who speaks for the controller.
var theController = blackboard.Identity{Agent: "ggs-1", Speaks: []message.Role{message.GGS}}

// controllerOf decides as the configuration and each goal say, and asks no model.
func controllerOf(b ggs.Board, cfg config.Config) *ggs.Resident {
	return &ggs.Resident{
		Board: b, NewID: uuid.NewString, Now: time.Now, NoMemory: cfg.Memory.Off,
		Setup: func(g blackboard.Goal) (string, ggs.Params, error) {
			p, err := paramsOf(cfg, g.Input)
			policy := cfg.Controller.Policy
			if g.Input.Controller != "" {
				policy = g.Input.Controller
			}
			return policy, p, err
		},
	}
}

// holdResident waits for the lock of a resident role. The file is never
// removed, so that nobody can hold a lock on a file that is gone.
func holdResident(ctx context.Context, root string, role message.Role) (release func(), err error) {
	l := residentLock(root, role)
	got, err := l.TryLockContext(ctx, 200*time.Millisecond)
	if err != nil || !got {
		return nil, errors.Join(err, fmt.Errorf("wait for the %s of another supervisor", role))
	}
	return func() {
		if err := l.Unlock(); err != nil {
			panic(fmt.Sprintf("unlock %s: %v", l.Path(), err)) // the process ends here anyway; a kept lock would stall the board
		}
	}, nil
}
