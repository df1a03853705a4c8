package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
)

func newAnswer(a *app) *cobra.Command {
	var goal string
	c := &cobra.Command{
		Use: "answer [TEXT…]", Short: "answer the open questions of a goal, in order; none means proceed",
		Example: "  orch answer \"only the api folder\" \"no deadline\"",
		RunE: func(c *cobra.Command, args []string) error {
			root, err := a.root()
			if err != nil {
				return err
			}
			g, err := a.goalThat(c.Context(), goal, "has an open question", hasQuestion)
			if err != nil {
				return err
			}
			if err := a.answer(c.Context(), root, g, args); err != nil {
				return err
			}
			return a.report(map[string]any{"version": 1, "goal": g.ID}, "answered; `orch run --continue %s` goes on", g.ID)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "which goal, if several wait")
	return c
}

// goalThat finds the one open goal that fits.
func (a *app) goalThat(ctx context.Context, id, what string, fits func(blackboard.Goal) bool) (blackboard.Goal, error) {
	b, err := a.read()
	if err != nil {
		return blackboard.Goal{}, err
	}
	defer b.Close()
	var found []blackboard.Goal
	err = b.View(ctx, func(st *blackboard.State) error {
		for _, g := range st.OpenGoals() {
			if (id == "" || string(g.ID) == id) && fits(g) {
				found = append(found, g)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return blackboard.Goal{}, err
	case len(found) == 0:
		return blackboard.Goal{}, usagef("orch goals", "no open goal %s", what)
	case len(found) > 1:
		return blackboard.Goal{}, usagef("name one with --goal", "%d open goals fit", len(found))
	}
	return found[0], nil
}

func newAllow(a *app) *cobra.Command { return newPermission(a, "allow", true) }
func newDeny(a *app) *cobra.Command  { return newPermission(a, "deny", false) }

func newPermission(a *app, use string, yes bool) *cobra.Command {
	var always bool
	short := "give a permission that a tool call asked for"
	if !yes {
		short = "refuse a permission that a tool call asked for"
	}
	c := &cobra.Command{
		Use: use + " [REQUEST]", Short: short + "; without an id, list what is asked", Args: cobra.MaximumNArgs(1),
		Example: "  orch " + use + " a1b2c3",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listApprovals(c.Context())
			}
			return a.decide(c.Context(), args[0], yes, always)
		},
	}
	if yes {
		c.Flags().BoolVar(&always, "always", false, "also for later goals of this project")
	}
	return c
}

func (a *app) listApprovals(ctx context.Context) error {
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	open := []blackboard.Approval{}
	err = b.View(ctx, func(st *blackboard.State) error {
		for _, p := range st.Approvals() {
			if p.Given.Seq == 0 {
				open = append(open, p)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "approvals": open})
	}
	for _, p := range open {
		say(a.out, "%s  %s  %s\n", p.Request, p.Tool, p.Reason)
	}
	if len(open) == 0 {
		sayLine(a.out, "nothing is asked")
	}
	return nil
}

func (a *app) decide(ctx context.Context, request string, yes, always bool) error {
	b, err := a.open(person())
	if err != nil {
		return err
	}
	defer b.Close()
	var p blackboard.Approval
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		found := false
		for _, q := range st.Approvals() {
			if q.Request == request || len(request) >= 4 && strings.HasPrefix(q.Request, request) {
				p, found = q, true
			}
		}
		if !found {
			return message.Message{}, usagef("orch allow lists them", "nobody asked for %q", request)
		}
		given := message.ApprovalGiven{Request: p.Request, Allowed: yes, Always: always}
		if yes {
			given.Rule = p.Rule
		}
		return message.Message{From: message.Human, To: message.All, Goal: p.Goal, Subject: string(p.Task), Cause: p.Asked.ID, Body: given}, nil
	})
	if err != nil {
		return err
	}
	word := "refused"
	if yes {
		word = "allowed"
	}
	return a.report(map[string]any{"version": 1, "request": p.Request, "allowed": yes}, "%s %s: %s", word, p.Request, p.Reason)
}
