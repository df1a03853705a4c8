package loop

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Pages that promise tests by name: each must exist.
func TestInvariantsNameTestsThatExist(t *testing.T) {
	have := declaredTests(t, "../../blackboard", "..", "../../cmd")
	for page, atLeast := range map[string]int{"../../docs/invariants.md": 30, "../../docs/pair.md": 20} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		promised := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(text), -1)
		if len(promised) < atLeast {
			t.Fatalf("%s promises only %d tests", page, len(promised))
		}
		for _, name := range promised {
			if !have[name[1]] {
				t.Errorf("%s names %s, which does not exist", page, name[1])
			}
		}
	}
}

// declaredTests lists the tests in the folders and below.
func declaredTests(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	have := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, found := range declared.FindAllStringSubmatch(string(source), -1) {
				have[found[1]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return have
}
