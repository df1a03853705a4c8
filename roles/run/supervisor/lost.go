package supervisor

import (
	"context"
	"fmt"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/loop/code"
)

// losses are the claims of coding work that others were faster to make.
type losses map[blackboard.ActivationKey]loss

type loss struct {
	times int
	until time.Time
}

// notBefore is when an activation may be claimed, lost claims considered.
func (l losses) notBefore(a loop.Activation) time.Time {
	if lost := l[a.Key]; lost.until.After(a.NotBefore) {
		return lost.until
	}
	return a.NotBefore
}

// beaten notes that another supervisor got the work of a coder or reviewer
// first, and waits a random while before it tries again, so that the two do
// not go on colliding. After the configured number of tries it leaves that
// work to whoever has it.
func (s *Supervisor) beaten(ctx context.Context, a loop.Activation, why error) error {
	if role := a.Key.Role; role != message.Coder && role != message.CodeReviewer {
		return nil
	}
	lost := s.lost[a.Key]
	lost.times++
	n := lost.times
	waitMS, again := code.ClaimLost(n, s.Config.Code.ClaimTries, s.Config.Code.ClaimBackoffMS,
		func(limit int64) int64 { return int64(s.Random() * float64(limit)) })
	if !again {
		waitMS, lost.times = s.LeaseMS, 0
	}
	lost.until = s.Clock.Now().Add(time.Duration(waitMS) * time.Millisecond)
	s.lost[a.Key] = lost
	_, err := s.Board.Append(ctx, message.Message{From: message.Supervisor, To: message.Auditor, Goal: a.Goal, Subject: a.Key.Subject, Cause: a.Key.Cause,
		Body: code.ClaimFailed(message.TaskID(a.Key.Subject), a.Agent, n, why.Error())})
	if err != nil {
		return fmt.Errorf("note a lost claim: %w", err)
	}
	return nil
}
