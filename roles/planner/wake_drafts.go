package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/loop/code"
	"orch/roles/think"
)

// drafts makes tasks of the current plan of what was proposed. They pass what
// a whole plan passes: its rules for each task, and the gates. Those that miss
// a gate are on the board afterwards, with the gates they miss.
func (w *waking) drafts(ctx context.Context, tasks []think.ProposedTask) (drafts []message.SubTask, problem string, err error) {
	p := normalise(think.Proposal{Tasks: tasks})
	b := w.basis(&p)
	plan, err := assign(w.e, w.goal, w.goal.Plan.PlanID, p, b)
	if err != nil {
		return nil, "", err
	}
	for i := range plan.Tasks {
		w.complete(&plan.Tasks[i])
	}
	known := func(id message.TaskID) bool { return slices.Contains(p.Keep, id) }
	gated, err := gates(ctx, w.e, plan.Tasks, known)
	if err != nil {
		return nil, "", err
	}
	violations := append(validateMore(p, b), w.circles(p)...)
	if len(gated) > 0 && len(violations) == 0 {
		if err := writeGated(ctx, w.e, w.e.Key.Cause, plan.Tasks, gated, known, w.stillWoken); err != nil {
			return nil, "", err
		}
	}
	if violations = append(violations, code.Violations(gated, slotsOf(plan.Tasks))...); len(violations) > 0 {
		return nil, inWords(violations), nil
	}
	for _, t := range plan.Tasks {
		drafts = append(drafts, code.WithCriteria(t))
	}
	return drafts, "", nil
}

// complete adds what code knows of a draft: what it replaces, and where the
// work is that did not fit.
func (w *waking) complete(t *message.SubTask) {
	if w.wake.Kind == loop.WakeDiscovery || w.wake.Kind == loop.WakeAmbiguity {
		return
	}
	t.Supersedes, t.Sequence = w.task.ID, w.task.Sequence
	if w.wake.Kind == loop.WakeIntegration && w.task.Review.Commit != "" {
		t.Context = strings.TrimSpace(t.Context + fmt.Sprintf("\n\nThe work of the task this one replaces was approved and did not fit: commit %s. "+
			"`git merge %s` brings it here; make it fit.", w.task.Review.Commit, w.task.Review.Commit))
	}
}

// basis is what new tasks of the plan are held against: every other task of it
// may be waited for. What the task to be replaced is waited for by may not.
func (w *waking) basis(p *think.Proposal) Basis {
	b := Basis{Code: true, Constraints: loop.ConstraintsOf(w.goal), Keepable: map[message.TaskID]blackboard.PlanTask{}}
	waiting := w.waiting()
	for _, t := range w.plan {
		ended := t.Status.Terminal() && t.Status != blackboard.Merged
		if t.ID == w.replaced() || ended || waiting[t.ID] {
			continue
		}
		b.Keepable[t.ID] = blackboard.PlanTask{ID: t.ID, Slot: t.Slot}
		p.Keep = append(p.Keep, t.ID)
	}
	return b
}

// replaced is the task that new ones take the place of; empty for none.
func (w *waking) replaced() message.TaskID {
	if w.wake.Kind == loop.WakeDiscovery || w.wake.Kind == loop.WakeAmbiguity {
		return ""
	}
	return w.task.ID
}

// waiting are the tasks that wait for the one to be replaced, directly or not.
func (w *waking) waiting() map[message.TaskID]bool {
	all := map[message.TaskID]bool{}
	for again := w.replaced() != ""; again; {
		again = false
		for _, t := range w.plan {
			waits := slices.ContainsFunc(t.DependsOn, func(id message.TaskID) bool { return id == w.replaced() || all[id] })
			if waits && !all[t.ID] {
				all[t.ID], again = true, true
			}
		}
	}
	return all
}

// circles finds new tasks that would wait for what waits for them, or take a
// slot of theirs.
func (w *waking) circles(p think.Proposal) []message.Violation {
	var all []message.Violation
	waiting := w.waiting()
	for _, old := range w.plan {
		if !waiting[old.ID] {
			continue
		}
		for _, t := range p.Tasks {
			if slices.Contains(t.DependsOn, old.Slot) {
				all = append(all, message.Violation{Rule: RuleCycle, What: t.Slot, Because: fmt.Sprintf("%q waits for the task that is replaced", old.Slot)})
			}
			if t.Slot == old.Slot {
				all = append(all, message.Violation{Rule: RuleSlot, What: t.Slot, Because: "another task of the plan does this part of the goal"})
			}
		}
	}
	return all
}

// validateMore holds tasks that join a plan against what holds for each task
// of one.
func validateMore(p think.Proposal, b Basis) []message.Violation {
	v := &violations{p: p, b: b}
	v.shape()
	for _, t := range p.Tasks {
		v.task(t)
	}
	return v.list
}

func inWords(all []message.Violation) string {
	var lines []string
	for _, v := range all {
		lines = append(lines, fmt.Sprintf("%s (%s): %s", v.Rule, v.What, v.Because))
	}
	return strings.Join(lines, "; ")
}
