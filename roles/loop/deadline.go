package loop

import (
	"fmt"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// deadline ends a goal whose person said by when it must be done: past that
// moment no budget is left, whatever else is. What is being judged when it
// passes is judged to its end, since it was done in time.
func (h *keeper) deadline(g blackboard.Goal) bool {
	if g.Spec == nil || g.Spec.Constraints.Deadline == nil || g.GiveUp != nil {
		return false
	}
	by := *g.Spec.Constraints.Deadline
	if h.now.Before(by) || h.beingJudged(g) {
		return false
	}
	h.say(g.ID, string(g.ID), g.SpecRef.ID, message.GiveUp{Deadline: &by,
		Reason: fmt.Sprintf("the deadline %s has passed", by.UTC().Format(time.RFC3339))})
	return true
}

// beingJudged tells whether the goal as a whole is with the meta-validator or
// the controller.
func (h *keeper) beingJudged(g blackboard.Goal) bool {
	if n := len(g.Rounds); n > 0 && g.Rounds[n-1].Answer.Seq == 0 {
		return true
	}
	for _, a := range h.s.LiveActivations() {
		if a.Goal == g.ID && a.Role == message.MetaValidator {
			return true
		}
	}
	return false
}
