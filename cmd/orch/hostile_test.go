//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orch/blackboard/message"
	"orch/roles/act/confine"
)

// forged is in every text that only the hostile program says.
const forged = "forged by the hostile program"

var hostileProgram = sync.OnceValue(func() string {
	path := filepath.Join(filepath.Dir(program), "hostile")
	if out, err := exec.Command("go", "build", "-o", path, "../../scripts/hostile").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return path
})

// report is what a party could do, by attack.
func (s *siege) report(party string) map[string]tried {
	f, err := os.Open(filepath.Join(s.reports, party+".jsonl"))
	if err != nil {
		s.t.Errorf("%s did nothing: %v", party, err)
		return nil
	}
	defer f.Close()
	out := map[string]tried{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r tried
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			s.t.Fatal(err)
		}
		out[r.Attack] = r
	}
	if err := lines.Err(); err != nil {
		s.t.Fatal(err)
	}
	return out
}

type tried struct {
	Attack, Detail string
	Through        bool
}

// logged looks at what is on the logs: nothing that was forged, no more than a
// few refusals of each step, and nothing that stops anything.
func (s *siege) logged(root string) {
	raw, err := os.ReadFile(filepath.Join(root, ".orch", "log.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	refused := map[message.AgentID]int{}
	for line := range strings.Lines(string(raw)) {
		var m struct {
			Type    message.Type
			Door    message.Door
			Payload struct {
				By   message.AgentID
				Cost float64
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			s.t.Fatal(err)
		}
		switch m.Type {
		case "BoundaryViolation":
			refused[m.Payload.By]++
		case "CircuitBreaker", "Paused", "LimitReached", "Anomaly", "Blocked", "Aborted":
			s.t.Errorf("%s has a %s: %s", root, m.Type, line)
		case "StepEnded":
			if m.Payload.Cost > 100 {
				s.t.Errorf("%s costs %f", root, m.Payload.Cost)
			}
		}
		if strings.Contains(line, forged) && !(m.Type == "HumanNote" && strings.Contains(root, "model")) { // its hook said it
			s.t.Errorf("%s has what was forged: %s", root, line)
		}
	}
	for by, n := range refused {
		if n > 10 {
			s.t.Errorf("%s: %d refusals of %s are recorded", root, n, by)
		}
	}
	if len(refused) == 0 && root != s.victim.root {
		s.t.Errorf("%s: no refusal is recorded", root)
	}
	s.run(root, "verify").want(s.t, 0)
}

// left fails if anything of the hostile program still runs.
func (s *siege) left() {
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range all {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), hostileProgram()) && strings.Contains(string(raw), s.base) {
			s.t.Errorf("%s is still there", strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
}

// TestWhatAHostileCommandSaysIsRefused runs one program that tries everything
// as each party that orch runs, under each set of layers this machine has, and
// holds what it could do against the table of docs/safety.md.
func TestWhatAHostileCommandSaysIsRefused(t *testing.T) {
	t.Parallel()
	has := machine(t).Layers
	for column, layers := range map[string]confine.Layers{
		columns[0]: {Namespace: true, Landlock: max(has.Landlock, confine.MinLandlock)}, columns[1]: {Namespace: true},
		columns[2]: {Landlock: max(has.Landlock, confine.MinLandlock)}, columns[3]: {},
	} {
		if layers.Namespace && !has.Namespace || layers.Landlock > has.Landlock {
			t.Logf("not tried, this machine cannot: %s", column)
			continue
		}
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			s := newSiege(t, layers.String())
			s.defend()
			s.tasks()
			s.playbooks()
			s.code()
			s.relieve()
			s.left()
			for _, party := range parties {
				got := s.report(party)
				for _, row := range hostileTable {
					r, tried := got[row.attack]
					want := row.passes(column, party) && !(row.attack == "memory-of-orch" && systemKeepsMemory())
					if tried != (party != "hook" || row.hook != notTried) {
						t.Errorf("%s: %s was tried: %v", party, row.attack, tried)
					} else if r.Through != want {
						t.Errorf("%s: %s: got through: %v, want %v: %.600s", party, row.attack, r.Through, want, r.Detail)
					}
				}
			}
			for _, party := range talkers {
				for said := range strings.SplitSeq(s.report(party)["forge"].Detail, "; ") {
					if !strings.Contains(said, "may not say") { // and not because it is malformed
						t.Errorf("%s: the table does not refuse %s", party, said)
					}
				}
			}
			for _, root := range append(slices.Clone(s.roots), s.victim.root) {
				s.logged(root)
			}
		})
	}
}

// systemKeepsMemory tells whether the system, whoever confines, lets no process
// write the memory of one above it.
func systemKeepsMemory() bool {
	raw, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err == nil && strings.TrimSpace(string(raw)) != "0" && os.Getuid() != 0
}
