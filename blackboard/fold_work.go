package blackboard

import (
	"orch/blackboard/message"
)

func workEffects() []effect {
	return []effect{
		on((*tx).claimed), on((*tx).released), on((*tx).leaseLapsed), on((*tx).leaseExtended),
		on((*tx).stateBefore), on((*tx).toolStarted), on((*tx).toolCall), on((*tx).executionResult), on((*tx).taskFinished),
		on((*tx).lateResult), on((*tx).correctionSignal), on((*tx).subTaskOutcome),
	}
}

// task returns a task to change, and makes the message count for its goal.
func (x *tx) task(id message.TaskID) (*Task, error) {
	if id == "" {
		id = message.TaskID(x.m.Subject)
	}
	if x.m.Subject != "" && x.m.Subject != string(id) {
		return nil, x.refuse("its subject is %q, but it is about task %s", x.m.Subject, id)
	}
	t := x.tasks.edit(string(id))
	switch {
	case t == nil:
		return nil, x.refuse("there is no task %q", id)
	case x.m.Goal != "" && x.m.Goal != t.Goal:
		return nil, x.refuse("task %s belongs to goal %q", id, t.Goal)
	}
	x.goal = t.Goal
	return t, nil
}

// move changes the status of a task if the lifecycle has the transition.
func (x *tx) move(t *Task, to Status) error {
	if !legal(x.m.Type(), x.m.From, t.Status, to) {
		return &TransitionError{Task: t.ID, Type: x.m.Type(), From: t.Status, To: to}
	}
	t.Status, t.Changed = to, x.ref
	x.doubt(t)
	switch x.m.Body.(type) {
	case message.Released, message.LeaseLapsed:
	default:
		if claimableStatus(to) {
			t.Offered = x.ref
		}
	}
	if to != Draft {
		t.Gates = nil
	}
	return nil
}

// touch returns a task whose status stays, if the lifecycle has that.
func (x *tx) touch(id message.TaskID) (*Task, error) {
	t, err := x.task(id)
	if err != nil {
		return nil, err
	}
	if !legal(x.m.Type(), x.m.From, t.Status, "") {
		return nil, &TransitionError{Task: t.ID, Type: x.m.Type(), From: t.Status}
	}
	return t, nil
}

// holder returns the task if the sender's agent holds it under the message's fence.
func (x *tx) holder(id message.TaskID) (*Task, error) {
	return x.holderAs(id, x.m.Agent, x.m.Fence)
}

func (x *tx) holderAs(id message.TaskID, agent message.AgentID, fence message.Fence) (*Task, error) {
	t, err := x.task(id)
	if err != nil {
		return nil, err
	}
	if t.Status != Claimed || t.Agent != agent || t.Fence != fence {
		return nil, &LateError{Task: t.ID, Agent: agent, Fence: fence, Status: t.Status, Holder: t.Agent, Now: t.Fence}
	}
	return t, nil
}

func (x *tx) claimed(b message.Claimed) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	role, err := message.ParseAgent(b.Agent)
	if err != nil {
		return x.refuse("%v", err)
	}
	if t.For != "" && role != t.For && role != message.Human {
		return &NotClaimableError{t.ID, "it is for the " + string(t.For)}
	}
	if t.Status != Claimed || t.Agent != b.Agent {
		if why := x.s.whyNot(t); why != "" {
			return &NotClaimableError{t.ID, why}
		}
		t.From = t.Status
	}
	if b.Fence != t.Fence+1 {
		return x.refuse("fence %d after %d", b.Fence, t.Fence)
	}
	if t.Agent != b.Agent {
		t.Review.Cycles, t.Review.Iterations = 0, 0
		if t.From != IntegrationFailed {
			t.Review.Pending = nil // they are about work the new holder does not have
		}
	}
	t.Agent, t.Fence, t.Lease, t.Claim = b.Agent, b.Fence, b.Lease, x.ref
	t.Step, t.Work, t.Base = message.Process{}, b.Worktree, b.BaseCommit
	t.ByHand = x.m.From != message.Supervisor
	if a, ok := x.s.Agent(b.Agent); ok && !t.ByHand {
		t.Step = a.Process
	}
	return x.move(t, Claimed)
}

