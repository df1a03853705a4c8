// Package caches keeps what builds cache apart by who fills it: nobody is judged
// with what they have put into a cache themselves.
//
// It owns which caches there are and how a toolchain is told where they are, and
// the layers they are made of: below, read-only, what orch filled itself before
// anybody worked; above, a directory of the party's own, gone with what it is for.
//
// It promises that what is written to an opened set is seen by nobody else, and
// that a file of the lower layer looks newer than any clock, so that no tool
// writes to it just because it was used.
//
// It never starts a command, and never decides who gets which layer.
package caches

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orch/roles/act/confine"
	"orch/roles/act/process"
)

// Set is the caches of one party.
type Set struct {
	Dir  string        // what toolchains are told
	Over *confine.Over // how Dir comes to be, in a namespace; nil: it is the party's own directory
	How  How
}

// How says where what lies below came from.
type How string

// The ways, from the best to the worst.
const (
	Layered How = "overlay" // it is below, as it is
	Copied  How = "copy"
	Empty   How = "empty" // there was nothing below, or too much to copy
)

// Bounds: what lies below is not copied where it is larger, and an upper layer
// that is larger is begun anew.
const (
	mostCopied = 2 << 30
	mostUpper  = 8 << 30
)

const (
	upperName = "upper"
	workName  = "work"
	atName    = "at"
)

// Root is where the caches of this person are: apart from their own, below the
// same directory.
func Root() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	dir = filepath.Join(dir, "orch", "caches")
	if err := os.MkdirAll(filepath.Join(dir, atName), 0o700); err != nil {
		return "", fmt.Errorf("make a place for the caches of builds: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// Places are where Root makes temporary directories, for who removes those of the dead.
func Places() []string {
	root, err := Root()
	if err != nil {
		return nil
	}
	return []string{root}
}

// Open makes the caches of a party that owns a directory, over a lower layer
// (empty: none). The same directory again is the same caches, unless they have
// grown too large. Where the machine has namespaces all sets have one path:
// what a compiler made depends on where it found its sources.
func Open(root, own, lower string, l confine.Layers) (Set, error) {
	upper := filepath.Join(own, upperName)
	if n, err := size(upper); err == nil && n > mostUpper {
		if err := process.RemoveTree(own); err != nil {
			return Set{}, fmt.Errorf("make caches: %w", err)
		}
	}
	s := Set{Dir: upper, How: Empty}
	_, err := os.Lstat(upper)
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(upper, 0o700); err != nil {
		return s, fmt.Errorf("make caches: %w", err)
	}
	if upper, err = filepath.EvalSymlinks(upper); err != nil {
		return s, fmt.Errorf("make caches: %w", err)
	}
	s.Dir = upper
	over := &confine.Over{At: filepath.Join(root, atName), Upper: upper}
	switch {
	case lower == "":
	case l.Namespace && l.Overlay:
		over.Lower, over.Work, s.How = lower, filepath.Join(filepath.Dir(upper), workName), Layered
		if err := os.MkdirAll(over.Work, 0o700); err != nil {
			return s, fmt.Errorf("make caches: %w", err)
		}
	case !made:
		s.How = Copied // when it was made
	default:
		if s.How, err = seed(lower, upper); err != nil {
			return s, err
		}
	}
	if l.Namespace {
		s.Dir, s.Over = over.At, over
	}
	return s, nil
}

// Fill is the set by which a directory is filled that is to become a lower layer.
func Fill(root, dir string, l confine.Layers) (Set, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Set{}, fmt.Errorf("make caches: %w", err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	s := Set{Dir: dir, How: Empty}
	if l.Namespace {
		s.Dir, s.Over = filepath.Join(root, atName), &confine.Over{At: filepath.Join(root, atName), Upper: dir}
	}
	return s, err
}

// seed copies a lower layer, if it is not too large. Where the file system can,
// the copies share what they hold.
func seed(lower, upper string) (How, error) {
	n, err := size(lower)
	if err != nil || n > mostCopied {
		return Empty, err
	}
	if err := os.CopyFS(upper, os.DirFS(lower)); err != nil {
		return Empty, fmt.Errorf("copy caches: %w", err)
	}
	return Copied, Freeze(upper)
}

// Seed fills a directory that is about to become a lower layer with another one.
func Seed(lower, into string) error {
	_, err := seed(lower, into)
	return err
}

// ahead is how far in the future the files of a lower layer were changed: the go
// command, for one, writes the time to each file it uses that is an hour old.
const ahead = 5 * 365 * 24 * time.Hour

// Freeze makes a directory fit to lie below others.
func Freeze(dir string) error {
	then := time.Now().Add(ahead)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		return fmt.Errorf("make caches a lower layer: %w", err)
	}
	return nil
}

// size is how many bytes the files below a directory have.
func size(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
