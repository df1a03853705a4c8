package blackboard

import (
	"slices"

	"orch/blackboard/message"
)

func reviewEffects() []effect {
	return []effect{
		on((*tx).reviewRequested), on((*tx).reviewClaimed), on((*tx).reviewReleased), on((*tx).reviewVerdict),
		on((*tx).findingsAccepted), on((*tx).blocked), on((*tx).handoff),
		on((*tx).mergeStarting), on((*tx).merged), on((*tx).integrationFailed),
	}
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
	t.Review.Iterations++
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
	if err := b.Binds(t.SubTask, r.Pending); err != nil {
		return x.refuse("%v", err)
	}
	t.Review.Verdict, t.Review.JudgedBy, t.OutcomeRef = &b, x.m.Agent, x.ref
	t.Review.Reviewer, t.Review.Lease = "", message.Lease{}
	t.Review.Pending = b.Left(r.Pending)
	if b.Decision == message.Approved {
		t.Review.Approvals++
		x.countSprint(func(s *Sprint) {
			if s.Approved++; t.Review.CyclesTotal == 0 && t.Review.Approvals == 1 {
				s.FirstPass++
			}
		})
		return x.move(t, Approved)
	}
	t.Review.Cycles++
	t.Review.CyclesTotal++
	t.addGap(b.Checks, message.FailedCriterion{})
	x.countSprint(func(s *Sprint) { s.Rejected++ })
	return x.move(t, Rejected)
}

// findingsAccepted notes what a person lets stand. Where nothing else is left
// against the submission it is judged again as it is, whoever began to change it.
func (x *tx) findingsAccepted(b message.FindingsAccepted) error {
	t, err := x.touch(b.Task)
	if err != nil {
		return err
	}
	r := &t.Review
	if t.For != message.Coder || b.ReviewCommit != r.Commit {
		return x.refuse("it is about commit %q, submitted is %q", b.ReviewCommit, r.Commit)
	}
	for _, f := range b.Findings {
		if !slices.ContainsFunc(r.Pending, func(p message.Blocker) bool { return p.Finding == f.Finding && p.Content == f.Content }) {
			return x.refuse("no finding %s with that content is open in commit %.12s", f.Finding, r.Commit)
		}
		if f.By = x.m.From; !slices.ContainsFunc(r.Accepted, f.Same) {
			r.Accepted = appended(r.Accepted, f)
		}
	}
	left := slices.ContainsFunc(r.Pending, func(p message.Blocker) bool { return !r.accepts(p) })
	if left || t.Status == ReadyForReview {
		return nil
	}
	if t.Status == Claimed {
		r.Recalled = t.Fence
	}
	t.ResultRef = x.ref
	t.BlockedReason, t.BlockedKind = "", ""
	t.Step, t.Lease = message.Process{}, message.Lease{}
	return x.move(t, ReadyForReview)
}

func (x *tx) blocked(b message.Blocked) error {
	t, err := x.task(b.Task)
	if err != nil {
		return err
	}
	switch {
	case x.m.From == message.Coder:
		if t, err = x.holder(b.Task); err != nil {
			return err
		}
	case t.For != message.Coder:
		return x.refuse("task %s is not a coder's", t.ID)
	}
	t.BlockedReason, t.BlockedKind = b.BlockedReason, b.Kind
	t.Review.Questions, t.Review.Attempted = b.BlockedQuestions, b.Attempted
	t.Review.Reviewer, t.Review.Lease = "", message.Lease{}
	x.countSprint(func(s *Sprint) { s.Blocked++ })
	switch {
	case b.Kind == message.BlockedEnvironment:
		t.Review.Environment++ // it says nothing of the task, nor of who works at it
	case t.Agent != "" && !slices.Contains(t.Review.FailedBy, t.Agent):
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
	t.Review.Iterations++
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
	if g := x.goals.peek(string(t.Goal)); g != nil && g.GiveUp != nil {
		return x.refuse("goal %s was given up", t.Goal)
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
	x.board().Merged = b.To
	x.countSprint(func(s *Sprint) {
		if s.Merged++; !s.has(t.ID) {
			s.OutOfScope++
		}
	})
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
	t.Review.Merge, t.Review.Integration = nil, &b
	t.Review.IntegrationN++
	x.countSprint(func(s *Sprint) { s.Unmerged++ })
	if g := x.goals.peek(string(t.Goal)); g != nil && g.Status == GoalEnded {
		return x.move(t, Abandoned) // nobody will take it again
	}
	return x.move(t, IntegrationFailed)
}
