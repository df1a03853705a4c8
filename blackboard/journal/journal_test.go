package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orch/blackboard/internal/simfs"
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
		r, err := j.Append(ctx, journal.Draft{
			From: "a", To: "b", Type: "T", Goal: "g", Subject: "F-1", Cause: "c", Agent: "coder-1", Fence: uint64(n),
			Payload: json.RawMessage(fmt.Sprintf(`{ "n": %d, "s": "ü\u0041 %s" }`, n, strings.Repeat("x", n*700))),
		}, nil)
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
	for from := uint64(2); from <= 22; from++ {
		got := collect(t, other, from)
		if fmt.Sprint(got) != fmt.Sprint(want[from-2:]) {
			t.Fatalf("from %d: got %d records, want %d", from, len(got), len(want[from-2:]))
		}
	}
	for n, r := range want {
		if r.Seq != uint64(n+2) || r.TS.Location() != time.UTC || len(r.ID) != 36 || r.ID[14] != '7' {
			t.Errorf("record %d: %+v", n, r)
		}
		// Alone in its process, the writer knows all it wrote before durable.
		if r.Synced != r.Seq-1 && n > 0 {
			t.Errorf("record %d says %d is durable", r.Seq, r.Synced)
		}
	}
}

func TestConditionIsEvaluatedOnTheCaughtUpLog(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	one, two := open(t, fs, "one"), open(t, fs, "two")
	defer one.Close()
	defer two.Close()
	if _, err := two.Append(ctx, note("x"), nil); err != nil { // two has looked now
		t.Fatal(err)
	}
	if _, err := one.Append(ctx, note("unseen by two"), nil); err != nil {
		t.Fatal(err)
	}
	before := fs.ReadFile(board + "/log.jsonl")
	refusal := errors.New("no")
	_, err := two.Append(ctx, note("refused"), func(tail journal.Tail) error {
		var seen []uint64
		for r, err := range tail.Since(4) {
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, r.Seq)
		}
		if tail.Head().Seq != 6 || fmt.Sprint(seen) != "[5 6]" {
			t.Errorf("the tail has %v up to %d", seen, tail.Head().Seq)
		}
		for r, err := range tail.Since(6) {
			t.Error("after the head there is", r, err)
		}
		return refusal
	})
	if err != refusal {
		t.Errorf("got %v", err)
	}
	if after := fs.ReadFile(board + "/log.jsonl"); string(after) != string(before) {
		t.Error("a refused append changed the log")
	}
	r, err := two.AppendFunc(ctx, func(tail journal.Tail) (journal.Draft, error) {
		return note(fmt.Sprint("after ", tail.Head().Seq)), nil
	})
	if err != nil || string(r.Payload) != `{"text":"after 6"}` {
		t.Errorf("got %s %v", r.Payload, err)
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	fs, _ := startTrace(t, trace{setup: history})
	opts := simOptions(fs, "a")
	opts.Clock = fixed(time.Date(2001, 1, 1, 0, 0, 0, 0, time.FixedZone("x", 3600)))
	j, err := journal.Open(board, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	last := collect(t, j, 4)[0]
	r, err := j.Append(context.Background(), note("early"), nil)
	if err != nil || !r.TS.Equal(last.TS) {
		t.Errorf("got %v, the record before has %v, %v", r.TS, last.TS, err)
	}
}

type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

func TestDraftsThatCannotBeWritten(t *testing.T) {
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	defer j.Close()
	big := json.RawMessage(`"` + strings.Repeat("x", journal.MaxLineBytes) + `"`)
	for name, d := range map[string]journal.Draft{
		"no type":              {},
		"text is not UTF-8":    {Type: "T", From: "\xff"},
		"payload is not UTF-8": {Type: "T", Payload: json.RawMessage("\"\xff\"")},
		"payload is not JSON":  {Type: "T", Payload: json.RawMessage(`{`)},
		"payload is empty":     {Type: "T", Payload: json.RawMessage(``)},
		"two payloads":         {Type: "T", Payload: json.RawMessage(`1 2`)},
	} {
		var bad *journal.DraftError
		if _, err := j.Append(context.Background(), d, nil); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var long *journal.TooLongError
	if _, err := j.Append(context.Background(), journal.Draft{Type: "T", Payload: big}, nil); !errors.As(err, &long) || long.Bytes <= journal.MaxLineBytes {
		t.Errorf("too long: %v", err)
	}
	// The longest line that fits goes in and comes out, and so does what follows.
	r, err := j.Append(context.Background(), journal.Draft{ID: "x", Type: "T"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	line, err := journal.Encode(&r)
	if err != nil {
		t.Fatal(err)
	}
	longest := big[:journal.MaxLineBytes-len(line)+len("null")-1]
	longest = append(longest[:len(longest):len(longest)], '"')
	for range 2 {
		r, err := j.Append(context.Background(), journal.Draft{ID: "x", Type: "T", Payload: longest}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(t, j, r.Seq); len(got) != 1 || len(got[0].Payload) != len(longest) {
			t.Fatalf("read %d records", len(got))
		}
	}
	if _, err := open(t, fs, "b").Append(context.Background(), note("next"), nil); err != nil {
		t.Fatal(err)
	}
}

func TestCreateAndOpenRefuse(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{})
	if _, err := journal.Open(board, simOptions(fs, "a")); !errors.Is(err, journal.ErrNoLog) {
		t.Errorf("open nothing: %v", err)
	}
	fs.Network("NFS")
	var network *journal.NetworkFSError
	if _, err := journal.Create(ctx, board, simOptions(fs, "a"), note("genesis")); !errors.As(err, &network) || network.Kind != "NFS" {
		t.Errorf("create on a network: %v", err)
	}
	opts := simOptions(fs, "a")
	opts.UnsafeFS = true
	j, err := journal.Create(ctx, board, opts, note("genesis"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(board, simOptions(fs, "a")); !errors.As(err, &network) || network.Hint() == "" {
		t.Errorf("open on a network: %v", err)
	}
	if _, err := journal.Create(ctx, board, opts, note("genesis")); !errors.Is(err, journal.ErrExists) {
		t.Errorf("create again: %v", err)
	}
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Errorf("close twice: %v", err)
	}
	if _, err := j.Append(ctx, note("late"), nil); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	if err := j.Barrier(ctx, 1); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("barrier after close: %v", err)
	}
}

func TestBarrierMakesOthersRecordsDurable(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	one, two := open(t, fs, "one"), open(t, fs, "two")
	defer one.Close()
	defer two.Close()
	r, err := one.WriteOnly(ctx, note("written by one"))
	if err != nil {
		t.Fatal(err)
	}
	dropped := simfs.Fate{Data: simfs.DataDropped, Names: simfs.NamesDropped}
	if got := len(readAll(t, fs.Crash(dropped))); got != 4 {
		t.Fatalf("before the barrier %d records are durable", got)
	}
	if err := two.Barrier(ctx, r.Seq); err != nil {
		t.Fatal(err)
	}
	if got := len(readAll(t, fs.Crash(dropped))); got != 5 {
		t.Fatalf("after the barrier %d records are durable", got)
	}
	operations := len(fs.Trace())
	for seq := range r.Seq + 1 {
		if err := two.Barrier(ctx, seq); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(fs.Trace()); got != operations {
		t.Errorf("a barrier for what is durable did %d operations", got-operations)
	}
	if err := two.Barrier(ctx, r.Seq+1); err == nil {
		t.Error("a barrier behind the end did not fail")
	}
}

// A sync that another goroutine began after a record was written covers it.
func TestGoroutinesShareSyncs(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	defer j.Close()
	var last uint64
	for range 5 {
		r, err := j.WriteOnly(ctx, note("x"))
		if err != nil {
			t.Fatal(err)
		}
		last = r.Seq
	}
	before := len(fs.Trace())
	for seq := last; seq > last-5; seq-- {
		if err := j.SyncTo(ctx, seq); err != nil {
			t.Fatal(err)
		}
	}
	syncs := 0
	for _, op := range fs.Trace()[before:] {
		if op.Kind == simfs.Sync {
			syncs++
		}
	}
	if syncs != 1 {
		t.Errorf("five records took %d syncs", syncs)
	}
}
