package blackboard

import (
	"io"
	"os"
	"path/filepath"
	"sync"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
)

// Options are what a Board needs from outside. The zero value is the real
// world, read only in effect: a board without an identity can append nothing.
type Options struct {
	FS    journal.FS    // default journal.OSFS
	Clock journal.Clock // default journal.SystemClock
	IDs   journal.IDs   // default journal.UUIDs

	Identity Identity
	// Redact replaces secrets in text before anything is written; see
	// NewRedactor. Nil: tokens of known form are replaced.
	Redact func([]byte) []byte
	// StateDir is the user's state directory; see UserStateDir. The chain's head
	// is noted there, where nobody who replaces the project reaches. Empty: not.
	StateDir string

	UnsafeFS bool // accept a network file system
	ReadOnly bool // never write anything, not even a cache

	RotateBytes        int64 // least size of a log that is closed; default 64 MiB
	CheckpointMessages int   // messages after which the checkpoint is written again; default 1000
}

const (
	defaultRotateBytes        = 64 << 20
	defaultCheckpointMessages = 1000
)

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = journal.OSFS{}
	}
	if o.Clock == nil {
		o.Clock = journal.SystemClock{}
	}
	if o.IDs == nil {
		o.IDs = journal.UUIDs{}
	}
	if o.Redact == nil {
		o.Redact = NewRedactor(nil)
	}
	if o.RotateBytes <= 0 {
		o.RotateBytes = defaultRotateBytes
	}
	if o.CheckpointMessages <= 0 {
		o.CheckpointMessages = defaultCheckpointMessages
	}
	return o
}

// Board is the log of one project and the state folded from it. Its methods may
// be called from any goroutine, and any number of processes may have one each.
type Board struct {
	root, dir string
	opts      Options
	log       *journal.Journal
	id        string

	mu     sync.Mutex // guards what follows; taken after the log's lock, never before
	closed bool
	file   *checkpoint.File // what state rests on, or nil
	tail   int              // messages folded over it

	writing   bool // a checkpoint is being written
	writers   sync.WaitGroup
	retryTail int // no new attempt before the tail is that long: the last one failed
}

func newBoard(root string, o Options) *Board {
	return &Board{root: root, dir: filepath.Join(root, DirName), opts: o.withDefaults()}
}

func (b *Board) path(names ...string) string {
	return filepath.Join(append([]string{b.dir}, names...)...)
}

func readFile(fsys journal.FS, name string) ([]byte, error) {
	file, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}
