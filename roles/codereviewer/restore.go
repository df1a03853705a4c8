package codereviewer

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orch/roles/act/ledger"
	"orch/roles/act/weaken"
	"orch/roles/act/workspace"
)

// settings are files that say how tests are run, and nothing else. Others hold
// that beside what the code itself needs, and are looked at entry by entry.
var settings = []string{"pytest.ini", "tox.ini", "conftest.py", ".coveragerc", ".mocharc.json", ".mocharc.js", ".mocharc.yml", "nextest.toml"}

// testFiles are those of some paths that are tests, their data, or settings of
// how they run.
func testFiles(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		base := path.Base(p)
		return !weaken.IsTestFile(p) && !slices.Contains(settings, base) && !strings.HasPrefix(base, "jest.config.") && !strings.HasPrefix(base, "vitest.config.")
	})
}

// restore puts files of the base in the place of those of the commit in dir.
// What the base does not have goes: it may stand in the way of what it has.
func (r *review) restore(ctx context.Context, dir string, files []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range files {
		text, ok, err := r.w.Repo.Show(ctx, workspace.Commit(r.task.Base), name)
		if err != nil {
			return err
		}
		at := filepath.FromSlash(name)
		if err := root.RemoveAll(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !ok {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(text, []byte("#!")) {
			mode = 0o755
		}
		if err := root.WriteFile(at, text, mode); err != nil {
			return err
		}
	}
	return nil
}

// mostLooked bounds the files that are searched for where a test stands.
const mostLooked = 5000

// placer says where the tests of a checkout stand: in a file of that name, or in
// the one that declares the test.
func placer(dir string) func(ledger.Name) ledger.Place {
	type file struct {
		path string
		text []byte
	}
	var files []file
	_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error { // what can not be read is not found
		if err != nil || d.IsDir() && d.Name() == ".git" || len(files) >= mostLooked {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(dir, at)
		if rel = filepath.ToSlash(rel); err != nil || !d.Type().IsRegular() || !weaken.IsSource(rel) {
			return nil
		}
		if text, err := os.ReadFile(at); err == nil {
			files = append(files, file{rel, text})
		}
		return nil
	})
	return func(n ledger.Name) ledger.Place {
		word := n.Top().Test
		word = word[strings.LastIndexAny(word, ":. ")+1:]
		word, _, _ = strings.Cut(word, "[")
		best := ledger.Place{File: n.Suite, Line: 1}
		for _, f := range files {
			folder := path.Dir(f.path)
			if f.path != n.Suite && !(folder != "." && strings.HasSuffix(n.Suite, "/"+folder)) && folder != "." {
				continue
			}
			if n.Test == "" {
				if weaken.IsTestFile(f.path) {
					return ledger.Place{File: path.Dir(f.path), Line: 1}
				}
				continue
			}
			if i := bytes.Index(f.text, []byte(word)); i >= 0 && word != "" && weaken.IsTestFile(f.path) {
				return ledger.Place{File: f.path, Line: 1 + bytes.Count(f.text[:i], []byte("\n"))}
			}
		}
		return best
	}
}
