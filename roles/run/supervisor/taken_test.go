package supervisor

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"orch/blackboard/message"
)

// Another supervisor may take a living step for dead and say so. The one that
// sees it through goes on: it starts the successor once its own step has ended,
// and closes each by itself.
func TestAStepThatAnotherTookForDeadEndsByItself(t *testing.T) {
	w := newWorld(t)
	other := w.starter(2)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var at, most atomic.Int32
	steps := 0
	p := &spawner{play: func(ctx context.Context, c Claim) End {
		most.Store(max(most.Load(), at.Add(1)))
		defer at.Add(-1)
		if steps++; steps > 1 {
			cancel()
			return End{Class: message.EndDone}
		}
		if err := other.End(ctx, c, End{Exit: -1, Class: message.EndLost}); err != nil {
			t.Error(err)
		}
		w.pass(time.Hour, time.Hour) // its successor is due at once
		select {
		case <-ctx.Done():
		case <-time.After(1500 * time.Millisecond): // some looks at the board
		}
		return End{Class: message.EndDone}
	}}
	s := w.supervisor(p)
	if ending, err := s.Run(ctx); err != nil || ending != Interrupted {
		t.Fatalf("%s, %v", ending, err)
	}
	if steps != 2 || most.Load() != 1 || len(s.live) != 0 {
		t.Errorf("%d steps, %d at once, %d left", steps, most.Load(), len(s.live))
	}
}
