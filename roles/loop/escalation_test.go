package loop

import (
	"strings"
	"testing"

	"orch/blackboard"
)

func TestEscalationSaysWhatWaitsAndWhatToDo(t *testing.T) {
	set := ref("set", 5)
	young := &board{brakes: blackboard.Brakes{Checkpoint: &set, Reason: "look"}, goals: []blackboard.Goal{
		{ID: "open", Status: blackboard.GoalOpen},
		{ID: "waits", Status: blackboard.GoalSuspended, Suspended: &blackboard.Suspension{Why: blackboard.WhyCheckpoint, Since: set}}}}
	if got := Escalation(young); got != "" {
		t.Errorf("before anything was escalated:\n%s", got)
	}
	b := &board{brakes: blackboard.Brakes{Checkpoint: &set, Reason: "by hand: look", Level: 1}}
	b.goals = []blackboard.Goal{
		{ID: "first", Status: blackboard.GoalSuspended, Suspended: &blackboard.Suspension{
			Why: blackboard.WhyCrash, Detail: "the planner\nfailed\x1b[2J 3 times", Command: "orch goals retry first", Since: ref("crash", 9), Level: 3}},
		{ID: "quiet", Status: blackboard.GoalSuspended, Suspended: &blackboard.Suspension{Why: blackboard.WhyPause, Detail: "p", Command: "orch resume"}},
		{ID: "ended", Status: blackboard.GoalEnded, Suspended: &blackboard.Suspension{Why: blackboard.WhyCheckpoint, Level: 2, Since: set}},
	}
	want := `orch waits for a person. This file goes away once nothing here waits any more.

the board
  since  2026-01-02T03:04:05Z
  told   1 of 3 times
  why    by hand: look
  next   orch resume

goal first
  since  2026-01-02T03:04:05Z
  told   3 of 3 times
  why    crash: the planner failed [2J 3 times
  next   orch goals retry first
`
	if got := Escalation(b); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.brakes = blackboard.Brakes{}
	if got := Escalation(b); strings.Contains(got, "the board") || !strings.Contains(got, "goal first") {
		t.Errorf("after the board's checkpoint was lifted:\n%s", got)
	}
	b.goals[0].Suspended.Detail = strings.Repeat("long ", 10_000)
	if got := Escalation(b); len(got) > 2*maxReasonRunes || !strings.Contains(got, "…\n  next   orch goals retry first") {
		t.Errorf("a long reason is not cut: %d bytes", len(got))
	}
}
