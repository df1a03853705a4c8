package loop

import (
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// AdviceWait bounds how long the controller lets a result wait for a model's
// next moves.
const AdviceWait = 2 * time.Minute

// Awaits tells whether a goal waits for something that is no step: a merge,
// which may take as long as the project's tests do, the end of a lease that a
// process took with it, or the controller. Such a goal stands still and is not stuck.
func Awaits(s Board, g blackboard.Goal, now time.Time) bool {
	if n := len(g.Rounds); n > 0 && g.Rounds[n-1].Answer.ID == "" && now.Sub(g.Rounds[n-1].Ref.TS) < AdviceWait {
		return true
	}
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
