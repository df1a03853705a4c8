package loop

import (
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// reviewed is a board on which the review of task a ended in a way.
func reviewedBoard(class string, crashes int, others ...blackboard.Task) *board {
	a := codeTask("a", blackboard.ReadyForReview, by("coder-1"), func(t *blackboard.Task) { t.ResultRef, t.Review.Fence = ref("result", 20), 1 })
	b := codeBoard(append([]blackboard.Task{a}, others...)...)
	key := blackboard.ActivationKey{Role: message.CodeReviewer, Subject: "a", Cause: "result"}
	past := was(key, class, crashes, 0)
	past.Detail = "a verdict that can not be read"
	b.activations = append(b.activations, past)
	return b
}

// A reviewer that fails stops no other work. When nothing else is left, the goal
// waits for a person, and the work is neither rejected nor blocked.
func TestAReviewThatNobodyJudgedHoldsNobodyUp(t *testing.T) {
	other := func(id message.TaskID, st blackboard.Status, change ...func(*blackboard.Task)) []blackboard.Task {
		return []blackboard.Task{codeTask(id, st, change...)}
	}
	for name, c := range map[string]struct {
		class   string
		crashes int
		others  []blackboard.Task
		running int
		waits   bool
	}{
		"nothing else":                {class: message.EndUnjudged, waits: true},
		"nothing else, it crashed":    {class: message.EndCrash, crashes: 3, waits: true},
		"a task to claim":             {class: message.EndUnjudged, others: other("b", blackboard.Unclaimed)},
		"a task to claim, it crashed": {class: message.EndCrash, crashes: 3, others: other("b", blackboard.Unclaimed)},
		"a task to correct":           {class: message.EndUnjudged, others: other("b", blackboard.Rejected, by("coder-2"))},
		"another review":              {class: message.EndUnjudged, others: other("b", blackboard.ReadyForReview, by("coder-2"))},
		"a merge":                     {class: message.EndUnjudged, others: other("b", blackboard.Approved, by("coder-2"))},
		"a task for the planner":      {class: message.EndUnjudged, others: other("b", blackboard.Blocked, by("coder-2"), stuckOn("coder-2"))},
		"a step that runs":            {class: message.EndUnjudged, running: 1},
		"what was merged":             {class: message.EndUnjudged, others: other("b", blackboard.Merged, by("coder-2")), waits: true},
	} {
		b := reviewedBoard(c.class, c.crashes, c.others...)
		b.goals[0].Running = c.running
		var said []string
		for _, m := range Housekeeping(b, testPolicy, looking(func(message.Process) bool { return true }), after(3_600_000), 0) {
			held, ok := m.Body.(message.CheckpointReached)
			if !ok || held.Name != blackboard.CheckpointUnjudged || !strings.Contains(held.Reason, "can not be read") || !strings.Contains(held.Reason, "orch resume") {
				t.Errorf("%s: said %+v", name, m.Body)
			}
			said = append(said, held.Name)
		}
		if (len(said) == 1) != c.waits {
			t.Errorf("%s: said %q, waits: %v", name, said, c.waits)
		}
		if c.class == message.EndUnjudged && strings.Contains(dueAs(b, testPolicy), "a:") {
			t.Errorf("%s: it is asked again by itself", name)
		}
	}
}
