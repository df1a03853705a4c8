package step

import (
	"context"
	"errors"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// TestAStepPassesOnOnlySoMuch: what an agent may say it may not say without end.
func TestAStepPassesOnOnlySoMuch(t *testing.T) {
	e := &Env{Key: blackboard.ActivationKey{Role: message.Coder}, Agent: "coder-1"}
	var q Requests
	passed := 0
	shut := q.Open(func(context.Context, message.Body) (message.ID, error) { passed++; return "id", nil })
	defer shut()
	var err error
	for range 2 * maxSaid {
		_, err = q.Hear(t.Context(), e, message.Discovery{Description: "x", Severity: "low", Urgency: "deferred"})
	}
	if !errors.As(err, new(*NotYoursError)) || passed != maxSaid {
		t.Errorf("%d were passed on, then %v", passed, err)
	}
}
