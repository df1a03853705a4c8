package view

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"orch/blackboard/journal"
)

// files are the files of one view. Whoever calls its methods holds the write
// lock; the only other writer is a person's editor.
type files struct {
	fs  journal.FS
	dir string
}

func (f files) path() string { return filepath.Join(f.dir, "state.yaml") }
func (f files) new() string  { return filepath.Join(f.dir, "state.yaml.new") }
func (f files) swap() string { return filepath.Join(f.dir, "state.yaml.swap") }

// found is a file that was looked at.
type found struct {
	name    string
	data    []byte
	info    fs.FileInfo
	missing bool
}

func (f files) read(name string) (found, error) {
	data, info, err := readFile(f.fs, name)
	if errors.Is(err, fs.ErrNotExist) {
		return found{name: name, missing: true}, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("read %s: %w", name, err)
	}
	return found{name: name, data: data, info: info}, nil
}

// edited tells whether the file holds bytes of a person. An empty file, or one
// a power cut left full of zeros, holds none.
func (d found) edited() bool {
	return !d.missing && !blank(d.data) && !Sealed(d.data)
}

func blank(data []byte) bool { return len(bytes.Trim(data, " \t\r\n\x00")) == 0 }

// settle ends a replacement that a crash cut short. It returns the file that
// was displaced if a person's edit is in it; then nothing may be replaced
// before that edit was taken in.
func (f files) settle() (found, error) {
	if err := f.drop(f.new()); err != nil {
		return found{}, err
	}
	swap, err := f.read(f.swap())
	if err != nil || swap.missing {
		return found{missing: true}, err
	}
	if there, err := exists(f.fs, f.path()); err != nil {
		return found{}, fmt.Errorf("look at %s: %w", f.path(), err)
	} else if !there {
		// It was moved aside and nothing came in its place.
		if err := moveNew(f.fs, f.swap(), f.path()); err != nil && !errors.Is(err, fs.ErrExist) {
			return found{}, fmt.Errorf("put %s back: %w", f.path(), err)
		} else if err == nil {
			return found{missing: true}, nil
		}
	}
	if swap.edited() {
		return swap, nil
	}
	return found{missing: true}, f.drop(f.swap())
}

func (f files) drop(name string) error {
	if err := f.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}

// replace puts data in the place of the view. What was there is in the swap
// file afterwards, and returned, unless there was nothing. The caller examines
// it and drops or keeps it; there is no swap file when replace is called.
//
// The content is synced, the directory is not: after a power cut the view may
// be an older one, which the next replacement mends, but never a torn one.
func (f files) replace(data []byte) (found, error) {
	if err := writeNew(f.fs, f.new(), data); err != nil {
		_ = f.fs.Remove(f.new()) // the error that matters is the first
		return found{}, fmt.Errorf("write %s: %w", f.new(), err)
	}
	there, err := exists(f.fs, f.path())
	if err != nil {
		return found{}, fmt.Errorf("look at %s: %w", f.path(), err)
	}
	if there {
		err := f.trade()
		if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return found{}, fmt.Errorf("exchange %s: %w", f.path(), err)
			}
			return f.read(f.swap())
		}
		if err := f.fs.Rename(f.path(), f.swap()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return found{}, fmt.Errorf("move %s aside: %w", f.path(), err)
		}
		if err := f.fs.SyncDir(f.dir); err != nil { // before its name is given to another file
			return found{}, fmt.Errorf("move %s aside: %w", f.path(), err)
		}
	}
	err = moveNew(f.fs, f.new(), f.path())
	if errors.Is(err, fs.ErrExist) { // an editor saved at this very moment: its file stays, as an edit
		err = f.drop(f.new())
	}
	if err != nil {
		return found{}, fmt.Errorf("put %s in place: %w", f.path(), err)
	}
	return f.read(f.swap())
}

// trade exchanges the view and the new one, which gets the name of the swap
// file first: under that name it is known to be whole.
func (f files) trade() error {
	if _, ok := f.fs.(Exchanger); !ok {
		if _, ok := f.fs.(journal.OSFS); !ok {
			return errors.ErrUnsupported
		}
	}
	if err := f.fs.Rename(f.new(), f.swap()); err != nil {
		return err
	}
	if err := exchange(f.fs, f.swap(), f.path()); err != nil {
		if berr := f.fs.Rename(f.swap(), f.new()); berr != nil {
			return fmt.Errorf("take %s back: %w", f.swap(), berr)
		}
		return err
	}
	return nil
}

// rejectedStamp is RFC 3339 without what file names cannot have everywhere.
const rejectedStamp = "20060102T150405.000Z"

// keep copies an edit to a file that says it was rejected, durably. It is named
// after the time of the save, so that doing it again after a crash makes no
// second copy.
func (f files) keep(edit found, now time.Time) (string, error) {
	if at := edit.info.ModTime(); !at.IsZero() {
		now = at
	}
	base := f.path() + ".rejected-" + now.UTC().Format(rejectedStamp)
	for i := 1; i < 1000; i++ {
		to := base
		if i > 1 {
			to = fmt.Sprintf("%s-%d", base, i)
		}
		there, err := f.read(to)
		if err != nil {
			return "", err
		}
		if !there.missing && bytes.Equal(there.data, edit.data) {
			return to, nil
		}
		if !there.missing && !bytes.HasPrefix(edit.data, there.data) { // a prefix is our own copy, cut short
			continue
		}
		if err := writeNew(f.fs, to, edit.data); err != nil {
			return "", fmt.Errorf("keep the edit as %s: %w", to, err)
		}
		return to, f.fs.SyncDir(f.dir)
	}
	return "", fmt.Errorf("keep the edit as %s: too many of that name", base)
}
