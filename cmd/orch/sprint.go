package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	coding "orch/roles/loop/code"
)

func newSprint(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "sprint", Short: "a bounded part of the work, with a deadline and figures",
		Long: `A sprint has planned and stretch tasks and maybe a deadline. The board stops at
a checkpoint when all planned tasks have ended, and at the deadline, each once.`,
		Example: "  orch goals sprint open --deadline 8h\n  orch goals sprint show\n  orch goals sprint close --retrospective \"tasks were too large\"",
	}
	c.AddCommand(newSprintOpen(a), newSprintShow(a), newSprintClose(a))
	return c
}

// sprintFlags are what a person says a sprint is to be.
type sprintFlags struct {
	planned, stretch []string
	goal, deadline   string
}

func newSprintOpen(a *app) *cobra.Command {
	var f sprintFlags
	c := &cobra.Command{
		Use: "open", Short: "begin a sprint; by default all tasks of the goal's plan are planned", Args: cobra.NoArgs,
		Long: `Begin a sprint. Tasks are named by id, by a prefix that only one id has, or by
their slot in the plan of the goal, which is the newest open one unless --goal
names another. Without --planned all tasks of its plan are planned that are not
stretch.`,
		Example: "  orch goals sprint open --deadline 8h\n  orch goals sprint open --planned parser,printer --stretch docs --deadline 2026-12-01T18:00:00Z",
		RunE:    func(c *cobra.Command, _ []string) error { return a.openSprint(c.Context(), f) },
	}
	c.Flags().StringSliceVar(&f.planned, "planned", nil, "task that is to be done, repeatable")
	c.Flags().StringSliceVar(&f.stretch, "stretch", nil, "task that may be done if there is time, repeatable")
	c.Flags().StringVar(&f.goal, "goal", "", "goal whose plan is meant")
	c.Flags().StringVar(&f.deadline, "deadline", "", "time as 2026-12-01T18:00:00Z, or from now as 8h; none by default")
	return c
}

// errSame: what is asked for is so already.
var errSame = errors.New("it is so already")

func (a *app) openSprint(ctx context.Context, f sprintFlags) error {
	deadline, err := deadlineOf(f.deadline, time.Now())
	if err != nil {
		return err
	}
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	var want blackboard.Sprint
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		scope, goal, err := f.scope(st)
		if err != nil {
			return message.Message{}, err
		}
		want = blackboard.Sprint{Goal: goal, Scope: scope, Deadline: deadline}
		if old := st.Sprint(); old.Open() {
			if sameSprint(*old, want) {
				return message.Message{}, errSame
			}
			return message.Message{}, usagef("orch goals sprint close", "a sprint is open since %s", old.Opened.TS.Format(time.RFC3339))
		}
		body := message.SprintOpened{Scope: scope}
		if !deadline.IsZero() {
			body.Deadline = deadline.Format(time.RFC3339)
		}
		return message.Message{From: message.Human, To: message.All, Goal: goal, Subject: string(goal), Body: body}, nil
	})
	word := "opened"
	if errors.Is(err, errSame) {
		word, err = "open already", nil
	}
	if err != nil {
		return err
	}
	return a.report(map[string]any{"version": 1, "sprint": word, "goal": want.Goal, "scope": want.Scope, "deadline": untilOf(want)},
		"sprint %s: %d planned, %d stretch%s", word, len(want.Scope.Planned), len(want.Scope.Stretch), untilText(untilOf(want)))
}

func sameSprint(a, b blackboard.Sprint) bool {
	return a.Goal == b.Goal && a.Deadline.Equal(b.Deadline) &&
		slices.Equal(a.Scope.Planned, b.Scope.Planned) && slices.Equal(a.Scope.Stretch, b.Scope.Stretch)
}

// deadlineOf reads a time, or how long from now, to the second.
func deadlineOf(text string, now time.Time) (time.Time, error) {
	const hint = "for example 8h or 2026-12-01T18:00:00Z"
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return at, usagef(hint, "%q is neither a time nor a duration", text)
		}
		at = now.Add(d)
	}
	if !at.After(now) {
		return at, usagef(hint, "the deadline %s has passed", at.Format(time.RFC3339))
	}
	return at.UTC().Truncate(time.Second), nil
}

func newSprintShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "show the open sprint, or the last one, and its figures so far", Args: cobra.NoArgs, Example: "  orch goals sprint show --json",
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := a.read()
			if err != nil {
				return err
			}
			defer b.Close()
			return b.View(c.Context(), func(st *blackboard.State) error {
				s := st.Sprint()
				if s == nil {
					return errNoSprint()
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"version": 1, "sprint": sprintReportOf(st, *s)})
				}
				return a.printSprint(sprintReportOf(st, *s), time.Now())
			})
		},
	}
}

func errNoSprint() error {
	return usagef("orch goals sprint open", "there was no sprint yet")
}

func newSprintClose(a *app) *cobra.Command {
	var retrospective string
	c := &cobra.Command{
		Use: "close", Short: "end the open sprint, with its figures as they are then", Args: cobra.NoArgs,
		Example: "  orch goals sprint close --retrospective \"tasks were too large\"",
		RunE:    func(c *cobra.Command, _ []string) error { return a.closeSprint(c.Context(), retrospective) },
	}
	c.Flags().StringVar(&retrospective, "retrospective", "", "what to remember of it")
	return c
}

// closeSprint computes the figures under the log's lock, so that they are true
// of the moment at which it ends.
func (a *app) closeSprint(ctx context.Context, retrospective string) error {
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		s := st.Sprint()
		switch {
		case s == nil:
			return message.Message{}, errNoSprint()
		case s.Open():
		case retrospective == "" || retrospective == s.Retrospective:
			return message.Message{}, errSame
		default:
			return message.Message{}, usagef("orch goals sprint show", "the sprint was closed already, at %s", s.Closed.TS.Format(time.RFC3339))
		}
		return message.Message{From: message.Human, To: message.All, Goal: s.Goal, Subject: string(s.Goal), Cause: s.Opened.ID,
			Body: message.SprintClosed{Metrics: coding.Metrics(*s, st.Task), Retrospective: retrospective}}, nil
	})
	word := "closed"
	if errors.Is(err, errSame) {
		word, err = "closed already", nil
	}
	if err != nil {
		return err
	}
	return b.View(ctx, func(st *blackboard.State) error {
		r := sprintReportOf(st, *st.Sprint())
		next := "`orch goals sprint show` has its figures"
		if st.Brakes().Checkpoint != nil {
			next += "; the board is at a checkpoint, `orch resume` lifts it"
		}
		return a.report(map[string]any{"version": 1, "sprint": word, "metrics": r.Metrics},
			"sprint %s: %s done, %s; %s", word, r.doneOf(), r.stretchOf(), next)
	})
}
