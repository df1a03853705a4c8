package loop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/message"
)

// flow plays a coding goal on a real state: whatever is due happens, with an
// outcome that is drawn.
type flow struct {
	*rapid.T
	s     *blackboard.State
	p     Policy
	now   time.Time
	n     int
	steps map[blackboard.ActivationKey]int
	open  []flowStep // steps that have said what they came to and have not ended
}

// flowStep is a step whose process still runs: orch looks at the branch before
// it says that the step has ended.
type flowStep struct {
	of    Activation
	agent message.AgentID
	fence message.Fence
	class string
	pid   int
}

func (f *flow) say(m message.Message) error {
	f.n++
	f.now = f.now.Add(time.Second)
	seq, _ := f.s.Head()
	m.Seq, m.TS, m.ID = seq+1, f.now, message.ID(fmt.Sprintf("m%d", seq+1))
	if m.To == "" {
		m.To = message.DefaultTo(m.Type())
	}
	return blackboard.Apply(f.s, m)
}

func (f *flow) must(m message.Message) {
	if err := f.say(m); err != nil {
		f.Fatalf("%s by %s: %v", m.Type(), m.From, err)
	}
}

func (f *flow) chance(percent int) bool { return rapid.IntRange(1, 100).Draw(f.T, "chance") <= percent }

func newFlow(rt *rapid.T) *flow {
	f := &flow{T: rt, s: blackboard.NewState(), p: testPolicy, now: t0, steps: map[blackboard.ActivationKey]int{}}
	f.p.KillLimit = 10_000 // a reviewer that is always killed is for a person to look at
	f.p.Code = Code{Coders: rapid.IntRange(1, 3).Draw(rt, "coders"), Reviewers: 1, MaxIterations: 4, ReviewCycles: 2}
	f.must(message.Message{From: message.Board, Body: message.Genesis{Format: 1, Board: "b"}})
	f.must(message.Message{From: message.Human, Goal: "g", Body: message.UserInput{Text: "do it", Profile: "code"}})
	f.must(message.Message{From: message.Perceiver, Goal: "g", Body: message.TaskSpec{TaskID: "g", Intent: "do it", RawInput: "do it"}})
	g, _ := f.s.Goal("g")
	var ids []message.TaskID
	for i := range rapid.IntRange(1, 6).Draw(rt, "tasks") {
		t := f.draft(message.TaskID(fmt.Sprintf("t%d", i)))
		if i > 0 && f.chance(40) {
			t.DependsOn = []message.TaskID{ids[rapid.IntRange(0, i-1).Draw(rt, "dependency")]}
		}
		f.must(message.Message{From: message.Planner, To: message.Coder, Goal: "g", Body: t})
		ids = append(ids, t.ID)
	}
	f.must(message.Message{From: message.Planner, Goal: "g", Cause: g.PlanCause.ID,
		Body: message.DispatchManifest{PlanID: "p", TaskID: "g", SubtaskIDs: ids, Fingerprint: "f"}})
	return f
}

func (f *flow) draft(id message.TaskID) message.SubTask {
	return message.SubTask{ID: id, PlanID: "p", Intent: "i", Sequence: 1, Priority: rapid.IntRange(1, 3).Draw(f.T, "priority"),
		SuccessCriteria: []message.Criterion{{ID: "c", Criterion: "c", Mode: message.Verifiable}}}
}

// begin claims what is due as a supervisor would.
func (f *flow) begin(a Activation) (agent message.AgentID, fence message.Fence, ok bool) {
	if agent, ok = AgentFor(f.s, f.p, a); !ok || !IsDue(f.s, f.p, f.now, a.Key) {
		return "", 0, false
	}
	was, _ := f.s.Activation(a.Key)
	f.must(message.Message{From: message.Supervisor, Goal: a.Goal, Subject: a.Key.Subject, Cause: a.Key.Cause, Body: message.StepStarting{
		Role: a.Key.Role, Subject: a.Key.Subject, Cause: a.Key.Cause, Agent: agent, Try: was.Try + 1, Marker: "m", Holder: message.Process{PID: f.n + 1}}})
	t, _ := f.s.Task(message.TaskID(a.Key.Subject))
	switch a.Key.Role {
	case message.Coder:
		if slices.Contains(t.Review.FailedBy, agent) || t.Exhausted() {
			f.Fatalf("%s takes %s, on which %v were blocked", agent, t.ID, t.Review.FailedBy)
		}
		fence = t.Fence + 1
		f.must(message.Message{From: message.Supervisor, Fence: fence, Body: message.Claimed{Task: t.ID, Agent: agent, Fence: fence}})
	case message.CodeReviewer:
		fence = t.Review.Fence + 1
		f.must(message.Message{From: message.Supervisor, Body: message.ReviewClaimed{Task: t.ID, ReviewingBy: agent, Fence: fence}})
	}
	return agent, fence, true
}

