package roles

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/invariants.md promises tests by name; each must exist.
func TestInvariantsNameTestsThatExist(t *testing.T) {
	page, err := os.ReadFile("../docs/invariants.md")
	if err != nil {
		t.Fatal(err)
	}
	promised := regexp.MustCompile("`(TestInvariant_[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(page), -1)
	if len(promised) < 30 {
		t.Fatalf("only %d tests are promised", len(promised))
	}
	have := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (TestInvariant_[A-Za-z0-9_]+)\(`)
	for _, dir := range []string{"../blackboard", "."} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
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
	for _, name := range promised {
		if !have[name[1]] {
			t.Errorf("docs/invariants.md names %s, which does not exist", name[1])
		}
	}
}
