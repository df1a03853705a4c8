package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/supervisor"
)

func newClaim(a *app) *cobra.Command {
	var as string
	var lease time.Duration
	c := &cobra.Command{
		Use: "claim [TASK]", Short: "take a task, or the most urgent one that can be taken", Args: cobra.MaximumNArgs(1),
		Long: `Take a task by hand or from a script. Exactly one of any number of claimers
gets it. The claim carries a fence; it ends with orch task release, with orch task
done, or when its lease runs out.`,
		Example: "  orch task claim --as human-1\n  orch task claim t-7 --as coder-2 --lease 1h",
		RunE: func(c *cobra.Command, args []string) error {
			return a.claim(c.Context(), as, args, lease)
		},
	}
	c.Flags().StringVar(&as, "as", "", "who takes it, <role>-<n> (required)")
	c.Flags().DurationVar(&lease, "lease", time.Hour, "awake time after which it may be taken away")
	return c
}

func (a *app) claim(ctx context.Context, as string, args []string, lease time.Duration) error {
	id, err := agentIdentity(as)
	if err != nil {
		return err
	}
	b, err := a.open(id)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := a.lapse(ctx, b); err != nil {
		return err
	}
	var got blackboard.Task
	m, err := b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		t, err := wanted(st, args)
		if err != nil {
			return message.Message{}, err
		}
		got = t
		body := message.Claimed{Task: t.ID, Agent: id.Agent, Fence: t.Fence + 1, Lease: supervisor.NewLease(supervisor.SystemClock{}, lease.Milliseconds())}
		return message.Message{To: message.All, Goal: t.Goal, Subject: string(t.ID), Fence: body.Fence, Body: body}, nil
	})
	if err != nil {
		return err
	}
	if err := b.Barrier(ctx, m.Seq); err != nil {
		return err
	}
	return a.report(map[string]any{"version": 1, "task": got.ID, "fence": m.Fence, "agent": id.Agent, "intent": got.Intent, "seq": m.Seq},
		"%s claimed %s (fence %d): %s", id.Agent, got.ID, m.Fence, oneLine(got.Intent, 80))
}

// lapse takes back what is claimed and no longer held, as every claimer does.
// Mostly nothing is, and then no board is opened to say so.
func (a *app) lapse(ctx context.Context, s *session) error {
	cfg, err := a.config(s.Root())
	if err != nil {
		return err
	}
	clock := supervisor.SystemClock{}
	st := &supervisor.Starter{Board: s.Board, Clock: clock, Policy: loop.PolicyOf(cfg)}
	st.Policy.Boot, _ = clock.Awake()
	if due, err := st.Lapsed(ctx, supervisor.Look); err != nil || len(due) == 0 {
		return err
	}
	b, err := blackboard.Open(s.Root(), a.options(blackboard.Identity{Agent: "supervisor-1", Speaks: []message.Role{message.Supervisor}}))
	if err != nil {
		return err
	}
	defer b.Close()
	st.Board = b
	return st.Lapse(ctx, supervisor.Look)
}

// wanted is the named task, or the first claimable one.
func wanted(st *blackboard.State, args []string) (blackboard.Task, error) {
	if len(args) == 1 {
		t, err := resolveTask(st, args[0])
		if err != nil {
			return t, err
		}
		if err := st.CanClaim(t); err != nil {
			return t, &exitError{exitUsage, hinted{err, "orch why " + short(string(t.ID))}}
		}
		return t, nil
	}
	for t := range st.Claimable("") {
		return t, nil
	}
	return blackboard.Task{}, &exitError{exitAgain, hinted{errors.New("no task can be claimed now"), "orch task ls"}}
}

// agentIdentity is the identity somebody takes by hand.
func agentIdentity(as string) (blackboard.Identity, error) {
	if as == "" {
		return blackboard.Identity{}, usagef("--as human-1", "say who acts with --as")
	}
	id, err := blackboard.NewIdentity(message.AgentID(as), message.Human)
	if err != nil {
		return id, usagef("for example --as human-1", "%s", err)
	}
	return id, nil
}

func newRelease(a *app) *cobra.Command {
	var as, reason string
	c := &cobra.Command{
		Use: "release TASK", Short: "give a task back", Args: cobra.ExactArgs(1),
		Example: "  orch task release t-7 --as coder-2 --reason \"needs a spec\"",
		RunE: func(c *cobra.Command, args []string) error {
			return a.byHand(c.Context(), as, args[0], func(t blackboard.Task) message.Body {
				return message.Released{Task: t.ID, Agent: message.AgentID(as), Fence: t.Fence, Reason: reason}
			}, "released")
		},
	}
	c.Flags().StringVar(&as, "as", "", "who holds it (required)")
	c.Flags().StringVar(&reason, "reason", "by hand", "why")
	return c
}

// byHand says something about a task that the named agent holds.
func (a *app) byHand(ctx context.Context, as, task string, body func(blackboard.Task) message.Body, done string) error {
	id, err := agentIdentity(as)
	if err != nil {
		return err
	}
	b, err := a.open(id)
	if err != nil {
		return err
	}
	defer b.Close()
	var t blackboard.Task
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		var err error
		if t, err = resolveTask(st, task); err != nil {
			return message.Message{}, err
		}
		if t.Status != blackboard.Claimed || t.Agent != id.Agent {
			return message.Message{}, usagef("orch why "+short(string(t.ID)), "%s does not hold %s, it is %s", id.Agent, t.ID, t.Status)
		}
		b := body(t)
		return message.Message{To: message.All, Goal: t.Goal, Subject: string(t.ID), Fence: t.Fence, Body: b}, nil
	})
	if err != nil {
		return err
	}
	return a.report(map[string]any{"version": 1, "task": t.ID, "done": done}, "%s", fmt.Sprintf("%s %s", t.ID, done))
}
