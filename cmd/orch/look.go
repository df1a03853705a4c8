package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/weaken"
)

func newGoals(a *app) *cobra.Command {
	var open, quiet bool
	c := &cobra.Command{
		Use: "goals", Short: "list goals and how they stand", Args: cobra.NoArgs, Example: "  orch goals --open",
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := a.read()
			if err != nil {
				return err
			}
			defer b.Close()
			return b.View(c.Context(), func(st *blackboard.State) error {
				goals := st.Goals()
				if open {
					goals = st.OpenGoals()
				}
				if quiet {
					if len(goals) == 0 {
						return &exitError{code: exitInternal}
					}
					return nil
				}
				return a.printGoals(st, goals)
			})
		},
	}
	c.AddCommand(newGoalsDrop(a))
	c.Flags().BoolVar(&open, "open", false, "only goals that have not ended")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing; exit 0 if there is one, 1 if not")
	return c
}

// goalRow is the documented shape of a goal in lists, version 1.
type goalRow struct {
	ID        message.GoalID         `json:"id"`
	Status    blackboard.GoalStatus  `json:"status"`
	Text      string                 `json:"text"`
	Rounds    int                    `json:"rounds"`
	Directive message.Directive      `json:"directive"` // of the last round, or the result
	Loss      *message.Loss          `json:"loss"`
	Suspended *blackboard.Suspension `json:"suspended"`
	NextMoves []string               `json:"next_moves,omitempty"` // what a person could do now, of a goal that was given up
	Findings  []openFinding          `json:"findings,omitempty"`   // that code has against what is submitted, and nobody accepted
	ActiveMS  int64                  `json:"active_ms"`
	Cost      float64                `json:"cost"`
}

func goalRowOf(g blackboard.Goal) goalRow {
	r := goalRow{ID: g.ID, Status: g.Status, Text: g.Input.Text, Rounds: len(g.Rounds), Suspended: g.Suspended, ActiveMS: g.ActiveMS, Cost: g.Cost}
	if n := len(g.Rounds); n > 0 && g.Rounds[n-1].Directive != nil {
		r.Directive, r.Loss = g.Rounds[n-1].Directive.Directive, &g.Rounds[n-1].Directive.Loss
	}
	if g.Final != nil {
		r.Directive, r.Loss = g.Final.Directive, &g.Final.Loss
		r.NextMoves = g.Final.NextMoves
	}
	return r
}

func (a *app) printGoals(st *blackboard.State, goals []blackboard.Goal) error {
	rows := make([]goalRow, 0, len(goals))
	for _, g := range goals {
		r := goalRowOf(g)
		r.Findings = openFindings(st, g.ID)
		rows = append(rows, r)
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "goals": rows})
	}
	return a.printGoalRows(rows)
}

func (a *app) printGoalRows(rows []goalRow) error {
	for _, r := range rows {
		state := string(r.Status)
		if r.Directive != "" {
			state += " " + string(r.Directive)
		}
		say(a.out, "%-40s %-22s %s  %s\n", r.ID, state, count(r.Rounds, "round"), oneLine(r.Text, 60))
		if r.Suspended != nil {
			say(a.out, "%-40s waits: %s — %s\n", "", oneLine(r.Suspended.Detail, 80), r.Suspended.Command)
		}
		a.sayFindings(r.ID, r.Findings)
		for _, m := range r.NextMoves {
			say(a.out, "%-40s try: %s\n", "", oneLine(m, 200))
		}
	}
	if len(rows) == 0 {
		sayLine(a.out, "no goals; `orch run \"…\"` starts one")
	}
	return nil
}

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show SEQ|ID|FINDING", Short: "show one message with its causes and effects, or a finding with its change", Args: cobra.ExactArgs(1),
		Example: "  orch show 12\n  orch show f-1a2b3c4d5e",
		RunE: func(c *cobra.Command, args []string) error {
			if weaken.IsID(args[0]) {
				return a.showFinding(c.Context(), args[0])
			}
			return a.showMessage(args[0])
		},
	}
}

func (a *app) showMessage(name string) error {
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	all, err := everything(b)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(m message.Message) bool {
		return strconv.FormatUint(m.Seq, 10) == name || string(m.ID) == name || len(name) >= 8 && strings.HasPrefix(string(m.ID), name)
	})
	if i < 0 {
		return usagef("orch log lists them", "there is no message %q", name)
	}
	causes, effects := relatives(all, all[i])
	e, err := eventOf(all[i])
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "message": e, "causes": events(causes), "effects": events(effects)})
	}
	for _, m := range causes {
		say(a.out, "  because of  %s\n", logLine(m))
	}
	pretty, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	say(a.out, "%s\n", block(pretty))
	for _, m := range effects {
		say(a.out, "  led to      %s\n", logLine(m))
	}
	return nil
}

func everything(b *blackboard.Board) ([]message.Message, error) {
	var all []message.Message
	for m, err := range b.Messages(1) {
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// relatives follows causes to the root, root first, and collects direct effects.
func relatives(all []message.Message, m message.Message) (causes, effects []message.Message) {
	byID := make(map[message.ID]message.Message, len(all))
	for _, o := range all {
		byID[o.ID] = o
		if o.Cause == m.ID && m.ID != "" {
			effects = append(effects, o)
		}
	}
	for at := m; at.Cause != ""; {
		up, ok := byID[at.Cause]
		if !ok || up.Seq >= at.Seq {
			break // a cause always lies before; anything else would loop
		}
		causes = append([]message.Message{up}, causes...)
		at = up
	}
	return causes, effects
}

func events(list []message.Message) []event {
	out := []event{}
	for _, m := range list {
		if e, err := eventOf(m); err == nil {
			out = append(out, e)
		}
	}
	return out
}
