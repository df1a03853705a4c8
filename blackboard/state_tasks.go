package blackboard

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"orch/blackboard/message"
)

// statuses lists every status in the order in which counts are kept.
var statuses = [...]Status{Draft, Unclaimed, Claimed, ReadyForReview, Approved, Merged, Rejected, Blocked, IntegrationFailed, Superseded, Abandoned, Void}

// Statuses lists every status, in the order of the lifecycle.
func Statuses() []Status { return slices.Clone(statuses[:]) }

// tally counts the tasks of a goal, or of the board, by status.
type tally struct {
	ByStatus [len(statuses)]int `json:"by_status"`
}

func (t *tally) add(s Status, n int) {
	if i := slices.Index(statuses[:], s); i >= 0 {
		t.ByStatus[i] += n
	}
}

// wholeBoard is the key of the tally over all tasks; goals are kept under
// their id after this prefix, tasks without a goal only in the whole.
const wholeBoard = "all"

func tallyKey(goal message.GoalID) string {
	if goal == "" {
		return wholeBoard
	}
	return "goal" + sep + string(goal)
}

// Counts says how many tasks of a goal have which status; of the whole board
// if goal is empty. Statuses without a task are left out.
func (s *State) Counts(goal message.GoalID) map[Status]int {
	out := map[Status]int{}
	if t := s.tallies.get(tallyKey(goal)); t != nil {
		for i, n := range t.ByStatus {
			if n != 0 {
				out[statuses[i]] = n
			}
		}
	}
	return out
}

// Task returns a task.
func (s *State) Task(id message.TaskID) (Task, bool) {
	if t := s.tasks.get(string(id)); t != nil {
		return *t, true
	}
	return Task{}, false
}

// UnknownTaskError: no task, or more than one, is meant by what a person wrote.
type UnknownTaskError struct {
	Prefix  string
	Matches []message.TaskID // at most five
}

func (e *UnknownTaskError) Error() string {
	if len(e.Matches) == 0 {
		return fmt.Sprintf("there is no task %q", e.Prefix)
	}
	return fmt.Sprintf("%q fits more than one task: %v", e.Prefix, e.Matches)
}

// Hint says what a person can do.
func (e *UnknownTaskError) Hint() string { return "`orch task ls` lists the tasks" }

// ResolveTask finds a task by its id or by a prefix that only its id has.
func (s *State) ResolveTask(prefix string) (Task, error) {
	if t, ok := s.Task(message.TaskID(prefix)); ok {
		return t, nil
	}
	e := &UnknownTaskError{Prefix: prefix}
	for key := range s.tasks.scan("task.id", prefix) {
		if prefix == "" || len(e.Matches) == 5 {
			break
		}
		e.Matches = append(e.Matches, message.TaskID(key))
	}
	if len(e.Matches) != 1 {
		return Task{}, e
	}
	t, _ := s.Task(e.Matches[0])
	return t, nil
}

// Tasks yields the tasks with one of the statuses, or all, by priority and creation.
func (s *State) Tasks(st ...Status) iter.Seq[Task] { return s.tasksIn("task.all", "", st) }

// TasksOf yields the tasks of a goal with one of the statuses, or all, by
// priority and creation. The empty goal stands for tasks outside of any.
func (s *State) TasksOf(goal message.GoalID, st ...Status) iter.Seq[Task] {
	return s.tasksIn("task.goal", string(goal)+sep, st)
}

func (s *State) tasksIn(index, prefix string, st []Status) iter.Seq[Task] {
	if len(st) == 0 {
		st = statuses[:]
	}
	var sources []source
	for i, status := range st {
		if slices.Contains(st[:i], status) {
			continue
		}
		within := prefix + string(status) + sep
		sources = append(sources, source{s.tasks.scan(index, within), len(within)})
	}
	return s.tasksFrom(sources)
}

// tasksFrom yields the tasks of some scans by priority and creation.
func (s *State) tasksFrom(sources []source) iter.Seq[Task] {
	return func(yield func(Task) bool) {
		for key := range inOrder(sources) {
			if t := s.tasks.get(key); t != nil && !yield(*t) {
				return
			}
		}
	}
}

// source is a scan of an index in which a task's order follows after some bytes.
type source struct {
	scan  iter.Seq2[string, string]
	order int
}

// inOrder merges scans into one sequence of record keys by priority and creation.
func inOrder(sources []source) iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(sources) == 1 {
			for _, rec := range sources[0].scan {
				if !yield(rec) {
					return
				}
			}
			return
		}
		type head struct {
			order, rec string
			next       func() (string, string, bool)
			skip       int
		}
		var heads []*head
		for _, src := range sources {
			next, stop := iter.Pull2(src.scan)
			defer stop()
			if key, rec, ok := next(); ok {
				heads = append(heads, &head{key[src.order : src.order+orderLen], rec, next, src.order})
			}
		}
		for len(heads) > 0 {
			h := slices.MinFunc(heads, func(a, b *head) int { return strings.Compare(a.order+a.rec, b.order+b.rec) })
			if !yield(h.rec) {
				return
			}
			key, rec, ok := h.next()
			if !ok {
				heads = slices.DeleteFunc(heads, func(x *head) bool { return x == h })
				continue
			}
			h.order, h.rec = key[h.skip:h.skip+orderLen], rec
		}
	}
}
