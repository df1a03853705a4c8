package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

func due(b *board) string {
	var out []string
	for _, a := range Due(b, testPolicy, after(3_600_000)) {
		out = append(out, fmt.Sprintf("%s/%s/%s", a.Key.Role, a.Key.Subject, a.Key.Cause))
	}
	return strings.Join(out, " ")
}

func TestDueFollowsTheGoal(t *testing.T) {
	fresh := blackboard.Goal{ID: "g", Status: blackboard.GoalOpen, InputRef: ref("input", 1)}
	edit := func(g blackboard.Goal, f func(*blackboard.Goal)) blackboard.Goal { f(&g); return g }
	for name, c := range map[string]struct {
		goal blackboard.Goal
		want string
	}{
		"a new goal is perceived": {fresh, "perceiver/g/input"},
		"an open question waits": {edit(fresh, func(g *blackboard.Goal) {
			g.Clarify = blackboard.Clarification{Round: 1, Asked: ref("q", 2)}
		}), ""},
		"an answer is perceived": {edit(fresh, func(g *blackboard.Goal) {
			g.Clarify = blackboard.Clarification{Round: 1, Asked: ref("q", 2), Answered: ref("a", 3)}
		}), "perceiver/g/a"},
		"the memory is asked first": {perceived(), "planner/g/spec"},
		"the memory's answer is waited for": {edit(perceived(), func(g *blackboard.Goal) {
			g.Calibration = blackboard.Calibration{Cause: "spec", Query: &message.MemoryQuery{}, Asked: ref("asked", 3)}
		}), ""},
		"then the plan is made": {edit(perceived(), func(g *blackboard.Goal) {
			g.Calibration = blackboard.Calibration{Cause: "spec", Reply: ref("reply", 4)}
		}), "planner/g/reply"},
		"a refused plan is made again": {edit(perceived(), func(g *blackboard.Goal) {
			g.Calibration = blackboard.Calibration{Cause: "spec", Reply: ref("reply", 4)}
			g.PlanCause, g.PlanRejected = ref("refused", 6), []message.PlanRejected{{Attempt: 1}}
		}), "planner/g/refused"},
		"a directive asks the memory again": {edit(planned("a"), func(g *blackboard.Goal) {
			g.PlanCause, g.RoundCause = ref("directive", 30), ref("directive", 30)
		}), "planner/g/directive"},
		"a suspended goal waits": {edit(fresh, func(g *blackboard.Goal) { g.Status = blackboard.GoalSuspended }), ""},
		"an ended goal is over":  {edit(fresh, func(g *blackboard.Goal) { g.Status = blackboard.GoalEnded }), ""},
	} {
		b := &board{goals: []blackboard.Goal{c.goal}, tasks: []blackboard.Task{task("a", blackboard.Approved)}}
		if got := due(b); got != c.want {
			t.Errorf("%s: due %q, want %q", name, got, c.want)
		}
	}
}

func TestDueFollowsTheTasks(t *testing.T) {
	reviewed := task("a", blackboard.ReadyForReview)
	reviewed.Attempt, reviewed.ResultRef = 1, ref("result-1", 12)
	rejected := reviewed
	rejected.Status, rejected.Correction = blackboard.Rejected, &message.CorrectionSignal{FailedCriterion: "it runs"}
	second := task("b", blackboard.Unclaimed)
	second.Sequence = 2
	for name, c := range map[string]struct {
		tasks []blackboard.Task
		fanIn bool
		want  string
	}{
		"claimable":                  {[]blackboard.Task{task("a", blackboard.Unclaimed)}, false, "executor/a/made-a"},
		"claimed":                    {[]blackboard.Task{task("a", blackboard.Claimed)}, false, ""},
		"in review":                  {[]blackboard.Task{reviewed}, false, "agent-validator/a/result-1"},
		"rejected":                   {[]blackboard.Task{rejected}, false, "executor/a/result-1"},
		"all approved":               {[]blackboard.Task{task("a", blackboard.Approved), task("b", blackboard.Merged)}, true, "meta-validator/g/manifest"},
		"one failed, one runs":       {[]blackboard.Task{task("a", blackboard.Blocked), task("b", blackboard.Claimed)}, false, ""},
		"a failure stops what waits": {[]blackboard.Task{task("a", blackboard.Blocked), second}, true, "meta-validator/g/manifest"},
	} {
		var ids []message.TaskID
		for _, x := range c.tasks {
			ids = append(ids, x.ID)
		}
		b := &board{goals: []blackboard.Goal{planned(ids...)}, tasks: c.tasks, fanIn: c.fanIn, unclaimable: map[message.TaskID]bool{}}
		b.unclaimable["b"] = c.tasks[0].Status != blackboard.Approved
		if got := due(b); got != c.want {
			t.Errorf("%s: due %q, want %q", name, got, c.want)
		}
	}
}

func TestAttemptKeepsItsActivationWhenAClaimIsLost(t *testing.T) {
	before := task("a", blackboard.Unclaimed)
	released := before
	released.Changed, released.Fence, released.Expired = ref("released", 40), 3, 1
	b1 := &board{goals: []blackboard.Goal{planned("a")}, tasks: []blackboard.Task{before}}
	b2 := &board{goals: []blackboard.Goal{planned("a")}, tasks: []blackboard.Task{released}}
	if due(b1) != due(b2) {
		t.Errorf("crashes of one attempt would be counted apart: %q and %q", due(b1), due(b2))
	}
}

