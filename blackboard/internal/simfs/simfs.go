// Package simfs is a file system in memory for tests of what crashes and bad
// disks do. It is a journal.FS.
//
// It owns a model of the page cache: what was written is seen at once, but it is
// durable only when the file was synced, and a name only when its directory was.
// Every change is an operation with a number; the power can be cut after any of
// them (CrashAfter), and Crash then gives the file systems that may be found
// afterwards, one for each Fate of what was not durable. Any operation can be
// made to fail (FailWith), a write in part.
//
// It promises to be at least as unkind as POSIX allows in the respects it knows:
// unsynced bytes of different files and names of different directories survive
// independently. It does not model permissions, symbolic links, or time stamps.
package simfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"orch/blackboard/journal"
)

// ErrCrashed is what every operation returns once the power is cut.
var ErrCrashed = errors.New("simfs: the power was cut")

// Kind is a kind of operation that changes something.
type Kind string

// The operations that are counted.
const (
	Create   Kind = "create"
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Sync     Kind = "sync"
	Rename   Kind = "rename"
	Link     Kind = "link"
	Remove   Kind = "remove"
	Mkdir    Kind = "mkdir"
	SyncDir  Kind = "syncdir"
)

// Op is one operation that changes something.
type Op struct {
	N    int // from 1
	Kind Kind
	Path string // of a rename or link: the new name
}

func (o Op) String() string { return fmt.Sprintf("%d %s %s", o.N, o.Kind, o.Path) }

// Failure is how an operation fails.
type Failure struct {
	Err   error
	Bytes int // of a write: how many get through all the same
}

// FS is a simulated file system. Its methods may be called from any goroutine.
type FS struct {
	mu      sync.Mutex
	root    *node
	nextID  int
	trace   []Op
	cutAt   int // 0: never
	dead    chan struct{}
	fail    func(Op) *Failure
	locks   map[string]chan struct{}
	watch   map[string][]chan struct{}
	network string
}

var (
	_ journal.FS       = (*FS)(nil)
	_ journal.Notifier = (*FS)(nil)
)

// New returns an empty file system.
func New() *FS {
	return &FS{
		root: &node{dir: true, names: map[string]*node{}, durableNames: map[string]*node{}},
		dead: make(chan struct{}), locks: map[string]chan struct{}{}, watch: map[string][]chan struct{}{},
	}
}

// CrashAfter cuts the power when operation n is done; 0 means never.
func (f *FS) CrashAfter(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cutAt = n
}

// FailWith has choose decide for every operation whether it fails; nil means not.
func (f *FS) FailWith(choose func(Op) *Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = choose
}

// Network makes NetworkKind say that everything is on that kind of file system.
func (f *FS) Network(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.network = kind
}

// Trace returns the operations so far.
func (f *FS) Trace() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Op(nil), f.trace...)
}

// begin counts an operation and decides whether it fails. mu must be held.
func (f *FS) begin(kind Kind, path string) (*Failure, error) {
	if f.crashed() {
		return nil, ErrCrashed
	}
	op := Op{N: len(f.trace) + 1, Kind: kind, Path: path}
	f.trace = append(f.trace, op)
	if f.fail != nil {
		if failure := f.fail(op); failure != nil {
			f.finish("")
			return failure, &fs.PathError{Op: string(kind), Path: path, Err: failure.Err}
		}
	}
	return nil, nil
}

// finish cuts the power if it is time, and tells who watches dir. mu must be held.
func (f *FS) finish(dir string) {
	if f.cutAt > 0 && len(f.trace) >= f.cutAt && !f.crashed() {
		close(f.dead)
	}
	for _, hints := range f.watch[clean(dir)] {
		select {
		case hints <- struct{}{}:
		default:
		}
	}
}

func (f *FS) crashed() bool {
	select {
	case <-f.dead:
		return true
	default:
		return false
	}
}

// Crashed says whether the power is cut.
func (f *FS) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crashed()
}

// NetworkKind says what Network was told.
func (f *FS) NetworkKind(string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.network, nil
}

// Notify signals changes directly in dir.
func (f *FS) Notify(dir string) (<-chan struct{}, func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir = clean(dir)
	hints := make(chan struct{}, 1)
	f.watch[dir] = append(f.watch[dir], hints)
	stop := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		var rest []chan struct{}
		for _, other := range f.watch[dir] {
			if other != hints {
				rest = append(rest, other)
			}
		}
		f.watch[dir] = rest
	}
	return hints, stop, nil
}

// NewLock returns a lock in memory; the file name is not created.
func (f *FS) NewLock(name string) journal.Lock {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = clean(name)
	if f.locks[name] == nil {
		f.locks[name] = make(chan struct{}, 1)
	}
	return &lock{fs: f, held: f.locks[name]}
}

type lock struct {
	fs   *FS
	held chan struct{}
	mine bool
}

func (l *lock) Lock() error {
	select {
	case <-l.fs.dead:
		return ErrCrashed
	case l.held <- struct{}{}:
		l.mine = true
		return nil
	}
}

func (l *lock) TryLock() (bool, error) {
	if l.fs.Crashed() {
		return false, ErrCrashed
	}
	select {
	case l.held <- struct{}{}:
		l.mine = true
		return true, nil
	default:
		return false, nil
	}
}

func (l *lock) Unlock() error {
	if l.mine {
		l.mine = false
		<-l.held
	}
	return nil
}

func (l *lock) Close() error { return l.Unlock() }

func (l *lock) Abandon() {}

func clean(path string) string {
	return strings.Trim(filepath.ToSlash(filepath.Clean(path)), "/")
}

func sortedNames(names map[string]*node) []string {
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}
