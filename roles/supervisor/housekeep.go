package supervisor

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles"
)

// housekeep closes what dead processes left open and answers what nobody
// answered in time. Any supervisor may do it; the fold refuses what another
// one has done already.
func (s *Supervisor) housekeep(ctx context.Context) error {
	return s.Starter.Housekeep(ctx, s.Spawner)
}

// Housekeep does one pass. Processes of lost steps are ended before the step
// is declared lost, so that nobody works on a task that is given to another.
func (s *Starter) Housekeep(ctx context.Context, p Spawner) error {
	var due []message.Message
	markers := map[message.AgentID]string{}
	err := s.Board.View(ctx, func(st *blackboard.State) error {
		_, awake := s.Clock.Awake()
		due = roles.Housekeeping(st, s.Policy, p.Alive, s.Clock.Now(), awake)
		for _, a := range st.LiveActivations() {
			markers[a.Agent] = a.Marker
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for what is left over: %w", err)
	}
	for _, m := range due {
		if lost, ok := m.Body.(message.StepEnded); ok {
			lost.Survivors = p.Sweep(markers[lost.Agent])
			m.Body = lost
		}
		if _, err := s.Board.Append(ctx, m); err != nil && !Refused(err) {
			return fmt.Errorf("tidy up: %w", err)
		}
	}
	return nil
}

// Refused tells whether the board said no because it has moved on.
func Refused(err error) bool {
	return is[*blackboard.RefusedError](err) || is[*blackboard.ActivationTakenError](err) || is[*blackboard.LateError](err) ||
		is[*blackboard.AgentLiveError](err) || is[*blackboard.GoalNotOpenError](err) || is[*blackboard.NotClaimableError](err)
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
