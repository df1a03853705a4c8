package blackboard

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

func TestStateAt(t *testing.T) {
	root := t.TempDir()
	b := history(t, root)
	for seq := uint64(0); seq <= 5; seq++ {
		s, err := b.StateAt(quiet, seq)
		if err != nil {
			t.Fatal(err)
		}
		want := NewState()
		if seq > 0 {
			want = refold(t, b, seq)
		}
		sameContents(t, fmt.Sprint("at ", seq), contents(t, s), contents(t, want))
	}
	if _, err := b.StateAt(quiet, 6); err == nil {
		t.Error("there is a state of the future")
	}
}

func TestReplayAgrees(t *testing.T) {
	b := history(t, t.TempDir())
	report, err := b.Replay(quiet)
	if err != nil {
		t.Fatal(err)
	}
	if report.Messages != 5 || report.Head.Seq != 5 || report.Checkpoints != 1 || report.Records < 102 || len(report.Differences) > 0 {
		t.Errorf("replay says %+v", report)
	}
}

// TestReplayNoticesALie writes a checkpoint that is whole but says something the
// log never said, as an error in the fold would.
func TestReplayNoticesALie(t *testing.T) {
	root := t.TempDir()
	b := history(t, root)
	s := refold(t, b, 5)
	task := *s.tasks.get("t-000003")
	task.Intent = "something else"
	s.tasks.set("t-000003", &task)
	path := b.path(CacheDir, cacheName(5))
	if _, err := b.writeCheckpoint(s, path+".tmp", func(checkpoint.ID) string { return path }); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, root, personOptions)
	report, err := c.Replay(quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := []Difference{{path, "task", "t-000003"}, {"state", "task", "t-000003"}}
	if fmt.Sprint(report.Differences) != fmt.Sprint(want) || report.Checkpoints != 2 {
		t.Errorf("replay says %+v", report)
	}
	if _, err := b.Replay(quiet); err != nil {
		t.Error(err)
	}
}

func TestVerify(t *testing.T) {
	root := t.TempDir()
	mustAppend(t, mustInit(t, root, personOptions), batch(0, 1))
	b := mustOpen(t, root, boardOptions("executor-1", message.Executor, message.Supervisor))
	if err := claim(b, "t-000000"); err != nil {
		t.Fatal(err)
	}
	lost := strings.Repeat("ab", 32)
	hash, err := b.PutBlob("", []byte("output"))
	if err != nil {
		t.Fatal(err)
	}
	for n, blob := range []string{hash, lost, ""} {
		call := message.CallID(fmt.Sprint("call-", n))
		for _, body := range []message.Body{message.ToolStarted{Call: call, Tool: "shell"}, message.ToolCall{Call: call, Tool: "shell", Blob: blob}} {
			if _, err := b.Append(quiet, message.Message{Subject: "t-000000", Fence: 1, Body: body}); err != nil {
				t.Fatal(err)
			}
		}
	}
	report, err := b.Verify(quiet)
	if err != nil {
		t.Fatal(err)
	}
	if report.Messages != 9 || report.Log.Messages != 9 || report.Blobs != 1 || len(report.Missing) != 1 || report.Missing[0].Hash != lost {
		t.Errorf("verify says %+v", report)
	}

	// A line rewritten with a hash that fits, in the middle of the chain.
	name := b.path("log.jsonl")
	log, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(log), "do it", "do IT", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = b.Verify(quiet)
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Line != 2 || corrupt.Hint() == "" {
		t.Errorf("verify of a forged log: %v", err)
	}
}

func TestRepairAfterAFailedWrite(t *testing.T) {
	root := t.TempDir()
	b := mustInit(t, root, personOptions)
	mustAppend(t, b, batch(0, 1))
	if err := os.WriteFile(b.path(RunDir, "poisoned"), []byte("a sync failed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := b.Append(quiet, message.Message{Body: batch(1, 1)})
	var hint interface{ Hint() string }
	if !errors.Is(err, journal.ErrPoisoned) || !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "orch board repair") {
		t.Fatalf("append to a poisoned log: %v", err)
	}
	report, err := b.Repair(quiet)
	if err != nil || !report.Poisoned || report.Head.Seq != 2 {
		t.Fatalf("repair says %+v, %v", report, err)
	}
	mustAppend(t, b, batch(1, 1))
	sameContents(t, "repaired", boardContents(t, b), contents(t, refold(t, b, 3)))
}
