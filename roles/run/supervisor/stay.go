package supervisor

import (
	"context"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Wait is a goal that waits for a person, and the brakes of its board.
type Wait struct {
	Goal   blackboard.Goal
	Brakes blackboard.Brakes
	Seq    uint64 // of the last message then
}

// since is the message it waits since; empty if it does not wait.
func (w Wait) since() message.ID {
	switch {
	case w.Goal.Suspended != nil:
		return w.Goal.Suspended.Since.ID
	case w.Brakes.Checkpoint != nil:
		return w.Brakes.Checkpoint.ID
	}
	return ""
}

func (s *Supervisor) wait(ctx context.Context) (w Wait, err error) {
	err = s.Board.View(ctx, func(st *blackboard.State) error {
		w.Goal, _ = st.Goal(s.Goal)
		w.Brakes = st.Brakes()
		w.Seq, _ = st.Head()
		return nil
	})
	return w, err
}

// stays takes the end of a run back if it is to stay up although the goal waits
// for a person. Nothing is due meanwhile; the board is looked at and tidied as
// always.
func (s *Supervisor) stays(ctx context.Context, ending Ending) (Ending, error) {
	if s.Stay == nil || ending != Waiting || len(s.live) > 0 {
		return ending, nil
	}
	w, err := s.wait(ctx)
	if err != nil {
		return ending, fmt.Errorf("look what the goal waits for: %w", err)
	}
	since := w.since()
	if since == "" || since == s.awaits {
		return "", nil // answered since it was looked at, or said before
	}
	if !s.Stay(w) {
		return ending, nil
	}
	s.awaits = since
	s.atWait(ctx, w)
	return "", nil
}
