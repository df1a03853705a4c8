// Package coder does one iteration of a coder on one claimed task: it gives an
// agent a worktree, hears what the agent asks for, and decides from the
// worktree what came of it.
//
// It promises that an iteration ends in exactly one of: submitted for review at
// an exact commit, blocked with questions, handed on, late, or failed; that
// whatever the agent made is in the repository before the iteration ends, also
// when it is late; and that an agent only asks: what it asks for is checked,
// and said under the step's identity or refused.
//
// It never reviews, never merges, and believes nothing an agent claims about
// its work that the worktree does not show.
package coder

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/loop/code"
	"orch/roles/run/step"
	"orch/roles/think"
)

// NothingError says that an iteration left nothing to review.
type NothingError struct{ Why string }

func (e *NothingError) Error() string { return "the iteration left nothing to review: " + e.Why }

// Run does one iteration under the claim of the environment.
func Run(ctx context.Context, e *step.Env) error {
	if e.Code == nil || e.Code.Coder == nil {
		return &step.NoBackendError{Role: message.Coder}
	}
	t, g, err := e.ReadTask(ctx)
	if err != nil {
		return err
	}
	if t.Status != blackboard.Claimed || t.Fence != e.Fence || t.Agent != e.Agent || t.Work == "" {
		return step.ErrMoved
	}
	it := &iteration{e: e, w: e.Code, task: t, goal: g}
	working, stop := e.Work(ctx)
	defer stop()
	if err := it.place(working); err != nil {
		return it.unplaced(ctx, err)
	}
	shut := e.Code.Requests.Open(it.hear)
	report, worked := it.work(working)
	shut()
	return it.end(ctx, working, report, worked)
}

// iteration is one try of one coder.
type iteration struct {
	e    *step.Env
	w    *step.Code
	task blackboard.Task
	goal blackboard.Goal
	ask  message.Body // how the agent asked for the iteration to end; nil so far
}

// place makes the worktree, unless this claim goes on with one.
func (it *iteration) place(ctx context.Context) error {
	t := it.task
	if err := it.w.Repo.Pin(ctx, it.ref("base"), workspace.Commit(t.Base)); err != nil {
		return err
	}
	if workspace.Made(t.Work) {
		err := workspace.Unlock(t.Work) // whoever worked there before is gone, maybe killed
		var tampered *workspace.TamperedError
		if !errors.As(err, &tampered) {
			return err
		}
		// Its agent failed, and left it so that nobody can go on in it.
		it.e.Log("a new worktree is made: %v", tampered)
		if _, _, err := it.take(ctx); err != nil {
			return err
		}
		if err := workspace.Remove(t.Work); err != nil {
			return err
		}
	}
	begin, err := it.begin(ctx)
	if err != nil {
		return err
	}
	return it.w.Repo.Make(ctx, t.Work, workspace.Spec{
		Branch: fmt.Sprintf("orch/%s/%s", it.goal.ID, t.ID), Commit: begin, Name: string(t.Agent), Email: step.AuthorEmail(t.Agent), Included: true,
	}, it.w.Setup)
}

// begin is the commit a new worktree starts at: what was submitted from the one
// before, if it is gone, or else the base. What another coder submitted, who
// worked elsewhere, is not gone on with.
func (it *iteration) begin(ctx context.Context) (workspace.Commit, error) {
	t := it.task
	for n := t.Fence; n > 0 && t.Review.Commit != ""; n-- {
		at, err := it.w.Repo.At(ctx, it.ref(fmt.Sprint(n)))
		if err != nil {
			return "", err
		}
		if string(at) == t.Review.Commit {
			return at, nil
		}
		if it.w.Place.Coder(it.goal.ID, t.ID, t.Agent, n) == t.Work {
			break
		}
	}
	return workspace.Commit(t.Base), nil
}

// unplaced blocks the task if the project's setup fails: no coder can mend
// that by trying again.
func (it *iteration) unplaced(ctx context.Context, err error) error {
	var setup *workspace.SetupError
	if ctx.Err() != nil || !errors.As(err, &setup) {
		return err
	}
	return it.say(ctx, message.Blocked{
		Task: it.task.ID, Kind: message.BlockedEnvironment, BlockedReason: "code.setup fails in a new worktree: " + step.Cut(setup.Error(), step.EvidenceBytes),
		BlockedQuestions: []string{"What does code.setup in .orch/config.yaml need that this machine lacks?"}, Attempted: []string{},
	})
}

// work lets the agent work.
func (it *iteration) work(ctx context.Context) (think.CodeReport, error) {
	in, err := it.input(ctx)
	if err != nil {
		return think.CodeReport{}, err
	}
	report, err := it.w.Coder.Code(ctx, in)
	it.e.Spend(report.Usage)
	return report, err
}

