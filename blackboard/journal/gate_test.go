package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

// Somebody else holds the lock for too long; when they let go at last, the one
// who gave up must not keep what it wins.
func TestLockTimeoutAndLateWinner(t *testing.T) {
	for name, fsys := range map[string]journal.FS{"simulated": simfs.New(), "real": journal.OSFS{}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".orch")
			opts := journal.Options{FS: fsys, LockTimeout: 20 * time.Millisecond}
			j, err := journal.Create(context.Background(), dir, opts, numbered(0))
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			lock := fsys.NewLock(filepath.Join(dir, "orch.lock"))
			if err := lock.Lock(); err != nil {
				t.Fatal(err)
			}
			var late *journal.LockTimeoutError
			if _, err := j.Append(context.Background(), numbered(1), nil); !errors.As(err, &late) || late.Hint() == "" {
				t.Fatalf("append while somebody holds the lock: %v", err)
			}
			other, err := journal.Open(dir, journal.Options{FS: fsys, LockTimeout: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			if _, err := other.Append(ctx, numbered(1), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("append with a context that ends: %v", err)
			}
			if err := lock.Close(); err != nil {
				t.Fatal(err)
			}
			// The late winners may have their turn first, but they pass it on.
			patient, err := journal.Open(dir, journal.Options{FS: fsys})
			if err != nil {
				t.Fatal(err)
			}
			defer patient.Close()
			if r, err := patient.Append(context.Background(), numbered(2), nil); err != nil || r.Seq != 2 {
				t.Fatalf("append after the lock was free: %v %v", r.Seq, err)
			}
		})
	}
}

func TestFileLockExcludesWithinOneProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	one, two := (journal.OSFS{}).NewLock(name), (journal.OSFS{}).NewLock(name)
	defer one.Close()
	defer two.Close()
	take := func(lock journal.Lock, want bool) {
		t.Helper()
		if held, err := lock.TryLock(); held != want || err != nil {
			t.Fatalf("held %v, want %v: %v", held, want, err)
		}
	}
	take(one, true)
	take(two, false)
	if err := one.Unlock(); err != nil {
		t.Fatal(err)
	}
	take(two, true)
	take(one, false)
	// Who holds a file that was removed excludes nobody, and finds out.
	if err := errors.Join(two.Unlock(), os.Remove(name)); err != nil {
		t.Fatal(err)
	}
	take(one, true)
	take(two, false)
}

// Who waits for a lock that nobody needs any more must not put its file back when
// the directory is being removed.
func TestAnAbandonedLockMakesNoFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	holder, late := (journal.OSFS{}).NewLock(name), (journal.OSFS{}).NewLock(name)
	if err := holder.Lock(); err != nil {
		t.Fatal(err)
	}
	if held, err := late.TryLock(); held || err != nil {
		t.Fatalf("held %v: %v", held, err)
	}
	done := make(chan error)
	go func() { done <- late.Lock() }()
	late.Abandon()
	if err := errors.Join(os.Remove(name), holder.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, os.ErrClosed) {
		t.Errorf("waiting for a lock that nobody needs ended with %v", err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the removed file is back: %v", err)
	}
	if err := late.Close(); err != nil {
		t.Error(err)
	}
}

// A condition that panics must not leave the lock held.
func TestPanicInConditionFreesTheLock(t *testing.T) {
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	defer j.Close()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = j.Append(context.Background(), note("x"), func(journal.Tail) error { panic("no") })
	}()
	if r, err := j.Append(context.Background(), note("y"), nil); err != nil || r.Seq != 5 {
		t.Errorf("append after a panic: %v %v", r.Seq, err)
	}
}

// While a condition runs, another goroutine closes the journal.
func TestCloseDuringAppend(t *testing.T) {
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	_, err := j.Append(context.Background(), note("x"), func(journal.Tail) error {
		done := make(chan error)
		go func() { done <- j.Close() }()
		return <-done
	})
	if !errors.Is(err, journal.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if got := len(readAll(t, fs)); got != 4 {
		t.Errorf("there are %d records", got)
	}
}

func TestWriteFileAtomicSurvivesEveryCrash(t *testing.T) {
	const path = "/dir/file"
	start := func() *simfs.FS {
		fs := simfs.New()
		if err := errors.Join(fs.MkdirAll("/dir", 0o755), fs.SyncDir("/")); err != nil {
			t.Fatal(err)
		}
		if err := journal.WriteFileAtomic(fs, path, []byte("old content"), 0o600); err != nil {
			t.Fatal(err)
		}
		return fs
	}
	fs := start()
	base := len(fs.Trace())
	if err := journal.WriteFileAtomic(fs, path, []byte("new content, longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	total := len(fs.Trace())
	if total-base != 5 {
		t.Fatalf("a replacement is %v", fs.Trace()[base:])
	}
	for n := base + 1; n <= total; n++ {
		for _, fail := range []bool{false, true} {
			fs := start()
			if fail {
				fs.FailWith(func(op simfs.Op) *simfs.Failure {
					if op.N != n {
						return nil
					}
					return &simfs.Failure{Err: syscall.ENOSPC, Bytes: 3}
				})
			} else {
				fs.CrashAfter(n)
			}
			err := journal.WriteFileAtomic(fs, path, []byte("new content, longer"), 0o600)
			if fail && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("operation %d failed: %v", n, err)
			}
			for _, fate := range simfs.Fates() {
				after := fs.Crash(fate)
				content := string(after.ReadFile(path))
				if content != "new content, longer" && (content != "old content" || err == nil) {
					t.Errorf("crash after %d, %v: %q", n, fate, content)
				}
				if err := journal.WriteFileAtomic(after, path, []byte("next"), 0o600); err != nil || string(after.ReadFile(path)) != "next" {
					t.Errorf("the next replacement: %v", err)
				}
			}
		}
	}
}
