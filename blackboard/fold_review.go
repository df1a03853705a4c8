package blackboard

import (
	"slices"

	"orch/blackboard/message"
)

var reviewEffects = []effect{
	on((*tx).reviewRequested), on((*tx).reviewClaimed), on((*tx).reviewReleased), on((*tx).reviewVerdict),
	on((*tx).crosschecked), on((*tx).pageChecked),
	on((*tx).blocked), on((*tx).handoff),
	on((*tx).mergeStarting), on((*tx).merged), on((*tx).integrationFailed),
}

func (x *tx) reviewRequested(b message.ReviewRequested) error {
	t, err := x.holder(b.Task)
	if err != nil {
		return err
	}
	if err := x.checkName("review_commit", b.ReviewCommit); err != nil {
		return err
	}
	t.Attempt++
	t.ResultRef = x.ref
	t.Review.Commit, t.Review.Notes = b.ReviewCommit, b.Notes
	t.Review.Reviewer, t.Review.Lease = "", message.Lease{}
	return x.move(t, ReadyForReview)
}

func (x *tx) reviewClaimed(b message.ReviewClaimed) error {
	t, err := x.touch(b.Task)
	if err != nil {
		return err
	}
	if _, err := message.ParseAgent(b.ReviewingBy); err != nil {
		return x.refuse("%v", err)
	}
	switch r := t.Review; {
	case b.ReviewingBy == t.Agent:
		return x.refuse("%s can not judge its own work", t.Agent)
	case r.Reviewer != "" && r.Reviewer != b.ReviewingBy && r.Lease.ExpiresAt.After(x.m.TS):
		return &NotClaimableError{t.ID, string(r.Reviewer) + " reviews it"}
	case b.Fence != r.Fence+1:
		return x.refuse("fence %d after %d", b.Fence, r.Fence)
	}
	t.Review.Reviewer, t.Review.Fence, t.Review.Lease = b.ReviewingBy, b.Fence, b.ReviewLeaseExpires
	return nil
}

func (x *tx) reviewReleased(b message.ReviewReleased) error {
	t, err := x.touch(b.Task)
	if err != nil {
		return err
	}
	if t.Review.Reviewer == "" || b.Fence != t.Review.Fence {
		return &LateError{Task: t.ID, Agent: x.m.Agent, Fence: b.Fence, Status: t.Status, Holder: t.Review.Reviewer, Now: t.Review.Fence}
	}
	t.Review.Reviewer, t.Review.Lease = "", message.Lease{}
	return nil
}

func (x *tx) reviewVerdict(b message.ReviewVerdict) error {
	t, err := x.judged(b.Task)
	if err != nil {
		return err
	}
	r := t.Review
	switch {
	case r.Commit == "" || b.ReviewCommit != r.Commit:
		return x.refuse("it judges commit %q, submitted is %q", b.ReviewCommit, r.Commit)
	case r.Reviewer != "" && (x.m.Agent != r.Reviewer || x.m.Fence != r.Fence):
		return &LateError{Task: t.ID, Agent: x.m.Agent, Fence: x.m.Fence, Status: t.Status, Holder: r.Reviewer, Now: r.Fence}
	}
	bad := len(b.Blockers)
	for _, v := range b.Checks {
		if err := v.Validate(); err != nil {
			return x.refuse("%v", err)
		}
		if !v.Passed() {
			bad++
		}
	}
	for _, f := range b.Blockers {
		if err := f.Validate(); err != nil {
			return x.refuse("%v", err)
		}
	}
	t.Review.Verdict, t.OutcomeRef = &b, x.ref
	t.Review.Reviewer, t.Review.Lease = "", message.Lease{}
	switch b.Decision {
	case message.Approved:
		if bad > 0 {
			return x.refuse("approved with %d blockers and failed checks", bad)
		}
		return x.move(t, Approved)
	case message.Rejected:
		if bad == 0 {
			return x.refuse("rejected without a blocker or a failed check")
		}
		t.Review.Cycles++
		t.Review.CyclesTotal++
		return x.move(t, Rejected)
	}
	return x.refuse("decision %q is not approved or rejected", b.Decision)
}

func (x *tx) crosschecked(b message.Crosschecked) error {
	_, err := x.touch(b.Task)
	return err
}

func (x *tx) pageChecked(b message.PageChecked) error {
	_, err := x.touch(b.Task)
	return err
}

func (x *tx) blocked(b message.Blocked) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if x.m.From == message.Coder {
		if t, err = x.holder(b.Task); err != nil {
			return err
		}
	}
	if n := len(b.BlockedQuestions); n < 1 || n > 3 || b.BlockedReason == "" {
		return x.refuse("it needs a reason and one to three questions")
	}
	t.BlockedReason, t.BlockedKind, t.Review.Questions = b.BlockedReason, b.Kind, b.BlockedQuestions
	if !slices.Contains(t.Review.FailedBy, t.Agent) {
		t.Review.FailedBy = appended(t.Review.FailedBy, t.Agent)
	}
	return x.move(t, Blocked)
}

func (x *tx) handoff(b message.Handoff) error {
	t, err := x.holder(b.Task)
	if err != nil {
		return err
	}
	if b.Summary == "" || b.NextAction == "" {
		return x.refuse("it needs a summary and a next action")
	}
	t.Review.Handoff = &b
	t.Step, t.Lease = message.Process{}, message.Lease{}
	return x.move(t, Unclaimed)
}

func (x *tx) mergeStarting(b message.MergeStarting) error {
	t, err := x.touch(b.Task)
	if err != nil {
		return err
	}
	if t.For != message.Coder {
		return x.refuse("task %s has nothing to merge", t.ID)
	}
	t.Review.Merge = &b
	return nil
}

func (x *tx) merged(b message.Merged) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if m := t.Review.Merge; m == nil || m.From != b.From || m.To != b.To {
		return x.refuse("no merge from %q to %q was started", b.From, b.To)
	}
	t.Review.Merge, t.Review.MergedAs = nil, b.To
	return x.move(t, Merged)
}

func (x *tx) integrationFailed(b message.IntegrationFailed) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	if t.For != message.Coder {
		return x.refuse("task %s has nothing to merge", t.ID)
	}
	t.Review.Merge = nil
	t.Review.IntegrationN++
	return x.move(t, IntegrationFailed)
}
