package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
)

// measureOpen opens a board that a killed process left behind with a torn line,
// and the same without the cache.
func measureOpen(ctx context.Context, b *bench) ([]result, error) {
	h, err := b.history(ctx, b.pick(1_000_000, 60_000))
	if err != nil {
		return nil, err
	}
	crashed, err := b.crash(ctx, h)
	if err != nil {
		return nil, err
	}
	var warm, first, cold []time.Duration
	opened := func(took, andAppend *[]time.Duration, cache bool) func(bool) error {
		return func(counts bool) error {
			if err := crashed.restore(cache); err != nil {
				return err
			}
			n, err := b.result(ctx, "open", h.root)
			if err != nil || !counts {
				return err
			}
			*took = append(*took, time.Duration(n[0]))
			if andAppend != nil {
				*andAppend = append(*andAppend, time.Duration(n[1]))
			}
			return nil
		}
	}
	err = turns(ctx, b.pick(9, 3), opened(&warm, &first, true), opened(&cold, nil, false))
	if err != nil {
		return nil, err
	}
	wall := median(warm)
	return []result{{
		what: fmt.Sprintf("open after kill -9, %d messages", h.messages), bar: "≤ 100 ms", measured: ms(wall), floor: "", verdict: meets(wall <= 100*time.Millisecond),
		notes: []string{
			"the log ends in a torn line and the cache is as the killed process left it; the first append after it, which sets the torn line aside, takes " + ms(median(first)),
			fmt.Sprintf("%d closed segments, %.0f MiB in the live one", crashed.segments, float64(crashed.liveBytes)/(1<<20)),
		},
	}, {
		what: "the same with the cache removed", bar: "", measured: ms(median(cold)), floor: times(float64(median(cold)) / float64(wall)), verdict: reported,
		notes: []string{"then the checkpoint of the last closed segment serves, and the whole live one is folded over it"},
	}}, nil
}

// childOpen prints the nanoseconds that opening a board and looking at it took,
// and those of the first append.
func childOpen(ctx context.Context, root string) error {
	if err := awaitStart(); err != nil {
		return err
	}
	began := time.Now()
	b, err := openBoard(root, journal.OSFS{})
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.View(ctx, func(*blackboard.State) error { return nil }); err != nil {
		return err
	}
	opened := time.Now()
	if _, err := b.Append(ctx, note()); err != nil {
		return err
	}
	fmt.Println(opened.Sub(began).Nanoseconds(), time.Since(opened).Nanoseconds())
	return nil
}

// remains is what a crash left, kept so that it can be opened again and again.
type remains struct {
	parts     []part
	archive   string
	segments  int
	liveBytes int64
}

// part is a file or directory that opening a board may change, and its copy.
type part struct{ place, copy string }

const cachePart = 0 // in remains.parts

// crash kills a process that appends to the board, tears the last line, and
// keeps what is left.
func (b *bench) crash(ctx context.Context, h *history) (*remains, error) {
	grower, err := b.start(ctx, "grow", h.root, endless)
	if err != nil {
		return nil, err
	}
	_ = grower.in.Close() // the word to begin
	_, err = grower.out.ReadString('\n')
	if err == nil {
		err = pause(ctx, time.Second)
	}
	grower.kill()
	if err != nil {
		return nil, fmt.Errorf("grow the log until the crash: %w", err)
	}
	board := filepath.Join(h.root, blackboard.DirName)
	r := &remains{archive: filepath.Join(board, blackboard.ArchiveDir)}
	if r.liveBytes, err = tear(filepath.Join(board, "log.jsonl")); err != nil {
		return nil, err
	}
	segments, err := filepath.Glob(filepath.Join(r.archive, "log-*"))
	if err != nil {
		return nil, fmt.Errorf("count the segments: %w", err)
	}
	r.segments = len(segments)
	for _, place := range []string{
		cachePart: filepath.Join(board, blackboard.CacheDir), filepath.Join(board, blackboard.RunDir), filepath.Join(board, "log.jsonl"),
		filepath.Join(b.temp, "state"),
	} {
		p := part{place, filepath.Join(b.temp, "crashed", filepath.Base(place))}
		if err := copyTree(p.place, p.copy); err != nil {
			return nil, fmt.Errorf("keep the crash: %w", err)
		}
		r.parts = append(r.parts, p)
	}
	return r, nil
}

// tear leaves part of a line at the end of the log, as a power cut may, and
// returns how long the log is.
func tear(path string) (int64, error) {
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0, fmt.Errorf("tear the log: %w", err)
	}
	_, err = log.WriteString(`{"seq":`)
	info, serr := log.Stat()
	if err := errors.Join(err, serr, log.Close()); err != nil {
		return 0, fmt.Errorf("tear the log: %w", err)
	}
	return info.Size(), nil
}

// restore puts the board back to what the crash left; without the cache if it
// is to be lost as well.
func (r *remains) restore(cache bool) error {
	torn, err := filepath.Glob(filepath.Join(r.archive, "torn-*"))
	if err != nil {
		return fmt.Errorf("restore the crash: %w", err)
	}
	for _, name := range torn {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("restore the crash: %w", err)
		}
	}
	for n, p := range r.parts {
		if err := os.RemoveAll(p.place); err != nil {
			return fmt.Errorf("restore the crash: %w", err)
		}
		if n == cachePart && !cache {
			continue
		}
		if err := copyTree(p.copy, p.place); err != nil {
			return fmt.Errorf("restore the crash: %w", err)
		}
	}
	return nil
}

// copyTree copies a file, or a directory and all that is in it.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
