// Package plainfile opens what must be an ordinary file.
//
// A name that orch reads may be anybody's: reading a fifo waits for ever, reading
// some devices never ends. Open refuses whatever is no ordinary file, at once and
// by name. It follows symbolic links, and looks only at what it opened, so that
// nothing can be put in its place in between.
package plainfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// NotFileError: something else than a file has the name of one.
type NotFileError struct{ Path, Kind string }

func (e *NotFileError) Error() string { return e.Path + " is " + e.Kind + ", not a file" }

// Open is os.OpenFile that never waits, and refuses what is no ordinary file with
// a NotFileError.
func Open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, flag|nonblock, perm)
	if err != nil {
		return nil, explain(name, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotFileError{Path: name, Kind: kindOf(info.Mode())}
	}
	if err != nil {
		_ = file.Close() // nothing was read or written
		return nil, err
	}
	return file, nil
}

// Read is os.ReadFile of an ordinary file.
func Read(name string) ([]byte, error) {
	file, err := Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, info.Size()+1)
	for { // a file may grow while it is read
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
	}
}

// NoFile tells whether an error says that something else stands where a file, or
// the folder of one, should be.
func NoFile(err error) bool {
	var not *NotFileError
	return errors.As(err, &not) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR)
}

// explain finds out whether an open failed because there is no file.
func explain(name string, err error) error {
	if errors.Is(err, syscall.ELOOP) {
		return &NotFileError{Path: name, Kind: "a circle of symbolic links"}
	}
	if info, serr := os.Stat(name); serr == nil && !info.Mode().IsRegular() {
		return &NotFileError{Path: name, Kind: kindOf(info.Mode())}
	}
	return err
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a fifo"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
