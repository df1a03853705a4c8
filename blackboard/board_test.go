package blackboard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orch/blackboard/message"
)

func boardOptions(agent message.AgentID, speaks ...message.Role) Options {
	return Options{Identity: Identity{Agent: agent, Speaks: speaks}}
}

var personOptions = boardOptions("human-1", message.Human)

func mustInit(t testing.TB, root string, o Options) *Board {
	t.Helper()
	b, err := Init(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, b) })
	return b
}

func mustOpen(t testing.TB, root string, o Options) *Board {
	t.Helper()
	b, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, b) })
	return b
}

func mustClose(t testing.TB, b *Board) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustAppend(t testing.TB, b *Board, body message.Body, o ...AppendOption) message.Message {
	t.Helper()
	m, err := b.Append(quiet, message.Message{Body: body}, o...)
	if err != nil {
		t.Fatalf("append %s: %v", body.Type(), err)
	}
	return m
}

// batch makes tasks t-<from> and so on.
func batch(from, count int) message.TaskAdded {
	var tasks []message.SubTask
	for n := from; n < from+count; n++ {
		tasks = append(tasks, message.SubTask{ID: message.TaskID(fmt.Sprintf("t-%06d", n)), Intent: "do it", Priority: 100})
	}
	return message.TaskAdded{Tasks: tasks}
}

// claim takes a task for the board's own agent.
func claim(b *Board, id message.TaskID) error {
	_, err := b.AppendFunc(quiet, func(s *State) (message.Message, error) {
		t, _ := s.Task(id)
		if err := s.CanClaim(t); err != nil {
			return message.Message{}, err
		}
		return message.Message{Subject: string(id), Body: message.Claimed{Task: id, Agent: b.opts.Identity.Agent, Fence: t.Fence + 1}}, nil
	})
	return err
}

func isTaken(err error) bool {
	var taken *NotClaimableError
	return errors.As(err, &taken)
}

// contents is everything a state remembers, and every way to find it.
func contents(t testing.TB, s *State) []string {
	t.Helper()
	seq, hash := s.Head()
	lines := []string{fmt.Sprint(seq, hash)}
	for r, err := range s.records() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %q %s", r.kind, r.key, r.value))
	}
	for e := range s.entries() {
		lines = append(lines, fmt.Sprintf("%s %q %q", e.index, e.key, e.record))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func boardContents(t testing.TB, b *Board) (lines []string) {
	t.Helper()
	err := b.View(quiet, func(s *State) error {
		lines = contents(t, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// refold is the state that the log alone leads to.
func refold(t testing.TB, b *Board, upTo uint64) *State {
	t.Helper()
	s := NewState()
	if err := b.replayTo(quiet, s, upTo, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func sameContents(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: line %d of %d and %d differs:\ngot  %.300s\nwant %.300s", what, i, len(got), len(want), append(got, "nothing")[min(i, len(got))], append(want, "nothing")[min(i, len(want))])
		}
	}
}

// filesIn is the content of every file below a directory.
func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
