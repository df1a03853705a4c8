package journal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

const simLog = "project/.orch/log.jsonl"

// failOnce makes the next operation of a kind on a path fail.
func failOnce(fs *simfs.FS, kind simfs.Kind, path string, failure simfs.Failure) {
	done := false
	fs.FailWith(func(op simfs.Op) *simfs.Failure {
		if done || op.Kind != kind || op.Path != path {
			return nil
		}
		done = true
		return &failure
	})
}

func TestWriteFailureIsUndoneAndSaysWhy(t *testing.T) {
	for _, test := range []struct {
		err   error
		bytes int
		kind  journal.Fault
	}{
		{syscall.ENOSPC, 0, journal.DiskFull},
		{syscall.ENOSPC, 77, journal.DiskFull},
		{syscall.EDQUOT, 1, journal.DiskFull},
		{syscall.EIO, 100, journal.IOFault},
		{syscall.EROFS, 0, journal.ReadOnly},
		{syscall.EACCES, 0, journal.Permission},
		{syscall.EINVAL, 3, journal.OtherFault},
	} {
		t.Run(fmt.Sprint(test.err, " after ", test.bytes), func(t *testing.T) {
			fs, _ := startTrace(t, trace{setup: history})
			before := fs.ReadFile(board + "/log.jsonl")
			j := open(t, fs, "a")
			defer j.Close()
			failOnce(fs, simfs.Write, simLog, simfs.Failure{Err: test.err, Bytes: test.bytes})
			_, err := j.Append(context.Background(), note("lost"), nil)
			var storage *journal.StorageError
			if !errors.As(err, &storage) || storage.Kind != test.kind || !errors.Is(err, test.err) {
				t.Fatalf("got %v", err)
			}
			if (storage.Hint() == "") != (test.kind == journal.OtherFault) {
				t.Errorf("hint %q", storage.Hint())
			}
			if after := fs.ReadFile(board + "/log.jsonl"); string(after) != string(before) {
				t.Fatalf("the log was left changed: %q", after[len(before):])
			}
			if r, err := j.Append(context.Background(), note("again"), nil); err != nil || r.Seq != 5 {
				t.Fatalf("the next append: %v %v", r.Seq, err)
			}
		})
	}
}

func TestFailedSyncClosesTheLogUntilRepair(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	j, other := open(t, fs, "a"), open(t, fs, "b")
	defer j.Close()
	defer other.Close()
	if _, err := other.Append(ctx, note("before"), nil); err != nil {
		t.Fatal(err)
	}
	failOnce(fs, simfs.Sync, simLog, simfs.Failure{Err: syscall.EIO})
	r, err := j.Append(ctx, note("doubtful"), nil)
	var doubt *journal.UnacknowledgedError
	if !errors.As(err, &doubt) || !errors.Is(err, journal.ErrPoisoned) || !errors.Is(err, syscall.EIO) || r.Seq != 0 {
		t.Fatalf("append with a failed sync: %v %v", r, err)
	}
	for name, closed := range map[string]*journal.Journal{"the same process": j, "another": other, "a new one": open(t, fs, "c")} {
		_, err := closed.Append(ctx, note("refused"), nil)
		var hinted interface{ Hint() string }
		if !errors.Is(err, journal.ErrPoisoned) || !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "orch board repair") {
			t.Errorf("append by %s: %v", name, err)
		}
		if err := closed.Barrier(ctx, doubt.Record.Seq); !errors.Is(err, journal.ErrPoisoned) {
			t.Errorf("barrier by %s: %v", name, err)
		}
	}
	if got := len(collect(t, other, 0)); got != 6 {
		t.Errorf("readers see %d records", got)
	}
	report, err := other.Repair(ctx)
	if err != nil || !report.Poisoned || report.Head.Seq != 6 || report.Torn != nil {
		t.Fatalf("repair: %+v %v", report, err)
	}
	for n, opened := range []*journal.Journal{j, other} {
		if r, err := opened.Append(ctx, note("after"), nil); err != nil || r.Seq != uint64(7+n) {
			t.Errorf("append after repair: %v %v", r.Seq, err)
		}
	}
	// What the failed sync lost is on disk now.
	if got := len(readAll(t, fs.Crash(simfs.Fate{Data: simfs.DataDropped, Names: simfs.NamesDropped}))); got != 8 {
		t.Errorf("after a power cut there are %d records", got)
	}
}

func TestLineThatCannotBeTakenBackClosesTheLog(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	defer j.Close()
	failing := true
	fs.FailWith(func(op simfs.Op) *simfs.Failure {
		if failing && op.Path == simLog && (op.Kind == simfs.Write || op.Kind == simfs.Truncate) {
			return &simfs.Failure{Err: syscall.EIO, Bytes: 50}
		}
		return nil
	})
	_, err := j.Append(ctx, note("half"), nil)
	var storage *journal.StorageError
	if !errors.Is(err, journal.ErrPoisoned) || !errors.As(err, &storage) {
		t.Fatalf("got %v", err)
	}
	failing = false
	report, err := j.Repair(ctx)
	if err != nil || report.Torn == nil || report.Torn.Bytes != 50 || report.Torn.After != 4 {
		t.Fatalf("repair: %+v %v", report, err)
	}
	r, err := j.Append(ctx, note("after"), nil)
	if err != nil || r.Seq != 6 { // 5 is JournalRepaired
		t.Fatalf("append after repair: %v %v", r.Seq, err)
	}
	if got := collect(t, j, 5)[0].Type; got != "JournalRepaired" {
		t.Errorf("message 5 is a %s", got)
	}
}

// Every operation of every trace fails once, in turn. Whatever the trace was told
// then, what it was told is acknowledged must be there, and writing must go on.
func TestEveryOperationFailsOnce(t *testing.T) {
	for _, tr := range traces {
		t.Run(tr.name, func(t *testing.T) {
			fs, base := startTrace(t, tr)
			tr.run(t, fs)
			total := len(fs.Trace())
			for n := base + 1; n <= total; n++ {
				for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
					fs, _ := startTrace(t, tr)
					before := readAll(t, fs)
					var failed simfs.Op
					fs.FailWith(func(op simfs.Op) *simfs.Failure {
						if op.N != n {
							return nil
						}
						failed = op
						// A trace takes the power cut for its end, and any error
						// must come back as it is, whatever wraps it.
						return &simfs.Failure{Err: errors.Join(simfs.ErrCrashed, cause), Bytes: 40}
					})
					// failedSync installs a failure of its own.
					if tr.name == "failed sync and repair" {
						break
					}
					acknowledged := append(before, tr.run(t, fs)...)
					fs.FailWith(nil)
					next := fs.Kill()
					written := readAll(t, next)
					t.Run(fmt.Sprint(failed, " ", cause), func(t *testing.T) {
						checkRecovered(t, next, written, acknowledged)
					})
				}
			}
		})
	}
}
