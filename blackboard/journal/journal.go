package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// The names inside a board's directory.
const (
	logName     = "log.jsonl"
	nextName    = "log.next" // a log being written by Create, Rotate or Repair
	lockName    = "orch.lock"
	archiveName = "archive"
	runName     = "run"
	headName    = "head"
	poisonName  = "poisoned"
)

const (
	filePerm fs.FileMode = 0o600
	dirPerm  fs.FileMode = 0o755

	defaultLockTimeout  = 30 * time.Second
	defaultPollInterval = 2 * time.Second
	defaultRotateBytes  = 64 << 20

	// blindPollInterval is how often a Watch looks when it gets no hints.
	blindPollInterval = 100 * time.Millisecond
)

// Options are what a Journal needs from outside; the zero value is the real
// world and the defaults.
type Options struct {
	FS    FS    // default OSFS
	Clock Clock // default SystemClock
	IDs   IDs   // default UUIDs

	// Name is that of the live file; default log.jsonl. Everything else in the
	// directory keeps its name.
	Name string
	// UnsafeFS accepts a network file system.
	UnsafeFS bool
	// LockTimeout bounds the wait for one lock; default 30 s.
	LockTimeout time.Duration
	// PollInterval is how often a Watch looks although nothing hinted; default 2 s.
	PollInterval time.Duration
	// RotateBytes is the least size of a log that Rotate closes; default 64 MiB.
	RotateBytes int64
	// Repaired makes the message that reports bytes set aside by a recovery. It
	// is appended before anything else. Nil: no message, only the file.
	Repaired func(Torn) Draft
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = OSFS{}
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.IDs == nil {
		o.IDs = UUIDs{}
	}
	if o.Name == "" {
		o.Name = logName
	}
	if o.LockTimeout <= 0 {
		o.LockTimeout = defaultLockTimeout
	}
	if o.PollInterval <= 0 {
		o.PollInterval = defaultPollInterval
	}
	if o.RotateBytes <= 0 {
		o.RotateBytes = defaultRotateBytes
	}
	return o
}

// Journal is the log of one board in one directory. Its methods may be called
// from any goroutine, and any number of processes may have one each.
type Journal struct {
	opts Options
	fsys FS
	dir  string

	// What an append looks at is joined once.
	livePath, headPath, poisonPath string

	appending *gate         // orch.lock: who is inside may change the log
	syncing   chan struct{} // holds a token while a goroutine syncs; others wait for what it covers

	mu      sync.Mutex // guards what follows; never held while waiting for a gate
	closed  bool
	live    *segment // nil until first looked at
	end     int64    // offset behind the last good line of live
	head    Head
	lastTS  time.Time
	recent  starts
	scratch []byte // to catch up with
	durable uint64 // everything up to here is known durable
	synced  Head   // the last record that this process made durable itself
	poison  string // why this process refuses to append to live
	marks   File   // run/head, open for writing; nil until first needed
	note    *headNote
}

var _ Log = (*Journal)(nil)

// Open opens the log in dir. It reads nothing yet: what is wrong with the log is
// reported by the first call that looks at it, and mended by the first append.
func Open(dir string, opts Options) (*Journal, error) {
	j := newJournal(dir, opts)
	if _, err := j.fsys.Stat(j.livePath); err != nil {
		return nil, j.missingLog(err)
	}
	if err := j.refuseNetwork(); err != nil {
		return nil, err
	}
	return j, nil
}

