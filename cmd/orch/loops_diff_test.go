//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard/view"
)

// boardHistory is a repository to which state.yaml is committed whenever it
// has changed.
type boardHistory struct {
	t          *testing.T
	root, repo string
	shown      []string // what was committed, in order
	stop, done chan struct{}
}

func keepHistory(t *testing.T, root string) *boardHistory {
	t.Helper()
	h := &boardHistory{t: t, root: root, repo: t.TempDir(), stop: make(chan struct{}), done: make(chan struct{})}
	gitIn(t, h.repo, "init", "-q")
	gitIn(t, h.repo, "config", "user.name", "A Person")
	gitIn(t, h.repo, "config", "user.email", "person@example.org")
	gitIn(t, h.repo, "config", "maintenance.auto", "false")
	h.look()
	go func() {
		defer close(h.done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-h.stop:
				h.look()
				return
			case <-tick.C:
				h.look()
			}
		}
	}()
	return h
}

func (h *boardHistory) look() {
	raw, err := os.ReadFile(filepath.Join(h.root, ".orch", "state.yaml"))
	if err != nil || len(h.shown) > 0 && h.shown[len(h.shown)-1] == string(raw) {
		return
	}
	h.shown = append(h.shown, string(raw))
	if err := os.WriteFile(filepath.Join(h.repo, "state.yaml"), raw, 0o644); err != nil {
		h.t.Error(err)
	}
	gitIn(h.t, h.repo, "add", "-A")
	gitIn(h.t, h.repo, "commit", "-qm", fmt.Sprint(len(h.shown)))
}

func (h *boardHistory) end() {
	close(h.stop)
	<-h.done
}

// entry is what is read of a message of the log.
type entry struct {
	Seq                        uint64
	Type, Goal, Subject, Agent string
	Payload                    struct {
		Slot, Decision, To string
		Task               string
		ReviewingBy        string `json:"reviewing_by"`
		ID                 string
	}
}

// bookkeepingOnly are the messages after which state.yaml may differ in nothing
// but its last section: they decide nothing.
var bookkeepingOnly = []string{"Registered", "Deregistered", "AgentStatus", "StepStarting", "StepEnded", "MemoryQuery", "MemoryAnswer",
	"MemoryTimeout", "MergeStarting", "Megram", "DreamReport", "LeaseExtended", "Heartbeat"}

// telling are lines that the diff after a message must add.
var telling = map[string]func(entry) []string{
	"UserInput":         func(m entry) []string { return []string{"  " + m.Goal + ":"} },
	"TaskSpec":          func(entry) []string { return []string{"    intent: "} },
	"SubTask":           func(m entry) []string { return []string{"  " + m.Payload.Slot, "    status: DRAFT"} },
	"DispatchManifest":  func(entry) []string { return []string{"    plan: "} },
	"Claimed":           func(entry) []string { return []string{"    status: CLAIMED"} },
	"ReviewRequested":   func(entry) []string { return []string{"    status: READY_FOR_REVIEW"} },
	"ReviewClaimed":     func(m entry) []string { return []string{"    reviewer: " + m.Payload.ReviewingBy} },
	"ReviewVerdict":     func(m entry) []string { return []string{"    verdict: " + m.Payload.Decision + " by " + m.Agent} },
	"IntegrationFailed": func(entry) []string { return []string{"    status: INTEGRATION_FAILED"} },
	"Merged":            func(m entry) []string { return []string{"    status: MERGED", "    merged_as: "} },
	"OutcomeSummary":    func(entry) []string { return []string{"        met: ✓"} },
	"FinalResult":       func(entry) []string { return []string{"    status: ENDED", "    directive: accept"} },
}

// read judges each diff by the messages between the two boards.
func (h *boardHistory) read(p *pair) {
	h.t.Helper()
	bySeq, slots := map[uint64]entry{}, map[string]string{}
	for _, m := range messagesOf(h.t, p.root) {
		bySeq[m.Seq] = m
		if m.Type == "SubTask" {
			slots[m.Subject] = m.Payload.Slot
		}
	}
	told, empty := 0, 0
	for n := 1; n < len(h.shown); n++ {
		from, to := seqShown(h.t, []byte(h.shown[n-1])), seqShown(h.t, []byte(h.shown[n]))
		if to <= from {
			h.t.Errorf("board %d is of message %d, the one before of %d", n, to, from)
		}
		var decided []entry
		for seq := from + 1; seq <= to; seq++ {
			if m := bySeq[seq]; !slices.Contains(bookkeepingOnly, m.Type) {
				decided = append(decided, m)
			}
		}
		above, _, _ := strings.Cut(h.shown[n], "\nbookkeeping:")
		before, _, _ := strings.Cut(h.shown[n-1], "\nbookkeeping:")
		switch {
		case above == before && len(decided) == 1:
			h.t.Errorf("nothing is to be read of message %d, %s", decided[0].Seq, decided[0].Type)
			continue
		case above == before:
			empty++
			continue
		case len(decided) == 0:
			h.t.Errorf("messages %d to %d decide nothing, and this is to be read:\n%s", from+1, to, view.DiffYAML([]byte(before), []byte(above)))
			continue
		}
		diff := gitIn(h.t, h.repo, "show", "--format=", fmt.Sprintf("HEAD~%d", len(h.shown)-1-n))
		last := map[string]entry{} // about each subject
		for _, m := range decided {
			if m.Type == "DispatchManifest" { // what was drafted is to be done now
				maps.DeleteFunc(last, func(_ string, m entry) bool { return m.Type == "SubTask" })
			}
			last[m.Subject] = m
		}
		for _, m := range last {
			told += h.tells(diff, m, slots[m.Subject])
		}
	}
	h.t.Logf("%d boards, %d without a decision, %d decisions found in their diffs", len(h.shown), empty, told)
	if told < 20 {
		h.t.Errorf("only %d decisions were looked for", told)
	}
}

// tells fails unless a diff says what a message decided, and of which task.
func (h *boardHistory) tells(diff string, m entry, slot string) int {
	lines := telling[m.Type]
	if lines == nil {
		return 0
	}
	for _, want := range lines(m) {
		if !strings.Contains(diff, "\n+"+want) {
			h.t.Errorf("the diff of message %d, %s of %s, does not add %q:\n%s", m.Seq, m.Type, m.Subject, want, diff)
		}
	}
	if slot != "" && !strings.Contains(diff, "\n   "+slot+":\n") && !strings.Contains(diff, "\n+  "+slot+":\n") {
		h.t.Errorf("the diff of message %d, %s, does not name its task %s:\n%s", m.Seq, m.Type, slot, diff)
	}
	return 1
}

func messagesOf(t *testing.T, root string) (all []entry) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, ".orch", "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var m entry
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func lastSeqOf(t *testing.T, root string) uint64 {
	t.Helper()
	all := messagesOf(t, root)
	return all[len(all)-1].Seq
}

func seqShown(t *testing.T, board []byte) uint64 {
	t.Helper()
	seq, ok := view.SeqOf(board)
	if !ok {
		t.Fatalf("no seq in\n%s", board)
	}
	return seq
}
