package blackboard

import (
	"encoding/json"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"orch/blackboard/message"
)

// What world says, by the part of the board it is about.

func (w *world) goalWord(m *message.Message) message.Body {
	m.Goal = w.someGoal()
	g, ok := w.s.Goal(m.Goal)
	switch {
	case !ok:
		return message.UserInput{Text: string(m.Goal), Profile: "task"}
	case g.Clarify.Asked.Seq != 0 && g.Clarify.Answered.Seq == 0:
		return message.ClarificationAnswer{Round: g.Clarify.Round}
	case g.Spec == nil && w.small() == 0:
		return message.ClarificationQuestion{Round: g.Clarify.Round + 1, Questions: []string{"q?"}}
	case g.Spec == nil || w.odd():
		return message.TaskSpec{TaskID: g.ID, Intent: "i", RawInput: g.Input.Text, Declarative: w.odd()}
	case g.Calibration.Asked.Seq != 0 && g.Calibration.Reply.Seq == 0:
		if w.small() == 0 {
			return message.MemoryTimeout{}
		}
		return message.MemoryAnswer{}
	}
	return message.MemoryQuery{Space: "s", Entity: "e"}
}

func (w *world) planWord(m *message.Message) message.Body {
	m.Goal = w.someGoal()
	g, ok := w.s.Goal(m.Goal)
	if !ok || g.Spec == nil {
		return w.goalWord(m)
	}
	m.Cause = g.PlanCause.ID
	plan := message.PlanID(fmt.Sprintf("p%d.%d", len(g.Plans), len(g.PlanRejected)))
	var drafts []message.TaskID
	for t := range w.s.TasksOf(g.ID, Draft) {
		if t.PlanID == plan {
			drafts = append(drafts, t.ID)
		}
	}
	switch {
	case len(drafts) < 1+w.small():
		if w.odd() {
			plan += "x"
		}
		if w.small() == 0 {
			m.To = message.Coder
		}
		return w.newTask(plan, drafts...)
	case w.small() > 0 && len(drafts) > 0:
		b := message.DispatchManifest{PlanID: plan, TaskID: g.ID, SubtaskIDs: drafts, Fingerprint: "f"}
		for t := range w.s.TasksOf(g.ID, Approved, Merged) {
			if w.small() > 0 {
				b.Kept = append(b.Kept, t.ID)
			}
		}
		if w.odd() {
			b.SubtaskIDs = append(b.SubtaskIDs[:len(b.SubtaskIDs):len(b.SubtaskIDs)], w.someTask().ID)
		}
		return b
	case w.small() == 0:
		w.inAStep(m)
		return message.PlanRejected{PlanID: plan, Attempt: len(g.PlanRejected) + 1}
	case w.small() == 0:
		t := w.someTask(Draft)
		m.Goal = t.Goal
		return message.DraftVoided{Task: t.ID, PlanID: t.PlanID}
	}
	t := w.someTask()
	m.Goal = t.Goal
	if w.small() > 0 {
		return message.TaskGated{Task: t.ID, Missing: []message.Gate{{Gate: "scope", Why: "it has none"}}}
	}
	if w.small() > 0 {
		return message.Abandoned{Task: t.ID, Reason: "r"}
	}
	return message.Rescoped{Task: t.ID, RescopeReason: "r", Alignment: "as before", SupersededBy: []message.TaskID{w.someTask(Draft).ID}}
}

func (w *world) roundWord(m *message.Message) message.Body {
	m.Goal = w.someGoal()
	g, ok := w.s.Goal(m.Goal)
	if !ok {
		return w.goalWord(m)
	}
	switch {
	case g.GiveUp != nil:
		m.Cause = g.GiveUpRef.ID
		return message.FinalResult{TaskID: g.ID, Directive: message.Abandon, NextMoves: []string{"x"}}
	case w.odd():
		return message.GiveUp{Reason: "r"}
	}
	if r := g.open(); r != nil {
		m.Cause = r.Ref.ID
		switch w.small() {
		case 0:
			m.From = message.GGS
			return message.Megram{ID: "x", Ordinal: w.small()}
		case 1:
			if w.small() > 0 {
				return message.PlanDirective{TaskID: g.ID, Directive: message.Refine}
			}
			return message.FinalResult{TaskID: g.ID, Directive: message.Abandon, NextMoves: []string{"x"}}
		}
		return message.PlanDirective{TaskID: g.ID, Directive: message.ChangePath}
	}
	if g.Spec != nil && g.Spec.Declarative {
		m.Cause = g.SpecRef.ID
		return message.FinalResult{TaskID: g.ID, Directive: message.Success}
	}
	plan := message.PlanID("none")
	if g.Plan != nil {
		plan = g.Plan.PlanID
	}
	w.inAStep(m)
	if w.small() == 0 {
		b := message.OutcomeSummary{TaskID: g.ID, PlanID: plan}
		for _, t := range w.s.PlanTasks(g) {
			b.Outcomes = append(b.Outcomes, message.SubTaskOutcome{SubtaskID: t.ID, Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}})
		}
		return b
	}
	return message.ReplanRequest{TaskID: g.ID, PlanID: plan}
}

