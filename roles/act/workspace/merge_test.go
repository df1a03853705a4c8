package workspace

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace/workspacetest"
)

// dying is a board whose process dies before it appends a message of a type.
type dying struct {
	*blackboard.Board
	before message.Type
}

var errDied = errors.New("died")

func (d dying) Append(ctx context.Context, m message.Message, o ...blackboard.AppendOption) (message.Message, error) {
	if m.Type() == d.before {
		return message.Message{}, errDied
	}
	return d.Board.Append(ctx, m, o...)
}

func (d dying) Barrier(ctx context.Context, seq uint64) error {
	if d.before == "the ref moves" {
		return errDied
	}
	return d.Board.Barrier(ctx, seq)
}

func TestDeathAtAnyPointOfAMergeMovesTheRefOnce(t *testing.T) {
	for _, before := range []message.Type{"MergeStarting", "the ref moves", "Merged", "nothing"} {
		t.Run(string(before), func(t *testing.T) {
			b := workspacetest.New(t)
			m := message.MergeStarting{Task: "t", From: b.From, To: b.To, Ref: workspacetest.Integration}
			err := Merge(t.Context(), dying{b.Board, before}, b.Repo, "g", m)
			if died := errors.Is(err, errDied); died != (before != "nothing") {
				t.Fatalf("got %v", err)
			}
			finish(b, m)
			if at := b.Git("rev-parse", "integration"); at != b.To {
				t.Errorf("integration is at %s, want %s", at, b.To)
			}
			if n := len(strings.Split(b.Git("reflog", "show", "integration"), "\n")); n != 2 {
				t.Errorf("integration moved %d times after its first commit, want once", n-1)
			}
			if n := b.Merged(); n != 1 {
				t.Errorf("%d Merged in the log, want 1", n)
			}
		})
	}
}

// finish does what the next supervisor does: it settles a merge that was
// started, or makes one that was not.
func finish(b *workspacetest.Bench, m message.MergeStarting) {
	b.T.Helper()
	var task blackboard.Task
	if err := b.Board.View(b.T.Context(), func(s *blackboard.State) error { task, _ = s.Task("t"); return nil }); err != nil {
		b.T.Fatal(err)
	}
	var err error
	switch {
	case task.Status == blackboard.Merged:
	case task.Review.Merge != nil:
		err = Settle(b.T.Context(), b.Board, b.Repo, "g", "", *task.Review.Merge)
	default:
		err = Merge(b.T.Context(), b.Board, b.Repo, "g", m)
	}
	if err != nil {
		b.T.Fatal(err)
	}
}

func TestABranchThatSomebodyElseMovedIsLeftAlone(t *testing.T) {
	b := workspacetest.New(t)
	b.Git("checkout", "-q", "integration")
	theirs := b.Commit("theirs")
	err := Merge(t.Context(), b.Board, b.Repo, "g", message.MergeStarting{Task: "t", From: b.From, To: b.To, Ref: workspacetest.Integration})
	var moved *MovedError
	if !errors.As(err, &moved) || moved.Have != theirs {
		t.Fatalf("got %v", err)
	}
	if at := b.Git("rev-parse", "integration"); at != theirs {
		t.Errorf("integration is at %s, want %s", at, theirs)
	}
	if b.Merged() != 0 {
		t.Error("a merge that did not happen is in the log")
	}
}
