package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

func newTaskLs(a *app) *cobra.Command {
	var goal, status string
	var all bool
	var limit int
	c := &cobra.Command{
		Use: "ls", Short: "list tasks, most urgent first", Args: cobra.NoArgs,
		Example: "  orch task ls --status UNCLAIMED",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.listTasks(c.Context(), message.GoalID(goal), status, all, limit)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "only tasks of this goal")
	c.Flags().StringVar(&status, "status", "", "only tasks in this status")
	c.Flags().BoolVar(&all, "all", false, "also finished ones")
	c.Flags().IntVar(&limit, "limit", 200, "at most so many")
	return c
}

var openStatuses = []blackboard.Status{blackboard.Claimed, blackboard.ReadyForReview, blackboard.Rejected, blackboard.Blocked,
	blackboard.IntegrationFailed, blackboard.Unclaimed, blackboard.Approved, blackboard.Draft}
var endedStatuses = []blackboard.Status{blackboard.Merged, blackboard.Superseded, blackboard.Abandoned, blackboard.Void}

// taskRow is the documented shape of a task in lists, version 1.
type taskRow struct {
	ID       message.TaskID    `json:"id"`
	Goal     message.GoalID    `json:"goal"`
	Status   blackboard.Status `json:"status"`
	Priority int               `json:"priority"`
	Slot     string            `json:"slot"`
	Approach string            `json:"approach"`
	Intent   string            `json:"intent"`
	Agent    message.AgentID   `json:"agent"`
	Fence    message.Fence     `json:"fence"`
}

func rowOf(t blackboard.Task) taskRow {
	return taskRow{t.ID, t.Goal, t.Status, t.Priority, t.Slot, t.Approach, t.Intent, t.Agent, t.Fence}
}

func (a *app) listTasks(ctx context.Context, goal message.GoalID, status string, all bool, limit int) error {
	want := openStatuses
	if all {
		want = append(append([]blackboard.Status{}, openStatuses...), endedStatuses...)
	}
	if status != "" {
		want = []blackboard.Status{blackboard.Status(strings.ToUpper(status))}
	}
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	rows := []taskRow{}
	err = b.View(ctx, func(st *blackboard.State) error {
		tasks := st.Tasks(want...)
		if goal != "" {
			tasks = st.TasksOf(goal, want...)
		}
		for t := range tasks {
			if len(rows) >= limit {
				break
			}
			rows = append(rows, rowOf(t))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "tasks": rows})
	}
	for _, r := range rows {
		say(a.out, "%-36s %-16s %4d  %-14s %s\n", r.ID, r.Status, r.Priority, r.Agent, oneLine(r.Intent, 80))
	}
	return nil
}

func newTaskShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show TASK", Short: "show all the board knows of a task", Args: cobra.ExactArgs(1),
		Example: "  orch task show 0198c1",
		RunE: func(c *cobra.Command, args []string) error {
			b, err := a.read()
			if err != nil {
				return err
			}
			defer b.Close()
			return b.View(c.Context(), func(st *blackboard.State) error {
				t, err := resolveTask(st, args[0])
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"version": 1, "task": t})
				}
				return a.printTask(t)
			})
		},
	}
}

func resolveTask(st *blackboard.State, name string) (blackboard.Task, error) {
	t, err := st.ResolveTask(name)
	if err != nil {
		return t, usagef("orch task ls lists them", "%s", err)
	}
	return t, nil
}

func (a *app) printTask(t blackboard.Task) error {
	d := newDisplay(painting(a.out), config.Default())
	say(a.out, "%s  %s\n  intent    %s\n", t.ID, t.Status, t.Intent)
	line := func(name, text string) {
		if text != "" {
			say(a.out, "  %-9s %s\n", name, text)
		}
	}
	line("goal", string(t.Goal))
	line("approach", strings.TrimSpace(t.Approach+"  "+t.Target))
	line("holder", string(t.Agent))
	line("blocked", t.BlockedReason)
	line("output", oneLine(t.Output, 200))
	for _, n := range t.HumanNotes {
		line("note", n)
	}
	line("spec", t.SpecRef)
	line("done when", t.DoneWhen)
	line("scope", t.Scope)
	for _, c := range t.SuccessCriteria {
		line("criterion", c.Criterion)
	}
	verdicts := printReview(t.Review, line)
	if t.Outcome != nil {
		verdicts = t.Outcome.CriteriaVerdicts
	}
	for _, l := range d.verdicts(verdicts) {
		sayLine(a.out, l)
	}
	_, err := say(a.out, "  next      orch why %s\n", short(string(t.ID)))
	return err
}

// printReview says where the review of a coder's work stands, and returns the
// verdicts on what is submitted now.
func printReview(r blackboard.Review, line func(name, text string)) (verdicts []message.Verdict) {
	line("commit", r.Commit)
	line("coder says", oneLine(r.Notes, 200))
	if r.Reviewer != "" {
		line("reviewing", string(r.Reviewer))
	}
	judged := r.Judged()
	switch {
	case judged != nil:
		line("review", judged.Decision+" by "+string(r.JudgedBy))
		verdicts = judged.Checks
		for _, name := range judged.Names() {
			line("accepted", name)
		}
	case r.Commit != "":
		line("review", "not judged yet")
	}
	for _, b := range r.Pending {
		line("open", b.Name())
	}
	if f := r.Integration; f != nil && r.MergedAs == "" {
		line("merge", "failed: "+oneLine(strings.TrimSpace(f.Command+" "+strings.Join(f.Conflict, ", ")), 200))
	}
	if r.MergedAs != "" {
		line("merge", "merged as "+r.MergedAs)
	}
	return verdicts
}

func newTaskDone(a *app) *cobra.Command {
	var as, output string
	c := &cobra.Command{
		Use: "done TASK", Short: "say that a task you hold is finished; it goes to review", Args: cobra.ExactArgs(1),
		Example: "  orch task done t-1 --as human-1 --output \"timeout raised\"",
		RunE: func(c *cobra.Command, args []string) error {
			return a.byHand(c.Context(), as, args[0], func(t blackboard.Task) message.Body {
				return message.TaskFinished{Task: t.ID, Output: output}
			}, "handed in")
		},
	}
	c.Flags().StringVar(&as, "as", "", "the agent that holds it (required)")
	c.Flags().StringVar(&output, "output", "", "what came of it")
	return c
}