// Create starts a log in dir, which is made if it is missing, with genesis as
// its first record. It refuses where there is or was a log.
func Create(ctx context.Context, dir string, opts Options, genesis Draft) (*Journal, error) {
	j := newJournal(dir, opts)
	if err := j.makeDirs(); err != nil {
		return nil, err
	}
	if err := j.refuseNetwork(); err != nil {
		return nil, err
	}
	leave, err := j.appending.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if _, err := j.fsys.Stat(j.livePath); err == nil {
		return nil, fmt.Errorf("create a log in %s: %w", dir, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, storageError("create a log", dir, err)
	}
	if noted := j.readHead(); noted.Seq > 0 {
		return nil, &WentBackwardsError{Source: j.headPath, Noted: noted}
	}
	first, line, err := j.compose(genesis, Head{Hash: genesisPrev}, time.Time{}, 0)
	if err != nil {
		return nil, err
	}
	if err := j.install(line); err != nil {
		return nil, storageError("create a log", dir, err)
	}
	if err := j.writeHead(first.Head()); err != nil {
		return nil, storageError("create a log", dir, err)
	}
	return j, nil
}

func newJournal(dir string, opts Options) *Journal {
	opts = opts.withDefaults()
	j := &Journal{opts: opts, fsys: opts.FS, dir: dir}
	j.livePath, j.headPath, j.poisonPath = j.path(opts.Name), j.path(runName, headName), j.path(runName, poisonName)
	j.appending = newGate(j.fsys, j.path(lockName), opts.LockTimeout, j.readAhead)
	j.syncing = make(chan struct{}, 1)
	return j
}

// readAhead catches up while others hold the lock, so that less is left to do
// under it. Whatever is wrong with the log is found again there.
func (j *Journal) readAhead() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.live != nil {
		_, _ = j.refresh()
	}
}

// makeDirs makes the directories and their names durable.
func (j *Journal) makeDirs() error {
	for _, dir := range []string{j.dir, j.path(archiveName), j.path(runName)} {
		if err := j.fsys.MkdirAll(dir, dirPerm); err != nil {
			return storageError("create a log", dir, err)
		}
	}
	for _, dir := range []string{filepath.Dir(filepath.Clean(j.dir)), j.dir} {
		if err := j.fsys.SyncDir(dir); err != nil {
			return storageError("create a log", dir, err)
		}
	}
	return nil
}

// install makes a log that begins with the given bytes the live one. A crash
// leaves either the old log or all of the new one.
func (j *Journal) install(content []byte) error {
	if err := writeSynced(j.fsys, j.path(nextName), content, filePerm); err != nil {
		_ = j.fsys.Remove(j.path(nextName)) // the error that matters is the first
		return err
	}
	if err := j.fsys.Rename(j.path(nextName), j.livePath); err != nil {
		return err
	}
	return j.fsys.SyncDir(j.dir)
}

func (j *Journal) refuseNetwork() error {
	if j.opts.UnsafeFS {
		return nil
	}
	kind, err := j.fsys.NetworkKind(j.dir)
	if err != nil {
		return storageError("look at the file system", j.dir, err)
	}
	if kind != "" {
		return &NetworkFSError{Path: j.dir, Kind: kind}
	}
	return nil
}

// missingLog explains a log that cannot be opened: never there, lost, or kept
// from us.
func (j *Journal) missingLog(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return storageError("open the log", j.livePath, err)
	}
	if noted := j.readHead(); noted.Seq > 0 {
		return &WentBackwardsError{Source: j.headPath, Noted: noted}
	}
	return fmt.Errorf("open %s: %w", j.livePath, ErrNoLog)
}

// Head returns the last whole record, whether durable or not.
func (j *Journal) Head() (Head, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.refresh(); err != nil {
		return Head{}, err
	}
	return j.head, nil
}

// Close writes the head note, if one is in use, and closes the files. Closing
// twice is allowed.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	err := j.writeNote()
	j.closed = true
	if j.live != nil {
		j.live.release()
		j.live = nil
	}
	if j.marks != nil {
		_ = j.marks.Close() // a lost note only says less
		j.marks = nil
	}
	j.appending.close()
	return err
}

func (j *Journal) liveName() string { return j.opts.Name }

func (j *Journal) path(names ...string) string {
	return filepath.Join(append([]string{j.dir}, names...)...)
}
