package blackboard

import (
	"slices"
	"strings"
	"unicode/utf8"

	"orch/blackboard/message"
)

func (x *tx) checkSubTask(b message.SubTask, goal message.GoalID) error {
	if err := x.checkName("id", string(b.ID)); err != nil {
		return err
	}
	if b.PlanID != "" {
		if err := x.checkName("plan_id", string(b.PlanID)); err != nil {
			return err
		}
	}
	if b.ParentTaskID != "" && b.ParentTaskID != goal {
		return x.refuse("parent_task_id is %q, want %q", b.ParentTaskID, goal)
	}
	var seen []string
	for _, c := range b.SuccessCriteria {
		if slices.Contains(seen, c.ID) {
			return x.refuse("task %s has criterion %s twice", b.ID, c.ID)
		}
		seen = append(seen, c.ID)
	}
	for _, id := range b.DependsOn {
		if err := x.checkName("depends_on", string(id)); err != nil {
			return err
		}
		if id == b.ID {
			return x.refuse("task %s depends on itself", id)
		}
	}
	for _, target := range b.Targets {
		if !utf8.ValidString(target) || strings.Contains(target, sep) {
			return x.refuse("task %s has the target %q, which is no path", b.ID, target)
		}
	}
	if b.Reopens != "" {
		if t := x.tasks.peek(string(b.Reopens)); t == nil || !t.Status.Terminal() {
			return x.refuse("task %s reopens %s, which has not ended", b.ID, b.Reopens)
		}
	}
	return nil
}

// checkDependencies refuses tasks that depend on what does not exist, or on
// each other in a circle; also (which may be nil) looks at each pair. Only what
// was a draft or nothing before the message can close a circle.
func (x *tx) checkDependencies(ids []message.TaskID, also func(t, dep *Task) error) error {
	const visiting, visited = 1, 2
	state := map[message.TaskID]int{}
	var visit func(id message.TaskID) error
	visit = func(id message.TaskID) error {
		t := x.tasks.peek(string(id))
		if state[id] == visited || t == nil {
			return nil
		}
		state[id] = visiting
		for _, dep := range t.DependsOn {
			d := x.tasks.peek(string(dep))
			switch {
			case d == nil:
				return x.refuse("task %s depends on %s, which does not exist", id, dep)
			case state[dep] == visiting:
				return x.refuse("tasks %s and %s depend on each other", id, dep)
			case also != nil:
				if err := also(t, d); err != nil {
					return err
				}
			}
			if old := x.s.tasks.get(string(dep)); old == nil || old.Status == Draft {
				if err := visit(dep); err != nil {
					return err
				}
			}
		}
		state[id] = visited
		return nil
	}
	for _, id := range ids {
		if err := visit(id); err != nil {
			return err
		}
	}
	return nil
}
