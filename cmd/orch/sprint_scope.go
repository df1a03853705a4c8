package main

import (
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// scope finds the tasks that are meant, and the goal they are of; none if they
// are of several.
func (f sprintFlags) scope(st *blackboard.State) (message.SprintScope, message.GoalID, error) {
	none := message.SprintScope{}
	goal, err := f.planGoal(st)
	if err != nil {
		return none, "", err
	}
	stretch, err := tasksNamed(st, goal, f.stretch)
	if err != nil {
		return none, "", err
	}
	planned, err := tasksNamed(st, goal, f.planned)
	if err != nil {
		return none, "", err
	}
	if len(f.planned) == 0 {
		planned = slices.DeleteFunc(st.PlanTasks(goal), func(t blackboard.Task) bool { return among(stretch, t) })
	}
	if err := checkScope(goal, planned, stretch); err != nil {
		return none, "", err
	}
	of := planned[0].Goal
	for _, t := range slices.Concat(planned, stretch) {
		if f.goal != "" && t.Goal != goal.ID {
			return none, "", usagef("orch task ls --goal "+f.goal, "task %s is not of goal %s", t.ID, goal.ID)
		}
		if t.Goal != of {
			of = ""
		}
	}
	return message.SprintScope{Planned: taskIDs(planned), Stretch: taskIDs(stretch)}, of, nil
}

// planGoal is the goal whose plan is meant; zero if tasks are named while no
// goal is open.
func (f sprintFlags) planGoal(st *blackboard.State) (blackboard.Goal, error) {
	switch {
	case f.goal != "":
		return pickGoal(st, []string{f.goal})
	case len(f.planned) > 0 && len(st.OpenGoals()) == 0:
		return blackboard.Goal{}, nil
	}
	return pickGoal(st, nil)
}

// tasksNamed finds tasks by what a person calls them, each once.
func tasksNamed(st *blackboard.State, goal blackboard.Goal, names []string) ([]blackboard.Task, error) {
	var out []blackboard.Task
	for _, name := range names {
		t, err := taskNamed(st, goal, name)
		if err != nil {
			return nil, err
		}
		if !among(out, t) {
			out = append(out, t)
		}
	}
	return out, nil
}

// taskNamed finds a task by its id, its slot in the goal's plan, or a prefix of its id.
func taskNamed(st *blackboard.State, goal blackboard.Goal, name string) (blackboard.Task, error) {
	if t, ok := st.Task(message.TaskID(name)); ok {
		return t, nil
	}
	slots := slices.DeleteFunc(st.PlanTasks(goal), func(t blackboard.Task) bool { return name == "" || t.Slot != name })
	switch len(slots) {
	case 0:
		t, err := resolveTask(st, name)
		if err != nil && goal.ID == "" && !strings.Contains(err.Error(), "more than one") {
			return t, usagef("orch task ls --all lists them; --goal names the goal that a slot is of", "there is no task %q: no goal is open, so it can only be an id", name)
		}
		return t, err
	case 1:
		return slots[0], nil
	}
	return blackboard.Task{}, usagef("name one by its id", "slot %q fits more than one task: %v", name, taskIDs(slots))
}

// checkScope refuses a sprint that would be over before it began.
func checkScope(goal blackboard.Goal, planned, stretch []blackboard.Task) error {
	switch {
	case len(planned) == 0 && goal.Plan == nil:
		return usagef("name tasks with --planned, or wait for the plan", "goal %s has no plan yet", goal.ID)
	case len(planned) == 0:
		return usagef("name one with --planned", "no task is planned")
	case !slices.ContainsFunc(planned, func(t blackboard.Task) bool { return !t.Ended() }):
		return usagef("orch task ls lists the open ones", "all planned tasks have ended already")
	}
	for _, t := range stretch {
		if among(planned, t) {
			return usagef("name it once", "task %s is both planned and stretch", t.ID)
		}
	}
	return nil
}

func among(list []blackboard.Task, t blackboard.Task) bool {
	return slices.ContainsFunc(list, func(o blackboard.Task) bool { return o.ID == t.ID })
}

func taskIDs(list []blackboard.Task) []message.TaskID {
	out := []message.TaskID{}
	for _, t := range list {
		out = append(out, t.ID)
	}
	return out
}
