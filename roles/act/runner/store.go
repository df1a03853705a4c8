package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orch/blackboard/plainfile"
	"orch/roles/act/ledger"
)

// Store keeps what judged runs showed, in a folder that no judged process may
// write to. Its files are written whole or not at all.
type Store struct{ Dir string }

// path is the file of what is known by some words.
func (s Store) path(words []string) string {
	h := sha256.New()
	for _, w := range words {
		fmt.Fprintf(h, "%d:%s", len(w), w)
	}
	return filepath.Join(s.Dir, hex.EncodeToString(h.Sum(nil)[:16])+".json")
}

// Load reads what was saved under the words; ok is false when nothing was, or
// not to its end.
func (s Store) Load(into any, words ...string) (ok bool, err error) {
	raw, err := plainfile.Read(s.path(words))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read what is kept of judged runs: %w", err)
	}
	return json.Unmarshal(raw, into) == nil, nil
}

// Save keeps something under the words, in the place of what was there.
func (s Store) Save(what any, words ...string) error {
	raw, err := json.Marshal(what)
	if err == nil {
		err = os.MkdirAll(s.Dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("keep what a judged run showed: %w", err)
	}
	f, err := os.CreateTemp(s.Dir, "new-")
	if err != nil {
		return fmt.Errorf("keep what a judged run showed: %w", err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path(words))
	}
	if err != nil {
		return fmt.Errorf("keep what a judged run showed: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Base is what is kept of the run of a tree that submissions begin at.
type Base struct {
	Ledger ledger.Ledger `json:"ledger"`
}

// BaseKey are the words under which a Base is kept.
func BaseKey(tree, command string) []string { return []string{"base", tree, command} }
