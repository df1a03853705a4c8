package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/roles/loop"
)

// EscalationFile is where a person finds, in .orch, what waits for them longer
// than it should.
const EscalationFile = "ESCALATION"

// escalationLock is held while the file is replaced, so that what is written
// last is what the board says last.
const escalationLock = "escalation.lock"

// KeepEscalation makes the file say what the board says, or removes it. It is
// derived afresh each time, so that a crash between a message and the file
// loses nothing. Whoever finds somebody else at it leaves it to them.
func KeepEscalation(ctx context.Context, b *blackboard.Board) error {
	fresh, err := escalationFresh(ctx, b)
	if err != nil || fresh {
		return err
	}
	lock := journal.OSFS{}.NewLock(filepath.Join(b.Dir(), blackboard.RunDir, escalationLock))
	mine, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("keep %s: %w", EscalationFile, err)
	}
	defer func() { _ = lock.Close() }() // the system unlocks a closed file anyway
	if !mine {
		return nil
	}
	text, err := escalation(ctx, b)
	if err != nil {
		return err
	}
	path := filepath.Join(b.Dir(), EscalationFile)
	if text == "" {
		err = os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else {
		err = journal.WriteFileAtomic(journal.OSFS{}, path, []byte(text), 0o644)
	}
	if err != nil {
		return fmt.Errorf("keep %s: %w", EscalationFile, err)
	}
	return nil
}

// escalationFresh tells whether the file says what the board says.
func escalationFresh(ctx context.Context, b *blackboard.Board) (bool, error) {
	text, err := escalation(ctx, b)
	if err != nil {
		return false, err
	}
	there, err := plainfile.Read(filepath.Join(b.Dir(), EscalationFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return text == "", nil
	case err != nil:
		return false, fmt.Errorf("read %s: %w", EscalationFile, err)
	}
	return text != "" && string(there) == text, nil
}

func escalation(ctx context.Context, b *blackboard.Board) (text string, err error) {
	err = b.View(ctx, func(st *blackboard.State) error { text = loop.Escalation(st); return nil })
	if err != nil {
		return "", fmt.Errorf("look for what waits too long: %w", err)
	}
	return text, nil
}

// Escalate tells a person, outside of orch, what housekeeping has just said to
// them: in the file, and by the hook, once for each message.
func Escalate(ctx context.Context, b *blackboard.Board, h Hooks, said []message.Message) error {
	err := KeepEscalation(ctx, b)
	for _, m := range said {
		if e, ok := m.Body.(message.Escalated); ok {
			h.Run(ctx, Moment{Name: "on-escalate", Goal: m.Goal, Result: e.Reason}, e)
		}
	}
	return err
}

// escalate does it for a run. A file that can not be written is said once and
// stops nothing.
func (s *Supervisor) escalate(ctx context.Context, said []message.Message) {
	err := Escalate(ctx, s.Board, s.Hooks, said)
	if err == nil || ctx.Err() != nil {
		s.untold = ""
		return
	}
	if why := err.Error(); why != s.untold {
		s.untold = why
		s.Warn(err)
	}
}