// end closes a step, and gives back what it still holds.
func (f *flow) end(r flowStep) {
	k := r.of.Key
	f.must(message.Message{From: message.Supervisor, Goal: r.of.Goal, Subject: k.Subject, Cause: k.Cause,
		Body: message.StepEnded{Role: k.Role, Subject: k.Subject, Cause: k.Cause, Agent: r.agent, Class: r.class}})
	t, ok := f.s.Task(message.TaskID(k.Subject))
	switch {
	case !ok:
	case k.Role == message.Coder && t.Status == blackboard.Claimed && t.Fence == r.fence:
		f.must(message.Message{From: message.Supervisor, Body: message.Released{Task: t.ID, Agent: r.agent, Fence: r.fence}})
	case k.Role == message.CodeReviewer && t.Review.Reviewer == r.agent && t.Review.Fence == r.fence:
		f.must(message.Message{From: message.Supervisor, Body: message.ReviewReleased{Task: t.ID, Fence: r.fence}})
	}
}

// endOne ends one of the steps that still run, or lets it die with whoever was
// to say so: then housekeeping does.
func (f *flow) endOne() {
	i := rapid.IntRange(0, len(f.open)-1).Draw(f.T, "ends")
	r := f.open[i]
	f.open = slices.Delete(f.open, i, i+1)
	if !f.chance(20) {
		f.end(r)
	}
}

// alive tells which processes still run.
func (f *flow) alive(p message.Process) bool {
	return slices.ContainsFunc(f.open, func(r flowStep) bool { return r.pid == p.PID })
}

// do runs one activation with some outcome. Coders and reviewers may end later
// than they say what they came to.
func (f *flow) do(a Activation) {
	agent, fence, ok := f.begin(a)
	if !ok {
		return
	}
	id := message.TaskID(a.Key.Subject)
	class := message.EndDone
	switch a.Key.Role {
	case message.Coder:
		class = f.code(id, agent, fence)
	case message.CodeReviewer:
		class = f.review(id, agent, fence)
	case message.Planner:
		f.plan(a)
	}
	started, _ := f.s.Activation(a.Key)
	r := flowStep{of: a, agent: agent, fence: fence, class: class, pid: started.Holder.PID}
	if (a.Key.Role == message.Coder || a.Key.Role == message.CodeReviewer) && f.chance(50) {
		f.open = append(f.open, r)
		return
	}
	f.end(r)
}

func (f *flow) code(id message.TaskID, agent message.AgentID, fence message.Fence) string {
	as := message.Message{From: message.Coder, Agent: agent, Fence: fence, Goal: "g"}
	switch n := rapid.IntRange(0, 9).Draw(f.T, "coder"); n {
	case 0:
		as.Body = message.Blocked{Task: id, BlockedReason: "r", BlockedQuestions: []string{"q?"}, Kind: message.BlockedSpec}
	case 1:
		as.Body = message.Handoff{Task: id, Summary: "s", NextAction: "n"}
	case 2:
		return message.EndCrash
	case 3:
		as.Subject, as.Body = string(id), message.Discovery{Description: "d", Severity: "high", Urgency: message.Immediate}
		f.must(as)
		return message.EndAgain
	default:
		as.Body = message.ReviewRequested{Task: id, ReviewCommit: fmt.Sprintf("c%d", f.n)}
	}
	f.must(as)
	return message.EndDone
}

func (f *flow) review(id message.TaskID, agent message.AgentID, fence message.Fence) string {
	t, _ := f.s.Task(id)
	if agent == t.Agent {
		f.Fatalf("%s reviews its own work", agent)
	}
	if f.chance(10) {
		return message.EndKilled
	}
	v := message.ReviewVerdict{Task: id, ReviewCommit: t.Review.Commit, Decision: message.Approved,
		Checks: []message.Verdict{{CriterionID: "c", Verdict: message.Pass, Evidence: "e", By: message.ByCode}}}
	for _, b := range t.Review.Pending {
		v.PriorFeedback = append(v.PriorFeedback, message.Feedback{What: b.Name(), State: message.Resolved})
	}
	if f.chance(40) {
		v.Decision, v.Blockers = message.Rejected, []message.Blocker{{File: "a", Line: f.n, Defect: "d", Fix: "x"}}
	}
	f.must(message.Message{From: message.CodeReviewer, Agent: agent, Fence: fence, Goal: "g", Body: v})
	return message.EndDone
}

