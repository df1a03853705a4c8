package blackboard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// history makes a board with a few hundred tasks, a checkpoint and a tail.
func history(t *testing.T, root string) *Board {
	t.Helper()
	b := mustInit(t, root, boardOptions("human-1", "human", "executor"))
	mustAppend(t, b, batch(0, 100))
	if err := claim(b, "t-000007"); err != nil {
		t.Fatal(err)
	}
	if err := b.Checkpoint(quiet); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, b, batch(100, 2))
	if err := claim(b, "t-000008"); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenReadsTheTailOnly(t *testing.T) {
	root := t.TempDir()
	a := history(t, root)
	want := boardContents(t, a)
	sameContents(t, "refold", contents(t, refold(t, a, 5)), want)
	b := mustOpen(t, root, personOptions)
	if b.file == nil || b.tail != 2 {
		t.Fatalf("opened over %v with a tail of %d", b.file, b.tail)
	}
	sameContents(t, "over a checkpoint", boardContents(t, b), want)
	// Without the cache the log does.
	if err := os.RemoveAll(a.path(CacheDir)); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, root, personOptions)
	if c.file != nil || c.tail != 5 {
		t.Fatalf("opened over %v with a tail of %d", c.file, c.tail)
	}
	sameContents(t, "without a cache", boardContents(t, c), want)
	sameContents(t, "over a removed checkpoint", boardContents(t, b), want)
}

// TestDamagedCheckpoint flips one byte of every block and every part of the
// footer: a wrong state must never come of it.
func TestDamagedCheckpoint(t *testing.T) {
	root := t.TempDir()
	a := history(t, root)
	want := boardContents(t, a)
	path := a.path(CacheDir, a.cached()[0])
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := max(len(good)/150, 1) * inSteps()
	for n := 0; n < len(good); n += step {
		bad := append([]byte(nil), good...)
		bad[n] ^= 0x20
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Open(root, personOptions)
		if err != nil {
			t.Fatalf("byte %d: open: %v", n, err)
		}
		var got []string
		look := func(s *State) error {
			got = nil
			for r, err := range s.records() {
				if err != nil {
					return err
				}
				got = append(got, string(r.value))
			}
			for range s.entries() {
			}
			return s.Err()
		}
		if err := b.View(quiet, look); err != nil {
			var damaged *checkpoint.DamagedError
			if !errors.As(err, &damaged) {
				t.Fatalf("byte %d: view: %v", n, err)
			}
			// It is said once; then the log is folded.
			if err := b.View(quiet, look); err != nil {
				t.Fatalf("byte %d: view again: %v", n, err)
			}
		}
		sameContents(t, "damaged", boardContents(t, b), want)
		mustClose(t, b)
	}
}

func TestForeignCheckpoint(t *testing.T) {
	root := t.TempDir()
	a := history(t, root)
	want := boardContents(t, a)
	other := history(t, t.TempDir())
	data, err := os.ReadFile(other.path(CacheDir, other.cached()[0]))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.path(CacheDir, cacheName(9)), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.path(CacheDir, cachePrefix+"junk"), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := mustOpen(t, root, personOptions)
	sameContents(t, "beside a foreign one", boardContents(t, b), want)
	// It claims to be newer, and must not keep ours from being written.
	if err := b.Checkpoint(quiet); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, root, personOptions)
	if c.tail != 0 {
		t.Errorf("opened with a tail of %d", c.tail)
	}
	sameContents(t, "after the next one", boardContents(t, c), want)
}

func TestCheckpointIsRenewedBeside(t *testing.T) {
	root := t.TempDir()
	o := personOptions
	o.CheckpointMessages = 20
	a := mustInit(t, root, o)
	for n := range 50 {
		mustAppend(t, a, batch(n, 1))
	}
	a.writers.Wait()
	// Whoever notices does it; it must not need Close.
	b, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	if b.file == nil || b.tail > 45 {
		t.Errorf("opened over %v with a tail of %d", b.file, b.tail)
	}
	mustClose(t, b)
	want := contents(t, refold(t, a, 51))
	sameContents(t, "rebased", boardContents(t, a), want)
	if names := a.cached(); len(names) > keptCheckpoints {
		t.Errorf("the cache has %v", names)
	}
	// One large message is a large tail too.
	mustAppend(t, a, batch(1000, 1500))
	a.writers.Wait()
	c := mustOpen(t, root, o)
	if c.tail > 1 || c.state.changed() > 500 {
		t.Errorf("opened with a tail of %d messages, %d records", c.tail, c.state.changed())
	}
}

