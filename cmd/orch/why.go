package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
)

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
	cfg, err := a.config(b.Root())
	if err != nil {
		return err
	}
	d := newDisplay(painting(a.out), cfg)
	d.figures = true
	for _, m := range chain {
		say(a.out, "%6d %-16s %s\n", m.Seq, m.Type(), m.TS.Format("15:04:05.000"))
		for _, l := range d.lines(m) {
			say(a.out, "       %s\n", l)
		}
		for _, l := range reasons(m) {
			say(a.out, "                   %s\n", l)
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
		message.MemoryAnswer, message.MemoryTimeout, message.NegativeFeedback, message.CheckpointReached, message.BudgetReached, message.Unblocked, message.ApprovalRequest, message.ApprovalGiven, message.FindingsAccepted, message.Aborted:
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
