package blackboard

import (
	"slices"

	"orch/blackboard/message"
)

func planEffects() []effect {
	return []effect{
		on((*tx).subTask), on((*tx).dispatchManifest), on((*tx).planRejected), on((*tx).draftVoided),
		on((*tx).taskGated), on((*tx).rescoped), on((*tx).abandoned), on((*tx).triaged),
	}
}

// newTask stages a task that did not exist.
func (x *tx) newTask(b message.SubTask, goal message.GoalID, role message.Role, to Status, ordinal int) error {
	if err := x.checkSubTask(b, goal); err != nil {
		return err
	}
	if x.tasks.peek(string(b.ID)) != nil {
		return x.refuse("there is a task %s already", b.ID)
	}
	if !legal(x.m.Type(), x.m.From, "", to) {
		return x.refuse("a task can not begin as %s", to)
	}
	x.tasks.put(string(b.ID), &Task{
		SubTask: b, Goal: goal, For: role, Status: to, Changed: x.ref, Created: x.ref, Ordinal: ordinal,
	})
	return nil
}

func (x *tx) subTask(b message.SubTask) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	if g.Spec == nil {
		return x.refuse("the goal is not perceived")
	}
	if b.PlanID == "" {
		return x.refuse("it names no plan")
	}
	if p := x.plans.peek(planKey(g.ID, b.PlanID)); p != nil && p.State != "" && !x.joins(g, b) {
		return x.refuse("plan %s is %s", b.PlanID, p.State)
	}
	return x.newTask(b, g.ID, x.m.To, Draft, 0)
}

func (x *tx) dispatchManifest(b message.DispatchManifest) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	switch {
	case g.PlanCause.Seq == 0:
		return x.refuse("no plan is asked for")
	case x.m.Cause != g.PlanCause.ID:
		return x.refuse("it answers %q, a plan is asked for by %s", x.m.Cause, g.PlanCause.ID)
	case b.TaskID != g.ID:
		return x.refuse("task_id is %q, want %q", b.TaskID, g.ID)
	}
	p := x.plan(g.ID, b.PlanID)
	if p.State != "" {
		return x.refuse("plan %s is %s", b.PlanID, p.State)
	}
	p.State = planCommitted
	named := map[message.TaskID]bool{}
	plan, err := x.commitTasks(g, b, named)
	if err != nil {
		return err
	}
	if err := x.dropOthers(g.ID, named); err != nil {
		return err
	}
	g.Plan, g.PlanRef = &b, x.ref
	g.Plans = appended(g.Plans, plan)
	g.PlanCause, g.PlanRejected = Ref{}, nil
	return nil
}

// commitTasks makes the manifest's drafts claimable and checks what it keeps;
// it adds both to named.
func (x *tx) commitTasks(g *Goal, b message.DispatchManifest, named map[message.TaskID]bool) (Plan, error) {
	plan := Plan{ID: b.PlanID, Fingerprint: b.Fingerprint, Ref: x.ref}
	for i, id := range slices.Concat(b.SubtaskIDs, b.Kept) {
		kept := i >= len(b.SubtaskIDs)
		if named[id] {
			return plan, x.refuse("it names task %s twice", id)
		}
		named[id] = true
		t := x.tasks.edit(string(id))
		switch {
		case t == nil || t.Goal != g.ID:
			return plan, x.refuse("the goal has no task %s", id)
		case kept && t.Status != Approved && t.Status != Merged:
			return plan, x.refuse("it keeps task %s, which is %s", id, t.Status)
		case !kept && t.PlanID != b.PlanID:
			return plan, x.refuse("task %s belongs to plan %s", id, t.PlanID)
		case !kept:
			if err := x.move(t, Unclaimed); err != nil {
				return plan, err
			}
		}
		plan.Tasks = append(plan.Tasks, PlanTask{ID: id, Slot: t.Slot, Approach: t.Approach, Target: t.Target, Intent: t.Intent, Kept: kept})
	}
	return plan, x.checkDependencies(b.SubtaskIDs, func(t, dep *Task) error {
		switch {
		case dep.Goal == g.ID && !named[dep.ID]:
			return x.refuse("task %s depends on %s, which the plan drops", t.ID, dep.ID)
		case dep.PlanID == b.PlanID && dep.Goal == g.ID && dep.Sequence > t.Sequence:
			return x.refuse("task %s depends on %s, which has a higher sequence", t.ID, dep.ID)
		}
		return nil
	})
}

