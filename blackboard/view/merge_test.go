package view

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard/internal/simfs"
)

// Whatever a person and others do to a list of notes: what either side added is
// there, what either removed is not, and merging again changes nothing.
func TestMergeOfNotes(t *testing.T) {
	notes := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		base, theirs, now := notes.Draw(t, "base"), notes.Draw(t, "theirs"), notes.Draw(t, "now")
		got := mergeNotes(base, theirs, now)
		for _, added := range append(minus(theirs, base), minus(now, base)...) {
			if !slices.Contains(got, added) {
				t.Fatalf("%q was added and is not in %q", added, got)
			}
		}
		if slices.Equal(base, now) && !slices.Equal(got, theirs) || slices.Equal(base, theirs) && !slices.Equal(got, now) {
			t.Fatalf("only one side changed, got %q", got)
		}
		if again := mergeNotes(base, theirs, got); !slices.Equal(again, got) {
			t.Fatalf("again: %q after %q", again, got)
		}
	})
}

// Whatever bytes are in the file: Import ends, the view is fresh, and what was
// refused is kept to the byte.
func FuzzImport(f *testing.F) {
	s := twoTasks()
	s.seq = 1
	view := string(Render(s, Options{}))
	for _, seed := range []string{view, "seq: 1\ntasks: {}", "seq: 1\n&a x: *a", "", "\x00", "[", "seq: 1\n? {a: b}\n: c", "!!binary x", "a: |", "seq: 1\nseq: 1", "<<: {seq: 1}"} {
		f.Add([]byte(seed))
	}
	for _, c := range [][2]string{{"BLOCKED", "ABANDONED"}, {"100", "!!int '7'"}, {"[]", "[x, 'y', 1.5, ~]"}, {"tasks", "\"tasks\""}, {"asked Ann", "!!str 5"}, {"[]", "{}"}} {
		f.Add([]byte(strings.Replace(view, c[0], c[1], 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := simfs.New()
		d := &desk{t: t, fs: fsys, dir: "/o", board: newBoard(twoTasks()), clock: newClock()}
		if err := fsys.MkdirAll(d.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		d.k = d.keeper()
		d.save(string(data))
		res := d.importOnce()
		switch {
		case res.Status == Refused || res.Kept != "":
			if d.read(filepath.Base(res.Kept)) != string(data) || res.Why == "" {
				t.Fatalf("%+v does not hold what was written", res)
			}
		case res.Status == Imported:
			if len(res.Edits) == 0 || len(d.board.edits) != 1 {
				t.Fatalf("imported nothing: %+v", res)
			}
			for _, e := range res.Edits {
				if !slices.Contains([]string{FieldHumanNotes, FieldPriority, FieldStatus}, e.Field) || !json.Valid(e.New) {
					t.Fatalf("imported %+v", e)
				}
			}
		}
		if res.Status != Clean {
			d.wantFresh()
		}
	})
}
