package loop

import (
	"cmp"
	"iter"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
)

// wanted yields the activations of a role whose condition holds, in starting
// order. It looks at no more tasks than it is asked for.
func wanted(s Board, p Policy, role message.Role) iter.Seq[Activation] {
	if braked(s.Brakes()) {
		return none
	}
	var parts []iter.Seq[Activation]
	for _, g := range s.OpenGoals() {
		if p.Goal == "" || g.ID == p.Goal {
			parts = append(parts, wantedBy(s, g, role, false)...)
		}
	}
	return inOrder(parts)
}

func none(func(Activation) bool) {}

// wantedBy lists what one goal asks of a role, in parts that are each in
// starting order. If it is to be tried before, tasks are left out that no step
// of the role can have been at: a task nobody ever held, a coder's task whose
// review nobody began.
func wantedBy(s Board, g blackboard.Goal, role message.Role, tried bool) (parts []iter.Seq[Activation]) {
	if g.Status != blackboard.GoalOpen {
		return nil
	}
	of := func(tasks iter.Seq[blackboard.Task], keep func(blackboard.Task) bool) {
		if worksOnPlan(g) {
			parts = append(parts, wantedFor(s, g, role, tasks, keep))
		}
	}
	all := func(blackboard.Task) bool { return true }
	isOwn := func(t blackboard.Task) bool { return ownCoder(t) != "" }
	switch role {
	case message.CodeReviewer:
		of(s.InReview(g, message.Coder), func(t blackboard.Task) bool { return !tried || t.Review.Fence > 0 })
	case message.AgentValidator:
		of(s.InReview(g, notCoders...), all)
	case message.Coder, message.Executor:
		of(s.Begun(g), isOwn)
		of(s.Begun(g), func(t blackboard.Task) bool { return !isOwn(t) })
		if tried {
			break
		}
		whose := notCoders
		if role == message.Coder {
			whose = []message.Role{message.Coder}
		}
		of(s.Fresh(g, whose...), all)
	default:
		if a, ok := goalWants(s, g); ok && a.Key.Role == role {
			parts = append(parts, slices.Values([]Activation{a}))
		}
	}
	return parts
}

// notCoders are whom tasks are for that executors work at.
var notCoders = []message.Role{message.Executor, ""}

// goalWants is what a goal asks for as a whole: one thing at a time.
func goalWants(s Board, g blackboard.Goal) (Activation, bool) {
	if a, ok := perceive(g); ok {
		return a, true
	}
	if a, ok := plan(g); ok || !worksOnPlan(g) {
		return a, ok
	}
	if a, ok := wake(s, g); ok {
		return a, true
	}
	return validate(s, g)
}

// worksOnPlan tells whether the tasks of the goal's plan are what it is at.
func worksOnPlan(g blackboard.Goal) bool {
	return g.Plan != nil && g.PlanCause.ID == ""
}

// taskWants is what one task of the plan asks for.
func taskWants(s Board, g blackboard.Goal, t blackboard.Task) (Activation, bool) {
	if t.For == message.Coder {
		return codeAct(s, g, t)
	}
	return act(s, g, t)
}

// wantedFor yields what those of the tasks that are to be kept ask of a role.
func wantedFor(s Board, g blackboard.Goal, role message.Role, tasks iter.Seq[blackboard.Task], keep func(blackboard.Task) bool) iter.Seq[Activation] {
	return func(yield func(Activation) bool) {
		for t := range tasks {
			if !keep(t) {
				continue
			}
			if a, ok := taskWants(s, g, t); ok && a.Key.Role == role && !yield(a) {
				return
			}
		}
	}
}

// inOrder merges parts that are each in starting order.
func inOrder(parts []iter.Seq[Activation]) iter.Seq[Activation] {
	if len(parts) == 0 {
		return none
	}
	return func(yield func(Activation) bool) {
		type head struct {
			first Activation
			next  func() (Activation, bool)
		}
		var heads []*head
		for _, part := range parts {
			next, stop := iter.Pull(part)
			defer stop()
			if a, ok := next(); ok {
				heads = append(heads, &head{a, next})
			}
		}
		for len(heads) > 0 {
			h := slices.MinFunc(heads, func(a, b *head) int { return startsBefore(a.first, b.first) })
			if !yield(h.first) {
				return
			}
			var ok bool
			if h.first, ok = h.next(); !ok {
				heads = slices.DeleteFunc(heads, func(x *head) bool { return x == h })
			}
		}
	}
}

// startsBefore orders the activations of one role.
func startsBefore(a, b Activation) int {
	return cmp.Or(unfinishedFirst(a, b), cmp.Compare(a.priority, b.priority), cmp.Compare(a.age, b.age), cmp.Compare(a.Key.Subject, b.Key.Subject))
}

// unfinishedFirst lets coders end what they began before they begin something.
func unfinishedFirst(a, b Activation) int {
	switch {
	case a.fresh == b.fresh:
		return 0
	case b.fresh:
		return -1
	}
	return 1
}

func braked(b blackboard.Brakes) bool { return b.Paused != nil || b.Checkpoint != nil }
