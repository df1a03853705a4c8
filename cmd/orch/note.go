package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/socket"
)

func newNote(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "note", Short: "say something about the work: a person to a role, or a command a step started through that step",
		Long: `A command that a step started finds the step by ORCH_SOCK and speaks through
it: the step says it under its own identity, or refuses what its role may not
say. A person at the terminal leaves a note for a role or about a task.`,
		Example: "  orch note human --for planner \"prefer the small fix\"",
	}
	c.AddCommand(newNoteHuman(a), newNoteAnomaly(a), newNoteDiscovery(a), newNoteBlocked(a), newNoteHandoff(a))
	return c
}

func newNoteHuman(a *app) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "human TEXT", Short: "a person's word for a role or about a task", Args: cobra.ExactArgs(1),
		Example: "  orch note human --for planner \"prefer the small fix\"",
		RunE: func(c *cobra.Command, args []string) error {
			if os.Getenv(socket.Env) != "" {
				return usagef("orch note anomaly, discovery, blocked or handoff", "what a step started is not a person")
			}
			b, err := a.open(person())
			if err != nil {
				return err
			}
			defer b.Close()
			to, told := to, ""
			if err := b.View(c.Context(), func(st *blackboard.State) error { told, err = hears(st, to, args[0]); return err }); err != nil {
				return err
			}
			m, err := b.Append(c.Context(), message.Message{From: message.Human, To: message.All, Subject: to, Body: message.HumanNote{For: to, Message: args[0]}})
			if err != nil {
				return err
			}
			return a.report(map[string]any{"version": 1, "id": m.ID}, "%s", told)
		},
	}
	c.Flags().StringVar(&to, "for", "all", "role, task or goal it is for")
	return c
}

// maxWordsBytes bounds what is told to a role word for word: more would push
// other things out of its prompt.
const maxWordsBytes = 3000

// hears says who is told a person's words, and refuses those that nobody would be.
func hears(st *blackboard.State, to, words string) (string, error) {
	if _, ok := st.Task(message.TaskID(to)); ok {
		return "noted for task " + to, nil
	}
	if g, ok := st.Goal(message.GoalID(to)); ok {
		if g.Status == blackboard.GoalEnded {
			return "", usagef("orch goals --open", "goal %s has ended", to)
		}
	} else if _, err := message.ParseAgent(message.AgentID(to + "-1")); err != nil && to != "all" {
		return "", usagef("for example planner, coder, a task of orch task ls, or all", "there is no role, task or goal %q", to)
	}
	switch {
	case len(words) > maxWordsBytes:
		return "", usagef("put it in a file and name the file", "these are %d bytes, more than the %d a role is told", len(words), maxWordsBytes)
	case len(st.OpenGoals()) == 0:
		return "noted; no goal is open, so nobody is told", nil
	}
	return "noted; told to " + to + " from the next step on", nil
}

func newNoteAnomaly(a *app) *cobra.Command {
	var task string
	c := &cobra.Command{
		Use: "anomaly KIND [FIELD=TEXT…]", Short: "report something that is not as it should be", Args: cobra.MinimumNArgs(1),
		Long:    "Report an anomaly. The kinds and the fields each needs are in docs/messages.md.",
		Example: "  orch note anomaly external_blocker blocker_service=registry",
		RunE: func(c *cobra.Command, args []string) error {
			details, err := fields(args[1:])
			if err != nil {
				return err
			}
			return a.through(c.Context(), message.Anomaly{Task: message.TaskID(task), Kind: args[0], Details: details})
		},
	}
	c.Flags().StringVar(&task, "task", "", "task it is about")
	return c
}

func newNoteDiscovery(a *app) *cobra.Command {
	var d message.Discovery
	c := &cobra.Command{
		Use: "discovery TEXT", Short: "report work found on the way", Args: cobra.ExactArgs(1),
		Example: "  orch note discovery --urgency deferred \"the cache is never emptied\"",
		RunE: func(c *cobra.Command, args []string) error {
			d.Description = args[0]
			return a.through(c.Context(), d)
		},
	}
	c.Flags().StringVar(&d.Severity, "severity", "low", "low, medium or high")
	c.Flags().StringVar(&d.Urgency, "urgency", "deferred", "deferred or immediate")
	c.Flags().StringVar(&d.Recommendation, "recommendation", "", "what should be done")
	return c
}

func fields(args []string) (map[string]string, error) {
	out := map[string]string{}
	for _, f := range args {
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			return nil, usagef("for example error_pattern=\"timeout\"", "%q is not FIELD=TEXT", f)
		}
		out[k] = v
	}
	return out, nil
}

// through says a body through the step that started this command.
func (a *app) through(ctx context.Context, body message.Body) error {
	path := os.Getenv(socket.Env)
	if path == "" {
		return usagef("a person uses orch note human", "%s is not set: only what a step started can say this", socket.Env)
	}
	id, err := socket.Send(ctx, path, os.Getenv(socket.TokenEnv), body)
	if err != nil {
		return err
	}
	return a.report(map[string]any{"version": 1, "id": id}, "noted")
}
