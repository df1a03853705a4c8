package supervisor

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

var errFull = errors.New("no space left on device")

// fullFS is a disk on which the log can no longer grow once full is set.
type fullFS struct {
	journal.OSFS
	full *atomic.Bool
}

func (f fullFS) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	file, err := f.OSFS.OpenFile(name, flag, perm)
	if err != nil || !strings.HasSuffix(name, "log.jsonl") {
		return file, err
	}
	return fullFile{file, f.full}, nil
}

type fullFile struct {
	journal.File
	full *atomic.Bool
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.full.Load() {
		return 0, errFull
	}
	return f.File.Write(p)
}

func (f fullFile) WriteAt(p []byte, off int64) (int, error) {
	if f.full.Load() {
		return 0, errFull
	}
	return f.File.WriteAt(p, off)
}

// A log that takes no more ends the run at once: whoever waits for the end of a
// step that cannot be recorded waits for ever.
func TestALogThatTakesNoMoreEndsTheRun(t *testing.T) {
	w := newWorld(t)
	var full atomic.Bool
	o := w.options("supervisor-1", message.Supervisor)
	o.FS = fullFS{full: &full}
	b, err := blackboard.Open(w.root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	p := &spawner{}
	s := w.supervisor(p)
	s.Board = b
	s.Warn = func(error) {}
	p.play = func(context.Context, Claim) End {
		full.Store(true)
		return End{Class: message.EndDone}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ending, err := s.Run(ctx)
	if !errors.Is(err, errFull) || ctx.Err() != nil {
		t.Fatalf("the run ended %q with %v", ending, err)
	}
}
