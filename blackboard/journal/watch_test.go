package journal_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"orch/blackboard/journal"
)

// Two processes' worth of writers append and rotate all the time, while watchers
// and readers follow. None may miss, repeat or reorder a message.
func TestRotationUnderReadersAndWatchers(t *testing.T) {
	const writers, count = 2, 150
	opts := journal.Options{RotateBytes: 8 << 10, PollInterval: 50 * time.Millisecond}
	first, dir := newBoard(t, opts)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()

	var writing, watching sync.WaitGroup
	counts := make([]uint64, 3)
	for n := range counts {
		watcher, err := journal.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Close()
		watching.Add(1)
		go func() {
			defer watching.Done()
			counts[n] = follow(ctx, t, watcher)
		}()
	}
	done := make(chan struct{})
	var reading sync.WaitGroup
	reading.Add(1)
	go func() {
		defer reading.Done()
		for {
			select {
			case <-done:
				return
			default:
				readInOrder(t, first)
			}
		}
	}()
	for n := range writers {
		j, err := journal.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		writing.Add(1)
		go func() {
			defer writing.Done()
			appendAndRotate(ctx, t, j, fmt.Sprint("w", n), count)
		}()
	}
	writing.Wait()
	close(done)
	reading.Wait()
	last, err := first.Append(ctx, journal.Draft{Type: "Last"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	watching.Wait()
	for n, got := range counts {
		if got != last.Seq {
			t.Errorf("watcher %d ended at %d of %d", n, got, last.Seq)
		}
	}
	report, err := first.Verify(ctx, journal.Head{})
	if err != nil || report.Segments < 4 || report.Messages != last.Seq {
		t.Errorf("verify: %+v %v", report, err)
	}
}

// follow watches until a message of type Last and returns its Seq.
func follow(ctx context.Context, t *testing.T, j *journal.Journal) uint64 {
	next := uint64(1)
	for r, err := range j.Watch(ctx, 1) {
		if err != nil {
			t.Errorf("watch at %d: %v", next, err)
			return next
		}
		if r.Seq != next {
			t.Errorf("watched %d, expected %d", r.Seq, next)
			return next
		}
		if r.Type == "Last" {
			return r.Seq
		}
		next++
	}
	t.Errorf("the watch ended at %d", next)
	return next
}

func readInOrder(t *testing.T, j *journal.Journal) {
	next := uint64(1)
	for r, err := range j.Read(1) {
		if err != nil || r.Seq != next {
			t.Errorf("read %d, expected %d: %v", r.Seq, next, err)
			return
		}
		next++
	}
}

func appendAndRotate(ctx context.Context, t *testing.T, j *journal.Journal, who string, count int) {
	for n := range count {
		if _, err := j.Append(ctx, childDraft(who, n), nil); err != nil {
			t.Errorf("append: %v", err)
			return
		}
		if _, _, err := j.Rotate(ctx, 0, checkpoint); err != nil {
			t.Errorf("rotate: %v", err)
			return
		}
	}
}

func TestWatchFromTheMiddleAndEnd(t *testing.T) {
	fs, _ := startTrace(t, trace{setup: history}) // 4 records
	j := open(t, fs, "a")
	defer j.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got := make(chan journal.Record)
	for _, from := range []uint64{3, 6} {
		go func() {
			for r, err := range j.Watch(ctx, from) {
				if err != nil {
					t.Errorf("watch from %d: %v", from, err)
				}
				got <- r
				if r.Seq == 7 {
					return
				}
			}
		}()
	}
	for n := range 3 {
		if _, err := j.Append(ctx, note(fmt.Sprint(n)), nil); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[uint64]int{}
	for range 5 + 2 {
		seen[(<-got).Seq]++
	}
	if want := map[uint64]int{3: 1, 4: 1, 5: 1, 6: 2, 7: 2}; fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("watched %v, want %v", seen, want)
	}
}

func TestWatchEndsWithItsContextAndNotBefore(t *testing.T) {
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	defer j.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for r, err := range j.Watch(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; r.Seq == 4 {
			cancel()
		}
	}
	if n != 4 || ctx.Err() == nil {
		t.Errorf("watched %d", n)
	}
}

// A line that a crash left unfinished is no message, and becomes none: the next
// writer sets it aside and the watcher sees what that writer says instead.
func TestWatchPassesATornTail(t *testing.T) {
	fs, _ := startTrace(t, trace{setup: withTail("{\"seq\":5,\"half\"\n{\"seq\":6")})
	j := open(t, fs, "a")
	defer j.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var types []string
	for r, err := range j.Watch(ctx, 4) {
		if err != nil {
			t.Fatal(err)
		}
		if types = append(types, r.Type); len(types) == 3 {
			break
		}
		if r.Seq == 4 {
			if _, err := j.Append(ctx, note("next"), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if fmt.Sprint(types) != "[Note JournalRepaired Note]" {
		t.Errorf("watched %v", types)
	}
}

// When the log is swapped for another, a watcher says so instead of going on.
func TestWatchRefusesAnotherLog(t *testing.T) {
	ctx := context.Background()
	one, _ := startTrace(t, trace{setup: history})
	two, _ := startTrace(t, trace{setup: history})
	j := open(t, two, "other")
	for n := range 2 {
		if _, err := j.Append(ctx, note(fmt.Sprint("other ", n)), nil); err != nil {
			t.Fatal(err)
		}
	}
	other := two.ReadFile(board + "/log.jsonl")
	k := open(t, one, "a")
	if _, err := k.Append(ctx, note("ours"), nil); err != nil {
		t.Fatal(err)
	}
	var seen []uint64
	for r, err := range k.Watch(ctx, 5) {
		if err != nil {
			var backwards *journal.WentBackwardsError
			var corrupt *journal.CorruptError
			if !errors.As(err, &backwards) && !errors.As(err, &corrupt) {
				t.Errorf("got %v", err)
			}
			break
		}
		seen = append(seen, r.Seq)
		one.PutFile(board+"/copy", other)
		if err := one.Rename(board+"/copy", board+"/log.jsonl"); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(seen) != "[5]" {
		t.Errorf("watched %v", seen)
	}
}
