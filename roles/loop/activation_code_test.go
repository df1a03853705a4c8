package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// codeBoard is a board with one coding goal whose plan has the tasks.
func codeBoard(tasks ...blackboard.Task) *board {
	var ids []message.TaskID
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	g := planned(ids...)
	g.Input.Profile = "code"
	return &board{goals: []blackboard.Goal{g}, tasks: tasks}
}

func codeTask(id message.TaskID, st blackboard.Status, change ...func(*blackboard.Task)) blackboard.Task {
	t := task(id, st)
	t.For, t.Offered, t.Changed = message.Coder, ref("offered-"+message.ID(id), 10), ref("changed-"+message.ID(id), 11)
	for _, f := range change {
		f(&t)
	}
	return t
}

func by(agent message.AgentID) func(*blackboard.Task) {
	return func(t *blackboard.Task) { t.Agent, t.Fence = agent, 1 }
}

func made(seq uint64) func(*blackboard.Task) { return func(t *blackboard.Task) { t.Created.Seq = seq } }

func prio(n int) func(*blackboard.Task) { return func(t *blackboard.Task) { t.Priority = n } }

func stuckOn(agents ...message.AgentID) func(*blackboard.Task) {
	return func(t *blackboard.Task) { t.Review.FailedBy, t.BlockedReason = agents, "no spec" }
}

func busy(agent message.AgentID, role message.Role) blackboard.Activation {
	return blackboard.Activation{ActivationKey: blackboard.ActivationKey{Role: role, Subject: "else", Cause: message.ID(agent)}, Agent: agent, Started: ref("s", 1)}
}

func dueAs(b *board, p Policy) string {
	var out []string
	for _, a := range Due(b, p, after(3_600_000)) {
		out = append(out, fmt.Sprintf("%s:%s", a.Key.Subject, cmpAgent(a)))
	}
	return strings.Join(out, " ")
}

func cmpAgent(a Activation) string {
	if a.Agent != "" {
		return string(a.Agent)
	}
	return string(a.Key.Role)
}

func TestWhoTakesWhichCodingTask(t *testing.T) {
	limited := func(coders, reviewers int) Policy {
		p := testPolicy
		p.Code.Coders, p.Code.Reviewers = coders, reviewers
		return p
	}
	failedMerge := func(n int) func(*blackboard.Task) {
		return func(t *blackboard.Task) { t.Review.IntegrationN = n }
	}
	for name, c := range map[string]struct {
		tasks []blackboard.Task
		live  []blackboard.Activation
		p     Policy
		want  string
	}{
		"each its own coder":            {tasks: []blackboard.Task{codeTask("a", blackboard.Unclaimed), codeTask("b", blackboard.Unclaimed)}, want: "a:coder-1 b:coder-2"},
		"by priority, then age":         {tasks: []blackboard.Task{codeTask("a", blackboard.Unclaimed, made(9)), codeTask("b", blackboard.Unclaimed, made(6)), codeTask("c", blackboard.Unclaimed, prio(1), made(12))}, want: "c:coder-1 b:coder-2 a:coder-3"},
		"no more coders than allowed":   {tasks: []blackboard.Task{codeTask("a", blackboard.Unclaimed), codeTask("b", blackboard.Unclaimed)}, p: limited(1, 0), want: "a:coder-1"},
		"those at work count":           {tasks: []blackboard.Task{codeTask("a", blackboard.Unclaimed)}, live: []blackboard.Activation{busy("coder-7", message.Coder)}, p: limited(1, 0), want: ""},
		"reviewers have their own":      {tasks: []blackboard.Task{codeTask("a", blackboard.ReadyForReview), codeTask("b", blackboard.ReadyForReview), codeTask("c", blackboard.Unclaimed)}, p: limited(1, 1), want: "a:code-reviewer-1 c:coder-1"},
		"rejected goes to its coder":    {tasks: []blackboard.Task{codeTask("a", blackboard.Rejected, by("coder-3"))}, want: "a:coder-3"},
		"and waits for it":              {tasks: []blackboard.Task{codeTask("a", blackboard.Rejected, by("coder-3"))}, live: []blackboard.Activation{busy("coder-3", message.Coder)}, want: ""},
		"begun work comes first":        {tasks: []blackboard.Task{codeTask("a", blackboard.Unclaimed, prio(1)), codeTask("b", blackboard.Rejected, by("coder-1"))}, want: "b:coder-1 a:coder-2"},
		"a conflict: its coder":         {tasks: []blackboard.Task{codeTask("a", blackboard.IntegrationFailed, by("coder-2"), failedMerge(1))}, want: "a:coder-2"},
		"a conflict: or any":            {tasks: []blackboard.Task{codeTask("a", blackboard.IntegrationFailed, by("coder-2"), failedMerge(1))}, live: []blackboard.Activation{busy("coder-2", message.Coder)}, want: "a:coder-1"},
		"a second conflict: planner":    {tasks: []blackboard.Task{codeTask("a", blackboard.IntegrationFailed, by("coder-2"), failedMerge(2))}, want: "a:planner"},
		"unblocked: another coder":      {tasks: []blackboard.Task{codeTask("a", blackboard.Unclaimed, by("coder-1"), stuckOn("coder-1"))}, want: "a:coder-2"},
		"even with one coder at a time": {tasks: []blackboard.Task{codeTask("a", blackboard.Unclaimed, by("coder-1"), stuckOn("coder-1"))}, p: limited(1, 0), want: "a:coder-2"},
		"a person's claim is no coder":  {tasks: []blackboard.Task{codeTask("a", blackboard.Rejected, by("human-1"))}, want: "a:coder-1"},
		"approved waits for the merge":  {tasks: []blackboard.Task{codeTask("a", blackboard.Approved, by("coder-1"))}, want: ""},
	} {
		p := c.p
		if p.CrashLimit == 0 {
			p = testPolicy
		}
		b := codeBoard(c.tasks...)
		b.activations = c.live
		if got := dueAs(b, p); got != c.want {
			t.Errorf("%s: due %q, want %q", name, got, c.want)
		}
	}
}

