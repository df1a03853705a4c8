package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLocksOfAKilledGitAreRemoved(t *testing.T) {
	path := t.TempDir()
	stale := []string{"index.lock", "HEAD.lock", "refs/heads/orch/goal/task.lock"}
	for name, keep := range map[string]bool{stale[0]: false, stale[1]: false, stale[2]: false, "index": true, "objects/x.lock": true} {
		full := filepath.Join(path, ".git", name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := os.Stat(full); (err == nil) != keep {
				t.Errorf("%s is there: %v, want %v", name, err == nil, keep)
			}
		}()
	}
	if err := Unlock(path); err != nil {
		t.Fatal(err)
	}
}
