package view

import (
	"cmp"
	"slices"

	"orch/blackboard"
)

// attention is the order in which open tasks get one of the places in a view
// that cannot hold all: what waits for a person first, what is far off last.
var attention = []blackboard.Status{
	blackboard.Blocked, blackboard.IntegrationFailed, blackboard.Rejected, blackboard.ReadyForReview,
	blackboard.Claimed, blackboard.Unclaimed, blackboard.Draft,
}

// done are the statuses of tasks nobody works on any more. What is approved may
// still be merged as long as its goal goes on.
var done = []blackboard.Status{blackboard.Approved, blackboard.Merged, blackboard.Superseded, blackboard.Abandoned}

// leftOut counts the tasks that have no place in a view.
type leftOut struct{ open, done int }

// row is a task that may get a place.
type row struct {
	blackboard.TaskRow
	stub bool
}

// pick chooses which tasks to show: the open ones, and in short those that are
// done of the goals that go on, or of the last one.
func (r *Renderer) pick(s State) (shown []*taskBlock, left leftOut) {
	if r.o.Full {
		return r.every(s), leftOut{}
	}
	for _, st := range attention {
		for at := range s.TaskRows(st) {
			if len(shown) >= r.o.MaxTasks {
				break
			}
			shown = r.show(shown, s, row{TaskRow: at})
		}
	}
	counts := s.Counts("")
	for _, st := range attention {
		left.open += counts[st]
	}
	left.open -= len(shown)
	places := max(r.o.MaxTasks-len(shown), 0)
	rest, all := doneRows(s, places > 0)
	slices.SortStableFunc(rest, func(a, b row) int { // what may still be merged, then the newest
		if a.stub != b.stub {
			return map[bool]int{true: 1, false: -1}[a.stub]
		}
		return cmp.Compare(b.Created, a.Created)
	})
	rest = rest[:min(len(rest), places)]
	left.done = all - len(rest)
	for _, at := range rest {
		shown = r.show(shown, s, at)
	}
	return shown, left
}

// doneRows are the tasks that are done, if they are wanted, and how many there are.
func doneRows(s State, wanted bool) (rows []row, all int) {
	for _, g := range presentGoals(s.Goals()) {
		counts := s.Counts(g.ID)
		for _, st := range done {
			all += counts[st]
			if !wanted || counts[st] == 0 {
				continue
			}
			stub := st != blackboard.Approved || g.Status == blackboard.GoalEnded
			for at := range s.TaskRowsOf(g.ID, st) {
				rows = append(rows, row{at, stub})
			}
		}
	}
	return rows, all
}

// presentGoals are the goals that go on; where none does, the one that ended last.
func presentGoals(goals []blackboard.Goal) []blackboard.Goal {
	var open []blackboard.Goal
	var last *blackboard.Goal
	for i, g := range goals {
		switch {
		case g.Status != blackboard.GoalEnded:
			open = append(open, g)
		case last == nil || g.FinalRef.Seq > last.FinalRef.Seq:
			last = &goals[i]
		}
	}
	if len(open) == 0 && last != nil {
		return []blackboard.Goal{*last}
	}
	return open
}

// show adds the block of a task. Where that of another process may be copied,
// the task it is of is not even decoded.
func (r *Renderer) show(shown []*taskBlock, s State, at row) []*taskBlock {
	if rs, ok := s.(Restful); ok && at.Resting && r.kept.usable(rs) {
		if b, there := r.kept.blocks[at.ID]; there && b.stub == at.stub {
			b.created = at.Created
			return append(shown, b)
		}
	}
	if t, ok := s.Task(at.ID); ok {
		return append(shown, r.block(s, t, at.stub))
	}
	return shown
}
