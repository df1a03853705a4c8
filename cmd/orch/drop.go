package main

import (
	"context"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
)

func newGoalsDrop(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "drop GOAL", Short: "give a goal up for good; what was reached stays on record", Args: cobra.ExactArgs(1),
		Long: `Give a goal up for good. Its open tasks become ABANDONED, running steps of it are
stopped, and the result says what was reached. What is merged stays, commits are
kept, and orch board gc may remove the worktrees afterwards.`,
		Example: "  orch goals drop make_the_tests_pass --reason \"solved by hand\"",
		RunE:    func(c *cobra.Command, args []string) error { return a.dropGoal(c.Context(), args[0], reason) },
	}
	c.Flags().StringVar(&reason, "reason", "by hand", "why, for the record")
	return c
}

// dropGoal says that a goal is given up, and lets the controller answer: the one
// that runs or this process, whichever comes first.
func (a *app) dropGoal(ctx context.Context, id, reason string) error {
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	g, err := goalToDrop(ctx, b.Board, id)
	if err != nil {
		return err
	}
	if g.Status != blackboard.GoalEnded {
		if err := a.giveUp(ctx, b, g, reason); err != nil {
			return err
		}
	}
	a.keepEscalation(ctx, b)
	return a.report(map[string]any{"version": 1, "given_up": g.ID}, "%s is given up; orch board gc removes what it left", g.ID)
}

// goalToDrop finds a goal that is open, or that was given up before.
func goalToDrop(ctx context.Context, b *blackboard.Board, id string) (g blackboard.Goal, err error) {
	err = b.View(ctx, func(st *blackboard.State) error {
		known, ok := st.Goal(message.GoalID(id))
		if ok && known.GiveUp != nil {
			g = known
			return nil
		}
		g, err = pickGoal(st, []string{id})
		if err != nil {
			return err
		}
		for t := range st.TasksOf(g.ID, blackboard.Approved) {
			if t.Review.Merge != nil {
				return usagef("orch run --continue "+id+" ends it", "the merge of %s has begun and its end is not known", t.ID)
			}
		}
		return nil
	})
	return g, err
}

func (a *app) giveUp(ctx context.Context, b *session, g blackboard.Goal, reason string) error {
	if g.GiveUp == nil {
		_, err := b.Append(ctx, message.Message{From: message.Human, Goal: g.ID, Subject: string(g.ID), Body: message.GiveUp{Reason: reason}})
		if err != nil {
			return err
		}
	}
	cfg, err := a.config(b.Root())
	if err != nil {
		return err
	}
	board, err := blackboard.Open(b.Root(), a.options(theController))
	if err != nil {
		return err
	}
	defer board.Close()
	return controllerOf(board, cfg).Answer(ctx, g.ID)
}
