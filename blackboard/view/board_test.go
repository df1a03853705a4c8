package view

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// realBoard has one unclaimed and one blocked task on a board in a directory.
func realBoard(t *testing.T) (*blackboard.Board, *Keeper) {
	t.Helper()
	root := t.TempDir()
	open := func(agent message.AgentID, role message.Role) *blackboard.Board {
		b, err := blackboard.Init(root, blackboard.Options{Identity: blackboard.Identity{Agent: agent, Speaks: []message.Role{role}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		return b
	}
	human, coder, claimer := open("human-1", message.Human), open("coder-1", message.Coder), open("supervisor-1", message.Supervisor)
	say := func(b *blackboard.Board, body message.Body, fence message.Fence) {
		t.Helper()
		if _, err := b.Append(t.Context(), message.Message{Subject: "B-2", Fence: fence, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	say(human, message.TaskAdded{Tasks: []message.SubTask{{ID: "A-1", Intent: "write: it", Priority: 100}, {ID: "B-2", Intent: "test it", Priority: 100}}}, 0)
	say(claimer, message.Claimed{Task: "B-2", Agent: "coder-1", Fence: 1}, 0)
	say(coder, message.Blocked{Task: "B-2", BlockedReason: "no port", BlockedQuestions: []string{"which port?"}, Kind: "environment"}, 1)
	k := NewKeeper(Config{Dir: human.Dir(), FS: journal.OSFS{}, Clock: newClock()})
	return human, k
}

func flushReal(t *testing.T, b *blackboard.Board, k *Keeper) string {
	t.Helper()
	if _, err := k.Flush(t.Context(), Of(b)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(k.Path())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func saveReal(t *testing.T, k *Keeper, text string) {
	t.Helper()
	if err := os.WriteFile(k.Path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestARealBoardTakesEditsIn(t *testing.T) {
	b, k := realBoard(t)
	text := flushReal(t, b, k)
	text = strings.Replace(text, "    status: BLOCKED\n    agent: coder-1\n    intent: test it\n    priority: 100\n    human_notes: []", "    status: ABANDONED\n    agent: coder-1\n    intent: test it\n    priority: 5\n    human_notes:\n      - nobody needs it", 1)
	saveReal(t, k, text)
	res, err := k.Import(t.Context(), Of(b))
	if err != nil || res.Status != Imported || res.Message.Type() != "HumanEdit" || res.Message.Subject != "B-2" {
		t.Fatalf("got %+v, %v", res, err)
	}
	err = b.View(t.Context(), func(s *blackboard.State) error {
		task, _ := s.Task("B-2")
		if task.Status != blackboard.Abandoned || task.Priority != 5 || !slices.Equal(task.HumanNotes, []string{"nobody needs it"}) {
			t.Errorf("the board has %s %d %q", task.Status, task.Priority, task.HumanNotes)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	after := flushReal(t, b, k)
	if !Sealed([]byte(after)) || strings.Contains(after, "B-2:") {
		t.Errorf("the view after it:\n%s", after)
	}
	// The view is the same function of the log whether folded now or again.
	seq, _ := SeqOf([]byte(after))
	s, err := b.StateAt(t.Context(), seq)
	if err != nil {
		t.Fatal(err)
	}
	if again := string(Render(s, Options{})); again != after {
		t.Errorf("folded again it differs:\n%s", DiffYAML([]byte(after), []byte(again)))
	}
}

func TestTheFormEditsARealTask(t *testing.T) {
	b, k := realBoard(t)
	var task blackboard.Task
	err := b.View(t.Context(), func(s *blackboard.State) error {
		task, _ = s.Task("A-1")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	form := string(EditableYAML(task))
	for _, r := range [][2]string{{"intent: \"write: it\"", "intent: write all of it"}, {"scope: \"\"", "scope: docs only"}, {"targets: []", "targets: [docs]"}, {"depends_on: []", "depends_on: [B-2]"}, {"priority: 100", "priority: 1"}, {"done_when: \"\"", "done_when: done"}, {"human_notes: []", "human_notes: [soon]"}} {
		form = strings.Replace(form, r[0], r[1], 1)
	}
	edits, err := ParseEdited(task, []byte(form))
	if err != nil || len(edits) != 7 {
		t.Fatalf("got %d edits, %v", len(edits), err)
	}
	if _, err := b.Append(context.Background(), message.Message{Subject: "A-1", Body: message.HumanEdit{Edits: edits}}); err != nil {
		t.Fatal(err)
	}
	text := flushReal(t, b, k)
	for _, want := range []string{"intent: write all of it", "scope: docs only", "- docs\n", "- B-2\n", "priority: 1\n", "done_when: done", "- soon\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
