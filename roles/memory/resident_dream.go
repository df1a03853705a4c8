package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// dreams makes the passes that are asked for, those that follow the end of a
// goal, and those by the clock, one after the other.
func (r *Resident) dreams(ctx context.Context) error {
	settle, every := time.Duration(r.SettleMS)*time.Millisecond, time.Duration(r.EveryMS)*time.Millisecond
	clock := stopped()
	defer clock.Stop()
	if every > 0 {
		clock.Reset(every)
	}
	settled := stopped()
	defer settled.Stop()
	waiting := false
	for {
		due, err := r.serve(ctx)
		if err != nil {
			return err
		}
		if due && !waiting {
			settled.Reset(settle)
			waiting = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.wake:
		case <-settled.C:
			waiting = false
			err = r.pass(ctx, "", nil, true)
		case <-clock.C:
			err = r.pass(ctx, "", nil, false)
			clock.Reset(every)
		}
		if err != nil {
			return err
		}
	}
}

// stopped is a timer that does not run.
func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// serve makes the passes that were asked for, and tells whether one is due
// because a goal has ended.
func (r *Resident) serve(ctx context.Context) (due bool, err error) {
	d, err := r.state(ctx)
	if err != nil {
		return false, err
	}
	for _, asked := range d.Asked {
		if slices.Contains(asked.Phases, message.DreamRebuild) {
			if err := r.rebuild(ctx, asked.Ref.ID, "it was asked for"); err != nil {
				return false, err
			}
		}
		phases := phasesOf(asked.Phases)
		if phases != nil && len(phases) == 0 {
			err = r.say(ctx, asked.Ref.ID, message.DreamReport{Phase: message.DreamRebuild, Last: true})
		} else {
			err = r.pass(ctx, asked.Ref.ID, phases, true)
		}
		if err != nil {
			return false, err
		}
	}
	d, err = r.state(ctx)
	return d.Due(), err
}

func (r *Resident) state(ctx context.Context) (d blackboard.Dreams, err error) {
	err = r.Board.View(ctx, func(s *blackboard.State) error { d = s.Dreams(); return nil })
	return d, err
}

// phasesOf are the phases of a pass, in their order; nil for all of them, none
// if only something else was asked for.
func phasesOf(names []string) []Phase {
	if len(names) == 0 {
		return nil
	}
	return slices.DeleteFunc(Phases(), func(p Phase) bool { return !slices.Contains(names, string(p)) })
}

// pass lets the Dreamer go over the store once. What it says is in the log and
// in the store before it goes on.
func (r *Resident) pass(ctx context.Context, cause message.ID, phases []Phase, answer bool) error {
	return r.with(ctx, func(s *Store) error {
		_, err := s.Dream(ctx, Pass{Phases: phases, Answer: answer, Say: func(ctx context.Context, body message.Body) error {
			if err := r.say(ctx, cause, body); err != nil {
				return err
			}
			return s.CatchUp(ctx, r.Board.Messages)
		}})
		return err
	})
}

// part makes the pass that the end of a goal has made due and the end of the
// resident would put off: a run ends with its goal. It is cut short rather than
// waited for; the next resident goes on with it.
func (r *Resident) part(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(r.PartMS)*time.Millisecond)
	defer cancel()
	d, err := r.state(ctx)
	if err == nil && d.Due() {
		err = r.with(ctx, func(s *Store) error { return s.CatchUp(ctx, r.Board.Messages) })
		if err == nil {
			err = r.pass(ctx, "", nil, true)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("dream before leaving: %w", err)
	}
	return nil
}
