package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
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
				return a.printGoals(goals)
			})
		},
	}
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
	}
	return r
}

func (a *app) printGoals(goals []blackboard.Goal) error {
	rows := make([]goalRow, 0, len(goals))
	for _, g := range goals {
		rows = append(rows, goalRowOf(g))
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
		fmt.Fprintf(a.out, "%-40s %-22s %s  %s\n", r.ID, state, count(r.Rounds, "round"), oneLine(r.Text, 60))
		if r.Suspended != nil {
			fmt.Fprintf(a.out, "%-40s waits: %s — %s\n", "", oneLine(r.Suspended.Detail, 80), r.Suspended.Command)
		}
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.out, "no goals; `orch run \"…\"` starts one")
	}
	return nil
}

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show SEQ|ID", Short: "show one message with its causes and effects", Args: cobra.ExactArgs(1),
		Example: "  orch show 12",
		RunE:    func(c *cobra.Command, args []string) error { return a.showMessage(args[0]) },
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
		fmt.Fprintf(a.out, "  because of  %s\n", logLine(m))
	}
	pretty, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s\n", pretty)
	for _, m := range effects {
		fmt.Fprintf(a.out, "  led to      %s\n", logLine(m))
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

// logFilter picks messages.
type logFilter struct {
	goal, role, typ, since, task string
	follow                       bool
	after                        time.Time
}

func newLog(a *app) *cobra.Command {
	var f logFilter
	c := &cobra.Command{
		Use: "log", Short: "list messages", Args: cobra.NoArgs,
		Example: "  orch log --goal make_the_tests_pass --type PlanDirective\n  orch log --since 10m --follow",
		RunE:    func(c *cobra.Command, _ []string) error { return a.log(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.goal, "goal", "", "only messages of this goal")
	fl.StringVar(&f.role, "role", "", "only messages from this role")
	fl.StringVar(&f.typ, "type", "", "only messages of this type")
	fl.StringVar(&f.task, "task", "", "only messages about this task")
	fl.StringVar(&f.since, "since", "", "only messages after a duration ago (10m) or a time (RFC 3339)")
	fl.BoolVarP(&f.follow, "follow", "f", false, "go on as messages land, until interrupted")
	return c
}

func (f logFilter) fits(m message.Message) bool {
	return (f.goal == "" || string(m.Goal) == f.goal) && (f.role == "" || string(m.From) == f.role) &&
		(f.typ == "" || strings.EqualFold(string(m.Type()), f.typ)) &&
		(f.task == "" || strings.HasPrefix(m.Subject, f.task)) && (f.after.IsZero() || m.TS.After(f.after))
}

// check refuses a type that no message has, instead of finding none.
func (f logFilter) check() error {
	known := func(e message.Entry) bool { return strings.EqualFold(string(e.Type), f.typ) }
	if f.typ != "" && !slices.ContainsFunc(message.Catalogue(), known) {
		return usagef("docs/messages.md lists the types", "no message has the type %q", f.typ)
	}
	return nil
}

func (a *app) log(ctx context.Context, f logFilter) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.since != "" {
		at, err := parseSince(f.since, time.Now())
		if err != nil {
			return err
		}
		f.after = at
	}
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	messages := b.Messages(1)
	if f.follow {
		messages = b.Watch(ctx, 1)
	}
	for m, err := range messages {
		if err != nil {
			if f.follow && ctx.Err() != nil {
				return nil
			}
			return err
		}
		if !f.fits(m) {
			continue
		}
		if err := a.printMessage(m); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printMessage(m message.Message) error {
	if !a.asJSON {
		_, err := fmt.Fprintln(a.out, logLine(m))
		return err
	}
	e, err := eventOf(m)
	if err != nil {
		return err
	}
	return writeLine(a.out, e)
}

func parseSince(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, usagef("for example 10m, 24h or 2026-01-31T12:00:00Z", "--since %q is neither a duration nor a time", s)
	}
	return t, nil
}

// logLine is a message in one line.
func logLine(m message.Message) string {
	raw, err := message.Encode(m.Body)
	if err != nil {
		raw = []byte(err.Error())
	}
	return fmt.Sprintf("%6d %s %-15s %-16s → %-15s %s", m.Seq, m.TS.Format("15:04:05.000"), m.From, m.Type(), m.To, oneLine(string(raw), 120))
}

func newWhy(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "why TASK|GOAL", Short: "show the chain of messages that led to a status, with the rules that fired", Args: cobra.ExactArgs(1),
		Example: "  orch why make_the_tests_pass",
		RunE:    func(c *cobra.Command, args []string) error { return a.why(c.Context(), args[0]) },
	}
}

func (a *app) why(ctx context.Context, name string) error {
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	var subject string
	var goal message.GoalID
	err = b.View(ctx, func(st *blackboard.State) error {
		if g, ok := st.Goal(message.GoalID(name)); ok {
			goal = g.ID
			return nil
		}
		t, err := resolveTask(st, name)
		subject = string(t.ID)
		return err
	})
	if err != nil {
		return err
	}
	var chain []message.Message
	for m, err := range b.Messages(1) {
		if err != nil {
			return err
		}
		if explains(m, goal, subject) {
			chain = append(chain, m)
		}
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "subject": name, "chain": events(chain)})
	}
	d := newDisplay(painting(a.out))
	for _, m := range chain {
		fmt.Fprintf(a.out, "%6d %-16s %s\n", m.Seq, m.Type(), m.TS.Format("15:04:05.000"))
		for _, l := range d.lines(m) {
			fmt.Fprintf(a.out, "       %s\n", l)
		}
		for _, l := range reasons(m) {
			fmt.Fprintf(a.out, "                   %s\n", l)
		}
	}
	return nil
}

// explains tells whether a message moved the task, or decided about the goal.
func explains(m message.Message, goal message.GoalID, task string) bool {
	if task != "" {
		if m.Subject != task {
			return false
		}
		_, noise := m.Body.(message.LeaseExtended)
		return !noise
	}
	if m.Goal != goal {
		return false
	}
	switch m.Body.(type) {
	case message.UserInput, message.TaskSpec, message.ClarificationQuestion, message.ClarificationAnswer, message.SubTask, message.DispatchManifest,
		message.PlanRejected, message.SubTaskOutcome, message.ReplanRequest, message.OutcomeSummary, message.PlanDirective, message.FinalResult,
		message.CheckpointReached, message.BudgetReached, message.Unblocked, message.ApprovalRequest, message.ApprovalGiven, message.Aborted:
		return true
	}
	return false
}

// reasons are the rules and numbers behind a decision of the controller.
func reasons(m message.Message) []string {
	d, ok := m.Body.(message.PlanDirective)
	if !ok {
		return nil
	}
	out := []string{fmt.Sprintf("policy %s, round %d, macro-state %s, worsening %d", d.Policy, d.Round, d.MacroState, d.WorseningCount)}
	for _, t := range d.TaskDirectives {
		out = append(out, fmt.Sprintf("%s: rule %s; %s; blocked %v %v", t.Slot, t.Rule, t.Because, t.BlockedApproaches, t.BlockedPairs))
	}
	if len(d.BlockedTools)+len(d.BlockedTargets) > 0 {
		out = append(out, fmt.Sprintf("blocked tools %v, targets %v", d.BlockedTools, d.BlockedTargets))
	}
	return out
}