// end decides what came of the iteration. The work is brought in first: what
// is said next may end the claim, and somebody else may remove the worktree.
func (it *iteration) end(ctx, working context.Context, report think.CodeReport, worked error) error {
	done, bad, harvested := it.take(ctx)
	if cause := context.Cause(working); step.Late(cause) || step.Late(worked) {
		return it.late(ctx, done, harvested)
	}
	if it.ask == nil && worked != nil {
		return worked // whatever is in the worktree is there for the next try
	}
	if err := it.noteAll(ctx, report.Anomalies); err != nil {
		return err
	}
	if _, blocked := it.ask.(message.Blocked); bad != nil && !blocked {
		return it.anew(ctx, *bad)
	}
	switch ask := it.ending(report).(type) {
	case message.Blocked:
		return it.say(ctx, ask)
	case message.Handoff:
		ask.FilesModified = done.Changed
		if ask.FilesModified == nil {
			ask.FilesModified = []string{}
		}
		return it.say(ctx, ask)
	case message.ReviewRequested:
		return it.submit(ctx, ask, done, harvested)
	}
	return &NothingError{"the agent ended without saying how"}
}

// submit asks for the review of what is in the worktree.
func (it *iteration) submit(ctx context.Context, ask message.ReviewRequested, done workspace.Harvested, harvested error) error {
	t := it.task
	switch {
	case harvested != nil:
		return fmt.Errorf("take the work: %w", harvested)
	case done.Conflict:
		return &NothingError{"a merge or rebase is half done in the worktree"}
	case done.Commits == 0:
		return &NothingError{"there is no commit beyond " + t.Base}
	case string(done.Head) == t.Review.Commit && t.Review.Verdict != nil:
		return &NothingError{fmt.Sprintf("commit %.12s was reviewed already", done.Head)}
	}
	return it.say(ctx, message.ReviewRequested{Task: t.ID, Iteration: t.Attempt + 1, ReviewCommit: string(done.Head), Notes: step.Cut(ask.Notes, step.EvidenceBytes)})
}

// say ends the iteration. If the claim was lost meanwhile, nothing is lost
// with it: the work is pinned.
func (it *iteration) say(ctx context.Context, body message.Body) error {
	_, err := it.e.SayAs(ctx, message.Coder, it.task.Claim.ID, body)
	if step.Late(err) {
		return it.late(ctx, workspace.Harvested{}, nil)
	}
	return err
}

// late keeps the work as a proposal for whoever has the task now.
func (it *iteration) late(ctx context.Context, done workspace.Harvested, harvested error) error {
	output := fmt.Sprintf("%d commits up to %s are kept under %s", done.Commits, done.Head, it.ref(fmt.Sprint(it.task.Fence)))
	switch {
	case harvested != nil:
		output = fmt.Sprintf("what is in %s could not be taken: %v", it.task.Work, harvested)
	case done.Head == "":
		output = "nothing was left in the worktree"
	}
	return it.e.KeepLate(ctx, message.ExecutionResult{
		SubtaskID: it.task.ID, Attempt: it.task.Attempt + 1, Status: message.Completed, Calls: []message.CallID{}, ToolCalls: []string{}, Output: output,
	})
}

// ending is how the iteration ends: as the agent asked for through its step,
// or as its last answer says.
func (it *iteration) ending(r think.CodeReport) message.Body {
	if it.ask != nil {
		return it.ask
	}
	switch r.End {
	case think.CodeBlocked:
		r.Blocked.Task = it.task.ID
		if r.Blocked.Kind == "" {
			r.Blocked.Kind = message.BlockedSpec
		}
		if problem := code.BlockProblem(r.Blocked); problem != "" {
			it.e.Log("its block is not taken: %s", problem)
			return nil
		}
		return r.Blocked
	case think.CodeHandoff:
		r.Handoff.Task = it.task.ID
		return r.Handoff
	}
	// An agent that just stops when it thinks it is done has submitted.
	return message.ReviewRequested{Notes: r.Summary}
}

func (it *iteration) noteAll(ctx context.Context, anomalies []message.Anomaly) error {
	for _, a := range anomalies {
		a.Task = it.task.ID
		if err := message.MayLog(message.Coder, a.Kind); err != nil {
			it.e.Log("its anomaly is not taken: %v", err)
			continue
		}
		if err := a.Validate(); err != nil {
			it.e.Log("its anomaly is not taken: %v", err)
			continue
		}
		if _, err := it.e.Say(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// ref is where commits of this task are pinned.
func (it *iteration) ref(name string) string {
	return fmt.Sprintf("refs/orch/%s/%s/%s", it.goal.ID, it.task.ID, name)
}
