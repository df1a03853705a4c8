// Package codereviewer gives the binding verdict on one exact commit.
//
// It promises that what code can decide is decided by code: the checks of the
// task and the project's tests are run on a checkout of exactly that commit,
// and a red one rejects without anybody being asked; a test that was deleted,
// skipped or weakened is not approved unless the reviewer says that the task
// demands it; and a verdict of a reviewer that changed what it judged counts
// for nothing. The task is judged against its spec as it is on the integration
// branch now.
//
// It never changes the work, never merges, and never judges work of its own.
package codereviewer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/weaken"
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
	found  []weaken.Finding // the findings of in, in the same order
	logged bool             // an anomaly was noted
}

func (r *review) run(ctx context.Context) error {
	if err := r.gather(ctx); err != nil {
		return err
	}
	said := message.ReviewVerdict{Decision: message.Rejected, Checks: []message.Verdict{}, Blockers: []message.Blocker{}, Concerns: []string{}}
	if red(r.in.Checks) {
		return r.say(ctx, said)
	}
	shut := r.w.Requests.Open(r.hear)
	thought, err := r.ask(ctx, r.w.Reviewer)
	shut()
	if err != nil {
		return err
	}
	said = r.verdictOf(thought)
	if said.Decision == message.Approved && r.w.Crosscheck != nil {
		if err := r.crosscheck(ctx, &said); err != nil {
			return err
		}
	}
	return r.say(ctx, said)
}

// ask lets a reviewer look at a checkout nobody may change. If it did all the
// same, what it says counts for nothing.
func (r *review) ask(ctx context.Context, who think.Reviewer) (think.Review, error) {
	if err := r.w.Repo.Make(ctx, r.readDir(), workspace.Spec{Commit: r.commit, ReadOnly: true}, nil); err != nil {
		return think.Review{}, err
	}
	r.in.Dir = r.readDir()
	thought, err := who.Review(ctx, r.in)
	r.e.Spend(thought.Usage)
	if err != nil {
		return thought, err
	}
	changed, err := r.w.Repo.Differs(ctx, r.readDir(), r.commit)
	if err != nil {
		return thought, fmt.Errorf("look at what the reviewer left: %w", err)
	}
	if changed {
		return thought, &ChangedError{r.e.Agent, r.commit}
	}
	if err := workspace.Remove(r.readDir()); err != nil {
		return thought, err
	}
	return thought, r.note(ctx, thought.Anomalies)
}

// ChangedError says that a reviewer changed what it was to judge.
type ChangedError struct {
	Agent  message.AgentID
	Commit workspace.Commit
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s changed the checkout of %.12s it was to judge; its verdict does not count", e.Agent, e.Commit)
}

// verdictOf makes a verdict of what a reviewer thinks. Anything but a clear
// approval is a rejection, and findings of code need an answer.
func (r *review) verdictOf(thought think.Review) message.ReviewVerdict {
	v := message.ReviewVerdict{
		Decision: message.Rejected, Checks: thought.Checks, Blockers: thought.Blockers, Concerns: thought.Concerns, PriorFeedback: thought.Feedback,
	}
	v.Accepted = r.accepted(thought.Accepted)
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
	second, err := r.ask(ctx, r.w.Crosscheck)
	if err != nil {
		return err
	}
	if other := r.verdictOf(second); other.Decision == message.Rejected {
		v.Decision, v.Blockers = message.Rejected, append(v.Blockers, other.Blockers...)
		if len(v.Blockers) == 0 {
			v.Blockers = append(v.Blockers, message.Blocker{File: ".", Line: 1, Defect: "the crosscheck does not approve, and names no defect", Fix: "show done_when more clearly in the tests", SpecRef: r.task.SpecRef})
		}
	}
	return nil
}

// say completes the verdict with what code knows and says it. A verdict that
// does not say what a binding one has to is the reviewer's failure, and it is
// asked again by the next try of the step.
func (r *review) say(ctx context.Context, v message.ReviewVerdict) error {
	t := r.task
	v = code.Complete(v, t.SubTask, string(r.commit), r.in.Checks, t.Review.Pending, r.logged)
	if v.Decision == message.Rejected && len(v.Blockers) == 0 {
		return fmt.Errorf("%s rejects without naming a defect", r.e.Agent)
	}
	if err := v.Binds(t.SubTask, t.Review.Pending); err != nil {
		return fmt.Errorf("the verdict of %s does not bind: %w", r.e.Agent, err)
	}
	_, err := r.e.SayAs(ctx, message.CodeReviewer, t.ResultRef.ID, v)
	return err
}

func red(checks []message.Verdict) bool {
	for _, c := range checks {
		if !c.Passed() {
			return true
		}
	}
	return false
}

// unanswered are the sure findings that the reviewer did not accept by name,
// as blockers.
func (r *review) unanswered(accepted []string) (open []message.Blocker) {
	for i, f := range r.in.Findings {
		if f.Sure && !slices.Contains(accepted, f.Name()) {
			open = append(open, r.found[i].Blocker(r.task.SpecRef))
		}
	}
	return open
}

// mostNoted bounds what a verdict notes.
const mostNoted = 50

// noted are the findings that a reviewer was shown and did not have to answer,
// in words for the record.
func (r *review) noted(accepted []string) (all []string) {
	for i, f := range r.in.Findings {
		if !f.Sure && !slices.Contains(accepted, f.Name()) && len(all) < mostNoted {
			b := r.found[i].Blocker("")
			all = append(all, step.Cut(b.Name(), step.EvidenceBytes))
		}
	}
	return all
}

// accepted are the findings that the reviewer says the task demands, in words
// for the record.
func (r *review) accepted(named []string) (all []string) {
	for i, f := range r.in.Findings {
		if slices.Contains(named, f.Name()) {
			b := r.found[i].Blocker("")
			all = append(all, b.Name())
		}
	}
	return all
}

// specNow is the task's spec as it is on the integration branch.
func (r *review) specNow(ctx context.Context) (now string, changed bool, err error) {
	head, err := r.w.Repo.At(ctx, r.w.Integration)
	if err != nil {
		return "", false, err
	}
	if now, err = r.w.SpecAt(ctx, head, r.task.SubTask); err != nil {
		return "", false, err
	}
	then, err := r.w.SpecAt(ctx, workspace.Commit(r.task.Base), r.task.SubTask)
	return now, then != now, err
}