// unclaim takes a task from its holder and puts it back to where it was claimed from.
func (x *tx) unclaim(id message.TaskID, agent message.AgentID, fence message.Fence) (*Task, error) {
	t, err := x.holderAs(id, agent, fence)
	if err != nil {
		return nil, err
	}
	t.Step, t.Lease, t.ByHand = message.Process{}, message.Lease{}, false
	return t, x.move(t, t.From)
}

func (x *tx) released(b message.Released) error {
	_, err := x.unclaim(b.Task, b.Agent, b.Fence)
	return err
}

func (x *tx) leaseLapsed(b message.LeaseLapsed) error {
	t, err := x.unclaim(b.Task, b.Agent, b.Fence)
	if err != nil {
		return err
	}
	t.Expired++
	return nil
}

func (x *tx) leaseExtended(b message.LeaseExtended) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if t.Status == ReadyForReview && t.Review.Reviewer == b.Agent && t.Review.Fence == b.Fence {
		t.Review.Lease = b.Lease
		return nil
	}
	if t, err = x.holderAs(b.Task, b.Agent, b.Fence); err != nil {
		return err
	}
	t.Lease = b.Lease
	return nil
}

func (x *tx) stateBefore(b message.StateBefore) error {
	_, err := x.holder(b.Task)
	return err
}

func (x *tx) toolStarted(b message.ToolStarted) error {
	t, err := x.holder("")
	if err != nil {
		return err
	}
	if err := x.checkName("call", string(b.Call)); err != nil {
		return err
	}
	if t.OpenCall != nil && t.OpenFence == t.Fence {
		return x.refuse("call %s has not ended", t.OpenCall.Call)
	}
	t.OpenCall, t.OpenFence = &b, t.Fence
	if t.FirstCall.Seq == 0 {
		t.FirstCall = x.ref
	}
	return nil
}

// maxFailedCalls bounds the evidence kept of one task; the latest counts most.
const maxFailedCalls = 100

func (x *tx) toolCall(b message.ToolCall) error {
	t, err := x.holder("")
	if err != nil {
		return err
	}
	if b.Observed {
		return nil // neither starts nor ends anything
	}
	switch open := t.OpenCall != nil && t.OpenFence == t.Fence; {
	case open && t.OpenCall.Call == b.Call:
		t.OpenCall, t.OpenFence = nil, 0
	case open:
		return x.refuse("it ends call %s, open is %s", b.Call, t.OpenCall.Call)
	case b.Denied == "":
		return x.refuse("call %s was not started", b.Call)
	}
	if b.Class != "" {
		call := message.FailedCall{Pair: message.Pair{Tool: b.Approach, Target: b.Target}, Class: b.Class, Kind: b.Kind}
		t.FailedCalls = appended(t.FailedCalls, call)
		if n := len(t.FailedCalls); n > maxFailedCalls {
			t.FailedCalls = t.FailedCalls[n-maxFailedCalls:]
		}
	}
	return nil
}

func (x *tx) executionResult(b message.ExecutionResult) error {
	t, err := x.holder(b.SubtaskID)
	if err != nil {
		return err
	}
	switch {
	case b.Attempt != t.Attempt+1:
		return x.refuse("attempt %d after %d", b.Attempt, t.Attempt)
	case t.OpenCall != nil && t.OpenFence == t.Fence:
		return x.refuse("call %s has not ended", t.OpenCall.Call)
	}
	t.OpenCall, t.OpenFence = nil, 0
	if b.CutOff {
		t.CutOffs++
	} else {
		t.FirstCall = Ref{}
	}
	t.Attempt, t.Result, t.ResultRef = b.Attempt, &b, x.ref
	return x.move(t, ReadyForReview)
}

