package blackboard

import (
	"slices"

	"orch/blackboard/message"
)

// exhausting is the number of coders that, once blocked on a task, show that
// the task is wrong and not the coder.
const exhausting = 2

// Exhausted tells whether so many coders were blocked on the task that it must
// be rescoped: nobody else is to try it as it is.
func (t *Task) Exhausted() bool { return len(t.Review.FailedBy) >= exhausting }

func (x *tx) rescoped(b message.Rescoped) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if t.Exhausted() && !slices.Contains(t.Anomalies, message.HypothesisExhaustion) {
		return x.refuse("%d coders were blocked on task %s, and %s was not logged", len(t.Review.FailedBy), t.ID, message.HypothesisExhaustion)
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
			r.Rescopes = max(r.Rescopes, t.Rescopes+1)
			if err := x.move(r, Unclaimed); err != nil {
				return err
			}
		}
	}
	if err := x.checkDependencies(b.SupersededBy, nil); err != nil {
		return err
	}
	if err := x.passOn(t.ID, b.SupersededBy); err != nil {
		return err
	}
	x.countSprint(func(s *Sprint) {
		s.Rescoped++
		s.swap(t.ID, b.SupersededBy)
	})
	if err := x.align(t.Goal, t.ID, b.Alignment); err != nil {
		return err
	}
	return x.swapInPlan(t, b.SupersededBy)
}

// passOn lets what waits for a replaced task wait for its replacements. What
// is replaced by nothing is waited for in vain: those tasks never start.
func (x *tx) passOn(old message.TaskID, by []message.TaskID) error {
	if len(by) == 0 {
		return nil
	}
	for _, key := range x.s.tasks.scan("task.dependent", string(old)+sep) {
		if slices.Contains(by, message.TaskID(key)) {
			return x.refuse("task %s waits for %s and can not replace it", key, old)
		}
		t := x.tasks.edit(key)
		if t == nil {
			return x.s.Err()
		}
		deps := slices.DeleteFunc(slices.Clone(t.DependsOn), func(id message.TaskID) bool { return id == old || slices.Contains(by, id) })
		t.DependsOn = append(deps, by...)
		if err := x.checkNewDependencies(t); err != nil {
			return err
		}
	}
	return nil
}

// joins tells whether a draft may be added to a plan that is committed: it is
// the current one, and the draft replaces one of its open tasks or comes of
// something a role raised.
func (x *tx) joins(g *Goal, b message.SubTask) bool {
	if g.Plan == nil || g.Plan.PlanID != b.PlanID || g.PlanCause.Seq != 0 {
		return false
	}
	if b.Supersedes == "" {
		return x.m.Cause != "" && g.raised(x.m.Cause) != nil
	}
	t := x.tasks.peek(string(b.Supersedes))
	return t != nil && t.Goal == g.ID && t.PlanID == b.PlanID && !t.Status.Terminal() && t.Status != Draft
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
	x.notePlanTasks(g, by)
	return nil
}

// notePlanTasks adds tasks to what the history says of the current plan, so
// that a later plan may keep them.
func (x *tx) notePlanTasks(g *Goal, ids []message.TaskID) {
	n := len(g.Plans)
	if n == 0 || g.Plan == nil || g.Plans[n-1].ID != g.Plan.PlanID {
		return
	}
	g.Plans = slices.Clone(g.Plans)
	last := &g.Plans[n-1]
	for _, id := range ids {
		known := slices.ContainsFunc(last.Tasks, func(t PlanTask) bool { return t.ID == id })
		if t := x.tasks.peek(string(id)); t != nil && !known {
			last.Tasks = appended(last.Tasks, PlanTask{ID: id, Slot: t.Slot, Approach: t.Approach, Target: t.Target, Intent: t.Intent})
		}
	}
}
