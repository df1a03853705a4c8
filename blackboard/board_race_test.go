package blackboard

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"orch/blackboard/message"
)

// raceSize is the number of races: 100,000 if ORCH_TORTURE is set.
func raceSize(usual int) int {
	if os.Getenv("ORCH_TORTURE") != "" {
		return 100_000
	}
	return usual
}

func addTasks(t testing.TB, b *Board, count int) {
	t.Helper()
	const perMessage = 1000
	for from := 0; from < count; from += perMessage {
		mustAppend(t, b, batch(from, min(perMessage, count-from)))
	}
}

// oneWinner checks that every task was claimed once, by whom the log says.
func oneWinner(t *testing.T, b *Board, tasks int, won []int) {
	t.Helper()
	total := 0
	for _, n := range won {
		total += n
	}
	if total != tasks {
		t.Errorf("%d tasks, won %v: %d in all", tasks, won, total)
	}
	seq, claims := uint64(0), map[message.TaskID]int{}
	for m, err := range b.Messages(0) {
		if err != nil {
			t.Fatal(err)
		}
		if seq++; m.Seq != seq {
			t.Fatalf("message %d follows %d", m.Seq, seq-1)
		}
		if body, ok := m.Body.(message.Claimed); ok {
			claims[body.Task]++
		}
	}
	for n := range tasks {
		if id := message.TaskID(fmt.Sprintf("t-%06d", n)); claims[id] != 1 {
			t.Errorf("task %s was claimed %d times", id, claims[id])
		}
	}
	sameContents(t, "refold", contents(t, refold(t, b, seq)), boardContents(t, b))
}

func TestRaceOfGoroutines(t *testing.T) {
	root, tasks := t.TempDir(), 400
	a := mustInit(t, root, personOptions)
	addTasks(t, a, tasks)
	// Two boards as of two processes, two goroutines on each.
	won := make([]int, 4)
	o := boardOptions("executor-1", message.Supervisor)
	o.CheckpointMessages = 50 // renewed while they race
	boards := []*Board{mustOpen(t, root, o), mustOpen(t, root, o)}
	var wg sync.WaitGroup
	for n := range won {
		wg.Go(func() {
			var err error
			if won[n], err = race(boards[n%2], tasks); err != nil {
				t.Error(err)
			}
		})
	}
	// Somebody looks all the while, and never sees it go back.
	done := make(chan struct{})
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		last := uint64(0)
		for {
			err := boards[0].View(quiet, func(s *State) error {
				seq, _ := s.Head()
				counts := s.Counts("")
				if seq < last || counts[Unclaimed]+counts[Claimed] != tasks {
					return fmt.Errorf("at %d after %d: %v", seq, last, counts)
				}
				last = seq
				return nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	}()
	wg.Wait()
	close(done)
	<-looked
	oneWinner(t, a, tasks, won)
}

func TestRaceOfProcesses(t *testing.T) {
	root, tasks := t.TempDir(), raceSize(2000)
	a := mustInit(t, root, personOptions)
	addTasks(t, a, tasks)
	won := racers(t, root, 4, tasks)
	t.Logf("%d tasks, won %v", tasks, won)
	oneWinner(t, a, tasks, won)
}
