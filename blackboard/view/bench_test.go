package view

import (
	"fmt"
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
