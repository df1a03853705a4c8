package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

func draft(n int) Draft {
	return Draft{From: "a", To: "b", Type: "T", Payload: json.RawMessage(fmt.Sprintf(`{ "n": %d }`, n))}
}

func TestAppendThenReadFromAnotherJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "board")
	ctx := context.Background()
	j, err := Create(ctx, dir, Options{}, draft(0))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var want []Record
	for n := 1; n <= 20; n++ {
		r, err := j.Append(ctx, draft(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	other, err := Open(dir, Options{})
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
