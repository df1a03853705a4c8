//go:build !windows

package journal

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"orch/blackboard/plainfile"
)

// fileLock is an advisory lock by flock(2). It keeps its descriptor open between
// holds: opening it anew every time costs more than all else an append does
// before its sync. Children do not inherit it.
type fileLock struct {
	name string
	file *os.File
	info fs.FileInfo // of file

	abandoned atomic.Bool
}

func (l *fileLock) Lock() error {
	_, err := l.take(unix.LOCK_EX)
	return err
}

func (l *fileLock) TryLock() (bool, error) { return l.take(unix.LOCK_EX | unix.LOCK_NB) }

func (l *fileLock) take(how int) (bool, error) {
	for {
		if l.file == nil {
			file, err := plainfile.Open(l.name, os.O_RDONLY|os.O_CREATE, filePerm)
			if err != nil {
				return false, err
			}
			if l.info, err = file.Stat(); err != nil {
				_ = file.Close()
				return false, err
			}
			l.file = file
		}
		err := unix.Flock(int(l.file.Fd()), how)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		if err != nil {
			return false, &os.PathError{Op: "flock", Path: l.name, Err: err}
		}
		if l.current() {
			return true, nil
		}
		if err := l.Close(); err != nil {
			return false, err
		}
		if l.abandoned.Load() {
			return false, os.ErrClosed
		}
	}
}

func (l *fileLock) Abandon() { l.abandoned.Store(true) }

// current says whether the name still stands for the file we hold: if somebody
// removed it, others lock a new one, and ours excludes nobody.
func (l *fileLock) current() bool {
	named, err := os.Stat(l.name)
	return err == nil && os.SameFile(l.info, named)
}

func (l *fileLock) Unlock() error {
	if l.file == nil {
		return nil
	}
	return unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
}

func (l *fileLock) Close() error {
	if l.file == nil {
		return nil
	}
	// Not by closing alone: a child between fork and exec has a copy.
	err := errors.Join(l.Unlock(), l.file.Close())
	l.file = nil
	return err
}
