package journal_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

// vanishing removes a closed segment's name the moment somebody opens it.
type vanishing struct {
	*simfs.FS
	gone int
}

func (v *vanishing) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	if strings.Contains(name, "archive/log-") {
		v.gone++
		if err := v.Remove(name); err != nil {
			return nil, err
		}
	}
	return v.FS.OpenFile(name, flag, perm)
}

// An interrupted rotation leaves the live file a second name; the next rotation
// removes it, perhaps after a reader has seen it in the list.
func TestReadWhileAStaleNameIsRemoved(t *testing.T) {
	fsys := simfs.New()
	history(t, fsys)
	stale := fmt.Sprintf("%s/archive/log-%012d-%012d.jsonl", board, 1, 2)
	if err := fsys.Link(board+"/log.jsonl", stale); err != nil {
		t.Fatal(err)
	}
	options := simOptions(fsys, "reader")
	seen := &vanishing{FS: fsys}
	options.FS = seen
	j, err := journal.Open(board, options)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
	count := uint64(0)
	for r, err := range j.Read(0) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; r.Seq != count {
			t.Fatalf("record %d is at place %d", r.Seq, count)
		}
	}
	if count != 4 || seen.gone != 1 {
		t.Errorf("read %d records, %d names vanished", count, seen.gone)
	}
}
