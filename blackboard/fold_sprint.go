package blackboard

import (
	"slices"
	"time"

	"orch/blackboard/message"
)

func (x *tx) sprintOpened(b message.SprintOpened) error {
	r := x.board()
	if r.Sprint.Open() {
		return &RefusedError{Type: x.m.Type(), Why: "a sprint is open", Do: "`orch goals sprint close`"}
	}
	s := &Sprint{Opened: x.ref, Goal: x.m.Goal, Scope: b.Scope}
	for _, id := range slices.Concat(b.Scope.Planned, b.Scope.Stretch) {
		if x.tasks.peek(string(id)) == nil {
			return x.refuse("there is no task %q", id)
		}
	}
	if b.Deadline != "" {
		at, err := time.Parse(time.RFC3339, b.Deadline)
		if err != nil {
			return x.refuse("deadline %q is no RFC 3339 time", b.Deadline)
		}
		s.Deadline = at.UTC()
	}
	r.Sprint = s
	return nil
}

func (x *tx) sprintClosed(b message.SprintClosed) error {
	r := x.board()
	if !r.Sprint.Open() {
		return x.refuse("no sprint is open")
	}
	s := *r.Sprint
	s.Closed, s.Metrics, s.Retrospective = x.ref, b.Metrics, b.Retrospective
	r.Sprint = &s
	return nil
}

// countSprint changes the open sprint's figures, if there is one.
func (x *tx) countSprint(change func(*Sprint)) {
	if !x.boards.peek(boardKey).Sprint.Open() {
		return
	}
	r := x.board()
	s := *r.Sprint
	change(&s)
	r.Sprint = &s
}

// Ended tells whether a task is over for a sprint: merged, replaced or given up,
// or approved where nothing is merged.
func (t *Task) Ended() bool {
	return t.Status.Terminal() || t.Status == Approved && t.For != message.Coder
}

// has tells whether a task belongs to the sprint.
func (s *Sprint) has(id message.TaskID) bool {
	return slices.Contains(s.Scope.Planned, id) || slices.Contains(s.Scope.Stretch, id)
}

// swap puts the replacements of a task in its place, unless they have one. What
// nothing replaces stays, as ended.
func (s *Sprint) swap(old message.TaskID, by []message.TaskID) {
	fresh := slices.DeleteFunc(slices.Clone(by), func(id message.TaskID) bool { return s.has(id) })
	in := func(list []message.TaskID) []message.TaskID {
		at := slices.Index(list, old)
		if at < 0 || len(by) == 0 {
			return list
		}
		return slices.Concat(list[:at], fresh, list[at+1:])
	}
	s.Scope = message.SprintScope{Planned: in(s.Scope.Planned), Stretch: in(s.Scope.Stretch)}
}

// reachedInSprint remembers a checkpoint that the sprint's own course set, so
// that it is set once.
func (x *tx) reachedInSprint(name string) {
	if name != CheckpointSprintComplete && name != CheckpointSprintDeadline {
		return
	}
	x.countSprint(func(s *Sprint) {
		if !slices.Contains(s.Reached, name) {
			s.Reached = appended(s.Reached, name)
		}
	})
}

// escalated notes that a person was told once more that something waits.
func (x *tx) escalated(b message.Escalated) error {
	if x.m.Goal != "" {
		g, err := x.liveGoal()
		if err != nil {
			return err
		}
		if g.Suspended == nil || g.Suspended.Since.ID != b.Checkpoint {
			return x.refuse("the goal does not wait since %s", b.Checkpoint)
		}
		if b.Level <= g.Suspended.Level {
			return x.refuse("level %d after %d", b.Level, g.Suspended.Level)
		}
		s := *g.Suspended
		s.Level = b.Level
		g.Suspended = &s
		return nil
	}
	r := x.board()
	if r.Brakes.Checkpoint == nil || r.Brakes.Checkpoint.ID != b.Checkpoint {
		return x.refuse("the board is not at the checkpoint of %s", b.Checkpoint)
	}
	if b.Level <= r.Brakes.Level {
		return x.refuse("level %d after %d", b.Level, r.Brakes.Level)
	}
	r.Brakes.Level = b.Level
	return nil
}
