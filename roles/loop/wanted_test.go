package loop

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/message"
)

// plainlyWanted says what one goal asks for by a look at each task of its plan.
func plainlyWanted(b *board, g blackboard.Goal) []Activation {
	if g.Status != blackboard.GoalOpen {
		return nil
	}
	if a, ok := perceive(g); ok {
		return []Activation{a}
	}
	if a, ok := plan(g); ok {
		return []Activation{a}
	}
	if g.Plan == nil || g.PlanCause.ID != "" {
		return nil
	}
	var all []Activation
	for _, t := range b.PlanTasks(g) {
		part := act
		if t.For == message.Coder {
			part = codeAct
		}
		if a, ok := part(b, g, t); ok {
			all = append(all, a)
		}
	}
	if a, ok := wake(b, g); ok {
		all = append(all, a)
	} else if a, ok := validate(b, g); ok {
		all = append(all, a)
	}
	return all
}

// plainlyDue sorts what all goals ask for, and gives it out from the first on.
func plainlyDue(b *board, p Policy, now time.Time) (due []Activation) {
	if braked(b.brakes) {
		return nil
	}
	var all []Activation
	for _, g := range b.OpenGoals() {
		all = append(all, plainlyWanted(b, g)...)
	}
	rank := func(a Activation) int {
		return slices.IndexFunc(contracts, func(c Contract) bool { return c.Role == a.Key.Role })
	}
	slices.SortStableFunc(all, func(a, b Activation) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), unfinishedFirst(a, b), cmp.Compare(a.priority, b.priority),
			cmp.Compare(a.age, b.age), cmp.Compare(a.Key.Subject, b.Key.Subject))
	})
	var taken []message.AgentID
	for _, a := range all {
		notBefore, ok := startable(b, p, a.Key)
		if !ok || p.Goal != "" && a.Goal != p.Goal || !affordable(b, p, a) || !mayStart(b, p, a, now) {
			continue
		}
		a.NotBefore = later(notBefore, freeAgain(b, p, a))
		if a.Key.Role == message.Coder || a.Key.Role == message.CodeReviewer {
			if a.Agent, ok = agentFor(b, p, a, taken); !ok {
				continue
			}
			if !a.NotBefore.After(now) {
				taken = append(taken, a.Agent)
			}
		}
		due = append(due, a)
	}
	return due
}

func plainlyFound(b *board, role message.Role, subject string) (Activation, bool) {
	goal := message.GoalID(subject)
	if t, ok := b.Task(message.TaskID(subject)); ok {
		goal = t.Goal
	}
	g, ok := b.Goal(goal)
	if !ok || braked(b.brakes) {
		return Activation{}, false
	}
	for _, a := range plainlyWanted(b, g) {
		if a.Key.Role == role && a.Key.Subject == subject {
			return a, true
		}
	}
	return Activation{}, false
}

// someBoard is a board of goals whose tasks are anywhere in their lives.
func someBoard(t *rapid.T) *board {
	b := &board{fanIn: rapid.Bool().Draw(t, "fan-in"), unclaimable: map[message.TaskID]bool{}}
	if rapid.IntRange(0, 9).Draw(t, "paused") == 0 {
		b.brakes.Paused = &blackboard.Ref{ID: "pause", Seq: 1}
	}
	seq := uint64(10)
	for n := range rapid.IntRange(1, 3).Draw(t, "goals") {
		g := planned()
		g.ID = message.GoalID(fmt.Sprint("g", n))
		g.Input.Profile = "code"
		if rapid.IntRange(0, 4).Draw(t, "suspended") == 0 {
			g.Status = blackboard.GoalSuspended
		}
		if rapid.IntRange(0, 4).Draw(t, "unplanned") == 0 {
			g.PlanCause = ref("directive", 7)
		}
		for k := range rapid.IntRange(0, 7).Draw(t, "tasks") {
			seq++
			x := someTask(t, message.TaskID(fmt.Sprint(g.ID, "-t", k)), seq)
			x.Goal = g.ID
			switch rapid.IntRange(0, 5).Draw(t, "where") {
			case 0:
				g.Plan.Kept = append(g.Plan.Kept, x.ID)
			case 1: // of no plan
			default:
				g.Plan.SubtaskIDs = append(g.Plan.SubtaskIDs, x.ID)
			}
			b.unclaimable[x.ID] = rapid.IntRange(0, 5).Draw(t, "unclaimable") == 0
			b.tasks = append(b.tasks, x)
		}
		b.goals = append(b.goals, g)
	}
	for _, g := range b.goals {
		for _, a := range plainlyWanted(b, g) {
			x, isTask := b.Task(message.TaskID(a.Key.Subject))
			if possible := !isTask || x.Fence > 0; possible && rapid.IntRange(0, 3).Draw(t, "tried") == 0 {
				b.activations = append(b.activations, somePast(t, a.Key))
			}
		}
	}
	return b
}

