package view

import (
	"bytes"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
)

// sameToTheEye compares what is shown of a task. Values are compared, not
// numbers of messages: a block is copied only if rendering it again would give
// the same. The slot of a task never changes.
func sameToTheEye(a, b *blackboard.Task) bool {
	return a.Status == b.Status && a.Created == b.Created && a.Goal == b.Goal &&
		a.Intent == b.Intent && a.Slot == b.Slot && a.Sequence == b.Sequence &&
		a.Approach == b.Approach && a.Target == b.Target && a.Priority == b.Priority &&
		a.DoneWhen == b.DoneWhen && a.Scope == b.Scope && a.SpecRef == b.SpecRef && a.ReadOnly == b.ReadOnly &&
		a.Supersedes == b.Supersedes && a.Reopens == b.Reopens && a.Agent == b.Agent &&
		a.BlockedReason == b.BlockedReason && a.BlockedKind == b.BlockedKind && a.Output == b.Output &&
		slices.Equal(a.HumanNotes, b.HumanNotes) && slices.Equal(a.Targets, b.Targets) &&
		slices.Equal(a.DependsOn, b.DependsOn) && slices.EqualFunc(a.SuccessCriteria, b.SuccessCriteria, sameCriterion) &&
		sameLine(a, b) && sameJudgement(a, b) && sameReview(a, b)
}

// sameLine compares what taskLine shows.
func sameLine(a, b *blackboard.Task) bool {
	x, y := a.Review, b.Review
	return a.Fence == b.Fence && a.Changed.TS.Equal(b.Changed.TS) && a.Attempt == b.Attempt && a.Corrections == b.Corrections &&
		x.Iterations == y.Iterations && x.CyclesTotal == y.CyclesTotal && x.IntegrationN == y.IntegrationN && a.Expired == b.Expired &&
		sameOpenCall(a.OpenCall, b.OpenCall) && a.Lease.ExpiresAt.Equal(b.Lease.ExpiresAt) && a.Work == b.Work &&
		x.Lease.ExpiresAt.Equal(y.Lease.ExpiresAt)
}

func sameOpenCall(a, b *message.ToolStarted) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Tool == b.Tool
}

func sameCriterion(a, b message.Criterion) bool {
	return a.ID == b.ID && a.Criterion == b.Criterion && a.Required == b.Required && bytes.Equal(a.Check, b.Check)
}

func sameJudgement(a, b *blackboard.Task) bool {
	switch {
	case (a.Correction == nil) != (b.Correction == nil), (a.Outcome == nil) != (b.Outcome == nil), (a.Result == nil) != (b.Result == nil):
		return false
	case a.Result != nil && a.Result.Output != b.Result.Output:
		return false
	}
	return (a.Correction == nil || sameCorrection(a.Correction, b.Correction)) &&
		(a.Outcome == nil || sameOutcome(a.Outcome, b.Outcome))
}

func sameCorrection(a, b *message.CorrectionSignal) bool {
	return a.FailedCriterion == b.FailedCriterion && a.WhatWasWrong == b.WhatWasWrong &&
		a.WhatToDo == b.WhatToDo && slices.Equal(a.Verdicts, b.Verdicts)
}

func sameOutcome(a, b *message.SubTaskOutcome) bool {
	if (a.FailureReason == nil) != (b.FailureReason == nil) || a.FailureReason != nil && *a.FailureReason != *b.FailureReason {
		return false
	}
	return a.Status == b.Status && slices.Equal(a.CriteriaVerdicts, b.CriteriaVerdicts)
}

// sameReview compares what is shown of gates and of the review.
func sameReview(a, b *blackboard.Task) bool {
	x, y := a.Review, b.Review
	return x.Commit == y.Commit && x.Reviewer == y.Reviewer && x.MergedAs == y.MergedAs && x.JudgedBy == y.JudgedBy &&
		sameVerdict(x.Judged(), y.Judged()) && sameIntegration(x.Integration, y.Integration) &&
		slices.Equal(x.FailedBy, y.FailedBy) && slices.Equal(x.Pending, y.Pending) && slices.Equal(x.Questions, y.Questions) &&
		slices.Equal(x.Attempted, y.Attempted) && (x.Handoff == nil) == (y.Handoff == nil) &&
		(x.Handoff == nil || x.Handoff.NextAction == y.Handoff.NextAction) && a.Rescopes == b.Rescopes && slices.Equal(a.Gates, b.Gates)
}

func sameVerdict(a, b *message.ReviewVerdict) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Decision == b.Decision && slices.Equal(a.Checks, b.Checks)
}

func sameIntegration(a, b *message.IntegrationFailed) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Conflict, b.Conflict) && a.Command == b.Command
}
