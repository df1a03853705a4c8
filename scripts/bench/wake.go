package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"orch/blackboard"
	"orch/blackboard/journal"
)

// measureWake appends in this process and waits until another one, which
// watches the board, has answered through a pipe. The floor is the same with a
// bare file, written without a sync, and a bare watch of its directory.
func measureWake(ctx context.Context, b *bench) ([]result, error) {
	root, err := b.board(ctx)
	if err != nil {
		return nil, err
	}
	board, err := openBoard(root, journal.OSFS{})
	if err != nil {
		return nil, err
	}
	defer board.Close()
	dir, err := os.MkdirTemp(b.temp, "wake-")
	if err != nil {
		return nil, fmt.Errorf("make a directory to watch: %w", err)
	}
	bare, err := os.Create(filepath.Join(dir, wakeFile))
	if err != nil {
		return nil, fmt.Errorf("make a file to watch: %w", err)
	}
	defer bare.Close()
	watcher, err := b.start(ctx, "watch", root)
	if err != nil {
		return nil, err
	}
	defer watcher.kill()
	woken, err := b.start(ctx, "wake", dir)
	if err != nil {
		return nil, err
	}
	defer woken.kill()
	var ours, floor, acknowledged []time.Duration
	err = turns(ctx, b.pick(1000, 150),
		func(counts bool) error {
			began := time.Now()
			heard := answered(watcher)
			if _, err := board.Append(ctx, note()); err != nil {
				return err
			}
			durable := time.Since(began)
			at := <-heard
			if counts && at.err == nil {
				ours, acknowledged = append(ours, at.when.Sub(began)), append(acknowledged, durable)
			}
			return at.err
		},
		func(counts bool) error {
			began := time.Now()
			heard := answered(woken)
			if _, err := bare.WriteString("x\n"); err != nil {
				return fmt.Errorf("write the watched file: %w", err)
			}
			at := <-heard
			if counts && at.err == nil {
				floor = append(floor, at.when.Sub(began))
			}
			return at.err
		})
	if err != nil {
		return nil, err
	}
	last := quantile(ours, 0.99)
	return []result{{
		what: "append → resident in another process acts, p99", bar: "≤ 2 ms", measured: ms(last) + " (p50 " + ms(median(ours)) + ")",
		floor:   ms(quantile(floor, 0.99)) + " bare wake (p50 " + ms(median(floor)) + "), " + times(float64(median(ours))/float64(median(floor))) + " at p50",
		verdict: meets(last <= 2*time.Millisecond),
		notes: []string{fmt.Sprintf("from the call of Append until the answer; the append itself was durable after %s (p50), %s (p99)",
			ms(median(acknowledged)), ms(quantile(acknowledged, 0.99)))},
	}}, nil
}

type answer struct {
	when time.Time
	err  error
}

// answered waits for one line of a child, beside what the caller does.
func answered(h *helper) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		_, err := h.out.ReadString('\n')
		c <- answer{time.Now(), err}
	}()
	return c
}

// childWatch answers every message with a line, as a resident acts on it.
func childWatch(ctx context.Context, root string) error {
	b, err := blackboard.Open(root, blackboard.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer b.Close()
	var head uint64
	if err := b.View(ctx, func(s *blackboard.State) error { head, _ = s.Head(); return nil }); err != nil {
		return err
	}
	fmt.Println(ready)
	for _, err := range b.Watch(ctx, head+1) {
		if err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("\n"); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	return nil
}

const wakeFile = "woken"

// childWake answers every write to one file with a line.
func childWake(ctx context.Context, dir string) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer w.Close()
	if err := w.Add(dir); err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	fmt.Println(ready)
	for {
		select {
		case <-w.Events:
		case err := <-w.Errors:
			return fmt.Errorf("watch %s: %w", dir, err)
		case <-ctx.Done():
			return nil
		}
		if _, err := os.Stdout.WriteString("\n"); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}
