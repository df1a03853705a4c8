package chore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

const (
	maxFiles     = 2_000_000
	maxTextBytes = 2 << 20
)

// dependencies are folders of other people's code: what is in them is not the
// project's to answer for.
var dependencies = []string{"vendor", "node_modules", ".venv", "venv", "__pycache__", ".tox", "site-packages"}

// file is one regular file of a walk.
type file struct {
	path string // with slashes, relative to the root of the walk
	full string
	size int64
	time time.Time
}

// walk visits every regular file of the call's directory in lexical order. It follows no
// link, skips .git and .orch and, with own set, dependencies; what can't be read
// is counted, not fatal.
func walk(c call, own bool, visit func(file)) (Scan, error) {
	dir := c.dir
	info, err := os.Stat(dir)
	if err != nil {
		return Scan{}, fmt.Errorf("look at %s: %w", dir, err)
	}
	if !info.IsDir() {
		return Scan{}, fmt.Errorf("%s is not a directory", dir)
	}
	skip, err := absolute(c.skip)
	if err != nil {
		return Scan{}, err
	}
	w := walker{root: dir, own: own, skip: skip, visit: visit}
	w.dir("")
	return w.scan, nil
}

type walker struct {
	root  string
	own   bool
	skip  string // absolute, or empty
	scan  Scan
	visit func(file)
}

// absolute makes paths comparable; the empty one stays empty.
func absolute(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	return abs, nil
}

// is tells whether a path is the one to leave out.
func is(full, skip string) bool {
	if skip == "" || filepath.Base(full) != filepath.Base(skip) {
		return false
	}
	abs, err := absolute(full)
	return err == nil && abs == skip
}

func (w *walker) dir(rel string) {
	s := &w.scan
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(rel)))
	if err != nil {
		s.Unreadable++
	}
	s.Dirs++
	for _, e := range entries {
		if s.Files >= maxFiles {
			s.Truncated = true
			return
		}
		name := path.Join(rel, e.Name())
		switch {
		case e.IsDir():
			if !skipDir(e.Name(), w.own) {
				w.dir(name)
			}
		case e.Type()&fs.ModeSymlink != 0:
			s.Links++
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				s.Unreadable++
				continue
			}
			full := filepath.Join(w.root, filepath.FromSlash(name))
			if is(full, w.skip) {
				continue
			}
			s.Files++
			s.Bytes += info.Size()
			w.visit(file{path: name, full: full, size: info.Size(), time: info.ModTime()})
		}
	}
}

func skipDir(name string, own bool) bool {
	return name == ".git" || name == ".orch" || own && slices.Contains(dependencies, name)
}

var errBinary = errors.New("not a text file")

// readText returns a file's content if it is text of a reasonable size.
func readText(f file) ([]byte, error) {
	if f.size > maxTextBytes {
		return nil, errBinary
	}
	h, err := os.Open(f.full)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	data, err := io.ReadAll(io.LimitReader(h, maxTextBytes))
	if err != nil {
		return nil, err
	}
	if slices.Contains(data[:min(len(data), 8192)], 0) {
		return nil, errBinary
	}
	return data, nil
}
