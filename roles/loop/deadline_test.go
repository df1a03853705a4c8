package loop

import (
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// The moment a person named ends the goal, unless what was done in time is
// being judged.
func TestADeadlineEndsTheBudget(t *testing.T) {
	by := after(10_000)
	for name, c := range map[string]struct {
		atMS   int64
		change func(*board)
		want   string
	}{
		"before it":                 {9_999, nil, ""},
		"at it":                     {10_000, nil, "GiveUp/g"},
		"after it":                  {60_000, nil, "GiveUp/g"},
		"a step works on a task":    {60_000, func(b *board) { b.activations = append(b.activations, running(message.Executor, "a", living)) }, "GiveUp/g"},
		"the goal is being judged":  {60_000, func(b *board) { b.activations = append(b.activations, running(message.MetaValidator, "g", living)) }, ""},
		"the controller is asked":   {60_000, func(b *board) { b.goals[0].Rounds = []blackboard.Round{{Ref: ref("r", 9)}} }, ""},
		"it has been said":          {60_000, func(b *board) { b.goals[0].GiveUp = &message.GiveUp{Reason: "x"} }, ""},
		"a person is waited for":    {60_000, func(b *board) { b.goals[0].Status = blackboard.GoalSuspended }, ""},
		"the words name no moment":  {60_000, func(b *board) { b.goals[0].Spec.Constraints.Deadline = nil }, ""},
		"the words are not read":    {60_000, func(b *board) { b.goals[0].Spec = nil }, ""},
		"the goal has ended anyway": {60_000, func(b *board) { b.goals[0].Status = blackboard.GoalEnded }, ""},
	} {
		g := blackboard.Goal{ID: "g", Status: blackboard.GoalOpen, SpecRef: ref("spec", 2), Spec: &message.TaskSpec{Constraints: message.Constraints{Deadline: &by}}}
		b := &board{goals: []blackboard.Goal{g}}
		if c.change != nil {
			c.change(b)
		}
		if got := chores(t, b, testPolicy, c.atMS, 0); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
