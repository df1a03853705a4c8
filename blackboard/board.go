package blackboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// Options are what a Board needs from outside. The zero value is the real
// world, but without an identity nothing can be appended.
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

	// Refuse looks at every message before it is drafted; an error refuses it. Nil
	// refuses nothing. It must not call the board, nor keep or change the state.
	Refuse func(*State) error

	UnsafeFS bool // accept a network file system
	ReadOnly bool // write nothing in the project, not even a cache

	RotateBytes        int64 // least size of a log that is closed; default 64 MiB
	CheckpointMessages int   // messages after which the checkpoint is written again; default 250
	// Appended is called after each message that this board appended, and Closing
	// before a board that appended any closes. Both may call the board; Appended
	// must not wait for anything.
	Appended, Closing func(*Board)
}

const (
	defaultRotateBytes        = 64 << 20
	defaultCheckpointMessages = 250
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

	mu       sync.Mutex // guards what follows; taken after the log's lock, never before
	appended bool       // by this process, and folded
	spoke    bool       // something was appended, whoever folded it
	closing  bool       // no new work beside
	closed   bool
	state    *State           // nil: it must be loaded again
	file     *checkpoint.File // what state rests on, or nil
	tail     int              // messages folded over it

	writing   bool // a checkpoint is being written
	writers   sync.WaitGroup
	retryTail int // no new attempt before the tail is that long: the last one failed
}

// Init makes a board in the project's directory root, or opens the one that is
// there. A crash leaves nothing that a second Init would not complete.
func Init(root string, o Options) (*Board, error) {
	b := newBoard(root, o)
	if err := refusePath(root); err != nil {
		return nil, err
	}
	if err := b.refuseNetwork(); err != nil {
		return nil, err
	}
	if err := makeLayout(b.opts.FS, b.dir); err != nil {
		return nil, err
	}
	if err := b.refuseLost(); err != nil {
		return nil, err
	}
	id, err := b.opts.IDs.NewID()
	if err != nil {
		return nil, fmt.Errorf("make a board id: %w", err)
	}
	genesis := message.Genesis{Format: LogFormat, Board: id}
	payload, err := message.Encode(genesis)
	if err != nil {
		return nil, err
	}
	log, err := journal.Create(context.Background(), b.dir, b.journalOptions(), journal.Draft{
		From: string(message.Board), To: string(message.All), Type: string(genesis.Type()), Door: string(message.DoorBoard), Payload: payload,
	})
	if err == nil {
		err = log.Close()
		b.noteBegin(id)
	}
	if err != nil && !errors.Is(err, journal.ErrExists) {
		return nil, err
	}
	return Open(root, o)
}

// Open opens the board of the project's directory root. It costs what was said
// since the last checkpoint, neither the history nor the size of the board.
func Open(root string, o Options) (*Board, error) {
	b := newBoard(root, o)
	if err := refusePath(root); err != nil {
		return nil, err
	}
	log, err := journal.Open(b.dir, b.journalOptions())
	if errors.Is(err, journal.ErrNoLog) {
		return nil, fmt.Errorf("open the board of %s: %w", root, ErrNoBoard)
	}
	if err != nil {
		return nil, err
	}
	b.log = log
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(); err != nil {
		_ = log.Close() // the error that matters is the first
		return nil, b.blameLog(err)
	}
	b.id = b.state.BoardID()
	if err := b.useHeadNote(); err != nil {
		b.adopt(nil, nil, 0)
		_ = log.Close()
		return nil, err
	}
	return b, nil
}

// Close ends the work beside and closes the files. A process that added so much
// that loading has become slow leaves a checkpoint to those after it. Closing
// twice is allowed.
func (b *Board) Close() error {
	b.mu.Lock()
	last := b.spoke && !b.closing && b.opts.Closing != nil
	b.mu.Unlock()
	if last {
		b.opts.Closing(b)
	}
	b.mu.Lock()
	b.closing = true
	b.mu.Unlock()
	b.writers.Wait()
	b.leaveCheckpoint()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	b.adopt(nil, nil, 0)
	if err := b.log.Close(); err != nil && !b.opts.ReadOnly {
		return fmt.Errorf("close the board: %w", err)
	}
	return nil
}

func newBoard(root string, o Options) *Board {
	return &Board{root: root, dir: filepath.Join(root, DirName), opts: o.withDefaults()}
}

func (b *Board) journalOptions() journal.Options {
	return journal.Options{
		FS: b.opts.FS, Clock: b.opts.Clock, IDs: b.opts.IDs,
		UnsafeFS: b.opts.UnsafeFS, RotateBytes: b.opts.RotateBytes, Repaired: b.repaired,
	}
}

// repaired makes the message about bytes that a crash left behind the log.
func (b *Board) repaired(t journal.Torn) journal.Draft {
	kept, err := filepath.Rel(b.dir, t.Path)
	if err != nil {
		kept = t.Path
	}
	body := message.JournalRepaired{FromSeq: t.After + 1, Bytes: t.Bytes, Kept: filepath.ToSlash(kept), Why: t.Why}
	payload, err := message.Encode(body)
	if err != nil { // not for a body of numbers and strings
		panic(err)
	}
	return journal.Draft{
		From: string(message.Board), To: string(message.All), Type: string(body.Type()),
		Agent: string(b.opts.Identity.Agent), Door: string(message.DoorBoard), Payload: payload,
	}
}

// refuseNetwork keeps Init from leaving files where no board can be.
func (b *Board) refuseNetwork() error {
	if b.opts.UnsafeFS {
		return nil
	}
	kind, err := b.opts.FS.NetworkKind(b.root)
	if err != nil {
		return fmt.Errorf("look at the file system of %s: %w", b.root, err)
	}
	if kind != "" {
		return &journal.NetworkFSError{Path: b.root, Kind: kind}
	}
	return nil
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