// inAStep has the message said by a step, if one of its goal goes on.
func (w *world) inAStep(m *message.Message) {
	for _, a := range w.s.LiveActivations() {
		if a.Goal == m.Goal || w.odd() {
			m.Agent = a.Agent
		}
	}
}

func (w *world) stepWord(m *message.Message) message.Body {
	live := w.s.LiveActivations()
	if len(live) > 0 && w.small() > 1 {
		a := live[w.small()%len(live)]
		if w.small() == 0 {
			return message.Outage{Role: a.Role, Subject: a.Subject, Cause: a.Cause, Accounts: []string{"a"}, Try: w.small(), Since: w.now, Until: w.now.Add(time.Second)}
		}
		return message.StepEnded{Role: a.Role, Subject: a.Subject, Cause: a.Cause, Agent: a.Agent, Cost: 0.1,
			Class: w.pick(message.EndDone, message.EndAgain, message.EndUnjudged, message.EndOutage, message.EndCrash, message.EndKilled, message.EndLost)}
	}
	agent := message.AgentID(w.pick("executor-1", "executor-2"))
	lease := message.Lease{Boot: "b", ExpiresAt: w.now.Add(time.Second)}
	switch w.small() {
	case 0:
		return message.Registered{Agent: agent, Role: message.Executor, Process: message.Process{PID: w.small() + 1}, Lease: lease}
	case 1:
		if w.small() > 0 {
			return message.AgentStatus{Agent: agent, Status: w.pick(message.AgentIdle, message.AgentWorking, "DREAMING")}
		}
		return message.Deregistered{Agent: agent}
	}
	if w.small() > 0 {
		m.Goal = w.someGoal()
	}
	key := ActivationKey{Role: message.Executor, Subject: w.pick("s1", "s2"), Cause: message.ID(w.pick("m1", "m2", "m3"))}
	a, _ := w.s.Activation(key)
	return message.StepStarting{Role: key.Role, Subject: key.Subject, Cause: key.Cause, Agent: agent, Try: a.Try + 1, Reserve: 0.3}
}

func (w *world) holdWord(m *message.Message) message.Body {
	agent := message.AgentID(w.pick("executor-1", "executor-2", "coder-1", "coder-2"))
	lease := message.Lease{Boot: "b", ExpiresAt: w.now.Add(time.Minute)}
	t := w.someTask(Claimed)
	switch rapid.IntRange(0, 9).Draw(w.T, "hold") {
	case 0:
		return message.Released{Task: t.ID, Agent: t.Agent, Fence: t.Fence}
	case 1:
		if w.small() > 0 {
			return message.LeaseExtended{Task: t.ID, Agent: t.Agent, Fence: t.Fence, Lease: lease}
		}
		return message.LeaseLapsed{Task: t.ID, Agent: t.Agent, Fence: t.Fence}
	}
	t = w.someTask(Unclaimed, Rejected, IntegrationFailed, Claimed)
	for first := range w.s.Claimable("") {
		if !w.odd() {
			t = first
		}
		break
	}
	if t.For != "" && !w.odd() {
		agent = message.AgentID(string(t.For) + w.pick("-1", "-2", "-3"))
	}
	fence := t.Fence + 1
	if w.odd() {
		fence += message.Fence(w.small())
	}
	return message.Claimed{Task: t.ID, Agent: agent, Fence: fence, Lease: lease}
}

func (w *world) workWord(m *message.Message) message.Body {
	t := w.someTask(Claimed)
	m.Agent, m.Fence, m.Subject = t.Agent, t.Fence, string(t.ID)
	switch {
	case t.For == message.Coder:
		switch w.small() {
		case 0:
			return message.Handoff{Task: t.ID, Summary: "s", NextAction: "n"}
		case 1:
			return message.Blocked{Task: t.ID, BlockedReason: "r", BlockedQuestions: []string{"q"}, Kind: message.BlockedSpec}
		}
		return message.ReviewRequested{Task: t.ID, ReviewCommit: "abc"}
	case t.OpenCall != nil && !w.odd():
		return message.ToolCall{Call: t.OpenCall.Call, Class: message.FailureClass(w.pick("", "logical"))}
	case w.small() == 0:
		return message.ToolStarted{Call: message.CallID(fmt.Sprintf("c%d", w.n))}
	case w.odd():
		return message.ToolCall{Call: "c", Denied: w.pick("", "no")}
	case w.odd():
		return message.TaskFinished{Task: t.ID}
	case w.odd():
		return message.ApprovalRequest{Request: fmt.Sprintf("r%d", w.n), Task: t.ID, Rule: json.RawMessage(`{"x":1}`)}
	case w.odd():
		return message.LateResult{Task: t.ID, Fence: t.Fence - min(t.Fence, 1)}
	}
	return message.ExecutionResult{SubtaskID: t.ID, Attempt: t.Attempt + 1, Status: message.Completed}
}

