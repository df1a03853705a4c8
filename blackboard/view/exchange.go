package view

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"orch/blackboard/journal"
)

// Exchanger is what a file system has if two names can trade their files in
// one step.
type Exchanger interface {
	Exchange(a, b string) error
}

// exchange trades the files of two names; errors.ErrUnsupported where the
// system or the file system cannot.
func exchange(fsys journal.FS, a, b string) error {
	if x, ok := fsys.(Exchanger); ok {
		return x.Exchange(a, b)
	}
	if _, ok := fsys.(journal.OSFS); ok {
		return osExchange(a, b)
	}
	return errors.ErrUnsupported
}

// maxFileBytes bounds what is read: a view of some thousand tasks has a few
// megabytes.
const maxFileBytes = 256 << 20

// readFile returns the content and what the system says of the file; a missing
// file is fs.ErrNotExist.
func readFile(fsys journal.FS, name string) ([]byte, fs.FileInfo, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	info, serr := f.Stat()
	return data, info, errors.Join(err, serr, f.Close())
}

// writeNew creates or overwrites name with data and makes the content durable,
// not the name.
func writeNew(fsys journal.FS, name string, data []byte) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func exists(fsys journal.FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// moveNew gives a file another name that nobody has; fs.ErrExist if somebody
// has it. Without links the look and the move are two steps.
func moveNew(fsys journal.FS, from, to string) error {
	err := fsys.Link(from, to)
	if err == nil {
		if err := fsys.SyncDir(filepath.Dir(to)); err != nil {
			return err
		}
		return fsys.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	taken, serr := exists(fsys, to)
	if serr != nil {
		return serr
	}
	if taken {
		return fs.ErrExist
	}
	return fsys.Rename(from, to)
}
