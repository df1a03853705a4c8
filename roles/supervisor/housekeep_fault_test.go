package supervisor

import (
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// meddler lets another supervisor act between the look and the word of this one.
type meddler struct {
	*spawner
	between func()
}

func (m *meddler) Sweep(marker string) int {
	if act := m.between; act != nil {
		m.between = nil
		act()
	}
	return m.spawner.Sweep(marker)
}

// Two supervisors find the same dead step. The slower one must not declare dead
// what the faster one has started anew under the same name.
func TestAStepStartedAnewIsNotDeclaredLostByASlowSupervisor(t *testing.T) {
	w := newWorld(t)
	dead, fast, slow := w.starter(1), w.starter(2), w.starter(3)
	first, err := dead.Start(t.Context(), w.due(dead)[0])
	if err != nil {
		t.Fatal(err)
	}
	sp := &spawner{dead: []int{1, 11}}
	register(t, w, first, message.Process{PID: 11, Boot: "boot-1", Start: 11})
	var second Claim
	slowly := &meddler{spawner: sp, between: func() {
		if _, err := fast.Housekeep(t.Context(), sp); err != nil {
			t.Error(err)
		}
		if second, err = fast.Start(t.Context(), first.Activation); err != nil {
			t.Error(err)
		}
		register(t, w, second, message.Process{PID: 22, Boot: "boot-1", Start: 22})
	}}
	if _, err := slow.Housekeep(t.Context(), slowly); err != nil {
		t.Fatal(err)
	}
	if second.Agent != first.Agent || second.Try != 2 {
		t.Fatalf("started anew as %+v", second)
	}
	expectAlive(t, slow, second)

	// Nor does the end of the first try, told late, end the second.
	if err := dead.End(t.Context(), first, End{Exit: -1, Class: message.EndKilled}); err != nil {
		t.Fatal(err)
	}
	expectAlive(t, slow, second)
}

func register(t *testing.T, w *world, c Claim, p message.Process) {
	t.Helper()
	role := c.Activation.Key.Role
	_, err := w.board(c.Agent, role).Append(t.Context(), message.Message{Subject: string(c.Agent),
		Body: message.Registered{Agent: c.Agent, Role: role, Process: p, Lease: NewLease(w, 60_000)}})
	if err != nil {
		t.Fatal(err)
	}
}

func expectAlive(t *testing.T, s *Starter, c Claim) {
	t.Helper()
	err := s.Board.View(t.Context(), func(st *blackboard.State) error {
		if a, _ := st.Activation(c.Activation.Key); !a.Live() || a.Marker != c.Marker {
			t.Errorf("the living step is closed: %+v", a)
		}
		if a, ok := st.Agent(c.Agent); !ok || a.Process.PID != 22 {
			t.Errorf("the living agent is gone: %+v", a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
