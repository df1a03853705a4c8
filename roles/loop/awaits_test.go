package loop

import (
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

func TestAGoalThatWaitsForAMergeOrALeaseIsNotStuck(t *testing.T) {
	lease := message.Lease{ExpiresAt: after(60_000)}
	reviewed := func(t *blackboard.Task) { t.Review.Reviewer, t.Review.Lease = "code-reviewer-1", lease }
	held := func(t *blackboard.Task) { t.Agent, t.Lease = "coder-1", lease }
	for name, c := range map[string]struct {
		task blackboard.Task
		ms   int64
		want bool
	}{
		"being merged":            {codeTask("t", blackboard.Approved), 0, true},
		"a review with its lease": {codeTask("t", blackboard.ReadyForReview, reviewed), 59_999, true},
		"a lapsed review":         {codeTask("t", blackboard.ReadyForReview, reviewed), 60_000, false},
		"a review nobody took":    {codeTask("t", blackboard.ReadyForReview), 0, false},
		"a claim with its lease":  {codeTask("t", blackboard.Claimed, held), 0, true},
		"a lapsed claim":          {codeTask("t", blackboard.Claimed, held), 60_000, false},
		"blocked":                 {codeTask("t", blackboard.Blocked), 0, false},
		"merged":                  {codeTask("t", blackboard.Merged), 0, false},
	} {
		b := codeBoard(c.task)
		if got := Awaits(b, b.goals[0], after(c.ms)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	if b := (&board{goals: []blackboard.Goal{planned("x")}, tasks: []blackboard.Task{task("x", blackboard.Approved)}}); Awaits(b, b.goals[0], t0) {
		t.Error("what no coder made is not merged")
	}
}

// The controller may ask a model what a person could do next.
func TestAGoalWhoseRoundIsBeingAnsweredIsNotStuck(t *testing.T) {
	g := planned("x")
	g.Rounds = []blackboard.Round{{Ref: ref("round", 20)}}
	b := &board{goals: []blackboard.Goal{g}}
	if !Awaits(b, g, g.Rounds[0].Ref.TS.Add(AdviceWait-1)) {
		t.Error("stuck while the controller may still answer")
	}
	if Awaits(b, g, g.Rounds[0].Ref.TS.Add(AdviceWait)) {
		t.Error("a controller that never answers is waited for without end")
	}
	g.Rounds[0].Answer = ref("answer", 21)
	if Awaits(b, g, g.Rounds[0].Ref.TS) {
		t.Error("an answered round is waited for")
	}
}
