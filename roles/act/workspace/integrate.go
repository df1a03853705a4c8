package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"orch/blackboard/message"
)

// Integration is one approved commit on its way into a branch.
type Integration struct {
	Repo    Repo
	Board   Board
	Goal    message.GoalID
	Task    message.TaskID
	Ref     string // refs/heads/…
	Commit  Commit // approved
	Subject string // of the merge commit
	Name    string // author of the merge commit
	Email   string
	Scratch string // where the merge is checked out to be tried; gone afterwards
	Command string // what Try runs, for the record; empty: nothing is run
	// Try runs the project's integration command in a checkout of the merge.
	// ok tells whether the merge may go in; err, that it could not be tried.
	Try func(ctx context.Context, dir string) (ok bool, output []byte, err error)
	// Keep stores the output of a command and returns its hash.
	Keep func(output []byte) (hash string, err error)
}

// tries bounds how often a merge is made again because the branch moved.
const tries = 5

// Integrate merges an approved commit into its branch, or says on the board
// why it does not fit. The merge is tried and checked in full before the
// branch moves, and made again on what the branch has become if somebody else
// moved it meanwhile.
func (in Integration) Integrate(ctx context.Context) error {
	var moved *MovedError
	for range tries {
		ours, err := in.Repo.Intact(ctx, in.Goal, in.Ref)
		if err != nil {
			return err
		}
		if err := in.Repo.Free(ctx, in.Ref); err != nil {
			return err
		}
		err = in.onto(ctx, ours)
		if !errors.As(err, &moved) {
			return err
		}
	}
	return fmt.Errorf("merge %s: %w", in.Task, moved)
}

// onto makes one attempt on the branch as it is.
func (in Integration) onto(ctx context.Context, ours Commit) error {
	c, err := in.Repo.TryMerge(ctx, ours, in.Commit, Leftover{in.Subject, in.Name, in.Email})
	if err != nil {
		return err
	}
	if len(c.Conflicts) > 0 {
		return in.fail(ctx, message.IntegrationFailed{Task: in.Task, Conflict: c.Conflicts, Command: "git merge"}, nil)
	}
	lost, err := in.Repo.Lost(ctx, c)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return in.fail(ctx, message.IntegrationFailed{Task: in.Task, Conflict: lost, Command: "git merge"}, []byte("the merge would lose changes of these files"))
	}
	if in.Try != nil {
		ok, output, err := in.try(ctx, c.Commit)
		if err != nil {
			return fmt.Errorf("try the merge of %s: %w", in.Task, err)
		}
		if !ok {
			return in.fail(ctx, message.IntegrationFailed{Task: in.Task, Conflict: []string{}, Command: in.Command}, output)
		}
	}
	if err := in.Repo.Pin(ctx, "refs/orch/"+string(in.Goal)+"/"+string(in.Task)+"/merge", c.Commit); err != nil {
		return err
	}
	return Merge(ctx, in.Board, in.Repo.Dir, in.Goal, message.MergeStarting{Task: in.Task, From: string(ours), To: string(c.Commit), Ref: in.Ref})
}

// try checks the merge out and runs the command there.
func (in Integration) try(ctx context.Context, merged Commit) (ok bool, output []byte, err error) {
	dir := filepath.Clean(in.Scratch)
	if err := Remove(dir); err != nil {
		return false, nil, err
	}
	if err := in.Repo.Make(ctx, dir, Spec{Commit: merged, Name: in.Name, Email: in.Email, Included: true}, nil); err != nil {
		return false, nil, err
	}
	defer func() { err = errors.Join(err, Remove(dir)) }()
	return in.Try(ctx, dir)
}

func (in Integration) fail(ctx context.Context, f message.IntegrationFailed, output []byte) error {
	hash, err := in.Keep(output)
	if err != nil {
		return fmt.Errorf("keep the output of %s: %w", f.Command, err)
	}
	f.Output = hash
	if _, err := in.Board.Append(ctx, about(in.Goal, in.Task, "", f)); err != nil {
		return fmt.Errorf("record the failed merge of %s: %w", in.Task, err)
	}
	return nil
}
