package tool

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"orch/roles/act/tool/gate"
)

const (
	maxLinks       = 40 // symbolic links on the way to one path
	maxGlob        = 2_000
	maxScriptBytes = 64 << 10
)

// facts answers the gate from the real file system.
type facts struct {
	root    string
	free    []string // folders that the step may fill as it likes
	created func(string) bool

	once sync.Once
	base Baseline
}

// beforeEffect notes what exists before this Box first changes anything, when
// the caller has not said what the goal made.
func (f *facts) beforeEffect() {
	if f.created == nil {
		f.once.Do(func() { f.base = TakeBaseline(f.root) })
	}
}

func (f *facts) made(path string) bool {
	if f.created != nil {
		return f.created(path)
	}
	f.beforeEffect()
	return f.base.Created(path)
}

func (f *facts) Root() string { return f.root }

// Inspect looks at a path, walking symbolic links itself so that a path whose
// end does not exist yet is placed rightly as well.
func (f *facts) Inspect(path string, follow bool) gate.Entry {
	real, ok := resolve(path, follow)
	e := gate.Entry{Real: real, Inside: ok && within(f.root, real)}
	for _, dir := range f.free {
		e.Scratch = e.Scratch || ok && real != dir && within(dir, real)
	}
	info, err := os.Lstat(real)
	if err != nil {
		e.Created = e.Inside && f.made(real)
		return e
	}
	e.Exists, e.Dir = true, info.IsDir()
	// a second name of a file is no file of its own
	e.Created = e.Inside && f.made(real) && (info.IsDir() || names(info) <= 1)
	return e
}

func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// resolve walks a path component by component. It fails on too many links.
func resolve(path string, follow bool) (string, bool) {
	sep := string(filepath.Separator)
	volume := filepath.VolumeName(path)
	todo := strings.Split(filepath.FromSlash(path[len(volume):]), sep)
	at := volume + sep
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		last := len(todo) == 0 || strings.Join(todo, "") == ""
		trailing := last && len(todo) > 0 // "link/" is what the link points to
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 || (last && !follow && !trailing) {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return next, false
		}
		to, err := os.Readlink(next)
		if err != nil {
			return next, false
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + sep
		}
		todo = append(strings.Split(to[len(filepath.VolumeName(to)):], sep), todo...)
	}
	return at, true
}

// Glob lists matches below an absolute pattern.
func (f *facts) Glob(pattern string) ([]string, bool) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
	var out []string
	err := doublestar.GlobWalk(os.DirFS(filepath.FromSlash(base)), rest, func(p string, _ fs.DirEntry) error {
		if len(out) == maxGlob {
			return errTooMany
		}
		out = append(out, filepath.Join(filepath.FromSlash(base), filepath.FromSlash(p)))
		return nil
	}, doublestar.WithNoFollow())
	return out, err == nil
}

// Source reads a small script.
func (f *facts) Source(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScriptBytes {
		return "", false
	}
	b, err := os.ReadFile(path)
	return string(b), err == nil && len(b) <= maxScriptBytes
}
