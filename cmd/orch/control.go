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
	"orch/blackboard/message"
	"orch/roles/run/supervisor"
)

// newBrake makes one of the commands by which a person stops work.
func newBrake(a *app, use, short, file string, body func(reason string) message.Body) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs, Example: "  orch " + use + " --reason \"looking at the plan\"",
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := a.open(person())
			if err != nil {
				return err
			}
			defer b.Close()
			if body != nil {
				if err := a.sayOnce(c.Context(), b, body(reason)); err != nil {
					return err
				}
			}
			// The file reaches supervisors at once and outlives a lost message.
			if err := os.WriteFile(filepath.Join(b.Dir(), file), []byte(reason+"\n"), 0o644); err != nil {
				return fmt.Errorf("set the brake: %w", err)
			}
			return a.report(map[string]any{"version": 1, "brake": use}, "%s; `orch resume` lifts it", use)
		},
	}
	c.Flags().StringVar(&reason, "reason", "by hand", "why, for the record")
	return c
}

// sayOnce appends a brake message; one that is set already is no error.
func (a *app) sayOnce(ctx context.Context, b *session, body message.Body) error {
	_, err := b.Append(ctx, message.Message{From: message.Human, To: message.All, Body: body})
	if supervisor.Refused(err) {
		return nil
	}
	return err
}

func newPause(a *app) *cobra.Command {
	return newBrake(a, "pause", "start no new step until orch resume", supervisor.PauseFile,
		func(r string) message.Body { return message.Paused{Reason: r} })
}

func newCheckpoint(a *app) *cobra.Command {
	return newBrake(a, "checkpoint", "let running steps finish, then wait for a person", supervisor.CheckpointFile,
		func(r string) message.Body { return message.CheckpointReached{Name: "by hand", Reason: r} })
}

func newAbort(a *app) *cobra.Command {
	return newBrake(a, "abort", "stop all running steps now; goals stay open", supervisor.AbortFile, nil)
}

func newResume(a *app) *cobra.Command {
	var maxCost float64
	c := &cobra.Command{
		Use: "resume [GOAL] [\"WORDS\"]", Short: "lift a pause, a checkpoint or a wait at a cap", Args: cobra.MaximumNArgs(2),
		Long: `Lift a pause or a checkpoint of the board and what suspended its goals. With
--max-cost a goal gets a new cap: GOAL, or the newest open one. WORDS are told to
every role that works on from here, word for word.`,
		Example: "  orch resume\n  orch resume \"leave the parser as it is\"\n  orch resume --max-cost 10",
		RunE: func(c *cobra.Command, args []string) error {
			b, err := a.open(person())
			if err != nil {
				return err
			}
			defer b.Close()
			for _, f := range []string{supervisor.PauseFile, supervisor.CheckpointFile, supervisor.AbortFile} {
				if err := os.Remove(filepath.Join(b.Dir(), f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("remove the brake: %w", err)
				}
			}
			goal, words := goalAndWords(args)
			if len(goal) == 1 || c.Flags().Changed("max-cost") {
				return a.resumeGoal(c.Context(), b, goal, words, maxCost, c.Flags().Changed("max-cost"))
			}
			if err := a.sayOnce(c.Context(), b, message.Resumed{Reason: words}); err != nil {
				return err
			}
			a.keepEscalation(c.Context(), b)
			return a.report(map[string]any{"version": 1, "resumed": true}, "resumed; `orch run --continue` goes on if nothing runs")
		},
	}
	c.Flags().Float64Var(&maxCost, "max-cost", 0, "the goal's new cap, in US dollars")
	return c
}

// goalAndWords tells a goal, which is one word, from what a person says.
func goalAndWords(args []string) (goal []string, words string) {
	if n := len(args); n == 2 || n == 1 && strings.ContainsAny(args[0], " \t\n") {
		return args[:n-1], args[n-1]
	}
	return args, ""
}

// resumeGoal lifts what one goal waits for, under a new cap if there is one.
func (a *app) resumeGoal(ctx context.Context, b *session, args []string, words string, maxCost float64, capped bool) error {
	if capped && !(maxCost > 0) {
		return usagef("for example orch resume --max-cost 10", "a cap of $%g is none", maxCost)
	}
	var goal blackboard.Goal
	_, err := b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		g, err := pickGoal(st, args)
		if err != nil {
			return message.Message{}, err
		}
		goal = g
		if capped && maxCost <= g.Cost {
			return message.Message{}, usagef("name a cap above it", "%s has cost $%.4g already", g.ID, g.Cost)
		}
		return message.Message{From: message.Human, To: message.All, Goal: g.ID, Subject: string(g.ID), Body: message.Resumed{Reason: words, MaxCost: maxCost}}, nil
	})
	if err != nil {
		return err
	}
	a.keepEscalation(ctx, b)
	return a.report(map[string]any{"version": 1, "resumed": true, "goal": goal.ID, "max_cost": maxCost},
		"%s is resumed; `orch run --continue %s` goes on if nothing runs", goal.ID, goal.ID)
}

// keepEscalation takes what was just answered out of the list of what waits too
// long. Whoever serves the board next would do it as well.
func (a *app) keepEscalation(ctx context.Context, b *session) {
	if err := supervisor.KeepEscalation(ctx, b.Board); err != nil {
		a.warn(err)
	}
}

func newUnblock(a *app) *cobra.Command {
	return newLift(a, "unblock TASK", "make a BLOCKED task claimable again", "  orch task unblock 0198c1 --reason \"the spec says so now\"", true)
}

func newRetry(a *app) *cobra.Command {
	return newLift(a, "retry [GOAL]", "give a suspended goal another chance after crashes, a cap or a stall", "  orch goals retry make_the_tests_pass", false)
}

func newLift(a *app, use, short, example string, task bool) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.lift(c.Context(), args, task, reason) },
	}
	c.Flags().StringVar(&reason, "reason", "by hand", "why, for the record")
	return c
}

func (a *app) lift(ctx context.Context, args []string, task bool, reason string) error {
	if task && len(args) == 0 {
		return usagef("orch task ls --status BLOCKED", "name the task")
	}
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	var what string
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		m := message.Message{From: message.Human, To: message.All}
		body := message.Unblocked{Reason: reason}
		if task {
			t, err := resolveTask(st, args[0])
			if err != nil {
				return m, err
			}
			body.Task, m.Goal, m.Subject = t.ID, t.Goal, string(t.ID)
		} else {
			g, err := pickGoal(st, args)
			if err != nil {
				return m, err
			}
			m.Goal, m.Subject = g.ID, string(g.ID)
		}
		m.Body, what = body, m.Subject
		return m, nil
	})
	if err != nil {
		return err
	}
	a.keepEscalation(ctx, b)
	return a.report(map[string]any{"version": 1, "unblocked": what}, "%s may go on; `orch run --continue` if nothing runs", what)
}
