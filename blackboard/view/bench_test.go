package view

import (
	"fmt"
	"iter"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// BenchmarkRealBoard renders the first 500 of 100,000 tasks of a real board
// after each of its messages.
func BenchmarkRealBoard(b *testing.B) {
	board, err := blackboard.Init(b.TempDir(), blackboard.Options{Identity: blackboard.Identity{Agent: "human-1", Speaks: []message.Role{message.Human}}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := board.Close(); err != nil {
			b.Error(err)
		}
	}()
	for batch := range 100 {
		var add message.TaskAdded
		for i := range 1000 {
			add.Tasks = append(add.Tasks, message.SubTask{
				ID: message.TaskID(fmt.Sprintf("T-%03d-%03d", batch, i)), Intent: "write the page about one of the commands", Priority: 100,
				Targets: []string{"docs"}, SuccessCriteria: []message.Criterion{{ID: "c1", Criterion: "the page exists", Mode: message.Verifiable}},
			})
		}
		if _, err := board.Append(b.Context(), message.Message{Body: add}); err != nil {
			b.Fatal(err)
		}
	}
	for _, fresh := range []bool{true, false} {
		name := map[bool]string{true: "first", false: "next"}[fresh]
		b.Run(name, func(b *testing.B) {
			r := NewRenderer(Options{})
			err := board.View(b.Context(), func(s *blackboard.State) error {
				r.Render(s)
				for b.Loop() {
					if fresh {
						r = NewRenderer(Options{})
					}
					b.SetBytes(int64(len(r.Render(s))))
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// board100k has 100,000 tasks, most of them unclaimed.
func board100k() *fakeState {
	s := richBoard()
	for i := range 100_000 {
		t := plainTask(fmt.Sprintf("0190a1b2-0000-7000-8000-%012d", i), blackboard.Unclaimed)
		t.Intent, t.Goal, t.Targets = "write the page about command "+t.Intent, "document_commands", []string{"docs/commands"}
		t.SuccessCriteria = []message.Criterion{{ID: "c1", Criterion: "the page exists", Required: true}, {ID: "c2", Criterion: "it has an example", Required: true}}
		s.tasks = append(s.tasks, t)
	}
	return s
}

// countedState answers counts at once, as the real state does.
type countedState struct {
	*fakeState
	counts map[blackboard.Status]int
	at     map[message.TaskID]int
}

func (s countedState) Task(id message.TaskID) (blackboard.Task, bool) {
	i, ok := s.at[id]
	if !ok {
		return blackboard.Task{}, false
	}
	return s.tasks[i], true
}

func (s countedState) Counts(message.GoalID) map[blackboard.Status]int { return s.counts }

func (s countedState) Tasks(st ...blackboard.Status) iter.Seq[blackboard.Task] {
	if st[0] != blackboard.Unclaimed && len(st) == 1 {
		few := *s.fakeState
		few.tasks = few.tasks[:5]
		return few.Tasks(st...)
	}
	return s.fakeState.Tasks(st...)
}

func (s countedState) TaskRows(st blackboard.Status) iter.Seq[blackboard.TaskRow] {
	return rowsOf(s.Tasks(st))
}

func (s countedState) TaskRowsOf(g message.GoalID, st blackboard.Status) iter.Seq[blackboard.TaskRow] {
	few := *s.fakeState
	few.tasks = few.tasks[:5]
	return few.TaskRowsOf(g, st)
}

func rowsOf(tasks iter.Seq[blackboard.Task]) iter.Seq[blackboard.TaskRow] {
	return func(yield func(blackboard.TaskRow) bool) {
		for t := range tasks {
			if !yield(blackboard.TaskRow{ID: t.ID, Created: t.Created.Seq}) {
				return
			}
		}
	}
}

func BenchmarkRender(b *testing.B) {
	all := board100k()
	s := countedState{all, all.Counts(""), map[message.TaskID]int{}}
	for i, t := range all.tasks {
		s.at[t.ID] = i
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.SetBytes(int64(len(Render(s, Options{}))))
		}
	})
	b.Run("next", func(b *testing.B) {
		r := NewRenderer(Options{})
		r.Render(s)
		for i := 0; b.Loop(); i++ {
			s.seq++
			s.tasks[5+i%400].Fence++
			b.SetBytes(int64(len(r.Render(s))))
		}
	})
	b.Run("full", func(b *testing.B) {
		for b.Loop() {
			b.SetBytes(int64(len(Render(s, Options{Full: true}))))
		}
	})
}
