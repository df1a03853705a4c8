package tool

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAListingTellsWhatChanged(t *testing.T) {
	root := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		full := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	touch := func(path string, at time.Time) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(root, path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	large := strings.Repeat("x", hashBytes+1)
	for path, text := range map[string]string{"same": "a", "touched": "a", "written": "a", "gone": "a", "large": large, "d/mode": "a",
		".git/logs/HEAD": "1", ".git/index": "1", ".orch/log.jsonl": "1"} {
		put(path, text)
		touch(path, old)
	}
	raw, err := json.Marshal(TakeListing(root))
	if err != nil {
		t.Fatal(err)
	}
	var before Listing
	if err := json.Unmarshal(raw, &before); err != nil || !before.Complete {
		t.Fatal(err, before.Complete)
	}
	if got := before.Changed(TakeListing(root), old); len(got) != 0 {
		t.Errorf("nothing was done, and %v changed", got)
	}
	put("touched", "a")
	put("written", "b")
	touch("written", old) // whoever sets the time back hides nothing
	put("new", "c")
	put("large", strings.Repeat("y", hashBytes+1))
	put(".git/logs/HEAD", "2")
	put(".git/index", "2")
	put(".orch/log.jsonl", "2")
	if err := errors.Join(os.Remove(filepath.Join(root, "gone")), os.Chmod(filepath.Join(root, "d", "mode"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if got := before.Changed(TakeListing(root), old); !slices.Equal(got, []string{".git/logs/HEAD", "d/mode", "gone", "large", "new", "written"}) {
		t.Errorf("changed: %v", got)
	}
	half := Listing{Files: map[string]FileSign{"same": before.Files["same"]}}
	if got := half.Changed(TakeListing(root), time.Now().Add(time.Hour)); len(got) != 0 {
		t.Errorf("of a listing that is not complete, what is older than it counts: %v", got)
	}
}
