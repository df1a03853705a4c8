package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
)

// maxEntries bounds every walk over a workspace.
const maxEntries = 200_000

var errTooMany = errors.New("more than can be listed")

// Baseline is what existed in a workspace at one moment. What is not in it was
// made later. It is JSON, so that a goal can keep the one from its start.
type Baseline struct {
	Root     string   `json:"root"`
	Paths    []string `json:"paths"`    // relative, sorted, with slashes
	Complete bool     `json:"complete"` // false: too large, and nothing counts as made later
}

// TakeBaseline lists a workspace. The inside of .git and .orch is not listed:
// it never counts as made by a goal.
func TakeBaseline(root string) Baseline {
	b := Baseline{Root: root}
	err := walk(root, func(rel string, _ fs.DirEntry) error {
		b.Paths = append(b.Paths, rel)
		return nil
	})
	sort.Strings(b.Paths)
	b.Complete = err == nil
	return b
}

// Created tells whether an absolute path, or a directory above it, is new.
func (b Baseline) Created(path string) bool {
	rel, err := filepath.Rel(b.Root, path)
	if !b.Complete || err != nil || rel == "." || !filepath.IsLocal(rel) {
		return false
	}
	rel = filepath.ToSlash(rel)
	for end := 0; end < len(rel); end++ {
		if rel[end] != '/' {
			continue
		}
		if top := rel[:end]; top == ".git" || top == ".orch" {
			return false
		}
		if !b.has(rel[:end]) {
			return true // made with all it contains
		}
	}
	return !b.has(rel)
}

func (b Baseline) has(rel string) bool {
	i := sort.SearchStrings(b.Paths, rel)
	return i < len(b.Paths) && b.Paths[i] == rel
}

// walk visits a workspace without the inside of .git and .orch, in order.
func walk(root string, visit func(rel string, d fs.DirEntry) error) error {
	n := 0
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && path != root {
				return fs.SkipDir // not readable: not ours to change either
			}
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		if n++; n > maxEntries {
			return errTooMany
		}
		if err := visit(filepath.ToSlash(rel), d); err != nil {
			return err
		}
		if d.IsDir() && (rel == ".git" || rel == ".orch") {
			return fs.SkipDir
		}
		return nil
	})
}

// Fingerprint is a cheap sign of a workspace's content: names, modes, sizes and
// times of its files, without .git and .orch.
func Fingerprint(root string) (string, error) {
	h := sha256.New()
	err := walk(root, func(rel string, d fs.DirEntry) error {
		if rel == ".git" || rel == ".orch" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone in the meantime
		}
		if d.IsDir() {
			fmt.Fprintf(h, "%s/\n", rel)
			return nil
		}
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00%d\n", rel, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("take the workspace's fingerprint: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
