package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard/message"
	"orch/roles/run/step"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
	"orch/roles/think/thinker"
)

func newPrompt(a *app) *cobra.Command {
	var subject string
	c := &cobra.Command{
		Use: "prompt ROLE", Short: "print what a step of a role would send to a model, with bytes and estimated tokens", Args: cobra.ExactArgs(1),
		Long: `Print what a step of a role would send to a model about a goal or task as it
stands now, section by section. Nothing is sent, run or written.`,
		Example: "  orch role prompt planner --subject summarise_the_todos\n  orch role prompt executor --subject 0198c1 --json\n  orch role prompt coder --subject 0198c1",
		RunE: func(c *cobra.Command, args []string) error {
			return a.showPrompts(c.Context(), message.Role(args[0]), subject)
		},
	}
	c.Flags().StringVar(&subject, "subject", "", "goal or task the step would act on")
	return c
}

func (a *app) showPrompts(ctx context.Context, role message.Role, subject string) error {
	if _, ok := acts[role]; !ok {
		return usagef("perceiver, planner, executor, agent-validator, meta-validator, coder, code-reviewer", "no prompt for role %q", role)
	}
	if subject == "" {
		return usagef("orch goals and orch task ls list them", "name a goal or task with --subject")
	}
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	e, err := a.lookingEnv(ctx, b, role, subject)
	if err != nil {
		return err
	}
	heard := &listener{}
	options := thinkerOptions(e.Config)
	options.Sees = func(p prompt.Prompt) { heard.prompts = append(heard.prompts, p) }
	think, err := thinker.New(heard, options)
	if err != nil {
		return err
	}
	e.Perceiver, e.Planner, e.Executor, e.Judge, e.Merger = think, think, think, think, think
	err = ask(ctx, e, think, heard)
	switch {
	case len(heard.requests) > 0:
		return a.printPrompts(role, subject, heard)
	case errors.Is(err, step.ErrMoved):
		return usagef("orch why "+subject, "the board asks nothing of the %s about %s now", role, subject)
	case err != nil && !errors.Is(err, errShown):
		return err
	}
	return a.report(map[string]any{"version": 1, "role": role, "subject": subject, "prompts": []any{}},
		"the %s would ask no model about %s: code decides all of it", role, subject)
}

// promptRow is the documented shape of a shown prompt, version 1.
type promptRow struct {
	Prompt   string       `json:"prompt"` // which page
	Bytes    int          `json:"bytes"`
	Tokens   int          `json:"tokens"` // estimated
	Sections []sectionRow `json:"sections"`
	System   string       `json:"system"`
	User     string       `json:"user"`
	Tools    []model.Tool `json:"tools,omitempty"`
}

type sectionRow struct {
	Name         string `json:"name"`
	Bytes        int    `json:"bytes"`
	Tokens       int    `json:"tokens"`
	BudgetBytes  int    `json:"budget_bytes"` // 0: none
	LeftOutBytes int    `json:"left_out_bytes"`
}

func promptRowOf(p prompt.Prompt, r model.Request) promptRow {
	row := promptRow{Prompt: string(p.Role), System: r.System, User: r.Turns[0].Text, Tools: r.Tools}
	add := func(s sectionRow) {
		row.Sections = append(row.Sections, s)
		row.Bytes += s.Bytes
		row.Tokens += s.Tokens
	}
	for _, s := range p.Sections {
		add(sectionRow{s.Name, len(s.Text), prompt.Tokens(s.Text), s.BudgetBytes, s.LeftOutBytes})
	}
	aside := func(name, text string) { add(sectionRow{Name: name, Bytes: len(text), Tokens: prompt.Tokens(text)}) }
	if len(r.Tools) > 0 {
		var texts strings.Builder
		for _, t := range r.Tools {
			texts.WriteString(t.Name + t.Description + string(t.Input))
		}
		aside("tools", texts.String())
	}
	if r.Schema != nil {
		aside("schema", string(r.Schema.JSON)) // once more beside the contract, for servers that enforce it
	}
	return row
}

func (a *app) printPrompts(role message.Role, subject string, heard *listener) error {
	rows := []promptRow{}
	for i, r := range heard.requests {
		rows = append(rows, promptRowOf(heard.prompts[i], r))
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "role": role, "subject": subject, "prompts": rows})
	}
	for _, row := range rows {
		say(a.out, "# %s about %s\n", row.Prompt, subject)
		say(a.out, "%-10s %8s %8s %8s %9s\n", "section", "bytes", "tokens", "budget", "left out")
		for _, s := range row.Sections {
			say(a.out, "%-10s %8d %8d %8d %9d\n", s.Name, s.Bytes, s.Tokens, s.BudgetBytes, s.LeftOutBytes)
		}
		say(a.out, "%-10s %8d %8d\n\n----- system\n%s\n\n----- user\n%s\n", "all", row.Bytes, row.Tokens, quoted(a.out, row.System), quoted(a.out, row.User))
		for _, t := range row.Tools {
			say(a.out, "\n----- tool %s\n%s\n%s\n", t.Name, quoted(a.out, t.Description), quoted(a.out, string(t.Input)))
		}
	}
	return nil
}
