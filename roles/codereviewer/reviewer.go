// Package codereviewer gives the binding verdict on one exact commit.
//
// It promises that what code can decide is decided by code: the checks of the
// task and the project's tests are run on a checkout of exactly that commit,
// and a red one rejects without anybody being asked; a test that was deleted,
// skipped or weakened is not approved unless the reviewer says that the task
// demands it; and a verdict that does not bind, or of a reviewer that changed
// what it judged, counts for nothing: it is given back once with the reason,
// then the next reviewer is asked. Where none is left the commit is not judged,
// and nothing is said against the work. The task is judged against its spec as
// it is on the integration branch now.
//
// It never changes the work, never merges, and never judges work of its own.
package codereviewer

import (
	"context"
	"errors"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/loop/code"
	"orch/roles/run/step"
	"orch/roles/think"
)

// Run reviews under the claim of the environment.
func Run(ctx context.Context, e *step.Env) error {
	if e.Code == nil || e.Code.Reviewer == nil {
		return &step.NoBackendError{Role: message.CodeReviewer}
	}
	t, g, err := e.ReadTask(ctx)
	if err != nil {
		return err
	}
	if t.Status != blackboard.ReadyForReview || t.Review.Reviewer != e.Agent || t.Review.Fence != e.Fence || t.Agent == e.Agent {
		return step.ErrMoved
	}
	r := &review{e: e, w: e.Code, task: t, goal: g, commit: workspace.Commit(t.Review.Commit)}
	working, stop := e.Work(ctx)
	defer stop()
	err = r.run(working)
	err = errors.Join(err, r.clear())
	if cause := context.Cause(working); step.Late(cause) || step.Late(err) {
		return step.ErrMoved // another reviewer has the review; a verdict of this one would not count
	}
	return err
}

// review is one look at one commit.
type review struct {
	e      *step.Env
	w      *step.Code
	task   blackboard.Task
	goal   blackboard.Goal
	commit workspace.Commit

	in     think.ReviewInput
	found  []finding         // the findings of in, in the same order
	whole  string            // digest of both trees
	files  map[string]string // digests of what became of each file
	logged bool              // an anomaly was noted
	ran    map[string]ran    // what commands came to, by what they are
}

func (r *review) run(ctx context.Context) error {
	if err := r.gather(ctx); err != nil {
		return err
	}
	said := message.ReviewVerdict{Decision: message.Rejected, Checks: []message.Verdict{}, Blockers: []message.Blocker{}, Concerns: []string{}}
	if red(r.in.Checks) {
		return r.say(ctx, said)
	}
	said, err := r.judge(ctx, r.w.Reviewer)
	if err != nil {
		return err
	}
	if said.Decision == message.Approved && r.w.Crosscheck != nil {
		if err := r.crosscheck(ctx, &said); err != nil {
			return err
		}
	}
	return r.say(ctx, said)
}

// verdictOf makes a verdict of what a reviewer thinks. Anything but a clear
// approval is a rejection, and findings of code need an answer.
func (r *review) verdictOf(thought think.Review) message.ReviewVerdict {
	v := message.ReviewVerdict{
		Decision: message.Rejected, Checks: thought.Checks, Blockers: thought.Blockers, Concerns: thought.Concerns, PriorFeedback: thought.Feedback,
	}
	v.AcceptedFindings = r.accepted(thought.Accepted)
	open := r.unanswered(thought.Accepted)
	if thought.Approved && len(thought.Blockers) == 0 && len(open) == 0 {
		v.Decision, v.Noted = message.Approved, r.noted(thought.Accepted)
	}
	v.Blockers = append(v.Blockers, open...)
	if v.Concerns == nil {
		v.Concerns = []string{}
	}
	return v
}

// crosscheck asks another model about an approval. If it disagrees, the
// approval does not stand.
func (r *review) crosscheck(ctx context.Context, v *message.ReviewVerdict) error {
	r.in.Second = true
	second, err := r.judge(ctx, r.w.Crosscheck)
	if err != nil {
		return err
	}
	if second.Decision == message.Rejected {
		v.Decision, v.Blockers = message.Rejected, append(v.Blockers, second.Blockers...)
	}
	return nil
}

// say completes the verdict with what code knows and says it.
func (r *review) say(ctx context.Context, v message.ReviewVerdict) error {
	_, err := r.e.SayAs(ctx, message.CodeReviewer, r.task.ResultRef.ID, r.complete(v))
	return err
}

func (r *review) complete(v message.ReviewVerdict) message.ReviewVerdict {
	var unasked []string
	if red(r.in.Checks) {
		unasked = r.standing()
	}
	v.PriorFeedback = code.FindingFeedback(v, r.task.Review.Pending, unasked)
	return code.Complete(v, r.task.SubTask, string(r.commit), r.in.Checks, r.task.Review.Pending, r.logged)
}

func red(checks []message.Verdict) bool {
	for _, c := range checks {
		if !c.Passed() {
			return true
		}
	}
	return false
}

// specNow is the task's spec as it is on the integration branch.
func (r *review) specNow(ctx context.Context) (now string, changed bool, err error) {
	head, err := r.w.Repo.Intact(ctx, r.goal.ID, r.w.Integration)
	if err != nil {
		return "", false, err
	}
	if now, err = r.w.SpecAt(ctx, head, r.task.SubTask); err != nil {
		return "", false, err
	}
	then, err := r.w.SpecAt(ctx, workspace.Commit(r.task.Base), r.task.SubTask)
	return now, then != now, err
}
