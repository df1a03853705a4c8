package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// The brake files a person may touch in .orch.
const (
	PauseFile      = "PAUSE"
	CheckpointFile = "CHECKPOINT"
	AbortFile      = "ABORT"
)

// fileReason begins the reason of a brake that a file set; removing the file
// lifts it.
const fileReason = "the file .orch/"

// BrakeFiles watches a person's brakes in the .orch directory.
type BrakeFiles struct{ Dir string }

func (b BrakeFiles) present(name string) (bool, error) {
	_, err := os.Lstat(filepath.Join(b.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", name, err)
	}
	return true, nil
}

// apply puts the files into the log. It reports whether the run must stop now.
func (b BrakeFiles) apply(ctx context.Context, s *Supervisor) (stop bool, err error) {
	abort, err1 := b.present(AbortFile)
	pause, err2 := b.present(PauseFile)
	checkpoint, err3 := b.present(CheckpointFile)
	if err := errors.Join(err1, err2, err3); err != nil {
		return false, err
	}
	if abort {
		return true, b.abort(ctx, s)
	}
	var brakes blackboard.Brakes
	if err := s.Board.View(ctx, func(st *blackboard.State) error { brakes = st.Brakes(); return nil }); err != nil {
		return false, fmt.Errorf("read the brakes: %w", err)
	}
	switch {
	case checkpoint && brakes.Checkpoint == nil:
		return false, s.say(ctx, message.CheckpointReached{Name: "by hand", Reason: fileReason + CheckpointFile})
	case pause && brakes.Paused == nil:
		return false, s.say(ctx, message.Paused{Reason: fileReason + PauseFile})
	case !pause && !checkpoint && (brakes.Paused != nil || brakes.Checkpoint != nil) && strings.HasPrefix(brakes.Reason, fileReason):
		return false, s.say(ctx, message.Resumed{Reason: "the brake file was removed"})
	}
	return false, nil
}

// abort stops the goal this supervisor serves; the file is consumed, so that
// the next run is not aborted by a brake of yesterday.
func (b BrakeFiles) abort(ctx context.Context, s *Supervisor) error {
	if err := s.say(ctx, message.Aborted{Reason: fileReason + AbortFile}); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(b.Dir, AbortFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove ABORT: %w", err)
	}
	return nil
}

// say appends a brake message; two supervisors may see the same file at once.
func (s *Supervisor) say(ctx context.Context, body message.Body) error {
	goal := message.GoalID("")
	if _, ok := body.(message.Aborted); ok {
		goal = s.Goal
	}
	_, err := s.Board.Append(ctx, message.Message{From: message.Supervisor, To: message.All, Goal: goal, Subject: string(goal), Body: body})
	if err != nil && !Refused(err) {
		return fmt.Errorf("apply brake: %w", err)
	}
	return nil
}
