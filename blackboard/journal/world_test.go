package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

const board = "/project/.orch"

// ticking is a clock that goes on by a millisecond whenever it is read.
type ticking struct{ at time.Time }

func (c *ticking) Now() time.Time {
	c.at = c.at.Add(time.Millisecond)
	return c.at
}

// counting makes ids that a reader of a failed test can follow.
type counting struct {
	name string
	n    int
}

func (c *counting) NewID() (string, error) {
	c.n++
	return fmt.Sprintf("%s-%d", c.name, c.n), nil
}

// simOptions are those of one simulated process.
func simOptions(fs *simfs.FS, name string) journal.Options {
	return journal.Options{
		FS: fs, Clock: &ticking{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, IDs: &counting{name: name},
		RotateBytes: 1, LockTimeout: 10 * time.Second,
		Repaired: func(torn journal.Torn) journal.Draft {
			payload, _ := json.Marshal(torn)
			return journal.Draft{From: "board", To: "all", Type: "JournalRepaired", Payload: payload}
		},
	}
}

func note(text string) journal.Draft {
	payload, _ := json.Marshal(map[string]string{"text": text})
	return journal.Draft{From: "a", To: "b", Type: "Note", Payload: payload}
}

// acked collects what was acknowledged before the power was cut.
type acked struct{ records []journal.Record }

// took notes an acknowledged record; it returns false when the trace must end.
func (a *acked) took(t *testing.T, r journal.Record, err error) bool {
	t.Helper()
	if err != nil {
		if !errors.Is(err, simfs.ErrCrashed) {
			t.Fatalf("trace: %v", err)
		}
		return false
	}
	a.records = append(a.records, r)
	return true
}

// stopped says whether the trace must end because the power was cut.
func stopped(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if !errors.Is(err, simfs.ErrCrashed) {
		t.Fatalf("trace: %v", err)
	}
	return true
}

// readAll returns the log of fs; nothing if there is none.
func readAll(t *testing.T, fs *simfs.FS) []journal.Record {
	t.Helper()
	j, err := journal.Open(board, simOptions(fs, "reader"))
	if errors.Is(err, journal.ErrNoLog) {
		return nil
	}
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer j.Close()
	return collect(t, j, 0)
}

func collect(t *testing.T, j *journal.Journal, from uint64) []journal.Record {
	t.Helper()
	var records []journal.Record
	for r, err := range j.Read(from) {
		if err != nil {
			t.Fatalf("read after message %d: %v", len(records), err)
		}
		records = append(records, r)
	}
	return records
}

// isPrefix says whether short is how long begins.
func isPrefix(short, long []journal.Record) bool {
	if len(short) > len(long) {
		return false
	}
	for i := range short {
		if short[i].Hash != long[i].Hash || short[i].ID != long[i].ID {
			return false
		}
	}
	return true
}

// checkRecovered checks a file system found after a crash: the log is a prefix
// of what was written, with everything acknowledged, and it goes on from there.
func checkRecovered(t *testing.T, found *simfs.FS, written, acknowledged []journal.Record) {
	t.Helper()
	ctx := context.Background()
	before := readAll(t, found)
	if !isPrefix(before, written) {
		t.Fatalf("found %v, which does not begin %v", ids(before), ids(written))
	}
	for _, r := range acknowledged {
		if r.Seq > uint64(len(before)) || before[r.Seq-1].Hash != r.Hash {
			t.Fatalf("acknowledged message %d is lost; found %v of %v", r.Seq, ids(before), ids(written))
		}
	}
	if before == nil {
		j, err := journal.Create(ctx, board, simOptions(found, "again"), note("genesis"))
		if err != nil {
			t.Fatalf("create after a crash: %v", err)
		}
		defer j.Close()
		return
	}
	j, err := journal.Open(board, simOptions(found, "after"))
	if err != nil {
		t.Fatalf("open after a crash: %v", err)
	}
	defer j.Close()
	probe, err := j.Append(ctx, note("probe"), nil)
	if errors.Is(err, journal.ErrPoisoned) {
		if _, err = j.Repair(ctx); err != nil {
			t.Fatalf("repair after a crash: %v", err)
		}
		probe, err = j.Append(ctx, note("probe"), nil)
	}
	if err != nil {
		t.Fatalf("append after a crash: %v", err)
	}
	report, err := j.Verify(ctx, journal.Head{})
	if err != nil {
		t.Fatalf("verify after a crash: %v", err)
	}
	if report.Head != probe.Head() || report.Unfinished != "" {
		t.Fatalf("verify after a crash: %+v, want head %v", report, probe.Head())
	}
	after := readAll(t, found)
	if !isPrefix(before, after) || len(after) > len(before)+2 || after[len(after)-1].ID != probe.ID {
		t.Fatalf("after recovery the log is %v, before it was %v", ids(after), ids(before))
	}
	if len(after) == len(before)+2 && after[len(before)].Type != "JournalRepaired" {
		t.Fatalf("recovery added a %s", after[len(before)].Type)
	}
}

func ids(records []journal.Record) []string {
	var list []string
	for _, r := range records {
		list = append(list, fmt.Sprintf("%d:%s", r.Seq, r.ID))
	}
	return list
}
