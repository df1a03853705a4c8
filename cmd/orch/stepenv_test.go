package main

import (
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"orch/roles/act/tool"
)

// Executors that start at once agree on what was there before the first of them.
func TestExecutorsThatStartAtOnceShareOneBaseline(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "there"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		dir := filepath.Join(t.TempDir(), "goals", "g")
		seen := make([]tool.Baseline, 8)
		var all sync.WaitGroup
		for i := range seen {
			all.Go(func() {
				var err error
				if seen[i], err = baselineOf(dir, root); err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(filepath.Join(root, "made"), []byte("x"), 0o644); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, one := range seen {
			if !reflect.DeepEqual(one, seen[0]) || !one.Created(filepath.Join(root, "made")) || one.Created(filepath.Join(root, "there")) {
				t.Fatalf("they saw %+v and %+v", seen[0], one)
			}
		}
		if err := os.Remove(filepath.Join(root, "made")); err != nil {
			t.Fatal(err)
		}
	}
}
