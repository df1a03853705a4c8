package roles

import (
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Awaits tells whether a goal waits for something that is no step: a merge,
// which may take as long as the project's tests do, or the end of a lease that
// a process took with it. Such a goal stands still and is not stuck.
func Awaits(s Board, g blackboard.Goal, now time.Time) bool {
	for t := range s.PlanTasksIn(g, blackboard.Approved, blackboard.ReadyForReview, blackboard.Claimed) {
		switch t.Status {
		case blackboard.Approved:
			if t.For == message.Coder {
				return true
			}
		case blackboard.ReadyForReview:
			if t.Review.Reviewer != "" && t.Review.Lease.ExpiresAt.After(now) {
				return true
			}
		case blackboard.Claimed:
			if t.Lease.ExpiresAt.After(now) {
				return true
			}
		}
	}
	return false
}
