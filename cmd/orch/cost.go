package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"orch/blackboard/message"
)

// costRow is one line of orch cost: the documented shape, version 1.
type costRow struct {
	Key          string  `json:"key"` // the goal, role, task, round or model
	Steps        int     `json:"steps"`
	ModelCalls   int     `json:"model_calls"`
	InputTokens  int64   `json:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens"` // of the input
	OutputTokens int64   `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	Unpriced     int     `json:"unpriced"`                      // steps whose cost is not or not wholly known
	DoubtUSD     float64 `json:"unknown_usd_at_most,omitempty"` // of that, under a cap: the most that it may be
}

func (r costRow) cost() string {
	unknown := "unknown"
	if r.DoubtUSD > 0 {
		unknown = fmt.Sprintf("unknown, at most $%.4f", r.DoubtUSD)
	}
	switch {
	case r.Unpriced > 0 && r.CostUSD == 0:
		return unknown
	case r.Unpriced > 0:
		return fmt.Sprintf("$%.4f + %s", r.CostUSD, unknown)
	}
	return fmt.Sprintf("$%.4f", r.CostUSD)
}

// add counts one step, or what one model took of it.
func (r *costRow) add(u message.Usage, usd, doubt float64, unpriced bool) {
	r.Steps++
	r.ModelCalls += u.ModelCalls
	r.InputTokens += u.InputTokens
	r.CachedTokens += u.CachedTokens
	r.OutputTokens += u.OutputTokens
	r.CostUSD += usd
	r.DoubtUSD += doubt
	if unpriced {
		r.Unpriced++
	}
}

var costKeys = []string{"goal", "role", "task", "round", "model"}

func newCost(a *app) *cobra.Command {
	var goal, by string
	c := &cobra.Command{
		Use: "cost", Short: "show what was spent, by goal, role, task, round or model", Args: cobra.NoArgs,
		Long: `Show what the steps of this board, or of one goal, took: calls, tokens and US
dollars. What a model cost whose price is neither stated nor configured is
unknown, and is shown as that.`,
		Example: "  orch cost --by role\n  orch cost --goal summarise_the_todos --by model --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains(costKeys, by) {
				return usagef("allowed: goal, role, task, round, model", "unknown --by %q", by)
			}
			return a.cost(c.Context(), message.GoalID(goal), by)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "only this goal")
	c.Flags().StringVar(&by, "by", "goal", "goal, role, task, round or model")
	return c
}

func (a *app) cost(ctx context.Context, goal message.GoalID, by string) error {
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	l := ledger{by: by, rows: map[string]*costRow{}, rounds: map[message.GoalID]int{}}
	known := goal == ""
	for m, err := range b.Messages(1) {
		if err != nil {
			return fmt.Errorf("read what was spent: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if goal == "" || m.Goal == goal {
			known = known || m.Goal == goal
			l.add(m)
		}
	}
	if !known {
		return usagef("orch goals lists them", "there is no goal %q", goal)
	}
	rows, total := l.sorted()
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "by": by, "goal": goal, "rows": rows, "total": total})
	}
	say(a.out, "%-32s %6s %6s %12s %12s %12s  %s\n", by, "steps", "calls", "input", "cached", "output", "cost")
	for _, r := range append(rows, total) {
		say(a.out, "%-32s %6d %6d %12d %12d %12d  %s\n", r.Key, r.Steps, r.ModelCalls, r.InputTokens, r.CachedTokens, r.OutputTokens, r.cost())
	}
	return nil
}

// ledger adds up what steps took.
type ledger struct {
	by     string
	rows   map[string]*costRow
	order  []string
	total  costRow
	rounds map[message.GoalID]int // that were ordered so far, by goal
}

func (l *ledger) add(m message.Message) {
	switch b := m.Body.(type) {
	case message.PlanDirective:
		l.rounds[m.Goal]++
	case message.StepEnded:
		l.step(m.Goal, b)
	case message.FinalResult:
		if len(b.Spent) > 0 { // on asking for the next moves, beside any step
			l.step(m.Goal, asStep(message.GGS, string(b.TaskID), b.Spent))
		}
	case message.Megram:
		if len(b.Spent) > 0 {
			l.step(m.Goal, asStep(message.Memory, b.Space, b.Spent))
		}
	}
}

// asStep books what a resident spent as if a step had.
func asStep(role message.Role, subject string, spent []message.Spent) message.StepEnded {
	b := message.StepEnded{Role: role, Subject: subject, Spent: spent}
	for _, s := range spent {
		b.Cost += s.Cost
		b.Usage.ModelCalls += s.Usage.ModelCalls
		b.Usage.InputTokens += s.Usage.InputTokens
		b.Usage.CachedTokens += s.Usage.CachedTokens
		b.Usage.OutputTokens += s.Usage.OutputTokens
	}
	return b
}

func (l *ledger) step(goal message.GoalID, b message.StepEnded) {
	unpriced := slices.ContainsFunc(b.Spent, func(s message.Spent) bool { return s.Unpriced })
	_, doubt := message.SumOf(b.Spent)
	l.total.add(b.Usage, b.Cost, doubt, unpriced)
	if l.by == "model" {
		for _, s := range b.Spent {
			l.row(s.Model).add(s.Usage, s.Cost, s.Doubt, s.Unpriced)
		}
		return
	}
	key := map[string]string{"goal": string(goal), "role": string(b.Role), "task": b.Subject,
		"round": fmt.Sprintf("%s round %d", goal, l.rounds[goal]+1)}[l.by]
	l.row(cmp.Or(key, "no goal")).add(b.Usage, b.Cost, doubt, unpriced)
}

func (l *ledger) row(key string) *costRow {
	if l.rows[key] == nil {
		l.rows[key] = &costRow{Key: key}
		l.order = append(l.order, key)
	}
	return l.rows[key]
}

// sorted lists the rows: rounds and goals in time, the rest by what they cost.
func (l *ledger) sorted() (rows []costRow, total costRow) {
	keys := l.order
	if l.by != "round" && l.by != "goal" {
		keys = slices.SortedFunc(maps.Keys(l.rows), func(a, b string) int {
			return cmp.Or(cmp.Compare(l.rows[b].CostUSD, l.rows[a].CostUSD), cmp.Compare(a, b))
		})
	}
	rows = []costRow{}
	for _, k := range keys {
		rows = append(rows, *l.rows[k])
	}
	l.total.Key = "total"
	return rows, l.total
}
