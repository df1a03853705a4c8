package workspace

import (
	"context"
	"fmt"

	"orch/blackboard/message"
)

// StartRef names the commit of the branch a goal began at.
func StartRef(goal message.GoalID) string { return fmt.Sprintf("refs/orch/%s/start", goal) }

// mergedRef names the newest merge that was made for a goal. It moves with the
// branch, in one transaction.
func mergedRef(goal message.GoalID) string { return fmt.Sprintf("refs/orch/%s/integrated", goal) }

// RewoundError says that a branch lost what had been merged into it.
type RewoundError struct {
	Ref        string
	Have, Lost Commit
}

func (e *RewoundError) Error() string {
	return fmt.Sprintf("%s is at %.12s, which does not hold %.12s any more: somebody moved it back", short(e.Ref), e.Have, e.Lost)
}

// Hint names what brings the work back.
func (e *RewoundError) Hint() string {
	return fmt.Sprintf("git branch -f %s %.12s brings it back; then: orch resume", short(e.Ref), e.Lost)
}

// Intact returns where the branch of a goal is. Others may have added to it;
// but a branch that is gone, or that lost what was merged for the goal, is a
// *NotReadyError or a *RewoundError: to work on without that would undo it
// silently.
func (r Repo) Intact(ctx context.Context, goal message.GoalID, ref string) (Commit, error) {
	must := Commit("")
	if goal != "" {
		var err error
		// Before the branch: a merge moves that first, so that the branch is never
		// seen without what was read here.
		if must, err = r.newest(ctx, goal); err != nil {
			return "", err
		}
	}
	at, err := r.At(ctx, ref)
	if err != nil {
		return "", err
	}
	if at == "" {
		return "", &NotReadyError{short(ref) + " is gone", fmt.Sprintf("git branch %s %.12s brings it back; then: orch resume", short(ref), must)}
	}
	if must == "" || must == at {
		return at, nil
	}
	if on, err := r.Contains(ctx, at, must); err != nil || !on {
		if err == nil {
			err = &RewoundError{ref, at, must}
		}
		return "", err
	}
	return at, nil
}

// newest is the newest merge of a goal, or where it began; "" if neither is known.
func (r Repo) newest(ctx context.Context, goal message.GoalID) (Commit, error) {
	at, err := r.At(ctx, mergedRef(goal))
	if err != nil || at != "" {
		return at, err
	}
	return r.At(ctx, StartRef(goal))
}

// Free tells, by a *NotReadyError, whether a branch is checked out somewhere:
// moving it would change what a person works on under their hands.
func (r Repo) Free(ctx context.Context, ref string) error {
	where, err := r.checkedOut(ctx, ref)
	if err != nil || where == "" {
		return err
	}
	return &NotReadyError{fmt.Sprintf("%s is checked out in %s, and moves while work is merged", short(ref), where),
		"git -C " + where + " switch another branch, or set code.integration_branch to another name"}
}
