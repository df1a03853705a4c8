package blackboard

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

func TestInitTwice(t *testing.T) {
	root := t.TempDir()
	_, err := Open(root, personOptions)
	if !errors.Is(err, ErrNoBoard) {
		t.Fatalf("open without a board: %v", err)
	}
	a := mustInit(t, root, personOptions)
	mustAppend(t, a, batch(0, 1))
	b := mustInit(t, root, personOptions)
	sameContents(t, "second init", boardContents(t, b), boardContents(t, a))
	if a.id == "" || a.Root() != root || a.Dir() != filepath.Join(root, DirName) {
		t.Errorf("board %q in %q", a.id, a.Dir())
	}
	if got := a.GoalDir("g_1"); got != filepath.Join(a.Dir(), GoalsDir, "g_1") {
		t.Errorf("goal in %s", got)
	}
}

func TestInitAtOnce(t *testing.T) {
	root := t.TempDir()
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for n := range ids {
		wg.Go(func() {
			b, err := Init(root, personOptions)
			if err != nil {
				t.Error(err)
				return
			}
			ids[n] = b.id
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if ids = slices.Compact(ids); len(ids) != 1 || ids[0] == "" {
		t.Errorf("boards %v came of it", ids)
	}
}

func TestReadOnlyWritesNothing(t *testing.T) {
	root := t.TempDir()
	o := personOptions
	o.CheckpointMessages = 1
	a, err := Init(root, o)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, a, batch(0, 2000))
	mustClose(t, a)
	if err := os.RemoveAll(a.path(CacheDir)); err != nil {
		t.Fatal(err)
	}
	before := filesIn(t, root)
	o.ReadOnly = true
	b, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	boardContents(t, b)
	_, appendErr := b.Append(quiet, message.Message{Body: batch(0, 1)})
	_, rotateErr := b.Rotate(quiet)
	_, repairErr := b.Repair(quiet)
	for _, err := range []error{appendErr, rotateErr, repairErr, b.Checkpoint(quiet)} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("not refused: %v", err)
		}
	}
	mustClose(t, b)
	if after := filesIn(t, root); !maps.Equal(before, after) {
		t.Errorf("files changed: %v, were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
}

func TestClosed(t *testing.T) {
	b := mustInit(t, t.TempDir(), personOptions)
	mustClose(t, b)
	mustClose(t, b)
	if err := b.View(quiet, func(*State) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("view: %v", err)
	}
	if _, err := b.Append(quiet, message.Message{Body: batch(0, 1)}); err == nil {
		t.Error("append to a closed board")
	}
}

func TestNetworkIsRefused(t *testing.T) {
	root := t.TempDir()
	o := personOptions
	o.FS = networkFS{}
	_, err := Init(root, o)
	var network *journal.NetworkFSError
	if !errors.As(err, &network) {
		t.Fatalf("init: %v", err)
	}
	if len(filesIn(t, root)) > 0 {
		t.Error("a refused init leaves files")
	}
	o.UnsafeFS = true
	mustInit(t, root, o)
	o.UnsafeFS = false
	if _, err := Open(root, o); !errors.As(err, &network) {
		t.Errorf("open: %v", err)
	}
}

func TestAPathThatIsNotTextIsRefused(t *testing.T) {
	root := filepath.Join(t.TempDir(), "caf\xe9")
	if _, err := Init(root, personOptions); !errors.As(err, new(*PathError)) {
		t.Errorf("init: %v", err)
	}
	if _, err := Open(root, personOptions); !errors.As(err, new(*PathError)) {
		t.Errorf("open: %v", err)
	}
}

type networkFS struct{ journal.OSFS }

func (networkFS) NetworkKind(string) (string, error) { return "NFS", nil }

func TestNewerLog(t *testing.T) {
	root := t.TempDir()
	if err := makeLayout(journal.OSFS{}, filepath.Join(root, DirName)); err != nil {
		t.Fatal(err)
	}
	log, err := journal.Create(quiet, filepath.Join(root, DirName), journal.Options{}, journal.Draft{
		From: "board", To: "all", Type: "Genesis", Payload: []byte(`{"format":2,"board":"b"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, err = Open(root, personOptions)
	var newer *NewerFormatError
	if !errors.As(err, &newer) || newer.Format != 2 || newer.Hint() == "" {
		t.Errorf("open: %v", err)
	}
}

func TestUnknownMessage(t *testing.T) {
	root := t.TempDir()
	b := mustInit(t, root, personOptions)
	if _, err := b.log.Append(quiet, journal.Draft{From: "human", To: "all", Type: "FromTheFuture"}, nil); err != nil {
		t.Fatal(err)
	}
	_, err := Open(root, personOptions)
	var fold *FoldError
	if !errors.As(err, &fold) || fold.Seq != 2 || !strings.Contains(fold.Hint(), "update orch") {
		t.Errorf("open: %v", err)
	}
	if err := b.View(quiet, func(*State) error { return nil }); !errors.As(err, &fold) {
		t.Errorf("view: %v", err)
	}
}

func TestTornTailIsReported(t *testing.T) {
	root := t.TempDir()
	b := mustInit(t, root, personOptions)
	mustAppend(t, b, batch(0, 1))
	log, err := os.OpenFile(b.path("log.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.WriteString(`{"seq":3,"ts":`); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, root, personOptions)
	if m := mustAppend(t, c, batch(1, 1)); m.Seq != 4 {
		t.Errorf("appended at %d", m.Seq)
	}
	for m, err := range c.Messages(3) {
		if err != nil {
			t.Fatal(err)
		}
		repaired, ok := m.Body.(message.JournalRepaired)
		if !ok || repaired.FromSeq != 3 || repaired.Bytes != 14 || !strings.HasPrefix(repaired.Kept, ArchiveDir+"/torn-") {
			t.Errorf("the log says %+v", m)
		}
		kept, err := os.ReadFile(c.path(filepath.FromSlash(repaired.Kept)))
		if err != nil || !bytes.Equal(kept, []byte(`{"seq":3,"ts":`)) {
			t.Errorf("kept %q, %v", kept, err)
		}
		break
	}
	sameContents(t, "the other board", boardContents(t, b), boardContents(t, c))
}

// TestReplacedLog puts an old copy of the whole directory back, run/head and all.

func TestReplacedLog(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	o := personOptions
	o.StateDir = home
	b, err := Init(root, o)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, b, batch(0, 1))
	mustClose(t, b)
	old := filesIn(t, b.path())
	if b, err = Open(root, o); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, b, batch(1, 1))
	mustClose(t, b)
	if err := os.RemoveAll(b.path()); err != nil {
		t.Fatal(err)
	}
	for name, data := range old {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(data), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = Open(root, o)
	var backwards *journal.WentBackwardsError
	if !errors.As(err, &backwards) || !strings.Contains(backwards.Hint(), "orch board restore") {
		t.Errorf("open: %v", err)
	}
}
