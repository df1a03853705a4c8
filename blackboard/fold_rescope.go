package blackboard

import (
	"slices"

	"orch/blackboard/message"
)

func (x *tx) rescoped(b message.Rescoped) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if b.RescopeReason == "" {
		return x.refuse("it gives no reason")
	}
	if err := x.move(t, Superseded); err != nil {
		return err
	}
	for _, id := range b.SupersededBy {
		r := x.tasks.edit(string(id))
		if r == nil || r.Goal != t.Goal {
			return x.refuse("the goal has no task %s", id)
		}
		if r.Status == Draft {
			if err := x.move(r, Unclaimed); err != nil {
				return err
			}
		}
	}
	if err := x.checkDependencies(b.SupersededBy, nil); err != nil {
		return err
	}
	return x.swapInPlan(t, b.SupersededBy)
}

// swapInPlan puts the replacements of a task in its place in the current plan.
func (x *tx) swapInPlan(t *Task, by []message.TaskID) error {
	if t.Goal == "" {
		return nil
	}
	g, err := x.goalOf(t.Goal)
	if err != nil {
		return err
	}
	if g.Plan == nil {
		return nil
	}
	at := slices.Index(g.Plan.SubtaskIDs, t.ID)
	if at < 0 {
		return nil
	}
	plan := *g.Plan
	plan.SubtaskIDs = slices.Clone(plan.SubtaskIDs[:at])
	for _, id := range by {
		if !slices.Contains(g.Plan.SubtaskIDs, id) && !slices.Contains(plan.SubtaskIDs, id) {
			plan.SubtaskIDs = append(plan.SubtaskIDs, id)
		}
	}
	plan.SubtaskIDs = append(plan.SubtaskIDs, g.Plan.SubtaskIDs[at+1:]...)
	g.Plan = &plan
	return nil
}
