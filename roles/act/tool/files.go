package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orch/roles/act/tool/gate"
)

const maxEditBytes = 16 << 20

func (i *ReadFileInput) check() error {
	if i.Offset < 0 || i.Limit < 0 {
		return errors.New("offset and limit must not be negative")
	}
	return need("path", i.Path)
}
func (i *ReadFileInput) reads() bool { return true }
func (i *ReadFileInput) gate(b *Box) []gate.Decision {
	return []gate.Decision{b.gate.Read(string(ReadFile), b.abs(i.Path))}
}

func (i *ReadFileInput) target(b *Box) string {
	if i.Offset == 0 && i.Limit == 0 {
		return b.rel(i.Path)
	}
	return fmt.Sprintf("%s:%d+%d", b.rel(i.Path), i.Offset, i.Limit)
}

func (i *ReadFileInput) run(_ context.Context, b *Box) Result {
	f, err := b.place(i.Path).open()
	if err != nil {
		return failed(fmt.Errorf("read %s: %w", b.rel(i.Path), err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return failed(fmt.Errorf("read %s: not a file", b.rel(i.Path)))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEditBytes+1))
	if err != nil {
		return failed(fmt.Errorf("read %s: %w", b.rel(i.Path), err))
	}
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return failed(fmt.Errorf("read %s: not a text file", b.rel(i.Path)))
	}
	return Result{Output: lines(data, i.Offset, i.Limit), Truncated: len(data) > maxEditBytes}
}

// lines cuts limit lines out, beginning with the one numbered offset, from 1.
func lines(data []byte, offset, limit int) []byte {
	for n := 1; n < offset && len(data) > 0; n++ {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return nil
		}
		data = data[i+1:]
	}
	if limit == 0 {
		return data
	}
	end := 0
	for ; limit > 0 && end < len(data); limit-- {
		i := bytes.IndexByte(data[end:], '\n')
		if i < 0 {
			return data
		}
		end += i + 1
	}
	return data[:end]
}

func (i *WriteFileInput) check() error { return need("path", i.Path) }
func (i *WriteFileInput) reads() bool  { return false }
func (i *WriteFileInput) gate(b *Box) []gate.Decision {
	return []gate.Decision{b.gate.Write(string(WriteFile), b.abs(i.Path), false)}
}
func (i *WriteFileInput) target(b *Box) string { return b.rel(i.Path) }

func (i *WriteFileInput) run(_ context.Context, b *Box) Result {
	if err := b.place(i.Path).write([]byte(i.Content)); err != nil {
		return failed(fmt.Errorf("write %s: %w", b.rel(i.Path), err))
	}
	return Result{Output: fmt.Appendf(nil, "wrote %d bytes to %s\n", len(i.Content), b.rel(i.Path))}
}

func (i *EditFileInput) check() error {
	if i.Old == i.New {
		return errors.New("old and new are the same")
	}
	if i.Old == "" {
		return errors.New("old is missing; write_file makes new files")
	}
	return need("path", i.Path)
}
func (i *EditFileInput) reads() bool { return false }
func (i *EditFileInput) gate(b *Box) []gate.Decision {
	return []gate.Decision{b.gate.Write(string(EditFile), b.abs(i.Path), true)}
}
func (i *EditFileInput) target(b *Box) string { return b.rel(i.Path) }

func (i *EditFileInput) run(_ context.Context, b *Box) Result {
	n, err := b.place(i.Path).edit(i.Old, i.New, i.All)
	if err != nil {
		return failed(fmt.Errorf("edit %s: %w", b.rel(i.Path), err))
	}
	return Result{Output: fmt.Appendf(nil, "replaced %d in %s\n", n, b.rel(i.Path))}
}

// place is a path the gate let pass. Inside the workspace it is used through
// an os.Root, so that a symbolic link swapped in meanwhile leads nowhere else.
type place struct {
	root string // empty: outside, by a rule
	path string
}

func (b *Box) place(path string) place {
	real, ok := resolve(b.abs(path), true)
	if ok && within(b.opt.Workspace, real) {
		rel, err := filepath.Rel(b.opt.Workspace, real)
		if err == nil {
			return place{root: b.opt.Workspace, path: rel}
		}
	}
	return place{path: real}
}

// in runs f on the place's root.
func (p place) in(f func(*os.Root, string) error) error {
	dir, name := p.root, p.path
	if dir == "" {
		dir, name = filepath.Dir(p.path), filepath.Base(p.path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root, name)
}

func (p place) open() (f *os.File, err error) {
	err = p.in(func(r *os.Root, name string) error {
		f, err = r.Open(name)
		return err
	})
	return f, err
}

func (p place) write(data []byte) error {
	return p.in(func(r *os.Root, name string) error {
		if err := r.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		perm := fs.FileMode(0o644)
		if info, err := r.Stat(name); err == nil {
			if info.IsDir() {
				return errors.New("is a directory")
			}
			perm = info.Mode().Perm()
		}
		return r.WriteFile(name, data, perm)
	})
}

func (p place) edit(old, new string, all bool) (n int, err error) {
	err = p.in(func(r *os.Root, name string) error {
		info, err := r.Stat(name)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || info.Size() > maxEditBytes {
			return errors.New("not a file of a size that can be edited")
		}
		data, err := r.ReadFile(name)
		if err != nil {
			return err
		}
		n = strings.Count(string(data), old)
		switch {
		case n == 0:
			return errors.New("the text to replace is not in it")
		case n > 1 && !all:
			return fmt.Errorf("the text to replace is in it %d times: give more of it, or set all", n)
		}
		return r.WriteFile(name, []byte(strings.ReplaceAll(string(data), old, new)), info.Mode().Perm())
	})
	return n, err
}
