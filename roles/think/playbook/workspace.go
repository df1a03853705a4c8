package playbook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds on what a condition may cost on a huge tree.
const (
	maxReadBytes   = 1 << 20
	maxWalkEntries = 200_000
	maxDigestFiles = 5_000
	maxDirs        = 2_000
)

var errWalkDone = errors.New("walk done")

// workspace answers conditions from a directory, following no link out of it.
type workspace struct {
	dir  string
	look func(name string) (string, error)
}

// Workspace returns the facts of a directory. Commands are looked up with look;
// nil means the PATH of this process.
func Workspace(dir string, look func(name string) (string, error)) Facts {
	if look == nil {
		look = exec.LookPath
	}
	return workspace{dir: dir, look: look}
}

func (w workspace) Command(name string) bool {
	_, err := w.look(name)
	return err == nil
}

func (w workspace) Exists(name string) bool {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(path.Clean(name))
	return err == nil
}

func (w workspace) Sub(dir string) Facts {
	if !w.Exists(dir) {
		return workspace{dir: filepath.Join(w.dir, ".orch", "nowhere"), look: w.look}
	}
	return workspace{dir: filepath.Join(w.dir, filepath.FromSlash(dir)), look: w.look}
}

// otherPeoples are directories whose tests are not the project's, or no tests.
var otherPeoples = []string{"node_modules", "vendor", "third_party", "target", "dist", "venv", "__pycache__", "testdata", "fixtures"}

func (w workspace) Dirs(depth int) []string {
	var all []string
	level := []string{"."}
	for ; depth > 0 && len(level) > 0; depth-- {
		var next []string
		for _, dir := range level {
			entries, err := os.ReadDir(filepath.Join(w.dir, filepath.FromSlash(dir)))
			if err != nil {
				continue // what can't be read shows nothing
			}
			for _, e := range entries {
				if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(otherPeoples, e.Name()) && len(all)+len(next) < maxDirs {
					next = append(next, path.Join(dir, e.Name()))
				}
			}
		}
		all = append(all, next...)
		level = next
	}
	return all
}

func (w workspace) Read(name string) ([]byte, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	file, err := root.Open(path.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", name)
	}
	return io.ReadAll(io.LimitReader(file, maxReadBytes))
}

func (w workspace) Glob(pattern string) bool {
	found := false
	w.walk(func(name string, _ fs.DirEntry) bool {
		found = doublestar.MatchUnvalidated(pattern, name)
		return !found
	}, strings.Contains(pattern, "node_modules"))
	return found
}

// Digest covers names, sizes and contents; of large files the modification time
// stands for the content.
func (w workspace) Digest(globs []string) string {
	if len(globs) == 0 {
		return ""
	}
	var lines []string
	w.walk(func(name string, d fs.DirEntry) bool {
		for _, g := range globs {
			if doublestar.MatchUnvalidated(g, name) {
				lines = append(lines, w.fileLine(name, d))
				break
			}
		}
		return len(lines) < maxDigestFiles
	}, false)
	sort.Strings(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

func (w workspace) fileLine(name string, d fs.DirEntry) string {
	info, err := d.Info()
	if err != nil {
		return name + " gone"
	}
	text, err := w.Read(name)
	if err != nil || info.Size() > maxReadBytes {
		return fmt.Sprintf("%s %d %d", name, info.Size(), info.ModTime().UnixNano())
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%s %d %x", name, info.Size(), sum)
}

// walk calls visit with every file in lexical order until it returns false.
// Version control, orch's own folder and, unless asked for, node_modules are left out.
func (w workspace) walk(visit func(name string, d fs.DirEntry) bool, modules bool) {
	seen := 0
	// Every error of an entry is answered inside; what WalkDir returns is only
	// that the walk was ended early.
	_ = fs.WalkDir(os.DirFS(w.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxWalkEntries {
			return errWalkDone
		}
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			switch path.Base(name) {
			case ".git", ".orch":
				return fs.SkipDir
			case "node_modules":
				if !modules {
					return fs.SkipDir
				}
			}
			return nil
		}
		if !visit(name, d) {
			return errWalkDone
		}
		return nil
	})
}
