package simfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"orch/blackboard/journal"
)

// node is a file or a directory, whatever its names.
type node struct {
	id  int
	dir bool

	data    []byte // of a file: as it is seen
	durable []byte // as it is on disk
	pending []edit // what leads from durable to data

	names        map[string]*node // of a directory: as it is seen
	durableNames map[string]*node
	pendingNames []rename
}

// edit is a write, or a truncation if bytes is nil.
type edit struct {
	at    int64
	bytes []byte
}

// rename is one change of names that happens as a whole.
type rename struct {
	remove string
	add    string
	to     *node

	swapped   string // a second name that changes in the same step
	swappedTo *node
}

func (r rename) apply(names map[string]*node) {
	if r.remove != "" {
		delete(names, r.remove)
	}
	if r.add != "" {
		names[r.add] = r.to
	}
	if r.swapped != "" {
		names[r.swapped] = r.swappedTo
	}
}

func (n *node) change(r rename) {
	r.apply(n.names)
	n.pendingNames = append(n.pendingNames, r)
}

type info struct {
	name string
	node *node
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.node.dir }
func (i info) Sys() any           { return i.node }
func (i info) Mode() fs.FileMode {
	if i.node.dir {
		return fs.ModeDir | 0o755
	}
	return 0o600
}

// find returns the node at name. mu must be held.
func (f *FS) find(name string) *node {
	at := f.root
	for _, part := range strings.Split(clean(name), "/") {
		if part == "" || part == "." {
			continue
		}
		if at = at.names[part]; at == nil {
			return nil
		}
	}
	return at
}

// parent returns the directory that holds name, and name's last part.
func (f *FS) parent(op, name string) (*node, string, error) {
	dir, base := path.Split(clean(name))
	at := f.find(dir)
	if at == nil || !at.dir {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return at, base, nil
}

// Stat tells name, size and kind.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed() {
		return nil, ErrCrashed
	}
	n := f.find(name)
	if n == nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return info{name: path.Base(clean(name)), node: n, size: int64(len(n.data))}, nil
}

// SameFile compares nodes.
func (f *FS) SameFile(a, b fs.FileInfo) bool {
	x, ok1 := a.(info)
	y, ok2 := b.(info)
	return ok1 && ok2 && x.node == y.node
}

// ReadDir lists the names in a directory, sorted.
func (f *FS) ReadDir(name string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed() {
		return nil, ErrCrashed
	}
	n := f.find(name)
	if n == nil || !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return sortedNames(n.names), nil
}

// MkdirAll makes the missing directories, each an operation.
func (f *FS) MkdirAll(name string, _ fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed() {
		return ErrCrashed
	}
	at, dir := f.root, ""
	for _, part := range strings.Split(clean(name), "/") {
		if part == "" || part == "." {
			continue
		}
		next := at.names[part]
		if next == nil {
			if _, err := f.begin(Mkdir, path.Join(dir, part)); err != nil {
				return err
			}
			next = f.newNode(true)
			at.change(rename{add: part, to: next})
			f.finish(dir)
		} else if !next.dir {
			return &fs.PathError{Op: "mkdir", Path: name, Err: errors.New("not a directory")}
		}
		at, dir = next, path.Join(dir, part)
	}
	return nil
}

func (f *FS) newNode(dir bool) *node {
	f.nextID++
	n := &node{id: f.nextID, dir: dir}
	if dir {
		n.names, n.durableNames = map[string]*node{}, map[string]*node{}
	}
	return n
}

// Rename moves a name, over another if it exists. Between two directories the
// two halves may survive a crash apart from each other.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, oldBase, err := f.parent("rename", from)
	if err != nil {
		return err
	}
	dir, base, err := f.parent("rename", to)
	if err != nil {
		return err
	}
	n := old.names[oldBase]
	if n == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	if _, err := f.begin(Rename, clean(to)); err != nil {
		return err
	}
	if old == dir {
		dir.change(rename{remove: oldBase, add: base, to: n})
	} else {
		dir.change(rename{add: base, to: n})
		old.change(rename{remove: oldBase})
	}
	f.finish(path.Dir(clean(to)))
	return nil
}

// Swap lets two names of one directory trade their files in one step. It is not
// called Exchange, so that what looks for that finds a file system without it
// unless a test adds it.
func (f *FS) Swap(a, b string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, aBase, err := f.parent("swap", a)
	if err != nil {
		return err
	}
	other, bBase, err := f.parent("swap", b)
	if err != nil {
		return err
	}
	x, y := dir.names[aBase], other.names[bBase]
	if dir != other || x == nil || y == nil {
		return &fs.PathError{Op: "swap", Path: a, Err: fs.ErrNotExist}
	}
	if _, err := f.begin(Rename, clean(b)); err != nil {
		return err
	}
	dir.change(rename{add: aBase, to: y, swapped: bBase, swappedTo: x})
	f.finish(path.Dir(clean(b)))
	return nil
}

// Link gives a file a second name.
func (f *FS) Link(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.find(from)
	if n == nil {
		return &fs.PathError{Op: "link", Path: from, Err: fs.ErrNotExist}
	}
	dir, base, err := f.parent("link", to)
	if err != nil {
		return err
	}
	if dir.names[base] != nil {
		return &fs.PathError{Op: "link", Path: to, Err: fs.ErrExist}
	}
	if _, err := f.begin(Link, clean(to)); err != nil {
		return err
	}
	dir.change(rename{add: base, to: n})
	f.finish(path.Dir(clean(to)))
	return nil
}

// Remove removes a name.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.parent("remove", name)
	if err != nil {
		return err
	}
	if dir.names[base] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if _, err := f.begin(Remove, clean(name)); err != nil {
		return err
	}
	dir.change(rename{remove: base})
	f.finish(path.Dir(clean(name)))
	return nil
}

// SyncDir makes the names in a directory durable.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.find(name)
	if n == nil || !n.dir {
		return &fs.PathError{Op: "syncdir", Path: name, Err: fs.ErrNotExist}
	}
	if _, err := f.begin(SyncDir, clean(name)); err != nil {
		return err
	}
	for _, r := range n.pendingNames {
		r.apply(n.durableNames)
	}
	n.pendingNames = nil
	f.finish("")
	return nil
}

// OpenFile opens or creates a file; flags as in package os.
func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (journal.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed() {
		return nil, ErrCrashed
	}
	dir, base, err := f.parent("open", name)
	if err != nil {
		return nil, err
	}
	n := dir.names[base]
	switch {
	case n != nil && n.dir:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("is a directory")}
	case n != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n == nil:
		if _, err := f.begin(Create, clean(name)); err != nil {
			return nil, err
		}
		n = f.newNode(false)
		dir.change(rename{add: base, to: n})
		f.finish(path.Dir(clean(name)))
	}
	file := &file{fs: f, node: n, name: clean(name), flag: flag}
	if flag&os.O_TRUNC != 0 && len(n.data) > 0 {
		if err := file.truncate(0); err != nil {
			return nil, err
		}
	}
	return file, nil
}
