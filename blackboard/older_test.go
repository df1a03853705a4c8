package blackboard

import (
	"os"
	"path/filepath"
	"testing"

	"orch/blackboard/message"
)

// TestABoardOfBeforeThereWereDoors opens a board that an earlier version made:
// a goal with a replan that was accepted, and a task that somebody claimed by
// hand under an agent's name, which today's table would not let them say.
func TestABoardOfBeforeThereWereDoors(t *testing.T) {
	root := t.TempDir()
	log, err := os.ReadFile(filepath.Join("testdata", "board-934f404", "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{RunDir, CacheDir, ArchiveDir} {
		if err := os.MkdirAll(filepath.Join(root, DirName, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, DirName, "log.jsonl"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	b := mustOpen(t, root, personOptions)
	byHand := 0
	for m, err := range b.Messages(1) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Door != "" {
			t.Fatalf("message %d has a door", m.Seq)
		}
		if m.From == message.Coder && message.Route(m.Type(), "", m.From, m.To) != nil {
			byHand++
		}
	}
	if byHand == 0 {
		t.Error("nothing on this board is refused by today's table, so it shows nothing")
	}
	report, err := b.Replay(t.Context())
	if err != nil || len(report.Differences) > 0 || report.Messages != 104 {
		t.Fatalf("replay says %+v, %v", report, err)
	}
	err = b.View(t.Context(), func(s *State) error {
		g, _ := s.Goal("make_the_tests_pass")
		counts := s.Counts("")
		if g.Status != GoalEnded || g.Final == nil || g.Final.Directive != message.Accept {
			t.Errorf("the goal is %s, %+v", g.Status, g.Final)
		}
		if counts[Unclaimed] != 1 || counts[Approved]+counts[Superseded] == 0 {
			t.Errorf("tasks %v", counts)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if m := mustAppend(t, b, message.HumanNote{For: "all", Message: "and on"}); m.Door != message.DoorPerson || m.Seq != 105 {
		t.Errorf("going on, it says %+v", m)
	}
}