// dropOthers ends every task of the goal that the manifest does not name.
func (x *tx) dropOthers(goal message.GoalID, named map[message.TaskID]bool) error {
	for _, key := range x.tasksOf(goal, append(slices.Clone(notTerminal), Draft)) {
		if named[message.TaskID(key)] {
			continue
		}
		if err := x.end(key, Superseded); err != nil {
			return err
		}
	}
	return nil
}

// tasksOf lists the keys of a goal's tasks that had one of the statuses before the message.
func (x *tx) tasksOf(goal message.GoalID, st []Status) []string {
	var out []string
	for _, status := range st {
		for _, key := range x.s.tasks.scan("task.goal", string(goal)+sep+string(status)+sep) {
			out = append(out, key)
		}
	}
	return out
}

// end moves a task to a terminal status; a draft becomes void instead.
func (x *tx) end(key string, to Status) error {
	t := x.tasks.edit(key)
	if t == nil {
		return x.s.Err()
	}
	if t.Status == Draft {
		to = Void
	}
	return x.move(t, to)
}

func (x *tx) planRejected(b message.PlanRejected) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	switch {
	case g.PlanCause.Seq == 0:
		return x.refuse("no plan is asked for")
	case x.m.Cause != "" && x.m.Cause != g.PlanCause.ID:
		return x.refuse("it answers %q, a plan is asked for by %s", x.m.Cause, g.PlanCause.ID)
	case b.Attempt != len(g.PlanRejected)+1:
		return x.refuse("attempt %d after %d", b.Attempt, len(g.PlanRejected))
	}
	if err := x.checkName("plan_id", string(b.PlanID)); err != nil {
		return err
	}
	p := x.plan(g.ID, b.PlanID)
	if p.State != "" {
		return x.refuse("plan %s is %s", b.PlanID, p.State)
	}
	p.State = planDropped
	for _, key := range x.tasksOf(g.ID, from(Draft)) {
		if t := x.tasks.peek(key); t != nil && t.PlanID == b.PlanID && len(t.Gates) == 0 {
			if err := x.end(key, Void); err != nil {
				return err
			}
		}
	}
	g.PlanRejected = appended(g.PlanRejected, b)
	g.PlanCause = x.ref
	if len(g.PlanRejected) == maxPlanAttempts {
		g.PlanCause = Ref{}
		g.Rounds = appended(g.Rounds, Round{Ref: x.ref, PlanFailure: &b, Bill: x.openBill()})
	}
	return nil
}

// maxPlanAttempts is how often the plan of one round may be refused; the last
// refusal goes to the controller.
const maxPlanAttempts = 3

func (x *tx) draftVoided(b message.DraftVoided) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if t.PlanID != b.PlanID {
		return x.refuse("task %s belongs to plan %s", b.Task, t.PlanID)
	}
	if err := x.move(t, Void); err != nil {
		return err
	}
	if t.PlanID != "" {
		// Its other drafts are as dead; a late one must not join them.
		if p := x.plan(t.Goal, t.PlanID); p.State == "" {
			p.State = planDropped
		}
	}
	return nil
}

func (x *tx) taskGated(b message.TaskGated) error {
	t, err := x.touch(b.Task)
	if err != nil {
		return err
	}
	t.Gates = b.Missing
	return nil
}

func (x *tx) abandoned(b message.Abandoned) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if b.Reason == "" {
		return x.refuse("it gives no reason")
	}
	if err := x.align(t.Goal, t.ID, b.Alignment); err != nil {
		return err
	}
	return x.move(t, Abandoned)
}
