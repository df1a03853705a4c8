package journal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

// recoverDamaged opens a log somebody changed, as a process does that wants to
// append. It returns what is left of it, or the refusal.
func recoverDamaged(t *testing.T, fs *simfs.FS) (left []journal.Record, torn int, refusal error) {
	t.Helper()
	opts := simOptions(fs, "after")
	opts.Repaired = func(journal.Torn) journal.Draft {
		torn++
		return journal.Draft{Type: "JournalRepaired"}
	}
	j, err := journal.Open(board, opts)
	if err != nil {
		return nil, 0, err
	}
	defer j.Close()
	if err := j.Recover(context.Background()); err != nil {
		return nil, torn, err
	}
	if _, err := j.Verify(context.Background(), journal.Head{}); err != nil {
		return nil, torn, err
	}
	for r, err := range j.Read(0) {
		if err != nil {
			return nil, torn, err
		}
		if r.Type != "JournalRepaired" {
			left = append(left, r)
		}
	}
	return left, torn, nil
}

// checkRefusal wants an error that says where the damage is. A log may only be
// called too short if it is.
func checkRefusal(t *testing.T, what string, err error, line int, short bool) {
	t.Helper()
	var corrupt *journal.CorruptError
	var backwards *journal.WentBackwardsError
	switch {
	case errors.As(err, &corrupt):
		if corrupt.Line != line || !strings.Contains(err.Error(), fmt.Sprint("line ", line)) {
			t.Errorf("%s: refused with %v, the damage is in line %d", what, err, line)
		}
	case errors.As(err, &backwards) && short:
		if backwards.Found.Seq != uint64(line-1) {
			t.Errorf("%s: refused with %v, the log is good up to %d", what, err, line-1)
		}
	default:
		t.Errorf("%s: %v", what, err)
	}
}

// damaged tries every change of a log of five acknowledged records, with and
// without the memory in run/head. lineOf says in which line the change is.
func damaged(t *testing.T, changes func(log []byte, try func(what string, changed []byte, at int))) {
	base, _ := startTrace(t, trace{setup: history})
	all := readAll(t, base)
	log := base.ReadFile(board + "/log.jsonl")
	for _, remembered := range []bool{true, false} {
		refused, shortened := 0, 0
		changes(log, func(what string, changed []byte, at int) {
			fs := base.Kill()
			fs.PutFile(board+"/log.jsonl", changed)
			if !remembered {
				if err := fs.Remove(board + "/run/head"); err != nil {
					t.Fatal(err)
				}
			}
			line := 1 + strings.Count(string(log[:at]), "\n")
			left, torn, err := recoverDamaged(t, fs)
			switch {
			case err != nil:
				refused++
				checkRefusal(t, what, err, line, at == len(log)-1)
			case !isPrefix(left, all):
				t.Errorf("%s: %v is not how the log began", what, ids(left))
			case len(left) == len(all):
				t.Errorf("%s: the damage was not noticed", what)
			case remembered:
				t.Errorf("%s: an acknowledged message was dropped", what)
			case len(left) != len(all)-1:
				t.Errorf("%s: %d messages were dropped though a later line said they were durable", what, len(all)-len(left))
			case torn == 0 && len(changed) > strings.LastIndex(string(log[:len(log)-1]), "\n")+1:
				t.Errorf("%s: bytes were dropped without a word", what)
			default:
				shortened++
			}
		})
		t.Logf("remembered %v: %d refused, %d shortened", remembered, refused, shortened)
		if refused == 0 || remembered != (shortened == 0) {
			t.Errorf("remembered %v: %d refused, %d shortened", remembered, refused, shortened)
		}
	}
}

func TestEveryBitFlipped(t *testing.T) {
	damaged(t, func(log []byte, try func(string, []byte, int)) {
		for at := range log {
			for bit := range 8 {
				changed := append([]byte{}, log...)
				changed[at] ^= 1 << bit
				try(fmt.Sprintf("bit %d of byte %d", bit, at), changed, at)
			}
		}
	})
}

