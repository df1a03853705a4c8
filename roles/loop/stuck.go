package loop

import (
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// stuck suspends a goal one of whose steps failed too often, or ended well
// without doing what it was started for.
//
// Two kinds of failures stop less. A coder's blocks its task and not the goal.
// A judgement that did not come says nothing about the work, so that only what
// needs it waits: the goal is suspended when nothing else is left to do. moved
// tells that this pass has said something that may make more work due.
func (h *keeper) stuck(g blackboard.Goal, moved bool) {
	var unjudged []blackboard.Activation
	for _, c := range contracts {
		if c.Role == message.Coder {
			continue
		}
		for want := range inOrder(wantedBy(h.s, g, c.Role, true)) {
			a, known := h.s.Activation(want.Key)
			if !known || a.Live() {
				continue
			}
			why := h.whyStuck(a)
			switch {
			case a.Class == message.EndUnjudged, why != "" && c.Role == message.CodeReviewer:
				unjudged = append(unjudged, a)
			case why != "":
				h.say(g.ID, string(g.ID), a.Ended.ID, message.CheckpointReached{
					Name:   "step-crashed",
					Reason: fmt.Sprintf("the %s on %s %s; see .orch/goals/%s/steps, then: orch goals retry %s", a.Role, a.Subject, why, g.ID, g.ID),
				})
				return
			}
		}
	}
	if len(unjudged) > 0 && !moved && !h.goesOn(g) {
		h.unjudged(g, unjudged)
	}
}

// whyStuck says why a step that ended is not tried again by itself; empty if it may be.
func (h *keeper) whyStuck(a blackboard.Activation) string {
	why := ""
	switch {
	case a.Crashes >= h.p.CrashLimit:
		why = fmt.Sprintf("failed %d times", a.Crashes)
	case a.Kills >= h.p.KillLimit:
		why = fmt.Sprintf("was ended from outside, or found nothing to do, %d times", a.Kills)
	case a.Class == message.EndDone:
		why = "ended well without saying anything"
	default:
		return ""
	}
	if a.Detail != "" {
		why += ", last with: " + a.Detail
	}
	return why
}

// goesOn tells whether anything of a goal runs, is awaited, or may be started
// now or later without a person.
func (h *keeper) goesOn(g blackboard.Goal) bool {
	if g.Running > 0 || Awaits(h.s, g, h.now) {
		return true
	}
	for _, c := range contracts {
		for a := range inOrder(wantedBy(h.s, g, c.Role, false)) {
			if _, ok := startable(h.s, h.p, a.Key); ok && affordable(h.s, h.p, a) && billed(h.s, h.p, a) && mayStart(h.s, h.p, a, h.now) {
				return true
			}
		}
	}
	return false
}

// toldUnjudged is how many judgements that did not come are told one by one.
const toldUnjudged = 3

// unjudged suspends a goal that only waits for judgements nobody gave.
func (h *keeper) unjudged(g blackboard.Goal, waiting []blackboard.Activation) {
	var told []string
	for _, a := range waiting[:min(len(waiting), toldUnjudged)] {
		why := h.whyStuck(a)
		if why == "" {
			why = a.Detail
		}
		told = append(told, fmt.Sprintf("the %s on %s: %s", a.Role, a.Subject, why))
	}
	if more := len(waiting) - len(told); more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	h.say(g.ID, string(g.ID), waiting[0].Ended.ID, message.CheckpointReached{
		Name: blackboard.CheckpointUnjudged,
		Reason: fmt.Sprintf("nothing is left to do but what was not judged: %s. The work stays as it is. See .orch/goals/%s/steps; put the judge right, or name another as its fallback in .orch/config.yaml, then: orch resume %s",
			strings.Join(told, "; "), g.ID, g.ID),
	})
}