// A goal that nobody serves takes no coder from the one that is served here.
func TestAnotherGoalIsNotInTheWay(t *testing.T) {
	other, own := codeTask("a", blackboard.Unclaimed), codeTask("b", blackboard.Unclaimed)
	other.Goal = "other"
	b := codeBoard(own)
	older := codeBoard(other)
	older.goals[0].ID = other.Goal
	b.goals, b.tasks = append(older.goals, b.goals...), append(older.tasks, b.tasks...)
	p := testPolicy
	p.Code.Coders = 1
	if got := dueAs(b, p); got != "a:coder-1" {
		t.Errorf("for all goals %q is due, want the oldest", got)
	}
	p.Goal = own.Goal
	if got := dueAs(b, p); got != "b:coder-1" {
		t.Errorf("for its own goal %q is due", got)
	}
}

func TestAReviewIsClaimableWhenUnsetOrLapsed(t *testing.T) {
	lease := func(ms int64) message.Lease { return message.Lease{Boot: "boot", AwakeMS: ms, ExpiresAt: after(ms)} }
	for name, c := range map[string]struct {
		reviewer message.AgentID
		lease    message.Lease
		want     bool
	}{
		"nobody reviews it":      {"", message.Lease{}, true},
		"the lease is past":      {"code-reviewer-1", lease(1_000), true},
		"the lease is live":      {"code-reviewer-1", lease(9_000_000), false},
		"it ends at this moment": {"code-reviewer-1", lease(3_600_000), true},
	} {
		b := codeBoard(codeTask("a", blackboard.ReadyForReview, func(t *blackboard.Task) {
			t.ResultRef, t.Review.Reviewer, t.Review.Lease = ref("submitted", 12), c.reviewer, c.lease
		}))
		if got := due(b) == "code-reviewer/a/submitted"; got != c.want {
			t.Errorf("%s: due %q", name, due(b))
		}
		key := blackboard.ActivationKey{Role: message.CodeReviewer, Subject: "a", Cause: "submitted"}
		if got := IsDue(b, testPolicy, after(3_600_000), key); got != c.want {
			t.Errorf("%s: IsDue %v", name, got)
		}
	}
}

