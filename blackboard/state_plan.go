package blackboard

import (
	"iter"

	"orch/blackboard/message"
)

// PlanTasks lists the tasks of a goal's current plan: those it kept, then its
// own, each in the plan's order. It costs as much as there are; see PlanTasksIn.
func (s *State) PlanTasks(g Goal) []Task {
	if g.Plan == nil {
		return nil
	}
	out := make([]Task, 0, len(g.Plan.Kept)+len(g.Plan.SubtaskIDs))
	for _, ids := range [][]message.TaskID{g.Plan.Kept, g.Plan.SubtaskIDs} {
		for _, id := range ids {
			if t, ok := s.Task(id); ok {
				out = append(out, t)
			}
		}
	}
	return out
}

// PlanTasksIn yields those tasks of a goal's current plan that have one of the
// statuses, by priority and creation. What was not asked for costs nothing: who
// needs the first few of many pays for those.
func (s *State) PlanTasksIn(g Goal, st ...Status) iter.Seq[Task] {
	return s.ofPlan(g, s.tasksIn("task.goal", string(g.ID)+sep, st))
}

// Begun yields those tasks of a goal's current plan that may be claimed and
// have been before, by priority and creation.
func (s *State) Begun(g Goal) iter.Seq[Task] {
	return s.ofPlan(g, s.tasksIn("task.begun", string(g.ID)+sep, []Status{Unclaimed, Rejected, IntegrationFailed}))
}

// Fresh yields those tasks of a goal's current plan that are for one of the
// roles, may be claimed but for what others hold, and never have been, by
// priority and creation.
func (s *State) Fresh(g Goal, roles ...message.Role) iter.Seq[Task] {
	var sources []source
	for _, role := range roles {
		for _, c := range []class{footprintNone, footprintSome, footprintWhole} {
			within := string(role) + sep + string(g.ID) + sep + string(c) + sep
			sources = append(sources, source{s.tasks.scan("task.claim", within), len(within)})
		}
	}
	return func(yield func(Task) bool) {
		for t := range s.ofPlan(g, s.tasksFrom(sources)) {
			if t.Fence == 0 && !yield(t) {
				return
			}
		}
	}
}

// InReview yields those tasks of a goal's current plan that are for one of the
// roles and ready for review, by priority and creation.
func (s *State) InReview(g Goal, roles ...message.Role) iter.Seq[Task] {
	var sources []source
	for _, role := range roles {
		within := string(role) + sep + string(g.ID) + sep
		sources = append(sources, source{s.tasks.scan("task.review", within), len(within)})
	}
	return s.ofPlan(g, s.tasksFrom(sources))
}

// InPlan tells whether a task belongs to a goal's current plan.
func (s *State) InPlan(g Goal, id message.TaskID) bool {
	return g.Plan != nil && s.planned.of(g.Plan)[id]
}

// Merging yields the tasks of which a merge has begun and not ended, whatever
// became of them.
func (s *State) Merging() iter.Seq[Task] {
	return func(yield func(Task) bool) {
		for _, key := range s.tasks.scan("task.merging", "") {
			if t := s.tasks.get(key); t != nil && !yield(*t) {
				return
			}
		}
	}
}

func (s *State) ofPlan(g Goal, tasks iter.Seq[Task]) iter.Seq[Task] {
	return func(yield func(Task) bool) {
		if g.Plan == nil {
			return
		}
		in := s.planned.of(g.Plan)
		for t := range tasks {
			if in[t.ID] && !yield(t) {
				return
			}
		}
	}
}

// members knows which tasks the plan that was asked for last names. Plans are
// never written to, so the pointer tells whether it is still the same.
type members struct {
	plan *message.DispatchManifest
	ids  map[message.TaskID]bool
}

func (m *members) of(plan *message.DispatchManifest) map[message.TaskID]bool {
	if m.plan == plan {
		return m.ids
	}
	ids := make(map[message.TaskID]bool, len(plan.Kept)+len(plan.SubtaskIDs))
	for _, list := range [][]message.TaskID{plan.Kept, plan.SubtaskIDs} {
		for _, id := range list {
			ids[id] = true
		}
	}
	m.plan, m.ids = plan, ids
	return ids
}
