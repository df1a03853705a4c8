package auditor

import (
	"encoding/json"
	"fmt"

	"orch/blackboard/message"
)

// made takes a new task up, and finds an id that was given before.
func (a *Auditor) made(m message.Message, id message.TaskID, t *task) {
	g, ok := a.working(m, m.Type())
	if !ok {
		return
	}
	if first, seen := a.s.Seen.has(string(id)); seen && !completes(g.Tasks[id], t) {
		a.find(Finding{Kind: DuplicateTask, Severity: Critical, Goal: m.Goal, Subject: string(id), Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("task %s was made before, by message %d", id, first)}, evidence{first, a.s.LastTS}, at(m))
		return
	}
	a.s.Seen.add(string(id), m.Seq)
	if len(g.Tasks) < maxTasks {
		g.Tasks[id] = t
		a.await(t)
	}
}

// completes tells whether a person ends the draft a person began.
func completes(before, now *task) bool {
	return before != nil && before.By == message.Human && now.By == message.Human && before.Status == drafted && now.Status == open
}

func (a *Auditor) subTask(m message.Message, b message.SubTask) {
	a.made(m, b.ID, &task{Made: at(m), Plan: b.PlanID, By: m.From, Status: drafted, Since: at(m)})
}

func (a *Auditor) taskAdded(m message.Message, b message.TaskAdded) {
	status := open
	if b.Draft {
		status = drafted
	}
	for _, t := range b.Tasks {
		a.made(m, t.ID, &task{Made: at(m), By: m.From, Status: status, Since: at(m)})
	}
}

// taskOf finds a task by its message; nil for one that is not remembered.
func (a *Auditor) taskOf(m message.Message, id message.TaskID) (*goal, *task) {
	if id == "" {
		id = message.TaskID(m.Subject)
	}
	g := a.s.Goals[m.Goal]
	if g == nil {
		return nil, nil
	}
	return g, g.Tasks[id]
}

// settle ends a task. One of no goal is forgotten: nothing is measured of it.
func (a *Auditor) settle(m message.Message, id message.TaskID) {
	g, t := a.taskOf(m, id)
	if t == nil {
		return
	}
	a.waited(m.Goal, id, t, m.TS)
	t.move(settled, at(m))
	if m.Goal == "" {
		delete(g.Tasks, id)
	}
}

func (a *Auditor) manifest(m message.Message, b message.DispatchManifest) {
	g, ok := a.working(m, m.Type())
	if !ok {
		return
	}
	a.rate(m, message.Planner, "plans that pass the rules", true, false)
	kept := map[message.TaskID]bool{}
	for _, id := range append(append([]message.TaskID{}, b.SubtaskIDs...), b.Kept...) {
		kept[id] = true
	}
	for _, id := range sorted(g.Tasks) {
		switch t := g.Tasks[id]; {
		case kept[id] && t.Status == drafted:
			a.waited(m.Goal, id, t, m.TS)
			t.move(open, at(m))
		case !kept[id] && t.By == message.Planner && t.Status != settled:
			a.settle(m, id)
		}
	}
	g.Plan = plan{ID: b.PlanID, Made: at(m)}
	if len(kept) <= maxTasks {
		g.Plan.Tasks = sorted(kept)
	}
}

func (a *Auditor) planRejected(m message.Message, b message.PlanRejected) {
	a.rate(m, message.Planner, "plans that pass the rules", false, false)
	g := a.s.Goals[m.Goal]
	if g == nil {
		return
	}
	why := "its plan broke the rules"
	if len(b.Violations) > 0 {
		why = b.Violations[0].Rule + ": " + b.Violations[0].Because
	}
	a.refused(m, message.Planner, string(m.Goal), why)
	for _, id := range sorted(g.Tasks) {
		if t := g.Tasks[id]; t.Status == drafted && t.Plan == b.PlanID {
			a.settle(m, id)
		}
	}
}

func (a *Auditor) draftVoided(m message.Message, b message.DraftVoided) { a.settle(m, b.Task) }
func (a *Auditor) abandoned(m message.Message, b message.Abandoned)     { a.settle(m, b.Task) }
func (a *Auditor) merged(m message.Message, b message.Merged) {
	a.approve(m, b.Task)
	a.settle(m, b.Task)
}

func (a *Auditor) rescoped(m message.Message, b message.Rescoped) {
	a.settle(m, b.Task)
	for _, id := range b.SupersededBy {
		if _, t := a.taskOf(m, id); t != nil && t.Status == drafted {
			a.waited(m.Goal, id, t, m.TS)
			t.move(open, at(m))
		}
	}
}

func (a *Auditor) humanEdit(m message.Message, b message.HumanEdit) {
	for _, e := range b.Edits {
		var to string
		if e.Field == "status" && json.Unmarshal(e.New, &to) == nil && to == "ABANDONED" {
			a.settle(m, e.Task)
		}
	}
}

