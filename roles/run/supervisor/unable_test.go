package supervisor

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
)

// A supervisor that has no descriptor left for a step ends, and says so. The
// step did not fail, and the goal waits for nobody.
func TestWhatASupervisorLacksIsNoFaultOfAStep(t *testing.T) {
	lack := fmt.Errorf("start orch: %w", syscall.EMFILE)
	for name, c := range map[string]struct {
		trusted func(context.Context) error
		end     End
		starts  bool
	}{
		"to start it":      {nil, endOf(process.Result{Exit: -1, Err: lack}, nil), true},
		"to look at trust": {func(context.Context) error { return lack }, End{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			started := 0
			s := w.supervisor(&spawner{play: func(context.Context, Claim) End { started++; return c.end }})
			s.Trusted = c.trusted
			if ending, err := s.Run(ctx); !errors.Is(err, syscall.EMFILE) {
				t.Fatalf("%q, %v", ending, err)
			}
			if (started == 1) != c.starts || started > 1 {
				t.Errorf("%d steps were started", started)
			}
			if err := s.Board.View(t.Context(), func(st *blackboard.State) error {
				for _, g := range st.Goals() {
					if g.Status != blackboard.GoalOpen {
						t.Errorf("goal %s is %s", g.ID, g.Status)
					}
				}
				for _, m := range st.LiveActivations() {
					t.Errorf("left: %+v", m)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if c.starts && c.end.Class != message.EndInterrupted {
				t.Errorf("the step's end is %s", c.end.Class)
			}
		})
	}
}
