package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/roles/act/process"
	"orch/roles/run/config"
	"orch/roles/think/agent"
	"orch/roles/think/agent/cli"
)

func newAgentCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "agent", Short: "agent programs that can think or act for a role", Args: cobra.NoArgs, Example: "  orch agent ls\n  orch agent test codex",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newAgentLs(a), newAgentTest(a))
	return c
}

// agentWorld is what an agent is started with outside a step; done removes what
// was made for it.
func (a *app) agentWorld(ctx context.Context, cfg config.Config, root string) (w agent.World, done func(), err error) {
	exe, err := executable()
	if err != nil {
		return agent.World{}, nil, err
	}
	w = agent.World{Environ: os.Environ(), Workspace: root, Now: time.Now,
		Process: process.Spec{GraceMS: cfg.Limits.GraceMS, Session: true, Guard: []string{exe, "guard", "--"}}}
	w.Confine, done = a.outside(ctx, cfg, root)
	return w, done, nil
}

func newAgentLs(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "list the agent programs orch knows, and which of them are here", Args: cobra.NoArgs, Example: "  orch agent ls --json",
		RunE: func(c *cobra.Command, _ []string) error {
			w, done, err := a.agentWorld(c.Context(), config.Default(), "")
			if err != nil {
				return err
			}
			defer done()
			found := agent.List(c.Context(), w)
			if err := c.Context().Err(); err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]any{"version": 1, "agents": found})
			}
			here := 0
			for _, f := range found {
				where, drives := "not on PATH", ""
				if f.Path != "" {
					here++
					where = f.Path
				}
				if len(f.Drives) > 0 {
					drives = strings.Join(f.Drives, ", ")
				}
				say(a.out, "%-9s %-20s %-12s %-9s %s\n", f.Name, f.Title, firstWord(f.Version, "-"), firstWord(drives, "-"), where)
			}
			if here == 0 {
				sayLine(a.err, "hint: install one of them, or set a command of your own: docs/agents.md")
			}
			return nil
		},
	}
}

func firstWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func newAgentTest(a *app) *cobra.Command {
	var overACP, markdown bool
	var command string
	c := &cobra.Command{
		Use: "test NAME", Short: "try an agent program against a scripted model server; costs nothing", Args: cobra.ExactArgs(1),
		Example: "  orch agent test codex\n  orch agent test gemini --acp --json",
		Long: `Starts the program with an empty home, a dummy key and a model server on loopback, and tries whether it
starts, takes a long prompt, answers in a given form, runs a tool, reports usage, stops when told, leaves no
processes, and fails as it should on 401, 429, 500 and silence. Prints a capability card; exit code 5 if a
line of it failed.`,
		RunE: func(c *cobra.Command, args []string) error {
			kind := agent.Exec
			if overACP {
				kind = agent.ACP
			}
			return a.agentTest(c.Context(), agent.Target{Kind: kind, Preset: args[0], Command: command}, markdown)
		},
	}
	c.Flags().BoolVar(&overACP, "acp", false, "drive it over the Agent Client Protocol")
	c.Flags().BoolVar(&markdown, "markdown", false, "print the card as Markdown")
	c.Flags().StringVar(&command, "command", "", "the program to start instead of the one on PATH")
	return c
}

func (a *app) agentTest(ctx context.Context, t agent.Target, markdown bool) error {
	p, ok := cli.Find(t.Preset)
	switch {
	case !ok:
		return usagef("orch agent ls", "no agent is called %q; known: %s", t.Preset, strings.Join(cli.Names(), ", "))
	case t.Kind == agent.ACP && p.ACP == nil && t.Command == "":
		return usagef("orch agent test "+t.Preset, "%s does not speak the Agent Client Protocol", p.Title)
	}
	w, done, err := a.agentWorld(ctx, config.Default(), "")
	if err != nil {
		return err
	}
	defer done()
	program := p.Program
	if t.Kind == agent.ACP && p.ACPBy != "" {
		program = p.ACPBy
	}
	if t.Command == "" && w.LookPath(program) == "" {
		return usagef("orch agent ls shows what is here", "%s is not on PATH", program)
	}
	d := painting(a.err)
	card, err := agent.Conform(ctx, t, w, func(k agent.Check) {
		if !a.asJSON && !markdown {
			mark := d.green("✓")
			if !k.OK {
				mark = d.red("✗")
			}
			say(a.out, "%s %-20s %6d ms  %s\n", mark, k.Name, k.TookMS, k.Detail)
		}
	})
	if err != nil {
		return err
	}
	switch {
	case a.asJSON:
		if err := a.printJSON(map[string]any{"version": 1, "card": card}); err != nil {
			return err
		}
	case markdown:
		fmt.Fprint(a.out, card.Markdown())
	default:
		say(a.out, "%s %s over %s: usage %s, cost %s, session id %s\n", card.Title, card.Version, card.Backend, told(card.Usage), told(card.Cost), told(card.Session))
	}
	if !card.OK {
		return &exitError{code: exitFindings, cause: hinted{fmt.Errorf("%s did not pass: %s", card.Name, strings.Join(card.Missing, ", ")), "docs/agents.md says what each line means"}}
	}
	return nil
}

func told(b bool) string {
	if b {
		return "told"
	}
	return "not told"
}
