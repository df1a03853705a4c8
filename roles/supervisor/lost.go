package supervisor

import (
	"context"
	"fmt"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles"
)

// losses are the claims of coding work that others were faster to make.
type losses map[blackboard.ActivationKey]loss

type loss struct {
	times int
	until time.Time
}

// shortestBackoff is the least time to wait after a lost claim.
const shortestBackoff = time.Second

// notBefore is when an activation may be claimed, lost claims considered.
func (l losses) notBefore(a roles.Activation) time.Time {
	if lost := l[a.Key]; lost.until.After(a.NotBefore) {
		return lost.until
	}
	return a.NotBefore
}

// beaten notes that another supervisor got the work of a coder or reviewer
// first, and waits a random while before it tries again, so that the two do
// not go on colliding. After the configured number of tries it leaves that
// work to whoever has it.
func (s *Supervisor) beaten(ctx context.Context, a roles.Activation, why error) error {
	if role := a.Key.Role; role != message.Coder && role != message.CodeReviewer {
		return nil
	}
	lost := s.lost[a.Key]
	lost.times++
	longest := time.Duration(s.Config.Code.ClaimBackoffMS) * time.Millisecond
	lost.until = s.Clock.Now().Add(shortestBackoff + time.Duration(s.Random()*float64(max(0, longest-shortestBackoff))))
	if lost.times >= s.Config.Code.ClaimTries {
		lost.until = s.Clock.Now().Add(time.Duration(s.LeaseMS) * time.Millisecond)
		lost.times = 0
	}
	s.lost[a.Key] = lost
	_, err := s.Board.Append(ctx, message.Message{From: message.Supervisor, To: message.Auditor, Goal: a.Goal, Subject: a.Key.Subject, Cause: a.Key.Cause,
		Body: message.Anomaly{Task: message.TaskID(a.Key.Subject), Kind: "claim_failed", Details: map[string]string{
			"what": fmt.Sprintf("%s on %s was taken by another: %v", a.Key.Role, a.Key.Subject, why)}}})
	if err != nil {
		return fmt.Errorf("note a lost claim: %w", err)
	}
	return nil
}