func TestCauseOfAnIterationOutlivesALostClaim(t *testing.T) {
	a := codeTask("a", blackboard.Unclaimed, by("coder-1"))
	key := blackboard.ActivationKey{Role: message.Coder, Subject: "a", Cause: a.Offered.ID}
	a.Changed = ref("released", 40)
	b := codeBoard(a)
	b.activations = []blackboard.Activation{was(key, message.EndCrash, testPolicy.CrashLimit, 0)}
	if got := due(b); got != "" {
		t.Errorf("an iteration that failed too often is due: %q", got)
	}
}

func TestLimitsOfACoder(t *testing.T) {
	p := testPolicy
	p.Code.MaxIterations, p.Code.ReviewCycles = 10, 5
	review := func(iterations, cycles int) func(*blackboard.Task) {
		return func(t *blackboard.Task) {
			t.Agent, t.Fence, t.Review.Iterations, t.Review.Cycles = "coder-1", 1, iterations, cycles
			t.Review.Pending = []message.Blocker{{File: "a.go", Line: 1, Defect: "d1"}, {File: "a.go", Line: 2, Defect: "d2"},
				{File: "a.go", Line: 3, Defect: "d3"}, {File: "a.go", Line: 4, Defect: "d4"}}
		}
	}
	held := func(t *blackboard.Task) { t.Agent, t.Fence = "coder-1", 1 }
	for name, c := range map[string]struct {
		task      blackboard.Task
		key       func(*blackboard.Activation)
		kind      string
		questions int
	}{
		"nine iterations":        {codeTask("a", blackboard.Rejected, review(9, 4)), nil, "", 0},
		"ten iterations":         {codeTask("a", blackboard.Unclaimed, review(10, 0)), nil, message.BlockedIterations, 1},
		"five cycles":            {codeTask("a", blackboard.Rejected, review(5, 5)), nil, message.BlockedDeadlock, 3},
		"cycles of another time": {codeTask("a", blackboard.Unclaimed, review(5, 5)), nil, "", 0},
		"it is at work":          {codeTask("a", blackboard.Claimed, review(10, 5)), nil, "", 0},
		"it crashes":             {codeTask("a", blackboard.Unclaimed, held), func(a *blackboard.Activation) { a.Class, a.Crashes = message.EndCrash, 3 }, message.BlockedEnvironment, 1},
		"it crashed once":        {codeTask("a", blackboard.Unclaimed, held), func(a *blackboard.Activation) { a.Class, a.Crashes = message.EndCrash, 1 }, "", 0},
		"it says nothing":        {codeTask("a", blackboard.Unclaimed, held), func(a *blackboard.Activation) { a.Class = message.EndDone }, message.BlockedEnvironment, 1},
	} {
		b := codeBoard(c.task)
		if c.key != nil {
			a := was(blackboard.ActivationKey{Role: message.Coder, Subject: "a", Cause: c.task.Offered.ID}, "", 0, 0)
			c.key(&a)
			b.activations = []blackboard.Activation{a}
		}
		var got *message.Blocked
		for _, m := range Housekeeping(b, p, looking(nobody), after(3_600_000), 0) {
			if body, ok := m.Body.(message.Blocked); ok {
				got = &body
				if err := body.Validate(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if err := message.Route(m.Type(), message.DoorProcess, m.From, m.To); err != nil {
					t.Error(err)
				}
			} else if _, suspends := m.Body.(message.CheckpointReached); suspends {
				t.Errorf("%s: the goal is suspended for one task", name)
			}
		}
		switch {
		case c.kind == "" && got != nil:
			t.Errorf("%s: blocked: %+v", name, got)
		case c.kind != "" && (got == nil || got.Kind != c.kind || len(got.BlockedQuestions) != c.questions):
			t.Errorf("%s: got %+v, want %s with %d questions", name, got, c.kind, c.questions)
		case c.kind != "" && dueAs(b, p) != "":
			t.Errorf("%s: due all the same: %s", name, dueAs(b, p))
		}
	}
}

func nobody(message.Process) bool { return false }

func TestPlannerWakesByPriorityThenAge(t *testing.T) {
	raised := func(g *blackboard.Goal, id message.ID, seq uint64, kind, urgency string, about message.TaskID) {
		g.Raised = append(g.Raised, blackboard.Raised{Ref: ref(id, seq), Kind: kind, Urgency: urgency, Task: about, What: "w"})
	}
	b := codeBoard(
		codeTask("old", blackboard.Blocked, stuckOn("coder-1"), made(5)),
		codeTask("new", blackboard.Blocked, stuckOn("coder-1", "coder-2"), made(7)),
		codeTask("urgent", blackboard.IntegrationFailed, prio(3), func(t *blackboard.Task) { t.Review.IntegrationN = 2 }),
		codeTask("once", blackboard.IntegrationFailed, prio(1), func(t *blackboard.Task) { t.Review.IntegrationN = 1 }),
		codeTask("fine", blackboard.Merged, prio(2)),
	)
	g := &b.goals[0]
	raised(g, "later", 50, blackboard.RaisedDiscovery, message.Deferred, "")
	raised(g, "now", 6, blackboard.RaisedDiscovery, message.Immediate, "")
	raised(g, "unclear", 51, message.SystemAmbiguity, message.Immediate, "fine")
	var got []string
	for _, w := range Wakes(b, *g) {
		got = append(got, w.Kind+"/"+w.Subject)
	}
	want := []string{"system_ambiguity/g", "integration_failure/urgent", "blocked/old", "immediate_discovery/g", "hypothesis_exhaustion/new"}
	if !slices.Equal(got, want) {
		t.Errorf("wakes %v, want %v", got, want)
	}

	planners := func() (out []string) {
		for _, a := range Due(b, testPolicy, after(3_600_000)) {
			if a.Key.Role == message.Planner {
				out = append(out, a.Key.Subject+"/"+string(a.Key.Cause))
				if w, ok := WakeFor(b, *g, a.Key); !ok || w.Cause.ID != a.Key.Cause {
					t.Errorf("no wake for %v", a.Key)
				}
			}
		}
		return out
	}
	if got := planners(); !slices.Equal(got, []string{"g/unclear"}) {
		t.Errorf("due %v: one at a time", got)
	}
	// While one is answered nothing else is, also if it has become more urgent.
	b.activations = []blackboard.Activation{{ActivationKey: blackboard.ActivationKey{Role: message.Planner, Subject: "old", Cause: "changed-old"}, Agent: "planner-1", Started: ref("s", 60)}}
	if got := planners(); len(got) != 0 {
		t.Errorf("due %v while one is answered", got)
	}
	b.activations = nil
	g.Raised[2].Answer = ref("answer", 70)
	if got := planners(); !slices.Equal(got, []string{"urgent/offered-urgent"}) {
		t.Errorf("then %v", got)
	}
	g.PlanCause, g.RoundCause = ref("directive", 80), ref("directive", 80)
	if got := Wakes(b, *g); got != nil {
		t.Errorf("a new plan is made, and %v", got)
	}
}

func TestPlannerSleepsOtherwise(t *testing.T) {
	for _, st := range []blackboard.Status{blackboard.Unclaimed, blackboard.Claimed, blackboard.ReadyForReview, blackboard.Rejected,
		blackboard.Approved, blackboard.Merged, blackboard.Superseded, blackboard.Abandoned} {
		b := codeBoard(codeTask("a", st, by("coder-1")))
		for _, a := range Due(b, testPolicy, after(3_600_000)) {
			if a.Key.Role == message.Planner {
				t.Errorf("%s wakes the planner", st)
			}
		}
	}
	b := codeBoard(codeTask("a", blackboard.Blocked, stuckOn("coder-1")))
	b.goals[0].Input.Profile = "task"
	if got := Wakes(b, b.goals[0]); got != nil {
		t.Errorf("another profile: %v", got)
	}
}

func TestPlanIsLookedAtBeforeItIsWorkedOn(t *testing.T) {
	p := testPolicy
	p.Code.PlanReview = "human"
	b := codeBoard(codeTask("a", blackboard.Unclaimed))
	if got := dueAs(b, p); got != "" {
		t.Errorf("due before anybody looked: %s", got)
	}
	said := Housekeeping(b, p, looking(nobody), after(0), 0)
	if len(said) != 1 || said[0].Body.(message.CheckpointReached).Name != blackboard.CheckpointPlanReview || said[0].Goal != "g" {
		t.Fatalf("said %+v", said)
	}
	b.goals[0].Reviewed = b.goals[0].PlanRef.ID
	if got := dueAs(b, p); got != "a:coder-1" {
		t.Errorf("due %q", got)
	}
	if said := Housekeeping(b, p, looking(nobody), after(0), 0); len(said) != 0 {
		t.Errorf("said again: %+v", said)
	}
}

func TestMergeOrder(t *testing.T) {
	at := func(seq uint64) func(*blackboard.Task) {
		return func(t *blackboard.Task) { t.OutcomeRef = ref("verdict", seq) }
	}
	begun := func(t *blackboard.Task) { t.Review.Merge = &message.MergeStarting{} }
	executors := task("no-coder", blackboard.Approved)
	b := codeBoard(codeTask("second", blackboard.Approved, at(30), prio(1)), codeTask("first", blackboard.Approved, at(20)),
		codeTask("begun", blackboard.Approved, at(40), begun), codeTask("merged", blackboard.Merged, at(1)), executors)
	var got []message.TaskID
	for _, t := range MergeDue(b) {
		got = append(got, t.ID)
	}
	if !slices.Equal(got, []message.TaskID{"begun", "first", "second"}) {
		t.Errorf("order %v", got)
	}
	b.goals[0].Status = blackboard.GoalSuspended
	if got := MergeDue(b); got != nil {
		t.Errorf("of a suspended goal: %v", got)
	}
	b.goals[0].Status, b.brakes.Paused = blackboard.GoalOpen, &blackboard.Ref{}
	if got := MergeDue(b); got != nil {
		t.Errorf("under a brake: %v", got)
	}
}

// A merge has the last word about what is on the branch, so it comes after the
// looks at the branch that end the steps of the task.
func TestAMergeWaitsForTheStepsOfItsTask(t *testing.T) {
	step := func(role message.Role, subject string, ended bool) blackboard.Activation {
		a := blackboard.Activation{ActivationKey: blackboard.ActivationKey{Role: role, Subject: subject, Cause: "c"}, Goal: "g",
			Agent: message.AgentID(role + "-1"), Started: ref("s", 20)}
		if ended {
			a.Ended = ref("e", 21)
		}
		return a
	}
	at := func(seq uint64) func(*blackboard.Task) {
		return func(t *blackboard.Task) { t.OutcomeRef = ref("verdict", seq) }
	}
	begun := func(t *blackboard.Task) { t.Review.Merge = &message.MergeStarting{} }
	for name, c := range map[string]struct {
		first []func(*blackboard.Task)
		steps []blackboard.Activation
		due   string
		held  string
	}{
		"nobody is at work": {nil, nil, "first second", ""},
		"its coder":         {nil, []blackboard.Activation{step(message.Coder, "first", false)}, "second", "first:coder-1"},
		"its reviewer":      {nil, []blackboard.Activation{step(message.CodeReviewer, "first", false)}, "second", "first:code-reviewer-1"},
		"both": {nil, []blackboard.Activation{step(message.Coder, "first", false), step(message.CodeReviewer, "first", false)}, "second",
			"first:coder-1 first:code-reviewer-1"},
		"one of both":            {nil, []blackboard.Activation{step(message.Coder, "first", false), step(message.CodeReviewer, "first", true)}, "second", "first:coder-1"},
		"both have ended":        {nil, []blackboard.Activation{step(message.Coder, "first", true), step(message.CodeReviewer, "first", true)}, "first second", ""},
		"another task's coder":   {nil, []blackboard.Activation{step(message.Coder, "third", false)}, "first second", ""},
		"nobody who looks at it": {nil, []blackboard.Activation{step(message.Planner, "first", false)}, "first second", ""},
		"a merge that was begun": {[]func(*blackboard.Task){begun}, []blackboard.Activation{step(message.Coder, "first", false)}, "first second", ""},
	} {
		b := codeBoard(codeTask("first", blackboard.Approved, append(c.first, at(20))...), codeTask("second", blackboard.Approved, at(30)), codeTask("third", blackboard.Claimed))
		b.activations = c.steps
		var due, held []string
		for _, t := range MergeDue(b) {
			due = append(due, string(t.ID))
		}
		for _, a := range MergeHeldBy(b) {
			held = append(held, a.Subject+":"+string(a.Agent))
		}
		if got := strings.Join(due, " "); got != c.due {
			t.Errorf("%s: due %q, want %q", name, got, c.due)
		}
		if got := strings.Join(held, " "); got != c.held {
			t.Errorf("%s: held by %q, want %q", name, got, c.held)
		}
		b.goals[0].Status = blackboard.GoalSuspended
		if got := MergeHeldBy(b); len(got) > 0 {
			t.Errorf("%s: of a suspended goal held by %v", name, got)
		}
	}
}

func TestDeadReviewersGiveBack(t *testing.T) {
	reviewed := codeTask("a", blackboard.ReadyForReview, func(t *blackboard.Task) {
		t.ResultRef, t.Review.Reviewer, t.Review.Fence = ref("submitted", 12), "code-reviewer-1", 4
		t.Review.Lease = message.Lease{Boot: "boot", AwakeMS: 5_000}
	})
	b := codeBoard(reviewed)
	released := func(alive func(message.Process) bool, awakeMS int64) bool {
		for _, m := range Housekeeping(b, testPolicy, looking(alive), after(0), awakeMS) {
			if r, ok := m.Body.(message.ReviewReleased); ok && r.Task == "a" && r.Fence == 4 {
				return true
			}
		}
		return false
	}
	if released(nobody, 4_000) {
		t.Error("a review whose lease is live and that no step held")
	}
	if !released(nobody, 5_000) {
		t.Error("a lapsed review stays")
	}
	b.activations = []blackboard.Activation{{ActivationKey: blackboard.ActivationKey{Role: message.CodeReviewer, Subject: "a", Cause: "submitted"},
		Agent: "code-reviewer-1", Holder: message.Process{PID: 7}, Started: ref("s", 20)}}
	if released(func(message.Process) bool { return true }, 9_000) {
		t.Error("a review is taken from a living process")
	}
	if !released(nobody, 0) {
		t.Error("the review of a dead step stays")
	}
}

func TestSprintStopsAtItsEndOnce(t *testing.T) {
	names := func(b *board, now time.Time) (out []string) {
		for _, m := range Housekeeping(b, testPolicy, looking(nobody), now, 0) {
			if c, ok := m.Body.(message.CheckpointReached); ok {
				out = append(out, c.Name)
			}
		}
		return out
	}
	sprint := &blackboard.Sprint{Opened: ref("opened", 1), Scope: message.SprintScope{Planned: []message.TaskID{"a", "b"}, Stretch: []message.TaskID{"c"}}, Deadline: after(1_000)}
	b := codeBoard(codeTask("a", blackboard.Merged), codeTask("b", blackboard.Approved), codeTask("c", blackboard.Claimed))
	b.sprint = sprint
	if got := names(b, after(999)); got != nil {
		t.Errorf("nothing has ended: %v", got)
	}
	if got := names(b, after(1_000)); !slices.Equal(got, []string{blackboard.CheckpointSprintDeadline}) {
		t.Errorf("at the deadline: %v", got)
	}
	b.tasks[1].Status = blackboard.Merged
	if got := names(b, after(0)); !slices.Equal(got, []string{blackboard.CheckpointSprintComplete}) {
		t.Errorf("all planned tasks are done: %v", got)
	}
	sprint.Reached = []string{blackboard.CheckpointSprintComplete}
	if got := names(b, after(2_000)); got != nil {
		t.Errorf("twice: %v", got)
	}
	sprint.Reached, sprint.Closed = nil, ref("closed", 9)
	if got := names(b, after(2_000)); got != nil {
		t.Errorf("of a closed sprint: %v", got)
	}
}

func TestStaleCheckpointsEscalate(t *testing.T) {
	p := PolicyOf(config.Default())
	const minute = 60_000
	for _, c := range []struct {
		waitedMS int64
		told     int
		want     int
	}{{29 * minute, 0, 0}, {30 * minute, 0, 1}, {31 * minute, 1, 0}, {120 * minute, 1, 2}, {8 * 60 * minute, 2, 3}, {9 * 60 * minute, 0, 3}, {99 * 60 * minute, 3, 0}} {
		for _, whole := range []bool{true, false} {
			b := codeBoard(codeTask("a", blackboard.Unclaimed))
			set := ref("set", 5)
			if whole {
				b.brakes = blackboard.Brakes{Checkpoint: &set, Level: c.told}
			} else {
				b.goals[0].Status = blackboard.GoalSuspended
				b.goals[0].Suspended = &blackboard.Suspension{Why: blackboard.WhyCheckpoint, Since: set, Level: c.told}
			}
			got := 0
			for _, m := range Housekeeping(b, p, looking(nobody), after(c.waitedMS), 0) {
				if e, ok := m.Body.(message.Escalated); ok && e.Checkpoint == "set" && e.WaitedMS == c.waitedMS && (m.Goal == "") == whole {
					got = e.Level
				}
			}
			if got != c.want {
				t.Errorf("after %d ms at level %d, whole board %v: told at level %d, want %d", c.waitedMS, c.told, whole, got, c.want)
			}
		}
	}
	b := codeBoard(codeTask("a", blackboard.Unclaimed))
	b.goals[0].Status = blackboard.GoalSuspended
	b.goals[0].Suspended = &blackboard.Suspension{Why: blackboard.WhyPause, Since: ref("set", 5)}
	if said := Housekeeping(b, p, looking(nobody), after(99*60*minute), 0); len(said) != 0 {
		t.Errorf("a pause is escalated: %+v", said)
	}
}

func TestWhoWaitsKeepsNobodyFromStarting(t *testing.T) {
	p := testPolicy
	p.Code.Coders = 1
	b := codeBoard(codeTask("a", blackboard.Unclaimed, made(5)), codeTask("b", blackboard.Unclaimed, made(6)))
	crashed := was(blackboard.ActivationKey{Role: message.Coder, Subject: "a", Cause: "offered-a"}, message.EndCrash, 2, 0)
	b.activations = []blackboard.Activation{crashed}
	var now []string
	for _, a := range Due(b, p, t0) {
		if !a.NotBefore.After(t0) {
			now = append(now, a.Key.Subject)
		}
	}
	if !slices.Equal(now, []string{"b"}) {
		t.Errorf("due now: %v", now)
	}
}

func TestGatedDraftsAreNotVoided(t *testing.T) {
	b := codeBoard(codeTask("a", blackboard.Draft, func(t *blackboard.Task) { t.Gates = []message.Gate{{Gate: "scope", Why: "none"}} }), codeTask("b", blackboard.Draft))
	var voided []message.TaskID
	for _, m := range Housekeeping(b, testPolicy, looking(nobody), after(0), 0) {
		if v, ok := m.Body.(message.DraftVoided); ok {
			voided = append(voided, v.Task)
		}
	}
	if !slices.Equal(voided, []message.TaskID{"b"}) {
		t.Errorf("voided %v", voided)
	}
}

// What a coder did outside its worktree is found when its step has ended, and
// what any step cost is known then.
func TestAGoalIsJudgedWhenNobodyIsAtWorkOnIt(t *testing.T) {
	for name, c := range map[string]struct {
		role  message.Role
		goal  message.GoalID
		ended uint64
		due   int
	}{
		"a coder":              {message.Coder, "g", 0, 0},
		"a reviewer":           {message.CodeReviewer, "g", 0, 0},
		"an executor":          {message.Executor, "g", 0, 0},
		"its validator":        {message.AgentValidator, "g", 0, 0},
		"the planner":          {message.Planner, "g", 0, 0},
		"one that has ended":   {message.Coder, "g", 30, 1},
		"a validator that has": {message.AgentValidator, "g", 30, 1},
		"one of another goal":  {message.Coder, "h", 0, 1},
		"a validator of one":   {message.AgentValidator, "h", 0, 1},
	} {
		b := codeBoard(codeTask("t", blackboard.Merged))
		b.fanIn = true
		b.activations = []blackboard.Activation{{ActivationKey: blackboard.ActivationKey{Role: c.role, Subject: "t", Cause: "c"}, Goal: c.goal, Ended: blackboard.Ref{Seq: c.ended}}}
		due := Due(b, testPolicy, t0)
		if len(due) != c.due || c.due > 0 && due[0].Key.Role != message.MetaValidator {
			t.Errorf("%s: due %+v", name, due)
		}
		judging, ok := Find(b, message.MetaValidator, "g")
		if !ok || IsDue(b, testPolicy, t0, judging.Key) != (c.due > 0) {
			t.Errorf("%s: due now is %t", name, c.due == 0)
		}
	}
}
