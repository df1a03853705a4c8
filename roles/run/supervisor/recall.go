package supervisor

import (
	"orch/blackboard"
	"orch/blackboard/message"
)

// recall ends the steps of coders whose claim ended because what they had
// submitted is judged again as it is. Such a step may say nothing for long, and
// the merge would wait for it.
func (s *Supervisor) recall(st *blackboard.State) {
	for _, r := range s.live {
		if r.key.Role != message.Coder {
			continue
		}
		t, ok := st.Task(message.TaskID(r.key.Subject))
		if ok && t.Status != blackboard.Claimed && t.Review.Recalled == t.Fence && t.Fence > 0 {
			r.stop()
		}
	}
}
