package journal

import (
	"io"
	"io/fs"
	"time"

	"github.com/google/uuid"
)

// FS is the file system as the kernel needs it. OSFS is the real one; package
// simfs has one that can be cut off after any operation.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Stat(name string) (fs.FileInfo, error)
	// SameFile says whether two infos are about one file, whatever its names.
	SameFile(a, b fs.FileInfo) bool
	// ReadDir lists the names in a directory, sorted.
	ReadDir(name string) ([]string, error)
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	// Link gives the file a second name; it fails if to exists.
	Link(from, to string) error
	Remove(name string) error
	// SyncDir makes the names in a directory durable, not what they name.
	SyncDir(name string) error
	// NewLock returns an advisory exclusive lock on the file name, not yet held.
	NewLock(name string) Lock
	// NetworkKind names the network file system that holds name; "" for a local one.
	NetworkKind(name string) (string, error)
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// Lock is an advisory exclusive lock between processes and between Locks of one
// process. A Lock is used by one goroutine at a time, and as often as it likes.
type Lock interface {
	Lock() error            // blocks until held
	TryLock() (bool, error) // false if somebody else holds it
	Unlock() error
	Close() error // gives up the lock if it is held

	// Abandon tells a Lock that another goroutine waits in that nobody needs it
	// any more: it still waits for its turn, but makes no new file to wait for.
	Abandon()
}

// Notifier is what an FS has if it can tell that something in a directory
// changed. It is a hint: signals may be missing, late, or merged into one.
type Notifier interface {
	Notify(dir string) (hints <-chan struct{}, stop func(), err error)
}

// Clock tells the time.
type Clock interface{ Now() time.Time }

// IDs makes record ids.
type IDs interface{ NewID() (string, error) }

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now is time.Now.
func (SystemClock) Now() time.Time { return time.Now() }

// UUIDs makes UUIDv7 ids.
type UUIDs struct{}

// NewID returns a new UUIDv7.
func (UUIDs) NewID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", err
	}
	return id.String(), nil
}
