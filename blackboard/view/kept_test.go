package view

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

var errNoClaim = errors.New("nothing can be claimed")

// press is a board in a directory, used by one process after the other.
type press struct {
	t interface {
		Helper()
		Context() context.Context
		Fatal(...any)
		Fatalf(string, ...any)
	}
	root  string
	tasks int
}

func (p *press) open() *blackboard.Board {
	p.t.Helper()
	b, err := blackboard.Init(p.root, blackboard.Options{Identity: blackboard.Identity{Agent: "human-1", Speaks: []message.Role{message.Human}}})
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

func (p *press) add(b *blackboard.Board, count int) {
	p.t.Helper()
	var tasks []message.SubTask
	for range count {
		p.tasks++
		id := message.TaskID(fmt.Sprintf("T-%d", p.tasks))
		if p.tasks%5 == 0 {
			id = message.TaskID(fmt.Sprintf("%d", p.tasks)) // a name that has to be quoted
		}
		slot := []string{"", "slot-" + string(id), "same", "v.1", "a:b"}[p.tasks%7%5]
		tasks = append(tasks, message.SubTask{ID: id, Slot: slot, Intent: "tasks:\n  T-1:\n    do it\n", Priority: 100, Targets: []string{string(id) + "/"}})
	}
	p.say(b, message.TaskAdded{Tasks: tasks}, 0)
}

func (p *press) say(b *blackboard.Board, body message.Body, fence message.Fence) {
	p.t.Helper()
	if _, err := b.Append(p.t.Context(), message.Message{Fence: fence, Body: body}); err != nil {
		p.t.Fatal(err)
	}
}

// claim takes the first task that can be taken, or gives one back.
func (p *press) claim(b *blackboard.Board, giveBack bool) {
	p.t.Helper()
	_, err := b.AppendFunc(p.t.Context(), func(s *blackboard.State) (message.Message, error) {
		if giveBack {
			for t := range s.Tasks(blackboard.Claimed) {
				return message.Message{Subject: string(t.ID), Fence: t.Fence, Body: message.Released{Task: t.ID, Agent: t.Agent, Fence: t.Fence, Reason: "enough"}}, nil
			}
		}
		for t := range s.Claimable("") {
			return message.Message{Subject: string(t.ID), Body: message.Claimed{Task: t.ID, Agent: "human-1", Fence: t.Fence + 1}}, nil
		}
		return message.Message{}, errNoClaim
	})
	if err != nil && !errors.Is(err, errNoClaim) {
		p.t.Fatal(err)
	}
}

// flush is what a process does at its end; it returns its keeper. The file must
// then be what rendering everything gives.
func (p *press) flush(b *blackboard.Board, program string) *Keeper {
	p.t.Helper()
	k := NewKeeper(Config{Dir: b.Dir(), FS: journal.OSFS{}, Clock: newClock(), Program: program, Show: Options{MaxTasks: 30}})
	if _, err := k.Flush(p.t.Context(), Of(b)); err != nil {
		p.t.Fatal(err)
	}
	var want string
	if err := b.View(p.t.Context(), func(s *blackboard.State) error { want = string(Render(s, Options{MaxTasks: 30})); return nil }); err != nil {
		p.t.Fatal(err)
	}
	got, err := os.ReadFile(k.Path())
	if err != nil {
		p.t.Fatal(err)
	}
	if string(got) != want {
		p.t.Fatalf("the view is not what rendering all of it gives:\n%s", DiffYAML([]byte(want), got))
	}
	return k
}

func (p *press) close(b *blackboard.Board) {
	p.t.Helper()
	if err := b.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// process is one that claims a task and leaves.
func (p *press) process(program string) *Keeper {
	p.t.Helper()
	b := p.open()
	p.claim(b, false)
	k := p.flush(b, program)
	p.close(b)
	return k
}

// newPress has forty tasks under a checkpoint, and a view of the program "one".
func newPress(t *testing.T) *press {
	t.Helper()
	p := &press{t: t, root: t.TempDir()}
	b := p.open()
	p.add(b, 40)
	if err := b.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.flush(b, "one")
	p.close(b)
	return p
}

func TestAProcessCopiesWhatAnotherRendered(t *testing.T) {
	p := newPress(t)
	for range 3 {
		k := p.process("one")
		// What is left to render are the tasks that were claimed, and those whose
		// ids or slots do not stand in the file as they are.
		if copied, rendered := len(k.renderer.kept.blocks), len(k.renderer.tasks); copied < 12 || rendered > 20 {
			t.Errorf("%d blocks could be copied, %d were rendered", copied, rendered)
		}
	}
}

func TestNothingIsCopiedFromAViewThatIsNotSurelyTheSame(t *testing.T) {
	path := func(p *press) string { return filepath.Join(p.root, ".orch", "state.yaml") }
	for name, c := range map[string]struct {
		program string
		before  func(t *testing.T, p *press)
	}{
		"made by another program": {"two", func(*testing.T, *press) {}},
		"no program is named":     {"", func(*testing.T, *press) {}},
		"not the file that was noted": {"one", func(t *testing.T, p *press) {
			p.process("")
		}},
		"of a message that the log does not have": {"one", func(t *testing.T, p *press) {
			data, err := os.ReadFile(path(p))
			if err != nil {
				t.Fatal(err)
			}
			at := strings.Index(string(data), `head: "`) + len(`head: "`)
			data[at] ^= 1
			data = seal(data[:len(data)-checksumLineBytes])
			if err := os.WriteFile(path(p), data, 0o644); err != nil {
				t.Fatal(err)
			}
			k := NewKeeper(Config{Dir: filepath.Join(p.root, ".orch"), FS: journal.OSFS{}, Program: "one"})
			k.remember(data)
		}},
		"older than the checkpoint": {"one", func(t *testing.T, p *press) {
			b := p.open()
			p.claim(b, false)
			if err := b.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.close(b)
		}},
		"the note is cut short": {"one", func(t *testing.T, p *press) {
			if err := os.WriteFile(filepath.Join(p.root, ".orch", "cache", "view"), []byte("one\n# check"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPress(t)
			c.before(t, p)
			if k := p.process(c.program); len(k.renderer.kept.blocks) > 0 {
				t.Error("blocks were taken from it")
			}
		})
	}
}

// Whatever happened to the board, what is copied is what would be rendered.
func TestCopiedBlocksAreWhatIsRendered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "orch-view-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		p := &press{t: t, root: root}
		b := p.open()
		defer func() { p.close(b) }()
		p.add(b, 20)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0:
				p.add(b, 3)
			case 1:
				p.claim(b, true)
			case 2:
				if err := b.Checkpoint(t.Context()); err != nil {
					t.Fatal(err)
				}
			case 3, 4:
				p.claim(b, false)
			case 5, 6:
				p.flush(b, "one")
				p.close(b)
				b = p.open()
			}
		}
		p.flush(b, "one")
	})
}
