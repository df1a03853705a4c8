package journal_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

// rotated is a log of five segments with four records each, of which each but
// the first begins with a checkpoint.
func rotated(t *testing.T) (*simfs.FS, *journal.Journal) {
	t.Helper()
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	for range 4 {
		if r, ok, err := j.Rotate(ctx, 0, checkpoint); err != nil || !ok || r.Seq%4 != 1 {
			t.Fatalf("rotate: %v %v %v", r.Seq, ok, err)
		}
		for n := range 3 {
			if _, err := j.Append(ctx, note(fmt.Sprint(n)), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fs, j
}

func TestReadAcrossSegments(t *testing.T) {
	fs, j := rotated(t)
	defer j.Close()
	names, err := fs.ReadDir(board + "/archive")
	if err != nil || len(names) != 4 || names[1] != "log-000000000005-000000000008.jsonl" {
		t.Fatalf("the archive has %v %v", names, err)
	}
	for from := uint64(0); from <= 21; from++ {
		next := max(from, 1)
		for _, r := range collect(t, j, from) {
			if r.Seq != next {
				t.Fatalf("from %d: read %d, expected %d", from, r.Seq, next)
			}
			if (r.Type == "Checkpoint") != (r.Seq%4 == 1 && r.Seq > 1) {
				t.Fatalf("message %d is a %s", r.Seq, r.Type)
			}
			next++
		}
		if next != 21 {
			t.Fatalf("from %d: read up to %d", from, next)
		}
	}
	report, err := j.Verify(context.Background(), journal.Head{})
	if err != nil || report.Messages != 20 || report.Segments != 5 || report.First != 1 {
		t.Fatalf("verify: %+v %v", report, err)
	}
	middle := collect(t, j, 7)[0]
	if report, err = j.Verify(context.Background(), middle.Head()); err != nil || report.Messages != 14 || report.First != 7 {
		t.Fatalf("verify from 7: %+v %v", report, err)
	}
	middle.Hash = journal.GenesisPrev
	var backwards *journal.WentBackwardsError
	if _, err = j.Verify(context.Background(), middle.Head()); !errors.As(err, &backwards) {
		t.Fatalf("verify from another 7: %v", err)
	}
}

func TestSegmentsThatAreGone(t *testing.T) {
	fs, j := rotated(t)
	defer j.Close()
	if err := fs.Remove(board + "/archive/log-000000000001-000000000004.jsonl"); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, j, 0); len(got) != 16 || got[0].Seq != 5 {
		t.Errorf("from the oldest: %v", ids(got))
	}
	report, err := j.Verify(context.Background(), journal.Head{})
	if err != nil || report.First != 5 || report.Messages != 16 {
		t.Errorf("verify: %+v %v", report, err)
	}
	wantMissing := func(from, at uint64) {
		t.Helper()
		next := from
		for r, err := range j.Read(from) {
			var missing *journal.MissingError
			if errors.As(err, &missing) && missing.Seq == at && next == at {
				return
			}
			if err != nil || r.Seq != next {
				t.Fatalf("read %d at %d: %v", r.Seq, next, err)
			}
			next++
		}
		t.Fatalf("nothing is missing from %d on", from)
	}
	wantMissing(2, 2)
	if err := fs.Remove(board + "/archive/log-000000000009-000000000012.jsonl"); err != nil {
		t.Fatal(err)
	}
	wantMissing(6, 9)
}

func TestDamagedSegmentIsNamedWithItsLine(t *testing.T) {
	fs, j := rotated(t)
	defer j.Close()
	name := board + "/archive/log-000000000009-000000000012.jsonl"
	good := fs.ReadFile(name)
	for what, bad := range map[string]string{
		"changed": strings.Replace(string(good), `"text":"1"`, `"text":"7"`, 1),
		"cut":     string(good[:len(good)-700]),
		"swapped": swapLines(string(good), 2, 3),
	} {
		fs.PutFile(name, []byte(bad))
		_, err := j.Verify(context.Background(), journal.Head{})
		var corrupt *journal.CorruptError
		line := map[string]int{"changed": 3, "cut": 2, "swapped": 3}[what]
		if !errors.As(err, &corrupt) || !strings.HasSuffix(corrupt.Path, "log-000000000009-000000000012.jsonl") || corrupt.Line != line {
			t.Errorf("%s: %v", what, err)
		}
	}
	fs.PutFile(name, good[:strings.LastIndex(string(good[:len(good)-1]), "\n")+1])
	var corrupt *journal.CorruptError
	if _, err := j.Verify(context.Background(), journal.Head{}); !errors.As(err, &corrupt) {
		t.Errorf("cut between two lines: %v", err)
	}
}

func swapLines(log string, a, b int) string {
	lines := strings.SplitAfter(log, "\n")
	lines[a], lines[b] = lines[b], lines[a]
	return strings.Join(lines, "")
}

func TestRotateOnlyWhenLargeEnough(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	opts := simOptions(fs, "a")
	size := int64(len(fs.ReadFile(board + "/log.jsonl")))
	opts.RotateBytes = size
	j, err := journal.Open(board, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	never := func(journal.Tail) (journal.Draft, error) {
		t.Error("asked for a first message")
		return journal.Draft{}, nil
	}
	if _, ok, err := j.Rotate(ctx, size/4+1, never); ok || err != nil {
		t.Errorf("rotated below four times the state: %v", err)
	}
	if !j.WantsRotation(size / 4) {
		t.Error("does not want to rotate")
	}
	refusal := errors.New("no checkpoint")
	if _, ok, err := j.Rotate(ctx, 0, func(journal.Tail) (journal.Draft, error) { return journal.Draft{}, refusal }); ok || err != refusal {
		t.Errorf("rotated without a checkpoint: %v", err)
	}
	if _, ok, err := j.Rotate(ctx, size/4, checkpoint); !ok || err != nil {
		t.Errorf("did not rotate: %v", err)
	}
	if _, ok, err := j.Rotate(ctx, 0, never); ok || err != nil {
		t.Errorf("rotated again: %v", err)
	}
}

// A rotation that died after giving the old file its second name leaves that name
// behind; it must neither confuse readers nor stay for ever.
func TestNameOfAnInterruptedRotation(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	if err := fs.Link(board+"/log.jsonl", board+"/archive/log-000000000001-000000000004.jsonl"); err != nil {
		t.Fatal(err)
	}
	j := open(t, fs, "a")
	defer j.Close()
	if _, err := j.Append(ctx, note("x"), nil); err != nil {
		t.Fatal(err)
	}
	if got := len(collect(t, j, 1)); got != 5 {
		t.Errorf("there are %d records", got)
	}
	if _, ok, err := j.Rotate(ctx, 0, checkpoint); err != nil || !ok {
		t.Fatalf("rotate: %v %v", ok, err)
	}
	if names, err := fs.ReadDir(board + "/archive"); err != nil || fmt.Sprint(names) != "[log-000000000001-000000000005.jsonl]" {
		t.Errorf("the archive has %v %v", names, err)
	}
	if got := len(collect(t, j, 1)); got != 6 {
		t.Errorf("there are %d records", got)
	}
}

func TestHeadNote(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	old := fs.Kill()
	const path = "/project/note"
	j := open(t, fs, "a")
	if err := j.UseHeadNote(path, "board-1"); err != nil {
		t.Fatal(err)
	}
	r, err := j.Append(ctx, note("x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	content := string(fs.ReadFile(path))
	if !strings.Contains(content, r.Hash) || !strings.Contains(content, "board-1") {
		t.Fatalf("the note says %s", content)
	}
	again := open(t, fs, "b")
	defer again.Close()
	var other *journal.OtherBoardError
	if err := again.UseHeadNote(path, "board-2"); !errors.As(err, &other) {
		t.Errorf("another board: %v", err)
	}
	if err := again.UseHeadNote(path, "board-1"); err != nil {
		t.Errorf("the same board: %v", err)
	}
	if _, _, err := again.Rotate(ctx, 0, checkpoint); err != nil {
		t.Fatal(err)
	}
	if now := string(fs.ReadFile(path)); now == content {
		t.Error("the rotation was not noted")
	}
	// Somebody puts the whole directory back to what it was, run/head included.
	old.PutFile(path, fs.ReadFile(path))
	var backwards *journal.WentBackwardsError
	if err := open(t, old, "c").UseHeadNote(path, "board-1"); !errors.As(err, &backwards) || backwards.Source != path {
		t.Errorf("an older log: %v", err)
	}
	old.PutFile(path, []byte("{\"seq\":9"))
	if err := open(t, old, "d").UseHeadNote(path, "board-1"); err != nil {
		t.Errorf("an unreadable note: %v", err)
	}
}

// racing is a file system in which another process is always a little faster.
type racing struct{ journal.OSFS }

func (r racing) Rename(from, to string) error {
	if err := r.OSFS.Rename(from, to); err != nil {
		return err
	}
	return r.OSFS.Rename(from, to)
}

func TestTwoThatNoteTheHeadAtOnceAreNoError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "note")
	o := journal.Options{Clock: journal.SystemClock{}, IDs: journal.UUIDs{}}
	j, err := journal.Create(t.Context(), dir, o, note("first"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	o.FS = racing{}
	if j, err = journal.Open(dir, o); err != nil {
		t.Fatal(err)
	}
	if err := j.UseHeadNote(path, "board-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(t.Context(), note("second"), nil); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("closed with %v", err)
	}
}