func (x *tx) taskFinished(b message.TaskFinished) error {
	t, err := x.holder(b.Task)
	if err != nil {
		return err
	}
	t.Attempt++
	t.FirstCall = Ref{}
	t.Output, t.ResultRef = b.Output, x.ref
	t.Result = &message.ExecutionResult{SubtaskID: t.ID, Attempt: t.Attempt, Status: message.Completed, Output: b.Output, ToolCalls: []string{}, Calls: []message.CallID{}}
	return x.move(t, ReadyForReview)
}

func (x *tx) lateResult(b message.LateResult) error {
	t, err := x.touch(b.Task)
	if err != nil {
		return err
	}
	if t.Status == Claimed && t.Fence == b.Fence || b.Fence > t.Fence {
		return x.refuse("claim %d is not lost", b.Fence)
	}
	return nil
}

// judged returns a task the sender may judge: it is ready, and somebody else did it.
func (x *tx) judged(id message.TaskID) (*Task, error) {
	t, err := x.task(id)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Status != ReadyForReview:
		return nil, &TransitionError{Task: t.ID, Type: x.m.Type(), From: t.Status, To: Approved}
	case x.m.Agent == "":
		return nil, x.refuse("it names no agent")
	case x.m.Agent == t.Agent:
		return nil, x.refuse("%s can not judge its own work", t.Agent)
	}
	return t, nil
}

func (x *tx) correctionSignal(b message.CorrectionSignal) error {
	t, err := x.judged(b.SubtaskID)
	if err != nil {
		return err
	}
	if b.AttemptNumber != t.Attempt {
		return x.refuse("it judges attempt %d, the last is %d", b.AttemptNumber, t.Attempt)
	}
	t.Correction = &b
	t.Corrections++
	t.addGap(b.Verdicts, message.FailedCriterion{CriterionID: b.FailedCriterion, Criterion: b.FailedCriterion, FailureClass: b.FailureClass})
	return x.move(t, Rejected)
}

// addGap notes what failed in the last attempt; other stands for it if no
// criterion could be judged and it names one.
func (t *Task) addGap(verdicts []message.Verdict, other message.FailedCriterion) {
	gap := message.Gap{Attempt: t.Attempt, FailedCriteria: []message.FailedCriterion{}}
	for _, v := range verdicts {
		if !v.Passed() {
			gap.FailedCriteria = append(gap.FailedCriteria, message.FailedCriterion{CriterionID: v.CriterionID, Criterion: v.Criterion, FailureClass: v.FailureClass})
		}
	}
	if len(gap.FailedCriteria) == 0 && other.CriterionID != "" {
		gap.FailedCriteria = append(gap.FailedCriteria, other)
	}
	t.Gaps = appended(t.Gaps, gap)
}

func (x *tx) subTaskOutcome(b message.SubTaskOutcome) error {
	t, err := x.judged(b.SubtaskID)
	if err != nil {
		return err
	}
	passed := map[string]bool{}
	failed := 0
	for _, v := range b.CriteriaVerdicts {
		passed[v.CriterionID] = v.Passed()
		if !v.Passed() {
			failed++
		}
	}
	t.Outcome, t.OutcomeRef = &b, x.ref
	switch b.Status {
	case message.Matched:
		for _, c := range t.SuccessCriteria {
			if !passed[c.ID] {
				return x.refuse("criterion %s has no passing verdict", c.ID)
			}
		}
		return x.move(t, Approved)
	case message.Failed:
		if failed == 0 && b.FailureReason == nil {
			return x.refuse("it says failed, but no criterion failed and no reason is given")
		}
		t.BlockedKind, t.BlockedReason = blockedRetries, "the fast loop gave up"
		if b.FailureReason != nil {
			t.BlockedReason = *b.FailureReason
		}
		t.addGap(b.CriteriaVerdicts, message.FailedCriterion{})
		return x.move(t, Blocked)
	}
	return x.refuse("a task that was run is matched or failed, not %s", b.Status)
}

// blockedRetries is the kind of block of a task whose fast loop gave up.
const blockedRetries = "retries_exhausted"
