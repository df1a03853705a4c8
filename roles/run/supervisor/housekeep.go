package supervisor

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
)

// housekeep closes what dead processes left open and answers what nobody
// answered in time. Any supervisor may do it; the fold refuses what another
// one has done already.
func (s *Supervisor) housekeep(ctx context.Context) error {
	said, err := s.Starter.Housekeep(ctx, s.Spawner)
	s.escalate(ctx, said)
	if err != nil {
		return err
	}
	return s.Board.NoteHead()
}

// Housekeep does one pass and returns what it said. Processes of lost steps are
// ended before anything is said, so that nobody works on a task that is given
// to another. What was found dead is declared so only if it is still what was looked at: by
// then another supervisor may have started it anew, under the same name.
func (s *Starter) Housekeep(ctx context.Context, p Spawner) (said []message.Message, err error) {
	var due []message.Message
	var found remains
	err = s.Board.View(ctx, func(st *blackboard.State) error {
		_, awake := s.Clock.Awake()
		due = loop.Housekeeping(st, s.Policy, p.Look, s.Clock.Now(), awake)
		found = remainsOf(st)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for what is left over: %w", err)
	}
	for i, m := range due {
		if lost, ok := m.Body.(message.StepEnded); ok {
			lost.Survivors = p.Sweep(found.markers[lost.Agent])
			due[i].Body = lost
		}
	}
	for _, m := range due {
		done, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
			if !found.same(st, m.Body) {
				return message.Message{}, errClosed
			}
			return m, nil
		})
		switch {
		case err == nil:
			said = append(said, done)
		case !errors.Is(err, errClosed) && !Refused(err):
			return said, fmt.Errorf("tidy up: %w", err)
		}
	}
	return said, nil
}

// Lapsed says what takes back the claims of tasks whose lease is over and whose
// holder is gone.
func (s *Starter) Lapsed(ctx context.Context, look loop.Look) (due []message.Message, err error) {
	err = s.Board.View(ctx, func(st *blackboard.State) error {
		_, awake := s.Clock.Awake()
		due = loop.Lapsed(st, s.Policy, look, s.Clock.Now(), awake)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for claims that have lapsed: %w", err)
	}
	return due, nil
}

// Lapse says it, so that a task is free for whoever claims it, whether or not a
// run has tidied up since.
func (s *Starter) Lapse(ctx context.Context, look loop.Look) error {
	due, err := s.Lapsed(ctx, look)
	if err != nil {
		return err
	}
	for _, m := range due {
		if _, err := s.Board.Append(ctx, m); err != nil && !Refused(err) {
			return fmt.Errorf("take a lapsed claim back: %w", err)
		}
	}
	return nil
}

// remains are the steps and agents that one look at the board found. Their
// names are given again, so a name alone does not tell whether they are meant.
type remains struct {
	markers   map[message.AgentID]string
	processes map[message.AgentID]message.Process
}

func remainsOf(st *blackboard.State) remains {
	r := remains{markers: map[message.AgentID]string{}, processes: map[message.AgentID]message.Process{}}
	for _, a := range st.LiveActivations() {
		r.markers[a.Agent] = a.Marker
	}
	for _, a := range st.Agents() {
		r.processes[a.ID] = a.Process
	}
	return r
}

// same tells whether what a message declares dead is what was looked at.
func (r remains) same(st *blackboard.State, body message.Body) bool {
	switch b := body.(type) {
	case message.StepEnded:
		a, ok := st.Activation(blackboard.ActivationKey{Role: b.Role, Subject: b.Subject, Cause: b.Cause})
		return ok && a.Live() && a.Marker == r.markers[b.Agent]
	case message.Deregistered:
		a, ok := st.Agent(b.Agent)
		return ok && a.Process == r.processes[b.Agent]
	}
	return true // the fold refuses what another supervisor has done already
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
