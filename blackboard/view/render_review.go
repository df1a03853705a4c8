package view

import (
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
)

// maxAlignment is how many of the last lines of a goal's alignment history are shown.
const maxAlignment = 20

// gates shows what a draft misses.
func gates(e *emitter, t *blackboard.Task) {
	if len(t.Gates) == 0 {
		return
	}
	e.open(4, "gates")
	for _, g := range t.Gates {
		e.item(6, func(n int) {
			e.str(n, "gate", g.Gate)
			e.str(n, "why", g.Why)
		})
	}
}

// review shows where the review of a coder's work stands; what was decided is
// told at the head of the task.
func (r *Renderer) review(e *emitter, t *blackboard.Task) {
	v := t.Review
	at := len(e.b)
	e.open(4, "review")
	empty := len(e.b)
	e.optStr(6, "commit", v.Commit)
	e.optList(6, "failed_by", agents(v.FailedBy))
	if v.Integration != nil && t.Status != blackboard.Merged {
		r.integration(e, *v.Integration)
	}
	e.optNum(6, "rescopes", int64(t.Rescopes))
	if v.Handoff != nil && t.Status == blackboard.Unclaimed {
		r.text(e, 6, "next_action", v.Handoff.NextAction)
	}
	if len(v.Pending) > 0 {
		e.open(6, "open_blockers")
	}
	for _, b := range v.Pending {
		e.item(8, func(n int) {
			e.str(n, "file", b.File)
			e.num(n, "line", int64(b.Line))
			r.text(e, n, "defect", b.Defect)
			r.text(e, n, "fix", b.Fix)
		})
	}
	if len(e.b) == empty {
		e.b = e.b[:at]
	}
}

// integration shows why approved work could not be merged.
func (r *Renderer) integration(e *emitter, f message.IntegrationFailed) {
	e.open(6, "integration_failed")
	e.optList(8, "conflict", f.Conflict)
	r.text(e, 8, "command", f.Command)
}

func agents(list []message.AgentID) []string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = string(id)
	}
	return out
}

// direction shows how a goal's plan was changed on the way, and what was found
// that the planner has not answered.
func (r *Renderer) direction(e *emitter, g blackboard.Goal, names taskNames) {
	if lines := g.Alignment; len(lines) > 0 {
		e.open(4, "alignment_history")
		if !r.o.Full {
			lines = lines[max(0, len(lines)-maxAlignment):]
		}
		for _, l := range lines {
			e.item(6, func(n int) {
				e.optStr(n, "task", names.of(l.Task))
				r.text(e, n, "line", l.Line)
			})
		}
	}
	open := slices.DeleteFunc(slices.Clone(g.Raised), func(x blackboard.Raised) bool { return x.Answer.Seq != 0 })
	if len(open) == 0 {
		return
	}
	e.open(4, "discovered")
	for _, d := range open {
		e.item(6, func(n int) {
			e.str(n, "kind", d.Kind)
			r.text(e, n, "what", d.What)
			e.optStr(n, "severity", d.Severity)
			e.str(n, "urgency", d.Urgency)
			e.optStr(n, "task", names.of(d.Task))
		})
	}
}

// sprint shows the open sprint.
func sprint(e *emitter, s *blackboard.Sprint, names taskNames) {
	if !s.Open() {
		return
	}
	e.open(0, "sprint")
	e.time(2, "opened", s.Opened.TS)
	if !s.Deadline.IsZero() {
		e.time(2, "deadline", s.Deadline)
	}
	e.list(2, "planned", names.all(s.Scope.Planned))
	e.optList(2, "stretch", names.all(s.Scope.Stretch))
	e.num(2, "approved", int64(s.Approved))
	e.num(2, "rejected", int64(s.Rejected))
	e.num(2, "merged", int64(s.Merged))
	e.optNum(2, "integration_failed", int64(s.Unmerged))
	e.optNum(2, "blocked", int64(s.Blocked))
	e.optNum(2, "rescoped", int64(s.Rescoped))
	e.optNum(2, "out_of_scope", int64(s.OutOfScope))
}
