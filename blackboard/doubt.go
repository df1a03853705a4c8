package blackboard

import "orch/blackboard/message"

// doubt keeps for the goal the call of a task that was cut off before its end
// was said, if it can not be made again without harm. A call under the claim
// that holds now is under way.
func (x *tx) doubt(t *Task) {
	open := t.OpenCall
	if open == nil || open.Idempotent || t.Goal == "" || t.Status == Claimed && t.OpenFence == t.Fence {
		return
	}
	g := x.goals.edit(string(t.Goal))
	if g == nil || g.inDoubt(open.Call) {
		return
	}
	g.Doubts = appended(g.Doubts, Doubt{Task: t.ID, Call: open.Call, Tool: open.Tool, In: open.Input})
}

func (g *Goal) inDoubt(call message.CallID) bool {
	for _, d := range g.Doubts {
		if d.Call == call {
			return true
		}
	}
	return false
}