func (w *world) judgeWord(m *message.Message) message.Body {
	t := w.someTask(ReadyForReview)
	if t.For == message.Coder {
		return w.reviewWord(m)
	}
	m.Agent = "agent-validator-1"
	if w.odd() {
		m.Agent = t.Agent
	}
	reason := "r"
	switch w.small() {
	case 0:
		return message.CorrectionSignal{SubtaskID: t.ID, AttemptNumber: t.Attempt, FailedCriterion: "c", Verdicts: []message.Verdict{fails("c")}}
	case 1:
		return message.SubTaskOutcome{SubtaskID: t.ID, Status: message.Failed, FailureReason: &reason}
	}
	return message.SubTaskOutcome{SubtaskID: t.ID, Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}}
}

func (w *world) reviewWord(m *message.Message) message.Body {
	t := w.someTask(ReadyForReview, Approved)
	m.Agent, m.Fence = t.Review.Reviewer, t.Review.Fence
	if m.Agent == "" {
		m.Agent = "code-reviewer-1"
	}
	if t.Status == Approved {
		switch {
		case t.Review.Merge == nil && w.small() > 0:
			return message.MergeStarting{Task: t.ID, From: "a", To: "b" + string(t.ID)}
		case w.small() == 0:
			return message.IntegrationFailed{Task: t.ID}
		}
		return message.Merged{Task: t.ID, From: "a", To: "b" + string(t.ID)}
	}
	switch w.small() {
	case 0:
		return message.ReviewClaimed{Task: t.ID, ReviewingBy: "code-reviewer-2", Fence: t.Review.Fence + 1}
	case 1:
		if w.small() > 0 {
			return message.ReviewReleased{Task: t.ID, Fence: t.Review.Fence}
		}
		return message.ReviewVerdict{Task: t.ID, ReviewCommit: t.Review.Commit, Decision: message.Rejected, Checks: []message.Verdict{fails("c")}}
	}
	return message.ReviewVerdict{Task: t.ID, ReviewCommit: t.Review.Commit, Decision: message.Approved, Checks: []message.Verdict{passes("c")}}
}

func (w *world) handWord(m *message.Message) message.Body {
	t := w.someTask()
	switch w.small() {
	case 0:
		if w.small() > 1 {
			m.Goal = w.someGoal()
		}
		plan := message.PlanID(w.pick("", "hand"))
		return message.TaskAdded{Tasks: []message.SubTask{w.newTask(plan)}, Draft: w.odd()}
	case 1:
		if w.small() == 0 {
			t = w.someTask(Blocked)
			return message.HumanEdit{Edits: []message.Edit{{Task: t.ID, Field: "status", Old: json.RawMessage(`"BLOCKED"`), New: json.RawMessage(`"ABANDONED"`)}}}
		}
		old, _ := encodeRecord(t.DependsOn)
		dep, _ := encodeRecord([]message.TaskID{w.someTask().ID})
		return message.HumanEdit{Edits: []message.Edit{
			{Task: t.ID, Field: "priority", Old: json.RawMessage(fmt.Sprint(t.Priority)), New: json.RawMessage(fmt.Sprint(w.small()))},
			{Task: t.ID, Field: "depends_on", Old: old, New: dep},
		}}
	case 2:
		return message.HumanNote{For: string(t.ID), Message: "n"}
	}
	t = w.someTask(Blocked)
	return message.Unblocked{Task: t.ID}
}

func (w *world) brakeWord(m *message.Message) message.Body {
	if w.small() > 0 {
		m.Goal = w.someGoal()
	}
	for _, a := range w.s.Approvals() {
		if a.Given.Seq == 0 && w.small() > 0 {
			return message.ApprovalGiven{Request: a.Request, Allowed: w.small() > 0, Always: w.odd()}
		}
	}
	if g, ok := w.s.Goal(m.Goal); ok && g.Status == GoalSuspended || w.s.Brakes().why() != "" {
		if w.small() > 0 {
			m.Goal = ""
			return message.Resumed{}
		}
	}
	switch rapid.IntRange(0, 5).Draw(w.T, "brake") {
	case 0:
		return message.Paused{}
	case 1:
		return message.CheckpointReached{Name: w.pick("n", crashCheckpoint)}
	case 2:
		return message.Aborted{}
	case 3:
		return message.Unblocked{}
	}
	return message.Resumed{}
}