func TestNoRoundIsMeasuredTwice(t *testing.T) {
	for name, r := range map[string]blackboard.Round{
		"unanswered": {Request: &message.ReplanRequest{PlanID: "p1"}},
		"answered":   {Summary: &message.OutcomeSummary{PlanID: "p1"}, Answer: ref("x", 50)},
	} {
		g := planned("a")
		g.Rounds = []blackboard.Round{r}
		b := &board{goals: []blackboard.Goal{g}, fanIn: true, tasks: []blackboard.Task{task("a", blackboard.Approved)}}
		if got := due(b); got != "" {
			t.Errorf("%s: due %q", name, got)
		}
	}
}

func TestNothingIsDueUnderABrake(t *testing.T) {
	at := ref("brake", 3)
	for name, brakes := range map[string]blackboard.Brakes{"paused": {Paused: &at}, "checkpoint": {Checkpoint: &at}} {
		b := &board{goals: []blackboard.Goal{perceived()}, brakes: brakes}
		if got := due(b); got != "" {
			t.Errorf("%s: due %q", name, got)
		}
		if _, ok := Find(b, message.Planner, "g"); ok {
			t.Errorf("%s: a step was found", name)
		}
	}
}

func TestTriesAreBoundedAndSpaced(t *testing.T) {
	key := blackboard.ActivationKey{Role: message.Planner, Subject: "g", Cause: "spec"}
	for name, c := range map[string]struct {
		last   blackboard.Activation
		due    bool
		waitMS int64
	}{
		"live":                      {blackboard.Activation{ActivationKey: key, Started: ref("s", 20)}, false, 0},
		"done":                      {was(key, message.EndDone, 0, 0), false, 0},
		"asked to be started again": {was(key, message.EndAgain, 0, 0), true, 2_000},
		"found nothing to do":       {was(key, message.EndMoved, 0, 1), true, 2_000},
		"and so too often":          {was(key, message.EndMoved, 0, 5), false, 0},
		"one crash":                 {was(key, message.EndCrash, 1, 0), true, 5_000},
		"two crashes":               {was(key, message.EndTimeout, 2, 0), true, 10_000},
		"too many crashes":          {was(key, message.EndCrash, 3, 0), false, 0},
		"interrupted":               {was(key, message.EndInterrupted, 0, 0), true, 0},
		"killed":                    {was(key, message.EndKilled, 0, 3), true, 0},
		"killed again and again":    {was(key, message.EndKilled, 0, 4), true, 5_000},
		"lost":                      {was(key, message.EndLost, 0, 1), true, 0},
		"killed too often":          {was(key, message.EndKilled, 0, 5), false, 0},
	} {
		b := &board{goals: []blackboard.Goal{perceived()}, activations: []blackboard.Activation{c.last}}
		got := Due(b, testPolicy, t0)
		if (len(got) == 1) != c.due {
			t.Errorf("%s: due %v, want %v", name, got, c.due)
			continue
		}
		if c.due && got[0].NotBefore.Sub(t0) != time.Duration(c.waitMS)*time.Millisecond {
			t.Errorf("%s: not before %s, want %d ms", name, got[0].NotBefore.Sub(t0), c.waitMS)
		}
		if IsDue(b, testPolicy, after(c.waitMS), key) != c.due {
			t.Errorf("%s: IsDue is not %v when its time has come", name, c.due)
		}
		if c.waitMS > 0 && IsDue(b, testPolicy, after(c.waitMS-1), key) {
			t.Errorf("%s: due before its time", name)
		}
	}
}

func TestBackoffIsBounded(t *testing.T) {
	a := was(blackboard.ActivationKey{}, message.EndCrash, 1_000, 0)
	if got := waitMS(a, testPolicy); got != testPolicy.BackoffMaxMS {
		t.Errorf("wait %d ms, want %d", got, testPolicy.BackoffMaxMS)
	}
}

func TestDueIsOrderedByRolePriorityAndAge(t *testing.T) {
	urgent := task("urgent", blackboard.Unclaimed)
	urgent.Priority, urgent.Created.Seq = 1, 90
	old, young := task("old", blackboard.Unclaimed), task("young", blackboard.Unclaimed)
	old.Created.Seq, young.Created.Seq = 6, 7
	review := task("review", blackboard.ReadyForReview)
	review.ResultRef = ref("r", 80)
	other := blackboard.Goal{ID: "h", Status: blackboard.GoalOpen, InputRef: ref("input-h", 95)}
	b := &board{
		goals: []blackboard.Goal{planned("young", "old", "urgent", "review"), other},
		tasks: []blackboard.Task{young, old, urgent, review},
	}
	want := "perceiver/h/input-h agent-validator/review/r executor/urgent/made-urgent executor/old/made-old executor/young/made-young"
	if got := due(b); got != want {
		t.Errorf("due\n %s, want\n %s", got, want)
	}
	slices.Reverse(b.goals)
	slices.Reverse(b.tasks)
	if got := due(b); got != want {
		t.Errorf("the order depends on the order of the board: %s", got)
	}
}