// Without run/head a log that is cut between two lines looks like one that was
// always so long: that is why heads are noted elsewhere too. All else is noticed.
func TestLogCutAtEveryByte(t *testing.T) {
	base, _ := startTrace(t, trace{setup: history})
	all := readAll(t, base)
	log := base.ReadFile(board + "/log.jsonl")
	for at := range log {
		for _, remembered := range []bool{true, false} {
			what := fmt.Sprintf("cut at byte %d, remembered %v", at, remembered)
			fs := base.Kill()
			fs.PutFile(board+"/log.jsonl", log[:at])
			if !remembered {
				if err := fs.Remove(board + "/run/head"); err != nil {
					t.Fatal(err)
				}
			}
			whole := strings.Count(string(log[:at]), "\n")
			left, torn, err := recoverDamaged(t, fs)
			switch {
			case remembered || whole == 0:
				checkRefusal(t, what, err, whole+1, true)
			case err != nil:
				t.Errorf("%s: %v", what, err)
			case !isPrefix(left, all) || len(left) != whole:
				t.Errorf("%s: left with %v", what, ids(left))
			case (torn == 1) != (log[at-1] != '\n'):
				t.Errorf("%s: %d reports", what, torn)
			}
		}
	}
}

func TestOlderCopyOfTheLogIsRefused(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	old := fs.ReadFile(board + "/log.jsonl")
	j := open(t, fs, "a")
	defer j.Close()
	if _, err := j.Append(ctx, note("newer"), nil); err != nil {
		t.Fatal(err)
	}
	// In place: the process that knows better; a rename: everybody.
	fs.PutFile(board+"/log.jsonl", old)
	var backwards *journal.WentBackwardsError
	if _, err := j.Append(ctx, note("no"), nil); !errors.As(err, &backwards) || !strings.Contains(backwards.Hint(), "orch board restore") {
		t.Errorf("append to a shorter log: %v", err)
	}
	fs.PutFile(board+"/copy", old)
	if err := fs.Rename(board+"/copy", board+"/log.jsonl"); err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]*journal.Journal{"the same process": j, "another": open(t, fs, "b")} {
		if _, err := j.Append(ctx, note("no"), nil); !errors.As(err, &backwards) || backwards.Noted.Seq != 5 {
			t.Errorf("append by %s: %v", name, err)
		}
		if _, err := j.Head(); !errors.As(err, &backwards) {
			t.Errorf("head by %s: %v", name, err)
		}
	}
	if err := fs.Remove(board + "/log.jsonl"); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(board, simOptions(fs, "c")); !errors.As(err, &backwards) {
		t.Errorf("open without a log: %v", err)
	}
	if _, err := journal.Create(ctx, board, simOptions(fs, "c"), note("genesis")); !errors.As(err, &backwards) {
		t.Errorf("create over a lost log: %v", err)
	}
	// Without run/head the process that was there still knows.
	fs.PutFile(board+"/log.jsonl", old)
	if err := fs.Remove(board + "/run/head"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(ctx, note("no"), nil); !errors.As(err, &backwards) || backwards.Source != "this process" {
		t.Errorf("append by the same process without run/head: %v", err)
	}
	if _, err := journal.Restore(ctx, board, simOptions(fs, "d"), journal.RestoreOptions{Accept: true}); err != nil {
		t.Fatal(err)
	}
	if r, err := open(t, fs, "e").Append(ctx, note("on"), nil); err != nil || r.Seq != 5 {
		t.Errorf("append after the log was accepted: %v %v", r.Seq, err)
	}
}

func TestLostPageInTheUnsyncedTail(t *testing.T) {
	ctx := context.Background()
	fs, _ := startTrace(t, trace{setup: history})
	j := open(t, fs, "a")
	defer j.Close()
	for n := range 6 { // written by somebody who was cut off before any sync
		if _, err := j.WriteOnly(ctx, note(fmt.Sprint("unsynced ", n))); err != nil {
			t.Fatal(err)
		}
	}
	written := readAll(t, fs)
	after := fs.Crash(simfs.Fate{Data: simfs.DataHole, Names: simfs.NamesKept})
	left, torn, err := recoverDamaged(t, after)
	if err != nil || torn != 1 || !isPrefix(left, written) || len(left) < 4 || len(left) >= len(written) {
		t.Fatalf("left with %d of %d, %d torn, %v", len(left), len(written), torn, err)
	}
	names, err := after.ReadDir(board + "/archive")
	if err != nil || len(names) != 1 || !strings.HasPrefix(names[0], "torn-2026") {
		t.Fatalf("the archive has %v %v", names, err)
	}
}
