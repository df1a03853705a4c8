package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// watched are the places below .orch whose content can make orch act.
var watched = []string{"config.yaml", "hooks", "playbooks", "values.md"}

// Bounds of what is looked at. More than these is not trusted.
const (
	maxFiles     = 10_000
	maxFileBytes = 16 << 20
	maxLinks     = 40
)

// File is one watched file as it is.
type File struct {
	Path       string `json:"path"` // relative to the project
	Hash       string `json:"hash"` // SHA-256 of its content, hex
	Executable bool   `json:"executable,omitempty"`
	Link       string `json:"link,omitempty"` // where it is, if a link leads there

	real  string   // where it is
	links []string // the links on the way to it
	odd   string   // why it was not read
}

// digest names exactly this file of a project: no name can make two of them look alike.
func (f File) digest(root string) string {
	return digestOf(root, f.Path, f.Hash, fmt.Sprint(f.Executable), f.Link, f.odd)
}

func digestOf(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(sum, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// oddity says why the file can not be trusted; empty if it can.
func (f File) oddity() string {
	if !utf8.ValidString(f.Path) {
		return "has a name that is not UTF-8"
	}
	if strings.ContainsFunc(f.Path, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	}) {
		return "has a control character in its name"
	}
	return f.odd
}

// placeOf is where a project is, by whatever name it is called.
func placeOf(root string) string {
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return root
}

// list finds the watched files of a project and reads them.
func list(root string) ([]File, error) {
	w := walk{root: root}
	for _, name := range watched {
		if err := w.add(filepath.Join(".orch", name), nil); err != nil {
			return nil, fmt.Errorf("look for files that could run: %w", err)
		}
	}
	return w.files, nil
}

type walk struct {
	root  string
	seen  int
	files []File
}

// add takes in a file, or what is below a directory; above are the directories
// it lies in. Links are followed, as whoever reads the files follows them.
func (w *walk) add(path string, above []string) error {
	if w.seen++; w.seen > maxFiles {
		return fmt.Errorf("there are more than %d of them", maxFiles)
	}
	if _, err := os.Lstat(filepath.Join(w.root, path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f := File{Path: path}
	real, links, err := resolve(w.root, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.odd = "leads nowhere"
	case err != nil:
		f.odd = "can not be looked at"
	}
	if len(links) > 0 {
		f.Link = real
	}
	f.real, f.links = real, links
	if f.odd == "" {
		info, err := os.Lstat(real)
		if err == nil && info.IsDir() && !slices.Contains(above, real) {
			return w.below(f, append(above, real))
		}
		f.read(info, err)
	}
	w.files = append(w.files, f)
	return nil
}

// below takes in a directory. One that can not be read stands for what it has.
func (w *walk) below(dir File, above []string) error {
	entries, err := os.ReadDir(dir.real)
	if err != nil {
		dir.odd = "can not be read"
		w.files = append(w.files, dir)
		return nil
	}
	for _, e := range entries {
		if err := w.add(filepath.Join(dir.Path, e.Name()), above[:len(above):len(above)]); err != nil {
			return err
		}
	}
	return nil
}

// read takes in what a file holds. What is no plain file is not opened: it may
// never end.
func (f *File) read(info fs.FileInfo, err error) {
	switch {
	case err != nil:
		f.odd = "can not be looked at"
		return
	case !info.Mode().IsRegular():
		f.odd = "is not a plain file"
		return
	case info.Size() > maxFileBytes:
		f.odd = fmt.Sprintf("is larger than %d bytes", maxFileBytes)
		return
	}
	f.Executable = info.Mode()&0o111 != 0
	in, err := os.OpenFile(f.real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		f.odd = "can not be read"
		return
	}
	defer in.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(in, maxFileBytes+1)); err != nil || n > maxFileBytes {
		f.odd = "can not be read"
		return
	}
	f.Hash = hex.EncodeToString(sum.Sum(nil))
}

// resolve follows a path below a project to what it leads to, and names the
// links on the way, wherever they are.
func resolve(root, path string) (real string, links []string, err error) {
	at, err := filepath.EvalSymlinks(root)
	if err != nil {
		return path, nil, err
	}
	split := func(p string) []string { return strings.Split(p, string(filepath.Separator)) }
	for rest := split(path); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			return filepath.Join(append([]string{next}, rest...)...), links, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links = append(links, next); len(links) > maxLinks {
			return next, links, errors.New("too many links")
		}
		to, err := os.Readlink(next)
		if err != nil {
			return next, links, err
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
			to = to[len(filepath.VolumeName(to)):]
		}
		rest = append(split(to), rest...)
	}
	return at, links, nil
}