func (a *Auditor) claimed(m message.Message, b message.Claimed) {
	if _, ok := a.working(m, m.Type()); !ok {
		return
	}
	_, t := a.taskOf(m, b.Task)
	if t == nil {
		return
	}
	a.waited(m.Goal, b.Task, t, m.TS)
	if t.Status != held {
		t.From = t.Status
	}
	t.Holder, t.Fence = b.Agent, b.Fence
	t.move(held, at(m))
}

// back returns a held task to where it was taken from.
func (t *task) back(e evidence) {
	if t.Status != held {
		return
	}
	since := e
	if t.From == rejected {
		since = t.Rejected // it has been waiting all along
	}
	t.move(t.From, since)
}

func (a *Auditor) released(m message.Message, b message.Released) {
	if _, t := a.taskOf(m, b.Task); t != nil && b.Fence == t.Fence {
		t.back(at(m))
		a.await(t)
	}
}

func (a *Auditor) leaseLapsed(m message.Message, b message.LeaseLapsed) {
	ev := []evidence{at(m)}
	if _, t := a.taskOf(m, b.Task); t != nil && t.Fence == b.Fence {
		ev = append(ev, t.Since)
		t.back(at(m))
		a.await(t)
	}
	role, _ := message.ParseAgent(b.Agent)
	a.find(Finding{Kind: LeaseLoss, Severity: Warning, Goal: m.Goal, Subject: string(b.Task), Role: role, Agent: b.Agent,
		Message: fmt.Sprintf("%s lost its claim of %s: %s", b.Agent, b.Task, b.Reason)}, ev...)
}

func (a *Auditor) lateResult(m message.Message, b message.LateResult) {
	a.find(Finding{Kind: LeaseLoss, Severity: Warning, Goal: m.Goal, Subject: string(b.Task), Role: m.From, Agent: m.Agent,
		Message: fmt.Sprintf("%s brought a result of %s after its claim (fence %d) was lost", m.Agent, b.Task, b.Fence)}, at(m))
}

func (a *Auditor) handoff(m message.Message, b message.Handoff) {
	if _, t := a.taskOf(m, b.Task); t != nil {
		t.move(open, at(m))
	}
}

func (a *Auditor) blocked(m message.Message, b message.Blocked) {
	if _, t := a.taskOf(m, b.Task); t != nil {
		a.waited(m.Goal, b.Task, t, m.TS)
		t.move(blocked, at(m))
	}
}

func (a *Auditor) unblocked(m message.Message, b message.Unblocked) {
	if b.Task == "" {
		a.lift(m)
		return
	}
	if _, t := a.taskOf(m, b.Task); t != nil {
		t.Attempts = nil
		t.move(open, at(m))
	}
}

func (a *Auditor) executionResult(m message.Message, b message.ExecutionResult) {
	a.rate(m, message.Executor, "attempts that complete", b.Status == message.Completed, false)
	_, t := a.taskOf(m, b.SubtaskID)
	if t == nil {
		return
	}
	if t.Status != held || t.Holder != m.Agent || t.Fence != m.Fence {
		a.find(Finding{Kind: BoundaryViolation, Severity: Critical, Goal: m.Goal, Subject: string(b.SubtaskID), Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("%s says what came of task %s without holding it", m.Agent, b.SubtaskID)}, t.Since, at(m))
	}
	a.attempt(m, b.SubtaskID, t)
}

func (a *Auditor) taskFinished(m message.Message, b message.TaskFinished) {
	if _, t := a.taskOf(m, b.Task); t != nil {
		a.attempt(m, b.Task, t)
	}
}

func (a *Auditor) reviewRequested(m message.Message, b message.ReviewRequested) {
	if _, t := a.taskOf(m, b.Task); t != nil {
		a.attempt(m, b.Task, t)
	}
}

// attempt counts one more try of a task.
func (a *Auditor) attempt(m message.Message, id message.TaskID, t *task) {
	t.Worker = m.Agent
	t.move(reviewed, at(m))
	if len(t.Attempts) < 2*maxSeqs {
		t.Attempts = append(t.Attempts, at(m))
	}
	if len(t.Attempts) == a.p.Attempts {
		a.find(Finding{Kind: ExcessiveRetries, Severity: Warning, Goal: m.Goal, Subject: string(id), Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("task %s took %d attempts", id, len(t.Attempts))}, t.Attempts...)
	}
}

func (a *Auditor) integrationFailed(m message.Message, b message.IntegrationFailed) {
	a.reject(m, b.Task)
}

// reject puts a task back to whoever takes it up next.
func (a *Auditor) reject(m message.Message, id message.TaskID) {
	if _, t := a.taskOf(m, id); t != nil {
		t.Rejected = at(m)
		t.move(rejected, at(m))
		a.await(t)
	}
}

// approve remembers who said that a task is done.
func (a *Auditor) approve(m message.Message, id message.TaskID) {
	if g := a.s.Goals[m.Goal]; g != nil && m.Goal != "" && len(g.Approved) < maxTasks {
		g.Approved[id] = at(m)
	}
}
