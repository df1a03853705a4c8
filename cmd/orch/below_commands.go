package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/roles/act/process"
)

// openBelow tells whether a command that a step started may run a command of
// orch on the step's board. What is not named here decides something that a
// person decides, or speaks for a role, and is refused before it does anything.
func openBelow(path string, changed func(flag string) bool) bool {
	if reads(path) {
		return true
	}
	switch path {
	case "config trust":
		return changed("list")
	case "agent submit", "note anomaly", "note discovery", "note blocked", "note handoff":
		return true // they ask the step
	case "task claim", "task release":
		return true // they only speak on the board, which refuses them itself, and loops call them often
	case "version", "guard", "doctor confine", "agent test", "init":
		return true // they touch no board, or make one of their own
	case "role step":
		return true // a step is itself started below the supervisor, and the board refuses one that a command starts
	}
	return false
}

// reads tells whether a command only shows something, and may be asked again.
func reads(path string) bool {
	switch path {
	case "status", "goals", "goals sprint show", "task ls", "task show", "cost", "why", "log", "show", "diff", "audit",
		"memory ls", "memory show", "memory query", "memory why",
		"config", "doctor", "agent ls", "board state", "board verify", "board replay", "role prompt", "role controller decide":
		return true
	}
	return false
}

// refuseBelow makes the commands of a tree refuse what openBelow does not open.
func (a *app) refuseBelow(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.refuseBelow(sub)
	}
	run := c.RunE
	if run == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		path := pathOf(c)
		if reads(path) {
			cutBy(a.out, wholeBy(a.line, true))
			cutBy(a.err, wholeBy(a.line, true))
		}
		if !openBelow(path, c.Flags().Changed) {
			if err := a.mustBePerson(c.Context()); err != nil {
				return err
			}
		}
		return run(c, args)
	}
}

// pathOf names a command as the tree has it, under its noun, also where it was
// called by its name alone.
func pathOf(c *cobra.Command) string {
	var names []string
	for ; c.HasParent(); c = c.Parent() {
		names = append([]string{c.Name()}, names...)
	}
	if len(names) == 0 {
		return ""
	}
	if i := slices.IndexFunc(commands, func(c command) bool { return c.name == names[0] }); i >= 0 && commands[i].under != "" {
		names = append([]string{commands[i].under}, names...)
	}
	return strings.Join(names, " ")
}

// mustBePerson refuses a command of the steps of the board that is here.
func (a *app) mustBePerson(ctx context.Context) error {
	if a.refuses != nil {
		return a.refuses(ctx)
	}
	root, err := a.root()
	if err != nil {
		return nil // no board, so nobody's step; the command says what is missing
	}
	o := a.options(blackboard.Identity{})
	o.ReadOnly = true
	b, err := blackboard.Open(root, o)
	if err == nil {
		defer b.Close()
		err = b.View(ctx, notBelow(person()))
	}
	var refused *notPersonError
	if err == nil || errors.As(err, &refused) || ctx.Err() != nil {
		return err
	}
	return notBelowRegistered(root)
}

// notBelowRegistered is notBelow for a board that can not be read, which some
// commands are there to mend: it looks at each registration that is left of the log.
func notBelowRegistered(root string) error {
	raw, err := plainfile.Read(filepath.Join(root, blackboard.DirName, "log.jsonl"))
	if err != nil {
		return nil // nothing is left to look at
	}
	for line := range strings.Lines(string(raw)) {
		var m struct {
			Type    message.Type
			Payload message.Registered
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.Type != (message.Registered{}).Type() {
			continue
		}
		agent := blackboard.Agent{ID: m.Payload.Agent, Role: m.Payload.Role, Process: m.Payload.Process}
		if slices.ContainsFunc(above(), func(p process.Ancestor) bool { return isCommandOf(agent, p) }) {
			return &notPersonError{agent.ID}
		}
	}
	return nil
}
