package simfs

import (
	"io"
	"io/fs"
	"os"
	"path"
)

// file is an open file.
type file struct {
	fs     *FS
	node   *node
	name   string
	flag   int
	pos    int64
	closed bool
}

// check refuses what cannot be done. fs.mu must be held.
func (f *file) check(op string) error {
	if f.fs.crashed() {
		return ErrCrashed
	}
	if f.closed {
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	}
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("stat"); err != nil {
		return nil, err
	}
	return info{name: path.Base(f.name), node: f.node, size: int64(len(f.node.data))}, nil
}

func (f *file) ReadAt(buf []byte, at int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("read"); err != nil {
		return 0, err
	}
	if at >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(buf, f.node.data[at:])
	if n < len(buf) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Read(buf []byte) (int, error) {
	n, err := f.ReadAt(buf, f.pos)
	f.pos += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *file) Write(data []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	at := f.pos
	if f.flag&os.O_APPEND != 0 {
		at = int64(len(f.node.data))
	}
	n, err := f.writeAt(data, at)
	f.pos = at + int64(n)
	return n, err
}

func (f *file) WriteAt(data []byte, at int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.writeAt(data, at)
}

func (f *file) writeAt(data []byte, at int64) (int, error) {
	if err := f.check("write"); err != nil {
		return 0, err
	}
	if f.flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: fs.ErrPermission}
	}
	failure, err := f.fs.begin(Write, f.name)
	if err != nil && failure == nil {
		return 0, err
	}
	if failure != nil {
		data = data[:min(failure.Bytes, len(data))]
	}
	if len(data) > 0 {
		f.edit(edit{at: at, bytes: append([]byte{}, data...)})
	}
	if failure == nil {
		f.fs.finish(path.Dir(f.name))
	}
	return len(data), err
}

func (f *file) edit(e edit) {
	f.node.data = e.apply(f.node.data)
	f.node.pending = append(f.node.pending, e)
}

// apply returns the content after e; it never changes data.
func (e edit) apply(data []byte) []byte {
	if e.bytes == nil {
		return resized(data, e.at)
	}
	data = resized(data, max(int64(len(data)), e.at+int64(len(e.bytes))))
	copy(data[e.at:], e.bytes)
	return data
}

func resized(data []byte, size int64) []byte {
	fresh := make([]byte, size)
	copy(fresh, data)
	return fresh
}

func (f *file) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("truncate"); err != nil {
		return err
	}
	return f.truncate(size)
}

func (f *file) truncate(size int64) error {
	if _, err := f.fs.begin(Truncate, f.name); err != nil {
		return err
	}
	f.edit(edit{at: size})
	f.fs.finish(path.Dir(f.name))
	return nil
}

// Sync makes the content durable. If it is made to fail, what was pending is
// forgotten as systems do: it can still be read, counts as clean, and never gets
// to the disk.
func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check("sync"); err != nil {
		return err
	}
	failure, err := f.fs.begin(Sync, f.name)
	if err == nil {
		f.node.durable = f.node.data
	}
	if err == nil || failure != nil {
		f.node.pending = nil
	}
	f.fs.finish("")
	return err
}

func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.closed = true
	return nil
}
