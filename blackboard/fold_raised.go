package blackboard

import (
	"cmp"
	"slices"

	"orch/blackboard/message"
)

func raisedEffects() []effect {
	return []effect{
		on((*tx).anomaly), on((*tx).discovery),
		on((*tx).sprintOpened), on((*tx).sprintClosed), on((*tx).escalated),
	}
}

func (x *tx) anomaly(b message.Anomaly) error {
	if err := message.MayLog(x.m.From, b.Kind); err != nil {
		return x.refuse("%v", err)
	}
	if b.Task != "" {
		t, err := x.task(b.Task)
		if err != nil {
			return err
		}
		if !slices.Contains(t.Anomalies, b.Kind) {
			t.Anomalies = appended(t.Anomalies, b.Kind)
		}
	}
	x.anomalies.put(hex16(x.m.Seq), &AnomalyRecord{Anomaly: b, Agent: x.m.Agent, Ref: x.ref})
	if b.Kind != message.SystemAmbiguity || x.goal == "" {
		return nil
	}
	// Nobody is to guess what orch itself leaves open: a person answers, then
	// the planner acts on it.
	g := x.goals.edit(string(x.goal))
	if g == nil || g.Status == GoalEnded {
		return nil
	}
	g.raise(Raised{Ref: x.ref, Kind: b.Kind, Agent: x.m.Agent, Task: b.Task, What: b.Details["question"],
		Advice: b.Details["protocol_section"], Urgency: message.Immediate})
	if g.Suspended == nil {
		x.suspend(g, WhyCheckpoint, b.Kind+": "+b.Details["question"], "orch resume")
	}
	return nil
}

// discovery remembers what a coder found beside its task. Without a goal it is
// only in the log.
func (x *tx) discovery(b message.Discovery) error {
	var about message.TaskID
	if t := x.tasks.peek(x.m.Subject); t != nil {
		about = t.ID
		x.goal = cmp.Or(x.goal, t.Goal)
	}
	if x.goal == "" {
		return nil
	}
	g, err := x.goalOf(x.goal)
	if err != nil {
		return err
	}
	g.raise(Raised{Ref: x.ref, Kind: RaisedDiscovery, Agent: x.m.Agent, Task: about, What: b.Description, Advice: b.Recommendation,
		Severity: b.Severity, Urgency: b.Urgency})
	return nil
}

// maxRaised bounds what a goal remembers of what was raised; the oldest that
// is answered, or may wait, goes first.
const maxRaised = 500

func (g *Goal) raise(r Raised) {
	g.Raised = appended(g.Raised, r)
	if len(g.Raised) <= maxRaised {
		return
	}
	at := max(0, slices.IndexFunc(g.Raised, func(r Raised) bool { return r.Answer.Seq != 0 || r.Urgency != message.Immediate }))
	g.Raised = slices.Delete(slices.Clone(g.Raised), at, at+1)
}

// raised finds what a message raised and nobody has answered, or nil.
func (g *Goal) raised(id message.ID) *Raised {
	for i := range g.Raised {
		if g.Raised[i].Ref.ID == id && g.Raised[i].Answer.Seq == 0 {
			return &g.Raised[i]
		}
	}
	return nil
}

// triaged answers something that was raised, with new tasks of the current
// plan or without.
func (x *tx) triaged(b message.Triaged) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	g.Raised = slices.Clone(g.Raised)
	r := g.raised(b.Of)
	if r == nil {
		return x.refuse("nothing that %s raised waits for an answer", b.Of)
	}
	r.Answer = x.ref
	if len(b.Tasks) == 0 {
		return nil
	}
	if g.Plan == nil || g.PlanCause.Seq != 0 {
		return x.refuse("there is no plan to add tasks to")
	}
	plan := *g.Plan
	plan.SubtaskIDs = slices.Clone(plan.SubtaskIDs)
	for _, id := range b.Tasks {
		t := x.tasks.edit(string(id))
		if t == nil || t.Goal != g.ID || t.PlanID != plan.PlanID {
			return x.refuse("the plan has no draft %s", id)
		}
		if err := x.move(t, Unclaimed); err != nil {
			return err
		}
		if !slices.Contains(plan.SubtaskIDs, id) {
			plan.SubtaskIDs = append(plan.SubtaskIDs, id)
		}
	}
	if err := x.checkDependencies(b.Tasks, nil); err != nil {
		return err
	}
	g.Plan = &plan
	x.notePlanTasks(g, b.Tasks)
	return x.align(g.ID, b.Tasks[0], cmp.Or(b.Alignment, b.Reason))
}

// align adds a line to the goal's alignment history.
func (x *tx) align(goal message.GoalID, task message.TaskID, line string) error {
	if goal == "" || line == "" {
		return nil
	}
	g, err := x.goalOf(goal)
	if err != nil {
		return err
	}
	g.Alignment = appended(g.Alignment, Alignment{Task: task, Line: line, Ref: x.ref})
	return nil
}