func TestCheckpointOfAnotherProcessIsUsed(t *testing.T) {
	root := t.TempDir()
	o := personOptions
	o.CheckpointMessages = 20
	quietly := personOptions // never writes one
	a := mustInit(t, root, quietly)
	b := mustOpen(t, root, o)
	for n := range 22 {
		mustAppend(t, a, batch(n, 1))
	}
	if err := a.Checkpoint(quiet); err != nil {
		t.Fatal(err)
	}
	boardContents(t, b)
	b.writers.Wait()
	if names := b.cached(); len(names) != 1 || b.file == nil || b.tail != 0 {
		t.Errorf("the cache has %v, the tail is %d", names, b.tail)
	}
}

func TestRotation(t *testing.T) {
	root := t.TempDir()
	a := history(t, root)
	o := personOptions
	o.RotateBytes = 1 << 10
	b := mustOpen(t, root, o)
	// Each rotation needs a log larger than four times the checkpoint.
	long := message.HumanNote{For: "planner", Message: strings.Repeat("long ", 10_000)}
	for round := range 3 {
		mustAppend(t, b, batch(1000+round, 1))
		for n := 0; len(segments(t, b)) == round; n++ {
			mustAppend(t, b, long)
			b.writers.Wait()
			if n > 100 {
				t.Fatal("the log is not rotated")
			}
		}
	}
	want := boardContents(t, b)
	seq := b.headSeq(t)
	sameContents(t, "refold over the segments", contents(t, refold(t, b, seq)), want)
	sameContents(t, "the other process", boardContents(t, a), want)

	// The cache is lost, then the old segments too.
	if err := os.RemoveAll(b.path(CacheDir)); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, root, personOptions)
	if c.file == nil || !strings.HasPrefix(filepath.Base(checkpointPath(c)), archivePrefix) {
		t.Errorf("opened over %q", checkpointPath(c))
	}
	sameContents(t, "without a cache", boardContents(t, c), want)
	for _, name := range segments(t, b) {
		if err := os.Remove(b.path(ArchiveDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	d := mustOpen(t, root, personOptions)
	sameContents(t, "without the segments", boardContents(t, d), want)
	mustAppend(t, d, batch(9000, 1))

	// And without the checkpoint that stands for them nothing can be known.
	for _, name := range d.archived() {
		if err := os.Remove(d.path(ArchiveDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Open(root, personOptions)
	var gone *HistoryError
	if !errors.As(err, &gone) || gone.Hint() == "" {
		t.Errorf("open without history: %v", err)
	}
}

func checkpointPath(b *Board) string {
	for path := range b.checkpoints() {
		if file, err := b.openCheckpoint(path); err == nil {
			id := file.ID()
			_ = file.Close()
			if b.file != nil && id == b.file.ID() {
				return path
			}
		}
	}
	return ""
}

func segments(t *testing.T, b *Board) (list []string) {
	t.Helper()
	names, err := journal.OSFS{}.ReadDir(b.path(ArchiveDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "log-") {
			list = append(list, name)
		}
	}
	return list
}

func (b *Board) headSeq(t *testing.T) (seq uint64) {
	t.Helper()
	if err := b.View(quiet, func(s *State) error { seq, _ = s.Head(); return nil }); err != nil {
		t.Fatal(err)
	}
	return seq
}

// opening calls a function, once, before a file of the cache is opened for reading.
type opening struct {
	journal.FS
	then func()
}

func (o *opening) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	if then := o.then; then != nil && flag == os.O_RDONLY && strings.HasPrefix(filepath.Base(name), cachePrefix) {
		o.then = nil
		then()
	}
	return o.FS.OpenFile(name, flag, perm)
}

// TestARotationLeavesACheckpointThatIsBeingWritten has another process rotate
// the log between the checkpoint's writing and its reading back.
func TestARotationLeavesACheckpointThatIsBeingWritten(t *testing.T) {
	root, o := t.TempDir(), personOptions
	o.RotateBytes = 1
	disk := &opening{FS: journal.OSFS{}}
	hooked := o
	hooked.FS = disk
	b, other := mustInit(t, root, hooked), mustInit(t, root, o)
	b.closing, other.closing = true, true // nothing beside
	if _, err := b.Append(quiet, message.Message{Body: batch(0, 2)}); err != nil {
		t.Fatal(err)
	}
	disk.then = func() {
		for range 3 {
			if _, err := other.Append(quiet, message.Message{Body: message.HumanNote{For: "planner", Message: strings.Repeat("long ", 4000)}}); err != nil {
				t.Error(err)
			}
			if rotated, err := other.Rotate(quiet); err != nil || !rotated {
				t.Errorf("rotated %v, %v", rotated, err)
			}
		}
	}
	if err := b.Checkpoint(quiet); err != nil {
		t.Error(err)
	}
	if disk.then != nil {
		t.Error("nothing was read back")
	}
}
