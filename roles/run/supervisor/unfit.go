package supervisor

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard/message"
	"orch/roles/loop"
)

// UnfitError says that work can not begin where it would have to, until a
// person has done what it says.
type UnfitError struct {
	What string // what is wrong
	Do   string // what to do about it
}

func (e *UnfitError) Error() string { return e.What }

// Hint names what to do.
func (e *UnfitError) Hint() string { return e.Do }

// unfit is an *UnfitError of an error that says what a person can do.
func unfit(err error) error {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return &UnfitError{err.Error(), h.Hint()}
	}
	return err
}

// unfit stops the goal until a person has looked. What runs goes on to its end.
func (s *Supervisor) unfit(ctx context.Context, a loop.Activation, why *UnfitError) error {
	return s.suspend(ctx, a, "no-place-to-work", why)
}

// untrusted stops the goal if what takes part is no longer what the person
// trusted.
func (s *Supervisor) untrusted(ctx context.Context, a loop.Activation) (held bool, err error) {
	if s.Trusted == nil {
		return false, nil
	}
	why := s.Trusted(ctx)
	switch {
	case why == nil:
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case lacking(why): // the supervisor's own trouble, not the goal's
		return false, why
	}
	no := &UnfitError{What: why.Error()}
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](why); ok {
		no.Do = h.Hint() + ", then: orch resume"
	}
	return true, s.suspend(ctx, a, "untrusted", no)
}

func (s *Supervisor) suspend(ctx context.Context, a loop.Activation, name string, why *UnfitError) error {
	_, err := s.Board.Append(ctx, message.Message{From: message.Supervisor, To: message.All, Goal: a.Goal, Subject: string(a.Goal), Cause: a.Key.Cause,
		Body: message.CheckpointReached{Name: name, Reason: fmt.Sprintf("%s can not begin on %s: %s. %s", a.Key.Role, a.Key.Subject, why.What, why.Do)}})
	if err != nil && !Refused(err) {
		return fmt.Errorf("say why %s can not begin on %s: %w", a.Key.Role, a.Key.Subject, err)
	}
	return nil
}
