package blackboard

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/message"
)

func simBoard(fs *simfs.FS) Options {
	o := boardOptions("human-1", message.Human)
	o.FS, o.StateDir, o.RotateBytes = fs, "home", 1
	return o
}

// project is a file system with the directory that a person works in.
func project(t *testing.T) *simfs.FS {
	fs := simfs.New()
	if err := errors.Join(fs.MkdirAll("project", 0o755), fs.SyncDir("."), fs.MkdirAll("home", 0o755), fs.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	return fs
}

// life is a short trace of everything a board does with files. It returns the
// ids of the messages that were acknowledged, and the first error.
func life(fs *simfs.FS) (acked []message.ID, err error) {
	b, err := Init("project", simBoard(fs))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	b.closing = true // nothing beside: the operations must come in one order
	say := func(body message.Body) {
		if err != nil {
			return
		}
		var m message.Message
		if m, err = b.Append(quiet, message.Message{Body: body}); err == nil {
			acked = append(acked, m.ID)
		}
	}
	do := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	long := message.HumanNote{For: "planner", Message: strings.Repeat("long ", 4000)}
	say(batch(0, 2))
	do(func() error { return b.Checkpoint(quiet) })
	say(long)
	do(func() error { _, err := b.PutBlob("g", []byte("output")); return err })
	do(func() error { _, err := b.Rotate(quiet); return err })
	say(batch(2, 1))
	do(func() error { return b.Checkpoint(quiet) })
	say(long)
	do(func() error { _, err := b.Rotate(quiet); return err })
	say(batch(3, 1))
	return acked, err
}

// survives opens what is found after a crash and checks that it is a board with
// all that was acknowledged, and nothing that was not said.
func survives(fs *simfs.FS, acked []message.ID) (err error) {
	b, err := Open("project", simBoard(fs))
	if errors.Is(err, ErrNoBoard) && len(acked) == 0 {
		b, err = Init("project", simBoard(fs))
	}
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, step := range []string{"found", "appended"} {
		if step == "appended" {
			m, err := b.Append(quiet, message.Message{Body: message.HumanNote{For: "planner", Message: "after"}})
			if err != nil {
				return fmt.Errorf("append: %w", err)
			}
			acked = append(acked, m.ID)
		}
		if err := consistent(b, acked); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	if hash, err := b.PutBlob("g", []byte("output")); err != nil {
		return err
	} else if _, err := b.Blob("g", hash); err != nil {
		return err
	}
	return b.Checkpoint(quiet)
}

// consistent compares the state with a fold of the whole log, and the log with
// what was acknowledged.
func consistent(b *Board, acked []message.ID) error {
	report, err := b.Replay(quiet)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if len(report.Differences) > 0 {
		return fmt.Errorf("replay differs: %v", report.Differences)
	}
	if _, err := b.Verify(quiet); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	seq, found := uint64(0), 0
	for m, err := range b.Messages(0) {
		if err != nil {
			return err
		}
		if seq++; m.Seq != seq {
			return fmt.Errorf("message %d follows %d", m.Seq, seq-1)
		}
		if found < len(acked) && m.ID == acked[found] {
			found++
		}
	}
	if found < len(acked) {
		return fmt.Errorf("acknowledged message %d of %d is lost", found+1, len(acked))
	}
	return nil
}

// fingerprint covers every name and every byte of a file system.
func fingerprint(t *testing.T, fs *simfs.FS) (sum [32]byte) {
	hash := sha256.New()
	var walk func(dir string)
	walk = func(dir string) {
		names, err := fs.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			path := dir + "/" + name
			info, err := fs.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(hash, "%q %v %d\n", path, info.IsDir(), info.Size())
			if info.IsDir() {
				walk(path)
				continue
			}
			hash.Write(fs.ReadFile(path))
		}
	}
	walk(".")
	hash.Sum(sum[:0])
	return sum
}

// inSteps is 1 where every operation, or every place, is tried.
func inSteps() int {
	if raced {
		return 5
	}
	return 1
}

func TestCrashAfterEveryOperation(t *testing.T) {
	whole := project(t)
	if _, err := life(whole); err != nil {
		t.Fatal(err)
	}
	trace := whole.Trace()
	names, err := whole.ReadDir("project/.orch/archive")
	if err != nil || len(names) != 4 {
		t.Fatalf("the trace was to leave two segments and their checkpoints: %v, %v", names, err)
	}
	t.Logf("%d operations, %d fates each", len(trace), len(simfs.Fates()))
	before := len(project(t).Trace())
	for n := before + 1; n <= len(trace); n += inSteps() {
		fs := project(t)
		fs.CrashAfter(n)
		acked, err := life(fs)
		if err != nil && !errors.Is(err, simfs.ErrCrashed) {
			t.Fatalf("crash after %s: %v", trace[n-1], err)
		}
		tried := map[[32]byte]bool{}
		for _, fate := range simfs.Fates() {
			found := fs.Crash(fate)
			sum := fingerprint(t, found)
			if tried[sum] {
				continue // nothing was at stake that this fate treats otherwise
			}
			tried[sum] = true
			if err := survives(found, acked); err != nil {
				t.Fatalf("crash after %s, %v: %v", trace[n-1], fate, err)
			}
		}
		if err := survives(fs.Kill(), acked); err != nil {
			t.Fatalf("killed after %s: %v", trace[n-1], err)
		}
	}
}

// TestEveryOperationFails makes each operation fail once, and then no more: the
// error is told, nothing that was acknowledged is lost, and work goes on.
func TestEveryOperationFails(t *testing.T) {
	whole := project(t)
	if _, err := life(whole); err != nil {
		t.Fatal(err)
	}
	before := len(project(t).Trace())
	for i, op := range whole.Trace()[before:] {
		if i%inSteps() != 0 {
			continue
		}
		for _, failure := range []simfs.Failure{{Err: syscall.ENOSPC, Bytes: 7}, {Err: syscall.EIO}} {
			fs := project(t)
			fs.FailWith(func(now simfs.Op) *simfs.Failure {
				if now.N == op.N {
					return &failure
				}
				return nil
			})
			acked, err := life(fs)
			if err != nil && !errors.Is(err, failure.Err) {
				t.Fatalf("%s fails with %v: told as %v", op, failure.Err, err)
			}
			next := fs.Kill()
			b, err := Init("project", simBoard(next)) // what a person would do next
			if err == nil {
				_, err = b.Repair(quiet)
				err = errors.Join(err, b.Close())
			}
			if err == nil {
				err = survives(next, acked)
			}
			if err != nil {
				t.Fatalf("%s fails with %v: afterwards %v", op, failure.Err, err)
			}
		}
	}
}
