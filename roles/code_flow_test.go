package roles

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"pgregory.net/rapid"
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
		Role: a.Key.Role, Subject: a.Key.Subject, Cause: a.Key.Cause, Agent: agent, Try: was.Try + 1, Marker: "m"}})
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

func (f *flow) end(a Activation, agent message.AgentID, class string) {
	f.must(message.Message{From: message.Supervisor, Goal: a.Goal, Subject: a.Key.Subject, Cause: a.Key.Cause,
		Body: message.StepEnded{Role: a.Key.Role, Subject: a.Key.Subject, Cause: a.Key.Cause, Agent: agent, Class: class}})
}

// do runs one activation with some outcome.
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
	f.end(a, agent, class)
	if t, ok := f.s.Task(id); ok && t.Status == blackboard.Claimed {
		f.must(message.Message{From: message.Supervisor, Body: message.Released{Task: id, Agent: agent, Fence: fence}})
	}
	if t, ok := f.s.Task(id); ok && a.Key.Role == message.CodeReviewer && t.Review.Reviewer == agent {
		f.must(message.Message{From: message.Supervisor, Body: message.ReviewReleased{Task: id, Fence: fence}})
	}
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
			for _, m := range Housekeeping(f.s, f.p, nobody, f.now, 0) {
				if _, suspends := m.Body.(message.CheckpointReached); suspends {
					rt.Fatalf("the goal is stuck: %+v", m.Body)
				}
				f.must(m)
			}
			if merges := MergeDue(f.s); len(merges) > 0 && f.chance(70) {
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
