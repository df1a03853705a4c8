package journal_test

import (
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orch/blackboard/journal"
)

// hasty is a file system whose reader comes while a writer is at a line: it sees
// the log up to an offset only, until it looks for what attests durability.
type hasty struct {
	journal.OSFS
	until atomic.Int64 // offset; 0: all of it
}

func (h *hasty) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	if filepath.Base(name) == "head" {
		h.until.Store(0)
	}
	file, err := h.OSFS.OpenFile(name, flag, perm)
	if err != nil || !strings.HasSuffix(name, "log.jsonl") {
		return file, err
	}
	return &hastyFile{file, h}, nil
}

type hastyFile struct {
	journal.File
	of *hasty
}

func (f *hastyFile) ReadAt(p []byte, off int64) (int, error) {
	until := f.of.until.Load()
	if until == 0 || off+int64(len(p)) <= until {
		return f.File.ReadAt(p, off)
	}
	n, err := f.File.ReadAt(p[:max(0, until-off)], off)
	if err == nil {
		err = io.EOF
	}
	return n, err
}

// A line that was read while it was written, and that a later line calls durable
// by the time it is judged, is no damage.
func TestALineThatWasJustBeingWrittenIsNoDamage(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), ".orch")
	writer, err := journal.Create(ctx, dir, journal.Options{}, note("first"))
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	eyes := &hasty{}
	reader, err := journal.Open(dir, journal.Options{FS: eyes})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	before, err := reader.Size()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"second", "third"} {
		if _, err := writer.Append(ctx, note(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	eyes.until.Store(before + 20)
	head, err := reader.Head()
	if err != nil || head.Seq != 3 {
		t.Errorf("the reader is at %d: %v", head.Seq, err)
	}
}
