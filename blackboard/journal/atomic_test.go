package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"orch/blackboard/journal"
)

// Of writers of one file at once none fails, and what stays is whole.
func TestFilesAreReplacedAtOnceByMany(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "shared.json")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 10 {
				if err := journal.WriteFileAtomic(journal.OSFS{}, path, bytes.Repeat(fmt.Append(nil, n), 5_000), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 5_000 || len(bytes.Trim(got, string(got[:1]))) != 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
