package chore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// Snapshot is what the tests of a project were before anything was changed.
type Snapshot struct {
	Version int        `json:"version"`
	Dir     string     `json:"dir"`
	Files   []TestFile `json:"files"`
}

// TestFile is one file that decides what the tests say.
type TestFile struct {
	Path   Name   `json:"path"`
	SHA256 string `json:"sha256"` // of its bytes
	Norm   string `json:"norm"`   // of its content without its formatting
}

// testNames are files that are tests or configure them.
var testNames = []string{"*_test.go", "test_*.py", "*_test.py", "conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml",
	"*.test.js", "*.test.ts", "*.test.jsx", "*.test.tsx", "*.test.mjs", "*.test.cjs", "*.spec.js", "*.spec.ts", "*.spec.jsx", "*.spec.tsx", "*.spec.mjs",
	"*.spec.cjs", "jest.config.*", "vitest.config.*", ".mocharc*", "package.json", "Makefile", "makefile", "GNUmakefile"}

// testDirs are folders whose files all belong to the tests.
var testDirs = []string{"test", "tests", "__tests__", "spec", "specs", "testdata", "__snapshots__", "fixtures"}

// testGuard takes or verifies a snapshot.
func testGuard(c call) error {
	if len(c.args) != 1 {
		return &usageError{"test-guard needs one of snapshot, verify", "orch chore test-guard --out FILE snapshot, or --from FILE verify"}
	}
	switch c.args[0] {
	case "snapshot":
		return takeSnapshot(c)
	case "verify":
		return verifySnapshot(c)
	}
	return &usageError{fmt.Sprintf("test-guard %q", c.args[0]), "snapshot or verify"}
}

// takeSnapshot keeps a snapshot that exists: the first one of a goal is the
// truth, whatever is run again.
func takeSnapshot(c call) error {
	if c.out == "" {
		return &usageError{"snapshot needs --out FILE", "orch chore test-guard --out FILE snapshot"}
	}
	if s, err := readSnapshot(c.out); err == nil {
		_, err := fmt.Fprintf(c.stdout, "the snapshot of %s stands\n", plural(len(s.Files), "test file"))
		return err
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s := Snapshot{Version: partVersion, Dir: filepath.ToSlash(c.dir), Files: []TestFile{}}
	var failed error
	_, err := walk(c, true, func(f file) {
		if !isTestFile(f.path) {
			return
		}
		t, err := fingerprint(f.full, f.path)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("read %s: %w", f.path, err))
			return
		}
		s.Files = append(s.Files, t)
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if err := writePart(c.out, s); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s noted\n", plural(len(s.Files), "test file"))
	return err
}

func readSnapshot(path string) (Snapshot, error) {
	var s Snapshot
	data, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("read the snapshot of the tests: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read the snapshot of the tests %s: %w", path, err)
	}
	if s.Version != partVersion || s.Files == nil {
		return s, fmt.Errorf("%s is not a snapshot of tests", path)
	}
	return s, nil
}

// verifySnapshot fails if a test is gone or says something else than before.
// New tests are welcome.
func verifySnapshot(c call) error {
	s, err := readSnapshot(c.from)
	if err != nil {
		return err
	}
	var changed []string
	for _, t := range s.Files {
		now, err := fingerprint(filepath.Join(filepath.FromSlash(s.Dir), filepath.FromSlash(string(t.Path))), string(t.Path))
		switch {
		case err != nil:
			changed = append(changed, t.Path.show()+" is gone")
		case now.SHA256 != t.SHA256 && now.Norm != t.Norm:
			changed = append(changed, t.Path.show()+" says something else")
		}
	}
	if len(changed) > 0 {
		return fmt.Errorf("the tests were changed: %s", strings.Join(changed[:min(len(changed), 20)], ", "))
	}
	_, err = fmt.Fprintf(c.stdout, "%s as before, formatting aside\n", plural(len(s.Files), "test file"))
	return err
}

func isTestFile(name string) bool {
	base := path.Base(name)
	for _, pattern := range testNames {
		if ok, err := path.Match(pattern, base); err == nil && ok {
			return true
		}
	}
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(testDirs, dir) })
}

func fingerprint(full, name string) (TestFile, error) {
	info, err := os.Lstat(full)
	if err != nil {
		return TestFile{}, err
	}
	if !info.Mode().IsRegular() {
		return TestFile{}, errors.New("not a regular file")
	}
	sum, err := hashFile(full)
	if err != nil {
		return TestFile{}, err
	}
	t := TestFile{Path: Name(name), SHA256: hex.EncodeToString(sum[:])}
	t.Norm = t.SHA256
	if text, err := readText(file{full: full, size: info.Size()}); err == nil {
		norm := sha256.Sum256(normal(name, text))
		t.Norm = hex.EncodeToString(norm[:])
	}
	return t, nil
}

var (
	spaceOrEnd    = lazyregexp.New(`[\s;]+`)
	trailingComma = lazyregexp.New(`,([)\]}])`)
)

// normal is the content without what a formatter may change.
func normal(name string, data []byte) []byte {
	switch path.Ext(name) {
	case ".go":
		if out, err := format.Source(data); err == nil {
			return out
		}
	case ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs":
		out := spaceOrEnd.ReplaceAll(data, nil)
		out = []byte(strings.ReplaceAll(string(out), "'", `"`))
		return trailingComma.ReplaceAll(out, []byte("$1"))
	case ".json":
		if path.Base(name) == "package.json" {
			return packageTests(data)
		}
	}
	return data
}

// packageTests is what of a package.json decides about tests: installing
// dependencies may change the rest.
func packageTests(data []byte) []byte {
	var pkg map[string]any
	if json.Unmarshal(data, &pkg) != nil {
		return data
	}
	part := map[string]any{}
	for _, key := range []string{"scripts", "jest", "mocha", "ava", "vitest", "type"} {
		part[key] = pkg[key]
	}
	out, err := json.Marshal(part)
	if err != nil {
		return data
	}
	return out
}
