package steptest

import (
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/think"
)

// Dispatch puts a goal with a committed plan of the given tasks on the board,
// without a role having thought about it: ids are the tasks' own.
func (w *World) Dispatch(criteria []message.Criterion, tasks ...message.SubTask) message.GoalID {
	w.T.Helper()
	id := w.Start("make the tests pass, please")
	spec := message.TaskSpec{TaskID: id, Intent: "make the tests pass", RawInput: "make the tests pass, please"}
	said := w.Say("perceiver-1", id, "", spec)
	m := message.DispatchManifest{PlanID: "p1", TaskID: id, TaskSpec: spec, TaskCriteria: criteria, Fingerprint: "f", Backend: w.Backend}
	for _, t := range tasks {
		t.PlanID, t.ParentTaskID = "p1", id
		w.Say("planner-1", id, said.ID, t)
		m.SubtaskIDs = append(m.SubtaskIDs, t.ID)
	}
	w.Say("planner-1", id, said.ID, m)
	return id
}

// Task is a task of one slot with criteria.
func Task(id message.TaskID, criteria ...message.Criterion) message.SubTask {
	return message.SubTask{
		ID: id, Intent: "fix " + string(id), Slot: string(id), Approach: "try", Target: "t", Sequence: 1, Priority: 100,
		SuccessCriteria: criteria, Targets: []string{string(id)},
	}
}

// Checked is a criterion that a check decides; World.Verdicts has the verdict.
func Checked(id, command string) message.Criterion {
	return message.Criterion{ID: id, Criterion: command + " exits 0", Mode: message.Verifiable, Required: true, Check: RunCheck(command)}
}

// Weighed is a criterion that only a judge can decide.
func Weighed(id string) message.Criterion {
	return message.Criterion{ID: id, Criterion: "it reads well: " + id, Mode: message.Plausible}
}

// Attempt runs the executor's part of a task with what the backend is to say.
func (w *World) Attempt(a loop.Activation, run Runner, done think.Execution) error {
	w.T.Helper()
	w.Work.Act = Answer(done)
	return w.Do(a, run)
}
