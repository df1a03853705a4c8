package loop

import (
	"fmt"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// OutageOf is what there is to say of a step that no provider answered: since
// when that is so, and when it is tried again. The pauses double. The last try
// is made when the patience of the run ends, so that none of it is wasted.
func OutageOf(a blackboard.Activation, p Policy, accounts []string, reason string, now time.Time) message.Outage {
	o := message.Outage{Role: a.Role, Subject: a.Subject, Cause: a.Cause, Accounts: accounts, Reason: reason, Since: now, Try: 1}
	if before := a.Outage; before != nil {
		o.Since = before.Since
		if !before.Last.TS.Before(p.Began) {
			o.Try = before.Try + 1
		}
	}
	o.Until = now.Add(time.Duration(doubled(p.OutagePauseMS, p.BackoffMaxMS, o.Try)) * time.Millisecond)
	if end := p.patience(o.Since); now.Before(end) && end.Before(o.Until) {
		o.Until = end
	}
	return o
}

// patience is until when this run waits for providers that fail since then.
func (p Policy) patience(since time.Time) time.Time {
	return later(since, p.Began).Add(time.Duration(p.OutageMS) * time.Millisecond)
}

// nextTry is when a step is tried again that no provider answered; ok is false
// once the run has waited long enough. A new run tries at once.
func (p Policy) nextTry(o blackboard.Outage) (at time.Time, ok bool) {
	switch {
	case o.Last.TS.Before(p.Began):
		return time.Time{}, true
	case !o.Last.TS.Before(p.patience(o.Since)):
		return time.Time{}, false
	}
	return o.Until, true
}

// WaitsForProvider finds a step of a goal that waits because no provider
// answered it, if the goal does nothing else.
func WaitsForProvider(s Board, g blackboard.Goal) (blackboard.Activation, bool) {
	if g.Status != blackboard.GoalOpen || g.Running > 0 {
		return blackboard.Activation{}, false
	}
	for _, c := range contracts {
		for want := range inOrder(wantedBy(s, g, c.Role, true)) {
			if a, known := s.Activation(want.Key); known && unanswered(a) {
				return a, true
			}
		}
	}
	return blackboard.Activation{}, false
}

// unanswered tells whether the last thing known of a step is that no provider
// answered it.
func unanswered(a blackboard.Activation) bool { return !a.Live() && a.Outage != nil }

// outage suspends a goal that has waited long enough for providers that fail,
// once nothing else of it goes on.
func (h *keeper) outage(g blackboard.Goal) bool {
	a, waits := WaitsForProvider(h.s, g)
	if !waits || h.goesOn(g) {
		return false
	}
	h.say(g.ID, string(g.ID), a.Ended.ID, GaveUpWaiting(g, a, h.now, "waited long enough"))
	return true
}

// GaveUpWaiting suspends a goal whose step no provider answers, and says what a
// person can do.
func GaveUpWaiting(g blackboard.Goal, a blackboard.Activation, now time.Time, why string) message.CheckpointReached {
	return message.CheckpointReached{Name: blackboard.CheckpointOutage, Reason: fmt.Sprintf(
		"%s: no answer to the %s from %s for %s: %s. No attempt and no replan was spent on it. When it answers again: orch run --continue %s (with --wait it waits longer); or name a fallback under models in .orch/config.yaml",
		why, a.Role, strings.Join(a.Outage.Accounts, ", "), now.Sub(a.Outage.Since).Round(time.Second), strings.TrimSuffix(a.Outage.Reason, "."), g.ID)}
}
