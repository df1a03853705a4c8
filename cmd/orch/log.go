package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard/message"
)

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
		_, err := sayLine(a.out, logLine(m))
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