// plan answers the wake the planner was started for.
func (f *flow) plan(a Activation) {
	g, _ := f.s.Goal("g")
	w, ok := WakeFor(f.s, g, a.Key)
	if !ok {
		f.Fatalf("the planner is started for nothing: %+v", a.Key)
	}
	if w.Kind == WakeDiscovery {
		f.must(message.Message{From: message.Planner, Goal: "g", Body: message.Triaged{Of: w.Cause.ID, Reason: "later"}})
		return
	}
	t, _ := f.s.Task(w.Task)
	if w.Kind == WakeBlocked && f.chance(50) {
		f.must(message.Message{From: message.Planner, Goal: "g", Body: message.Unblocked{Task: t.ID, Reason: "do it so"}})
		return
	}
	if w.Kind == WakeExhausted {
		if f.say(message.Message{From: message.Planner, Goal: "g", Body: message.Unblocked{Task: t.ID, Reason: "again"}}) == nil {
			f.Fatalf("%s was given to a third coder", t.ID)
		}
		f.must(message.Message{From: message.Planner, Goal: "g", Body: message.Anomaly{Task: t.ID, Kind: message.HypothesisExhaustion, Details: map[string]string{"what": "w"}}})
	}
	if t.Rescopes >= 2 || f.chance(20) {
		f.must(message.Message{From: message.Planner, Goal: "g", Body: message.Abandoned{Task: t.ID, Reason: "no way"}})
		return
	}
	fresh := f.draft(message.TaskID(fmt.Sprintf("r%d", f.n)))
	fresh.Supersedes, fresh.DependsOn = t.ID, t.DependsOn
	f.must(message.Message{From: message.Planner, To: message.Coder, Goal: "g", Body: fresh})
	f.must(message.Message{From: message.Planner, Goal: "g", Body: message.Rescoped{Task: t.ID, SupersededBy: []message.TaskID{fresh.ID}, RescopeReason: "cut wrong", Alignment: "same"}})
}

// merges are the tasks that may be merged: all that are approved, except while
// a coder's or reviewer's step on them has not ended.
func (f *flow) merges() []blackboard.Task {
	due := MergeDue(f.s)
	for t := range f.s.Tasks(blackboard.Approved) {
		atWork := slices.ContainsFunc(f.s.LiveActivations(), func(a blackboard.Activation) bool { return a.Subject == string(t.ID) })
		if isDue := slices.ContainsFunc(due, func(d blackboard.Task) bool { return d.ID == t.ID }); isDue == atWork {
			f.Fatalf("%s is approved; a step on it lives: %v; its merge is due: %v", t.ID, atWork, isDue)
		}
	}
	return due
}

func (f *flow) merge(t blackboard.Task) {
	f.must(message.Message{From: message.Supervisor, Body: message.MergeStarting{Task: t.ID, From: "a", To: "b"}})
	if f.chance(25) {
		f.must(message.Message{From: message.Supervisor, Body: message.IntegrationFailed{Task: t.ID, Command: "make"}})
		return
	}
	f.must(message.Message{From: message.Supervisor, Body: message.Merged{Task: t.ID, From: "a", To: "b"}})
}

// However coders, reviewers, merges and the planner turn out, a coding goal
// always comes to its fan-in, with every task merged, replaced, given up, or
// waiting for one that was given up.
func TestEveryCodingGoalComesToItsEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFlow(rt)
		for range 3_000 {
			for _, m := range Housekeeping(f.s, f.p, looking(f.alive), f.now, 0) {
				if _, suspends := m.Body.(message.CheckpointReached); suspends {
					rt.Fatalf("the goal is stuck: %+v", m.Body)
				}
				f.must(m)
			}
			if len(f.open) > 0 && f.chance(30) {
				f.endOne()
				continue
			}
			if merges := f.merges(); len(merges) > 0 && f.chance(70) {
				f.merge(merges[0])
				continue
			}
			due := Due(f.s, f.p, f.now)
			if len(due) == 0 {
				f.now = f.now.Add(time.Minute) // backoff
				continue
			}
			if due[0].Key.Role == message.MetaValidator {
				f.settled()
				return
			}
			f.do(rapid.SampledFrom(due).Draw(rt, "due"))
			f.now = f.now.Add(time.Minute)
		}
		rt.Fatal("it goes on for ever")
	})
}

func (f *flow) settled() {
	if len(f.open) > 0 {
		f.Fatalf("it is judged while %v are at work", f.open)
	}
	g, _ := f.s.Goal("g")
	for _, t := range f.s.PlanTasks(g) {
		switch {
		case t.Status == blackboard.Merged, t.Status == blackboard.Abandoned:
		case t.Status == blackboard.Unclaimed && t.Waiting:
		default:
			f.Fatalf("%s is %s at fan-in", t.ID, t.Status)
		}
	}
	if w := Wakes(f.s, g); len(w) > 0 {
		f.Fatalf("the planner has not answered %+v", w)
	}
}