func someTask(t *rapid.T, id message.TaskID, seq uint64) blackboard.Task {
	x := task(id, rapid.SampledFrom(blackboard.Statuses()).Draw(t, "status"))
	x.For = rapid.SampledFrom([]message.Role{message.Coder, message.Coder, message.Executor}).Draw(t, "for")
	x.Priority = rapid.IntRange(1, 2).Draw(t, "priority")
	x.Created, x.Offered, x.ResultRef = ref("made-"+message.ID(id), seq), ref("offered-"+message.ID(id), seq+100), ref("result-"+message.ID(id), seq+200)
	x.Changed = ref("changed-"+message.ID(id), seq+300)
	if rapid.Bool().Draw(t, "held") {
		x.Fence, x.Review.Fence = 1, 1
		x.Agent = message.AgentID(fmt.Sprintf("%s-%d", x.For, rapid.IntRange(1, 3).Draw(t, "agent")))
		x.Review.IntegrationN = rapid.IntRange(0, 2).Draw(t, "integration")
		x.Review.Iterations = rapid.IntRange(0, 3).Draw(t, "iterations")
		if rapid.IntRange(0, 3).Draw(t, "failed") == 0 {
			x.Review.FailedBy = []message.AgentID{x.Agent}
		}
	}
	return x
}

func somePast(t *rapid.T, key blackboard.ActivationKey) blackboard.Activation {
	a := was(key, rapid.SampledFrom([]string{message.EndCrash, message.EndKilled, message.EndAgain, message.EndUnjudged, message.EndDone}).Draw(t, "class"),
		rapid.IntRange(0, 3).Draw(t, "crashes"), rapid.IntRange(0, 5).Draw(t, "kills"))
	if rapid.IntRange(0, 2).Draw(t, "live") == 0 {
		a.Ended, a.Class = blackboard.Ref{}, ""
	}
	a.Agent = message.AgentID(fmt.Sprintf("%s-%d", key.Role, rapid.IntRange(1, 4).Draw(t, "by")))
	return a
}

// What is due is found without a look at every task, and is the same.
func TestDueIsWhatALookAtEveryTaskFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := someBoard(t)
		p := testPolicy
		p.Code = Code{Coders: rapid.IntRange(0, 4).Draw(t, "coders"), Reviewers: rapid.IntRange(0, 3).Draw(t, "reviewers"), MaxIterations: 3}
		if rapid.Bool().Draw(t, "one goal") {
			p.Goal = "g0"
		}
		got, want := fmt.Sprintf("%+v", Due(b, p, t0)), fmt.Sprintf("%+v", plainlyDue(b, p, t0))
		if got != want {
			t.Fatalf("due is\n%s, want\n%s", got, want)
		}
		for _, role := range []message.Role{message.Planner, message.MetaValidator, message.Coder, message.CodeReviewer, message.Executor, message.AgentValidator} {
			for _, x := range b.tasks {
				checkFound(t, b, role, string(x.ID))
			}
			for _, g := range b.goals {
				checkFound(t, b, role, string(g.ID))
			}
		}
	})
}

// What is stuck is found among what was tried.
func TestStuckIsWhatALookAtEveryTaskFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := someBoard(t)
		b.brakes = blackboard.Brakes{}
		said, limited := map[message.GoalID]string{}, map[message.GoalID]bool{}
		for _, m := range Housekeeping(b, testPolicy, looking(func(message.Process) bool { return true }), t0, 0) {
			switch body := m.Body.(type) {
			case message.CheckpointReached:
				said[m.Goal] = body.Name
			case message.Blocked:
				limited[m.Goal] = true
			}
		}
		for _, g := range b.goals {
			want, goesOn := "", limited[g.ID] || Awaits(b, g, t0)
			for _, w := range plainlyWanted(b, g) {
				a, known := b.Activation(w.Key)
				failed := known && !a.Live() && (exhausted(a, testPolicy) || a.Class == message.EndDone)
				switch {
				case failed && w.Key.Role != message.Coder && w.Key.Role != message.CodeReviewer && a.Class != message.EndUnjudged:
					want = "step-crashed"
				case known && !a.Live() && w.Key.Role != message.Coder && (failed || a.Class == message.EndUnjudged):
					want = cmp.Or(want, blackboard.CheckpointUnjudged)
				}
				_, ok := startable(b, testPolicy, w.Key)
				goesOn = goesOn || ok && mayStart(b, testPolicy, w, t0)
			}
			if want == blackboard.CheckpointUnjudged && goesOn {
				want = ""
			}
			if said[g.ID] != want {
				t.Fatalf("%s is stuck: %q, want %q", g.ID, said[g.ID], want)
			}
		}
	})
}

func checkFound(t *rapid.T, b *board, role message.Role, subject string) {
	got, ok := Find(b, role, subject)
	want, there := plainlyFound(b, role, subject)
	if ok != there || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Fatalf("%s on %s: %+v %v, want %+v %v", role, subject, got, ok, want, there)
	}
}
