package loop

import (
	"time"

	"orch/blackboard"
)

// ActiveMS is the time in which work was done on a goal up to now: no pauses,
// no waits for a person, no downtime, no sleep of the machine.
func ActiveMS(g blackboard.Goal, now time.Time) int64 {
	if g.Running == 0 || g.LastActive.IsZero() {
		return g.ActiveMS
	}
	return g.ActiveMS + min(max(0, now.Sub(g.LastActive).Milliseconds()), blackboard.ActiveGapMS)
}
