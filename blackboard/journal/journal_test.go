package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"orch/blackboard/journal"
)

func numbered(n int) journal.Draft {
	return journal.Draft{From: "a", To: "b", Type: "T", Payload: json.RawMessage(fmt.Sprintf(`{ "n": %d }`, n))}
}

func TestAppendThenReadFromAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "board")
	ctx := context.Background()
	j, err := journal.Create(ctx, dir, journal.Options{}, numbered(0))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var want []journal.Record
	for n := 1; n <= 20; n++ {
		r, err := j.Append(ctx, numbered(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	other, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	n := 0
	for r, err := range other.Read(2) {
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(r) != fmt.Sprint(want[n]) {
			t.Fatalf("record %d: got %v, want %v", n, r, want[n])
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("read %d of %d", n, len(want))
	}
}
