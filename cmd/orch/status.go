package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/loop"
	"orch/roles/run/supervisor"
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "show what is going on now; what is shown as running does run", Args: cobra.NoArgs, Example: "  orch status --json",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.status(c.Context())
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(s)
			}
			return a.printStatus(s)
		},
	}
}

// statusReport is the documented shape of orch status, version 1.
type statusReport struct {
	Version   int                       `json:"version"`
	Root      string                    `json:"root"`
	Seq       uint64                    `json:"seq"`
	Hash      string                    `json:"hash"`
	Brakes    blackboard.Brakes         `json:"brakes"`
	Goals     []goalRow                 `json:"goals"`              // open ones
	GivenUp   *goalRow                  `json:"given_up,omitempty"` // the goal that ended last, if it was abandoned and none is open
	Tasks     map[blackboard.Status]int `json:"tasks"`
	Steps     []stepRow                 `json:"steps"` // that run now
	Lost      []stepRow                 `json:"lost"`  // started, but their process is gone
	Approvals int                       `json:"approvals"`
	Paused    map[string]time.Time      `json:"accounts_used_up"` // until when
	Outages   []outageRow               `json:"outages"`          // that goals wait for
	Sprint    *sprintReport             `json:"sprint"`           // the open one
}

// outageRow is a goal that waits because no provider answers a role.
type outageRow struct {
	Goal message.GoalID `json:"goal"`
	Role message.Role   `json:"role"`
	blackboard.Outage
}

type stepRow struct {
	Agent   message.AgentID `json:"agent"`
	Role    message.Role    `json:"role"`
	Subject string          `json:"subject"`
	Goal    message.GoalID  `json:"goal"`
	PID     int             `json:"pid"`
	Since   time.Time       `json:"since"`
}

func (a *app) status(ctx context.Context) (statusReport, error) {
	b, err := a.read()
	if err != nil {
		return statusReport{}, err
	}
	defer b.Close()
	r := statusReport{Version: 1, Root: b.Root(), Goals: []goalRow{}, Steps: []stepRow{}, Lost: []stepRow{}, Outages: []outageRow{}}
	err = b.View(ctx, func(st *blackboard.State) error {
		r.Seq, r.Hash = st.Head()
		r.Brakes, r.Tasks = st.Brakes(), st.Counts("")
		r.Paused = map[string]time.Time{}
		for account, until := range st.Limits() {
			if until.After(time.Now()) {
				r.Paused[account] = until
			}
		}
		for _, g := range st.OpenGoals() {
			if a, waits := loop.WaitsForProvider(st, g); waits {
				r.Outages = append(r.Outages, outageRow{g.ID, a.Role, *a.Outage})
			}
		}
		if s := st.Sprint(); s.Open() {
			open := sprintReportOf(st, *s)
			r.Sprint = &open
		}
		for _, g := range st.OpenGoals() {
			r.Goals = append(r.Goals, goalRowOf(g))
		}
		if last, ok := lastEnded(st); ok && len(r.Goals) == 0 && last.Final.Directive == message.Abandon {
			row := goalRowOf(last)
			r.GivenUp = &row
		}
		for _, act := range st.LiveActivations() {
			row, runs := stepOf(st, act)
			if runs {
				r.Steps = append(r.Steps, row)
			} else {
				r.Lost = append(r.Lost, row)
			}
		}
		for _, p := range st.Approvals() {
			if p.Given.Seq == 0 {
				r.Approvals++
			}
		}
		return nil
	})
	return r, err
}

// lastEnded is the goal that ended last.
func lastEnded(st *blackboard.State) (blackboard.Goal, bool) {
	var last blackboard.Goal
	for _, g := range st.Goals() {
		if g.Final != nil && g.FinalRef.Seq > last.FinalRef.Seq {
			last = g
		}
	}
	return last, last.Final != nil
}

// stepOf derives whether a step runs from its process, not from what was remembered.
func stepOf(st *blackboard.State, act blackboard.Activation) (stepRow, bool) {
	p := act.Holder
	if agent, ok := st.Agent(act.Agent); ok {
		p = agent.Process
	}
	return stepRow{act.Agent, act.Role, act.Subject, act.Goal, p.PID, act.Started.TS}, supervisor.Look(p) != process.Dead
}

func (a *app) printStatus(s statusReport) error {
	say(a.out, "%s  seq %d  head %s\n", s.Root, s.Seq, short(s.Hash))
	if s.Brakes.Paused != nil {
		say(a.out, "paused: %s — orch resume\n", s.Brakes.Reason)
	}
	if s.Brakes.Checkpoint != nil {
		say(a.out, "checkpoint: %s — orch resume\n", s.Brakes.Reason)
	}
	if len(s.Goals) == 0 {
		sayLine(a.out, "no open goal")
		if s.GivenUp != nil {
			if err := a.printGoalRows([]goalRow{*s.GivenUp}); err != nil {
				return err
			}
		}
	} else if err := a.printGoalRows(s.Goals); err != nil {
		return err
	}
	if s.Sprint != nil {
		say(a.out, "sprint   %s, %s%s — orch goals sprint show\n", s.Sprint.doneOf(), s.Sprint.stretchOf(), untilText(s.Sprint.Deadline))
	}
	for _, r := range s.Steps {
		say(a.out, "running  %-20s pid %-7d %s ago\n", r.Agent, r.PID, time.Since(r.Since).Round(time.Second))
	}
	for _, r := range s.Lost {
		say(a.out, "lost     %-20s its process is gone; `orch run --continue` takes over\n", r.Agent)
	}
	for _, account := range slices.Sorted(maps.Keys(s.Paused)) {
		say(a.out, "used up  %s until %s; the run goes on by itself then\n", account, s.Paused[account].Local().Format("2006-01-02 15:04:05"))
	}
	for _, o := range s.Outages {
		say(a.out, "no answer to the %s from %s since %s; the next try is at %s\n", o.Role, strings.Join(o.Accounts, ", "),
			o.Since.Local().Format("15:04:05"), o.Until.Local().Format("15:04:05"))
	}
	total := 0
	for _, st := range append(append([]blackboard.Status{}, openStatuses...), endedStatuses...) {
		if n := s.Tasks[st]; n > 0 {
			say(a.out, "%-18s %d\n", st, n)
			total += n
		}
	}
	say(a.out, "%s\n", count(total, "task"))
	if s.Approvals > 0 {
		say(a.out, "%s wait for a yes or no — orch allow\n", count(s.Approvals, "permission"))
	}
	return nil
}
