// Package integrator is the supervisor's hand at the integration branch: what
// was approved is merged, oldest approval first, and worktrees nobody needs any
// more are removed.
//
// It promises that of several processes on one board one merges at a time (its
// caller holds a lock), that a merge which was cut off is settled before
// another begins, that what can not be merged is said on the board, and that no
// commit is lost with a worktree. It decides nothing: approvals are the
// reviewer's, and what becomes of a failed integration is the planner's.
package integrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/loop"
)

// Integrator merges what is approved on one board.
type Integrator struct {
	Board *blackboard.Board
	Repo  workspace.Repo
	Place workspace.Place
	Ref   string // refs/heads/… of the integration branch
	Name  string // author of merge commits
	Email string
	// Command is what must pass on the merged tree in a directory; empty when
	// nothing says how the project is tested.
	Command func(dir string) (string, error)
	// Run runs it. ok tells whether it passed; err, that it could not be run.
	Run func(ctx context.Context, t blackboard.Task, dir, command string) (ok bool, output []byte, err error)
	// Unmoved says whether the branch is where the last merge left it; if not, it
	// has stopped the goal for a person to look. It may be nil.
	Unmoved func(context.Context, blackboard.Task) (bool, error)
	Warn    func(error)
	// Merged is told of each merge once it is on the board: at most once, not at
	// all if this process is killed in between. It may be nil.
	Merged func(context.Context, message.Message)
	// TidyEvery is after how many merges in a row worktrees are looked at, 0
	// meaning DefaultTidyEvery: with more work than can be merged there is no
	// other time for it.
	TidyEvery int
}

// DefaultTidyEvery lets looking cost little beside merging.
const DefaultTidyEvery = 10

// Checkpoint is the name of the checkpoint of a merge that could not be made.
const Checkpoint = "merge-failed"

// Serve merges until ctx is done, and then returns its error.
func (i *Integrator) Serve(ctx context.Context) error {
	var head uint64
	if err := i.Board.View(ctx, func(s *blackboard.State) error { head, _ = s.Head(); return nil }); err != nil {
		return err
	}
	if err := i.All(ctx); err != nil {
		return err
	}
	i.tidy(ctx)
	for m, err := range i.Board.Watch(ctx, head+1) {
		if err != nil {
			return fmt.Errorf("follow the log: %w", err)
		}
		if slices.Contains(brings, m.Type()) {
			if err := i.All(ctx); err != nil {
				return err
			}
		}
		if slices.Contains(frees, m.Type()) {
			i.tidy(ctx)
		}
	}
	return ctx.Err()
}

var (
	// brings are the messages after which something may be due to be merged.
	// The end of a step may be what an approved task waited for.
	brings = []message.Type{message.ReviewVerdict{}.Type(), message.Resumed{}.Type(), message.Unblocked{}.Type(), message.HumanEdit{}.Type(), message.StepEnded{}.Type()}
	// frees are the messages after which a worktree may be needed no more.
	frees = []message.Type{message.StepEnded{}.Type(), message.FinalResult{}.Type(), message.Aborted{}.Type()}
)

// All merges what is due, one after the other.
func (i *Integrator) All(ctx context.Context) error {
	for n := 1; ; n++ {
		var due []blackboard.Task
		if err := i.Board.View(ctx, func(s *blackboard.State) error { due = loop.MergeDue(s); return nil }); err != nil {
			return err
		}
		if len(due) == 0 {
			return nil
		}
		err := i.one(ctx, due[0])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if err := i.ask(ctx, due[0], err); err != nil {
				return err
			}
		} else if err := i.tell(ctx, due[0].ID); err != nil {
			return err
		}
		if n%cmp.Or(i.TidyEvery, DefaultTidyEvery) == 0 {
			i.tidy(ctx)
		}
	}
}

// tell passes on what was said of a merge, if there was one.
func (i *Integrator) tell(ctx context.Context, id message.TaskID) error {
	if i.Merged == nil {
		return nil
	}
	var t blackboard.Task
	if err := i.Board.View(ctx, func(s *blackboard.State) error { t, _ = s.Task(id); return nil }); err != nil {
		return err
	}
	if t.Status != blackboard.Merged {
		return nil
	}
	for m, err := range i.Board.Messages(t.Changed.Seq) {
		if err != nil {
			return fmt.Errorf("read what was merged: %w", err)
		}
		i.Merged(ctx, m)
		break
	}
	return nil
}

