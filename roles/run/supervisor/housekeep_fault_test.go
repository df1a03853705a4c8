package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	first := w.begin(dead)
	sp := &spawner{dead: []int{1, 11}}
	register(t, w, first, message.Process{PID: 11, Boot: "boot-1", Start: 11})
	var second Claim
	slowly := &meddler{spawner: sp, between: func() {
		if _, err := fast.Housekeep(t.Context(), sp); err != nil {
			t.Error(err)
		}
		var err error
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

// Whoever closes a step may be killed after each of its words. The next one
// gives the task back at once: no lease has to be waited for.
func TestAStepWhoseClosingIsCutOffHoldsNothing(t *testing.T) {
	for name, closes := range map[string]func(*world, *Starter, Claim) error{
		"its supervisor": func(w *world, dead *Starter, c Claim) error {
			return dead.End(w.t.Context(), c, End{Exit: -1, Class: message.EndKilled})
		},
		"another supervisor": func(w *world, _ *Starter, _ Claim) error {
			_, err := w.starter(2).Housekeep(w.t.Context(), &spawner{dead: []int{1}})
			return err
		},
	} {
		w := newWorld(t)
		dead := w.starter(1)
		w.plan(dead)
		c := w.begin(dead)
		claimed := len(w.lines())
		if err := closes(w, dead, c); err != nil {
			t.Fatal(err)
		}
		all := w.lines()
		if len(all) < claimed+2 {
			t.Fatalf("%s said %d words", name, len(all)-claimed)
		}
		for n := claimed; n <= len(all); n++ {
			w.root = t.TempDir()
			w.write(all[:n])
			s := w.starter(3)
			if _, err := s.Housekeep(t.Context(), &spawner{dead: []int{1, 2}}); err != nil {
				t.Fatal(err)
			}
			if due := w.due(s); len(due) != 1 || due[0].Key != c.Activation.Key {
				t.Errorf("%s cut off after %d of %d words: due %v", name, n-claimed, len(all)-claimed, due)
			}
		}
	}
}

// lines are the messages of the log.
func (w *world) lines() []string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.root, ".orch", "log.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(raw)))
}

// write makes a log of messages.
func (w *world) write(lines []string) {
	w.t.Helper()
	dir := filepath.Join(w.root, ".orch")
	if err := os.Mkdir(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.jsonl"), []byte(strings.Join(lines, "")), 0o644); err != nil {
		w.t.Fatal(err)
	}
}
