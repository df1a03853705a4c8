package journal_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

// A trace is a short run of one or more simulated processes. It ends early, with
// what was acknowledged so far, when the power is cut.
type trace struct {
	name  string
	setup func(*testing.T, *simfs.FS) // before the operations that are counted
	run   func(*testing.T, *simfs.FS) []journal.Record
}

func create(t *testing.T, fs *simfs.FS, name string) *journal.Journal {
	t.Helper()
	j, err := journal.Create(context.Background(), board, simOptions(fs, name), note("genesis"))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func open(t *testing.T, fs *simfs.FS, name string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(board, simOptions(fs, name))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// history starts a log with a few acknowledged records.
func history(t *testing.T, fs *simfs.FS) {
	j := create(t, fs, "old")
	defer j.Close()
	for n := range 3 {
		if _, err := j.Append(context.Background(), note(fmt.Sprint("old ", n)), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// withTail adds bytes to the log that no append wrote.
func withTail(tail string) func(*testing.T, *simfs.FS) {
	return func(t *testing.T, fs *simfs.FS) {
		history(t, fs)
		fs.PutFile(board+"/log.jsonl", append(fs.ReadFile(board+"/log.jsonl"), tail...))
	}
}

var traces = []trace{
	{name: "create", run: func(t *testing.T, fs *simfs.FS) []journal.Record {
		j, err := journal.Create(context.Background(), board, simOptions(fs, "a"), note("genesis"))
		if stopped(t, err) {
			return nil
		}
		defer j.Close()
		var a acked
		r, err := j.Append(context.Background(), note("first"), nil)
		a.took(t, r, err)
		return a.records
	}},
	{name: "append", setup: history, run: func(t *testing.T, fs *simfs.FS) []journal.Record {
		var a acked
		for n := range 3 {
			// Every append is a process of its own.
			j, err := journal.Open(board, simOptions(fs, fmt.Sprint("p", n)))
			if stopped(t, err) {
				break
			}
			r, err := j.Append(context.Background(), note(fmt.Sprint(n)), nil)
			if !a.took(t, r, err) {
				break
			}
			_ = j.Close()
		}
		return a.records
	}},
	{name: "interleaved appends", setup: history, run: interleaved},
	{name: "concurrent appends", setup: history, run: concurrent},
	{name: "rotation", setup: history, run: func(t *testing.T, fs *simfs.FS) []journal.Record {
		var a acked
		j := open(t, fs, "a")
		defer j.Close()
		for n := range 2 {
			r, err := j.Append(context.Background(), note(fmt.Sprint(n)), nil)
			if !a.took(t, r, err) {
				return a.records
			}
			r, _, err = j.Rotate(context.Background(), 0, checkpoint)
			if !a.took(t, r, err) {
				return a.records
			}
		}
		r, err := j.Append(context.Background(), note("last"), nil)
		a.took(t, r, err)
		return a.records
	}},
	{name: "torn tail: cut line", setup: withTail(`{"seq":5,"ts":"2026`), run: recoverTail},
	{name: "torn tail: bad lines", setup: withTail("{\"seq\":5}\n\x00\x00\x00\n{\"seq\":"), run: recoverTail},
	{name: "failed sync and repair", setup: history, run: failedSync},
	{name: "repair of a torn tail", setup: withTail("garbage\ngarb"), run: func(t *testing.T, fs *simfs.FS) []journal.Record {
		j := open(t, fs, "a")
		defer j.Close()
		if _, err := j.Repair(context.Background()); stopped(t, err) {
			return nil
		}
		var a acked
		r, err := j.Append(context.Background(), note("after"), nil)
		a.took(t, r, err)
		return a.records
	}},
}

func checkpoint(tail journal.Tail) (journal.Draft, error) {
	return journal.Draft{From: "board", To: "all", Type: "Checkpoint", Payload: fmt.Appendf(nil, `{"at":%d}`, tail.Head().Seq)}, nil
}

func recoverTail(t *testing.T, fs *simfs.FS) []journal.Record {
	var a acked
	j := open(t, fs, "a")
	defer j.Close()
	for n := range 2 {
		r, err := j.Append(context.Background(), note(fmt.Sprint(n)), nil)
		if !a.took(t, r, err) {
			break
		}
	}
	return a.records
}

// interleaved has two processes write before either syncs, so that one sync
// covers the other's record.
func interleaved(t *testing.T, fs *simfs.FS) []journal.Record {
	ctx := context.Background()
	var a acked
	one, two := open(t, fs, "one"), open(t, fs, "two")
	defer one.Close()
	defer two.Close()
	for range 2 {
		r1, err := one.WriteOnly(ctx, note("one"))
		if stopped(t, err) {
			break
		}
		r2, err := two.WriteOnly(ctx, note("two"))
		if stopped(t, err) {
			break
		}
		r3, err := one.WriteOnly(ctx, note("three"))
		if stopped(t, err) {
			break
		}
		if !a.took(t, r2, two.SyncTo(ctx, r2.Seq)) || !a.took(t, r1, one.SyncTo(ctx, r1.Seq)) ||
			!a.took(t, r3, one.SyncTo(ctx, r3.Seq)) {
			break
		}
	}
	return a.records
}

// concurrent has two goroutines of each of two processes append at once.
func concurrent(t *testing.T, fs *simfs.FS) []journal.Record {
	var mu sync.Mutex
	var a acked
	var group sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		opts := simOptions(fs, name)
		opts.Clock, opts.IDs = journal.SystemClock{}, journal.UUIDs{}
		j, err := journal.Open(board, opts)
		if stopped(t, err) {
			return nil
		}
		for range 2 {
			group.Add(1)
			go func() {
				defer group.Done()
				for range 2 {
					r, err := j.Append(context.Background(), note(name), nil)
					mu.Lock()
					if err == nil {
						a.records = append(a.records, r)
					} else if !errors.Is(err, simfs.ErrCrashed) && !errors.Is(err, journal.ErrPoisoned) {
						t.Errorf("trace: %v", err)
					}
					mu.Unlock()
				}
			}()
		}
	}
	group.Wait()
	return a.records
}

func failedSync(t *testing.T, fs *simfs.FS) []journal.Record {
	ctx := context.Background()
	var a acked
	j := open(t, fs, "a")
	defer j.Close()
	failing := true
	fs.FailWith(func(op simfs.Op) *simfs.Failure {
		if failing && op.Kind == simfs.Sync && op.Path == "project/.orch/log.jsonl" {
			failing = false
			return &simfs.Failure{Err: syscall.EIO}
		}
		return nil
	})
	_, err := j.Append(ctx, note("doubtful"), nil)
	if !errors.Is(err, journal.ErrPoisoned) && !errors.Is(err, simfs.ErrCrashed) {
		t.Fatalf("append with a failed sync: %v", err)
	}
	if _, err := j.Repair(ctx); stopped(t, err) {
		return nil
	}
	r, err := j.Append(ctx, note("after"), nil)
	a.took(t, r, err)
	return a.records
}

// startTrace gives a file system with the trace's history, and how many
// operations that took.
func startTrace(t *testing.T, tr trace) (*simfs.FS, int) {
	t.Helper()
	fs := simfs.New()
	if err := fs.MkdirAll("/project", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fs.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	if tr.setup != nil {
		tr.setup(t, fs)
	}
	return fs, len(fs.Trace())
}

// The power is cut after every operation of every trace, and whatever was not
// durable is kept, dropped, or kept in part, in every combination.
func TestPowerCutAfterEveryOperation(t *testing.T) {
	for _, tr := range traces {
		t.Run(tr.name, func(t *testing.T) {
			fs, base := startTrace(t, tr)
			all := tr.run(t, fs)
			total := len(fs.Trace())
			if len(all) == 0 || total <= base {
				t.Fatalf("the trace did %d operations and acknowledged %d records", total-base, len(all))
			}
			cases := 0
			for n := base + 1; n <= total; n++ {
				fs, _ := startTrace(t, tr)
				before := readAll(t, fs)
				fs.CrashAfter(n)
				acknowledged := append(before, tr.run(t, fs)...)
				written := readAll(t, fs.Kill())
				for _, fate := range simfs.Fates() {
					cases++
					if !t.Run(fmt.Sprintf("after %v, %s, %s", fs.Trace()[len(fs.Trace())-1], fate.Data, fate.Names), func(t *testing.T) {
						checkRecovered(t, fs.Crash(fate), written, acknowledged)
					}) {
						return
					}
				}
			}
			t.Logf("%d operations, %d crashes", total-base, cases)
		})
	}
}

// Every process is killed after every operation, another one appends, and then
// the power is cut: what the other one was told must hold, whatever state the
// first left behind.
func TestKillThenAppendThenPowerCut(t *testing.T) {
	for _, tr := range traces {
		t.Run(tr.name, func(t *testing.T) {
			fs, base := startTrace(t, tr)
			tr.run(t, fs)
			total := len(fs.Trace())
			for n := base + 1; n <= total; n++ {
				fs, _ := startTrace(t, tr)
				before := readAll(t, fs)
				fs.CrashAfter(n)
				acknowledged := append(before, tr.run(t, fs)...)
				last := fs.Trace()[len(fs.Trace())-1]
				next := fs.Kill()
				j, err := journal.Open(board, simOptions(next, "next"))
				if errors.Is(err, journal.ErrNoLog) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				r, err := j.Append(context.Background(), note("next"), nil)
				if errors.Is(err, journal.ErrPoisoned) {
					if _, err := j.Repair(context.Background()); err != nil {
						t.Fatalf("repair after a kill after %v: %v", last, err)
					}
					r, err = j.Append(context.Background(), note("next"), nil)
				}
				if err != nil {
					t.Fatalf("append after a kill after %v: %v", last, err)
				}
				_ = j.Close()
				acknowledged = append(acknowledged, r)
				written := readAll(t, next)
				for _, fate := range simfs.Fates() {
					if !t.Run(fmt.Sprintf("after %v, %s, %s", last, fate.Data, fate.Names), func(t *testing.T) {
						checkRecovered(t, next.Crash(fate), written, acknowledged)
					}) {
						return
					}
				}
			}
		})
	}
}