// one merges one task, or finishes the merge of it that was begun.
func (i *Integrator) one(ctx context.Context, t blackboard.Task) error {
	if m := t.Review.Merge; m != nil {
		err := workspace.Settle(ctx, i.Board, i.Repo.Dir, t.Goal, "", *m)
		var moved *workspace.MovedError
		if !errors.As(err, &moved) {
			return err
		}
		// The branch went on without it, so the merge is made on what it is now.
	}
	if i.Unmoved != nil {
		if ok, err := i.Unmoved(ctx, t); err != nil || !ok {
			return err
		}
	}
	in := workspace.Integration{
		Repo: i.Repo, Board: i.Board, Goal: t.Goal, Task: t.ID, Ref: i.Ref, Commit: workspace.Commit(t.Review.Commit),
		Subject: subject(t), Name: i.Name, Email: i.Email, Scratch: i.Place.Merge(t.Goal),
		Keep: func(out []byte) (string, error) { return i.Board.PutBlob(t.Goal, out) },
	}
	command, err := i.Command(i.Repo.Dir)
	if err != nil {
		return fmt.Errorf("find the integration command: %w", err)
	}
	if command != "" {
		in.Command = command
		in.Try = func(ctx context.Context, dir string) (bool, []byte, error) { return i.Run(ctx, t, dir, command) }
	}
	return in.Integrate(ctx)
}

// subject is the message of a merge commit: what the work is for.
func subject(t blackboard.Task) string {
	text := t.Intent
	if text == "" {
		text = string(t.ID)
	}
	s := fmt.Sprintf("Merge: %s\n\nTask: %s\nBy: %s\nApproved at: %s\n", text, t.ID, t.Agent, t.Review.Commit)
	if t.DoneWhen != "" {
		s += "Done when: " + t.DoneWhen + "\n"
	}
	if t.SpecRef != "" {
		s += "Spec: " + t.SpecRef + "\n"
	}
	return s
}

// ask stops the goal of a merge that could not be made until a person has looked.
func (i *Integrator) ask(ctx context.Context, t blackboard.Task, why error) error {
	reason := fmt.Sprintf("%s could not be merged: %v", t.ID, why)
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](why); ok {
		reason += ". " + h.Hint()
	}
	_, err := i.Board.Append(ctx, message.Message{From: message.Supervisor, To: message.All, Goal: t.Goal, Subject: string(t.ID), Cause: t.OutcomeRef.ID,
		Body: message.CheckpointReached{Name: Checkpoint, Reason: reason}})
	if err != nil {
		return fmt.Errorf("say that %s could not be merged: %w", t.ID, err)
	}
	return nil
}

// tidy removes the worktrees nobody needs any more. What goes wrong is told
// and tried again later: it keeps no work from being done.
func (i *Integrator) tidy(ctx context.Context) {
	if _, err := Tidy(ctx, i.Board, i.Repo, i.Place, i.Name, i.Email); err != nil && ctx.Err() == nil {
		i.Warn(err)
	}
}

// Tidy removes the worktrees of tasks and goals that have ended, and returns
// how many there were. Goals of which the board knows nothing are left alone.
func Tidy(ctx context.Context, b *blackboard.Board, r workspace.Repo, p workspace.Place, name, email string) (int, error) {
	goals, err := p.Goals()
	if err != nil {
		return 0, err
	}
	n := 0
	var errs []error
	for _, id := range goals {
		left := workspace.Leftover{Message: "Keep what was left in a worktree\n\nIts task had ended.", Name: name, Email: email}
		gone, err := p.Tidy(ctx, r, id, func(ctx context.Context) (func(string) bool, error) {
			keep, known, err := needed(ctx, b, p, id)
			return func(path string) bool { return !known || slices.Contains(keep, path) }, err
		}, left)
		n += len(gone)
		errs = append(errs, err)
	}
	return n, errors.Join(errs...)
}

// needed lists the worktrees of a goal that are still in use.
func needed(ctx context.Context, b *blackboard.Board, p workspace.Place, id message.GoalID) (keep []string, known bool, err error) {
	err = b.View(ctx, func(s *blackboard.State) error {
		g, ok := s.Goal(id)
		known = ok
		use := func(t blackboard.Task) {
			keep = append(keep, t.Work, p.Review(id, t.ID, t.Review.Fence), p.Checks(id, t.ID, t.Review.Fence), p.ChecksOfBase(id, t.ID, t.Review.Fence))
			if t.Status == blackboard.Approved {
				keep = append(keep, p.Merge(id))
			}
		}
		for _, a := range s.LiveActivations() {
			if t, ok := s.Task(message.TaskID(a.Subject)); ok && t.Goal == id {
				use(t)
			}
		}
		if g.Status == blackboard.GoalEnded {
			return nil
		}
		base, lower := p.Base(id)
		keep = append(keep, base, lower)
		for t := range s.TasksOf(id, unended...) {
			if t.Fence > 0 { // else nobody has worked on it anywhere
				use(t)
			}
		}
		return nil
	})
	return keep, known, err
}

// unended are the statuses of tasks that somebody may still work on.
var unended = slices.DeleteFunc(blackboard.Statuses(), blackboard.Status.Terminal)
