package blackboard

import (
	"fmt"
	"iter"
	"strconv"

	"orch/blackboard/message"
)

// TaskRow is where a task stands among the others, without what is in it.
type TaskRow struct {
	ID      message.TaskID
	Created uint64 // seq
	Resting bool   // nothing of it has changed since the checkpoint below the state
}

// TaskRows yields the tasks with a status in the order of Tasks. It decodes none
// of them.
func (s *State) TaskRows(st Status) iter.Seq[TaskRow] {
	return s.taskRows("task.all", string(st)+sep)
}

// TaskRowsOf is TaskRows for the tasks of a goal.
func (s *State) TaskRowsOf(goal message.GoalID, st Status) iter.Seq[TaskRow] {
	return s.taskRows("task.goal", string(goal)+sep+string(st)+sep)
}

func (s *State) taskRows(index, within string) iter.Seq[TaskRow] {
	at := len(within) + 16 // behind the priority; see orderKey
	return func(yield func(TaskRow) bool) {
		for key, id := range s.tasks.scan(index, within) {
			if len(key) < at+16 {
				s.faults.note(fmt.Errorf("task %s has the order %q", id, key))
				return
			}
			created, err := strconv.ParseUint(key[at:at+16], 16, 64)
			if err != nil {
				s.faults.note(fmt.Errorf("order of task %s: %w", id, err))
				return
			}
			if !yield(TaskRow{message.TaskID(id), created, s.tasks.resting(id)}) {
				return
			}
		}
	}
}

// Below is the seq of the checkpoint under the state; 0 if there is none.
func (s *State) Below() uint64 { return s.below }

// recentHeads is how many heads a state remembers: a process that begins where
// another has just ended finds that one's.
const recentHeads = 64

// SetHead names the hash of the line that holds the last message folded.
func (s *State) SetHead(hash string) {
	s.hash = hash
	s.heads[s.seq%recentHeads] = hash
}

// HeadAt is the hash of a message that was folded lately, or of the one that the
// checkpoint below stands for; false for any other.
func (s *State) HeadAt(seq uint64) (hash string, known bool) {
	if seq > s.seq || seq < s.below || s.seq-seq >= recentHeads {
		return "", false
	}
	hash = s.heads[seq%recentHeads]
	return hash, hash != ""
}
