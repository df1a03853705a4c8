package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Store is the file that remembers what was trusted: a JSON object a line for
// each `orch config trust`. The newest of a project says what came with it then.
type Store struct{ path, old string }

// Open names the store in a state directory; nothing is created before Add.
func Open(stateDir string) *Store {
	return &Store{path: filepath.Join(stateDir, "orch", "trust.jsonl"), old: filepath.Join(stateDir, "orch", "trusted")}
}

// StateDir is the person's state directory: $XDG_STATE_HOME, or ~/.local/state.
// A relative one is ignored: it could lie in the project.
func StateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("nobody says where your home is, and what you trust is kept there: set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(home, ".local", "state"), nil
}

// record is one line of the store.
type record struct {
	Version int               `json:"version"`
	Project string            `json:"project"` // digest of where it is
	Files   map[string]string `json:"files"`   // path → digest
}

const recordVersion = 2

// trusted is what a store says of one project.
type trusted struct {
	digests map[string]bool   // all that ever were
	last    map[string]string // what the newest record says
}

// missing lists what the newest record has and the files do not.
func (t trusted) missing(files []File) (gone []string) {
	for _, path := range slices.Sorted(maps.Keys(t.last)) {
		if !slices.ContainsFunc(files, func(f File) bool { return f.Path == path }) {
			gone = append(gone, path)
		}
	}
	return gone
}

// load reads what was trusted of a project. A line that can not be read, such
// as one that a crash cut off, says nothing.
func (s *Store) load(root string) (trusted, error) {
	t := trusted{digests: map[string]bool{}}
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("read what is trusted: %w", err)
	}
	project := digestOf(root)
	for line := range bytes.Lines(raw) {
		var r record
		if json.Unmarshal(line, &r) != nil || r.Version != recordVersion || r.Project != project {
			continue
		}
		t.last = r.Files
		for _, d := range r.Files {
			t.digests[d] = true
		}
	}
	return t, nil
}

func (s *Store) append(root string, files map[string]string) error {
	line, err := json.Marshal(record{recordVersion, digestOf(root), files})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	if err != nil {
		return fmt.Errorf("remember trust: %w", err)
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("remember trust: %w", err)
	}
	defer f.Close()
	// The line feed before it ends a line that a crash cut off.
	if _, err := f.Write(append(append([]byte("\n"), line...), '\n')); err != nil {
		return fmt.Errorf("remember trust: %w", err)
	}
	return f.Sync()
}

// earlier tells whether a version whose records a name could forge noted
// anything of the project.
func (s *Store) earlier(root string) bool {
	raw, err := os.ReadFile(s.old)
	return err == nil && strings.Contains(string(raw), " "+filepath.Join(root, ".orch")+string(filepath.Separator))
}
