package loop

import (
	"cmp"
	"fmt"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Kinds of what wakes the planner of a coding goal while its plan is worked on.
const (
	WakeBlocked     = "blocked"
	WakeExhausted   = "hypothesis_exhaustion"
	WakeIntegration = "integration_failure"
	WakeDiscovery   = "immediate_discovery"
	WakeAmbiguity   = "system_ambiguity"
)

// Wake is one thing the planner has to answer: with a Rescoped, an Abandoned,
// an Unblocked (WakeBlocked only), or a Triaged (WakeDiscovery, WakeAmbiguity).
type Wake struct {
	Kind     string
	Subject  string         // task, or the goal for what was raised
	Task     message.TaskID // it is about; may be empty for what was raised
	Cause    blackboard.Ref
	Priority int
	Why      string
}

// defaultPriority is that of what is about no task.
const defaultPriority = 100

// Wakes lists what the planner of a coding goal has to answer, in the order in
// which it does: by priority, then age. A goal whose plan is being made anew
// has none: the new plan answers them all.
func Wakes(s Board, g blackboard.Goal) []Wake {
	if !IsCode(g) || g.Plan == nil || g.PlanCause.ID != "" {
		return nil
	}
	var all []Wake
	for t := range s.PlanTasksIn(g, blackboard.Blocked, blackboard.IntegrationFailed) {
		if w, ok := wakeOf(t); ok {
			all = append(all, w)
		}
	}
	for _, r := range g.Raised {
		if r.Answer.ID == "" && r.Urgency == message.Immediate {
			all = append(all, wakeOfRaised(s, g, r))
		}
	}
	slices.SortStableFunc(all, func(a, b Wake) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(age(s, a), age(s, b)), cmp.Compare(a.Cause.Seq, b.Cause.Seq))
	})
	return all
}

func wakeOf(t blackboard.Task) (Wake, bool) {
	w := Wake{Subject: string(t.ID), Task: t.ID, Priority: t.Priority}
	switch {
	case t.For != message.Coder:
		return w, false
	case t.Status == blackboard.Blocked && t.Exhausted():
		w.Kind, w.Cause = WakeExhausted, t.Changed
		w.Why = fmt.Sprintf("%d coders were blocked on it, it must be rescoped: %s", len(t.Review.FailedBy), t.BlockedReason)
	case t.Status == blackboard.Blocked:
		w.Kind, w.Cause, w.Why = WakeBlocked, t.Changed, "blocked: "+t.BlockedReason
	case toPlanner(t):
		w.Kind, w.Cause = WakeIntegration, t.Offered
		w.Why = fmt.Sprintf("it failed to integrate %d times", t.Review.IntegrationN)
	default:
		return w, false
	}
	return w, true
}

func wakeOfRaised(s Board, g blackboard.Goal, r blackboard.Raised) Wake {
	w := Wake{Kind: WakeDiscovery, Subject: string(g.ID), Task: r.Task, Cause: r.Ref, Priority: defaultPriority, Why: "found: " + r.What}
	if r.Kind == message.SystemAmbiguity {
		w.Kind, w.Why = WakeAmbiguity, "unclear: "+r.What
	}
	if t, ok := s.Task(r.Task); ok {
		w.Priority = t.Priority
	}
	return w
}

// age orders wakes of one priority: tasks by when they were made, as the
// reference has it, and what was raised by when that was.
func age(s Board, w Wake) uint64 {
	if t, ok := s.Task(w.Task); ok && w.Subject == string(w.Task) {
		return t.Created.Seq
	}
	return w.Cause.Seq
}

// wake is the planner's activation for the first of a goal's wakes. They are
// answered one after the other: while one is, the others wait.
func wake(s Board, g blackboard.Goal) (Activation, bool) {
	wakes := Wakes(s, g)
	if len(wakes) == 0 {
		return Activation{}, false
	}
	first := wakes[0]
	for _, w := range wakes {
		if a, ok := s.Activation(w.key()); ok && a.Live() {
			first = w
		}
	}
	return Activation{Key: first.key(), Goal: g.ID, Reason: first.Why, priority: first.Priority, age: age(s, first)}, true
}

func (w Wake) key() blackboard.ActivationKey {
	return blackboard.ActivationKey{Role: message.Planner, Subject: w.Subject, Cause: w.Cause.ID}
}

// WakeFor is the wake an activation of the planner answers; ok is false for
// one that makes a plan, or whose wake was answered.
func WakeFor(s Board, g blackboard.Goal, key blackboard.ActivationKey) (Wake, bool) {
	for _, w := range Wakes(s, g) {
		if w.key() == key {
			return w, true
		}
	}
	return Wake{}, false
}
