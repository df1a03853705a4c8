package supervisor

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Trip is a finding of the auditor that calls for a stop. The auditor stops
// nothing itself: it writes, and a supervisor reads and acts.
type Trip struct {
	Finding  string         // its id
	Goal     message.GoalID // empty: every open goal
	Severity string
	Evidence []uint64 // seqs
	Report   string   // what was found and where to read on
}

// trip stops at a checkpoint for every finding that did not stop the work
// before. Steps that run may finish; nothing new is started.
func (s *Supervisor) trip(ctx context.Context) error {
	if s.Trips == nil {
		return nil
	}
	trips, err := s.Trips()
	if err != nil {
		if why := err.Error(); why != s.tried { // the auditor mends its file; said once is enough
			s.tried = why
			s.Warn(fmt.Errorf("read the auditor's findings: %w", err))
		}
		return nil
	}
	s.tried = ""
	for _, t := range trips {
		_, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
			if st.Tripped(t.Finding) || !concerned(st, t.Goal) {
				return message.Message{}, errClosed
			}
			return message.Message{From: message.Supervisor, To: message.Human, Goal: t.Goal, Subject: t.Finding,
				Body: message.CircuitBreaker{Finding: t.Finding, Severity: t.Severity, Evidence: t.Evidence, Report: t.Report}}, nil
		})
		if err != nil && !errors.Is(err, errClosed) && !Refused(err) {
			return fmt.Errorf("stop because of finding %s: %w", t.Finding, err)
		}
	}
	return nil
}

// concerned tells whether there is still something to stop.
func concerned(st *blackboard.State, goal message.GoalID) bool {
	if goal == "" {
		return len(st.OpenGoals()) > 0
	}
	g, ok := st.Goal(goal)
	return ok && g.Status != blackboard.GoalEnded
}
