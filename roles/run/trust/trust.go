// Package trust decides whether files that can make orch run something are the
// person's own.
//
// Configuration, hooks and playbooks that came with a clone run only after the
// person has said so for exactly this content. A file came with a clone if git
// tracks it. What was trusted is kept outside the project, in the person's
// state directory, by content hash, so that no pull can grant itself anything.
package trust

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// watched are the places below .orch whose content can make orch act.
var watched = []string{"config.yaml", "hooks", "playbooks", "values.md"}

// gitLimit only stops a git that hangs.
const gitLimit = time.Minute

// File is one watched file with the hash of its content.
type File struct {
	Path string `json:"path"` // relative to the project
	Hash string `json:"hash"` // SHA-256, hex
}

// UntrustedError lists files that came with a clone and were never trusted.
type UntrustedError struct{ Files []File }

func (e *UntrustedError) Error() string {
	names := make([]string, len(e.Files))
	for i, f := range e.Files {
		names[i] = f.Path
	}
	return "these files came with the repository and can make orch run commands: " + strings.Join(names, ", ")
}

// Hint names the next command.
func (e *UntrustedError) Hint() string { return "read them, then run `orch trust`" }

// Usage marks the error as one the person resolves: exit 2.
func (e *UntrustedError) Usage() bool { return true }

// Store is the file that remembers trusted content, one "hash path" a line.
type Store struct{ path string }

// Open names the store in a state directory; nothing is created before Add.
func Open(stateDir string) *Store { return &Store{filepath.Join(stateDir, "orch", "trusted")} }

// StateDir is the person's state directory: $XDG_STATE_HOME, or ~/.local/state.
func StateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state directory: %w", err)
	}
	return filepath.Join(home, ".local", "state"), nil
}

// Check returns *UntrustedError if a watched file of the project that git
// tracks has content nobody trusted.
func (s *Store) Check(ctx context.Context, root string) error {
	files, err := Foreign(ctx, root)
	if err != nil || len(files) == 0 {
		return err
	}
	known, err := s.load()
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f File) bool { return known[key(root, f)] })
	if len(files) > 0 {
		return &UntrustedError{files}
	}
	return nil
}

// Add trusts the present content of every watched file that came with a clone.
func (s *Store) Add(ctx context.Context, root string) ([]File, error) {
	files, err := Foreign(ctx, root)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	known, err := s.load()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, fmt.Errorf("remember trust: %w", err)
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("remember trust: %w", err)
	}
	defer f.Close()
	for _, file := range files {
		if k := key(root, file); !known[k] {
			if _, err := f.WriteString(k + "\n"); err != nil {
				return nil, fmt.Errorf("remember trust: %w", err)
			}
		}
	}
	return files, f.Sync()
}

func key(root string, f File) string { return f.Hash + " " + filepath.Join(root, f.Path) }

func (s *Store) load() (map[string]bool, error) {
	known := map[string]bool{}
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is trusted: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		known[lines.Text()] = true
	}
	return known, lines.Err()
}

// Foreign lists the watched files that git tracks. Outside a repository there are none.
func Foreign(ctx context.Context, root string) ([]File, error) {
	present, err := list(root)
	if err != nil || len(present) == 0 {
		return nil, err
	}
	tracked, err := trackedBelow(ctx, root)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, p := range present {
		if !tracked[filepath.ToSlash(p)] {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			return nil, fmt.Errorf("hash %s: %w", p, err)
		}
		sum := sha256.Sum256(raw)
		files = append(files, File{p, hex.EncodeToString(sum[:])})
	}
	return files, nil
}

func list(root string) ([]string, error) {
	var out []string
	for _, w := range watched {
		top := filepath.Join(root, ".orch", w)
		err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && p == top {
				return nil
			}
			if err != nil {
				return err
			}
			if !d.IsDir() {
				rel, err := filepath.Rel(root, p)
				if err != nil {
					return err
				}
				out = append(out, rel)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look for files that could run: %w", err)
		}
	}
	return out, nil
}

// trackedBelow asks git which files below .orch it tracks. No repository: none.
// A repository that git cannot read is an error: then nothing is known.
func trackedBelow(ctx context.Context, root string) (map[string]bool, error) {
	if !insideRepository(root) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-C", root, "ls-files", "-z", "--", ".orch")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask git which files came with the repository: %w", err)
	}
	tracked := map[string]bool{}
	for _, p := range strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00") {
		tracked[p] = true
	}
	return tracked, nil
}

func insideRepository(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}
