package view

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
)

const noNotes = "    intent: do A-1\n    priority: 100\n    human_notes: []\n"

func TestImport(t *testing.T) {
	bothWays(t, func(t *testing.T, fsys journal.FS) {
		for name, c := range map[string]struct {
			old, new string
			want     []string // task field old → new
		}{
			"priority":     {"do A-1\n    priority: 100", "do A-1\n    priority: 7", []string{"A-1 priority 100 → 7"}},
			"note added":   {"      - asked Ann\n", "      - asked Ann\n      - 'she says: 8080'\n", []string{`B-2 human_notes ["asked Ann"] → ["asked Ann","she says: 8080"]`}},
			"note removed": {"human_notes:\n      - asked Ann\n", "human_notes: []\n", []string{`B-2 human_notes ["asked Ann"] → []`}},
			"note nulled":  {"human_notes:\n      - asked Ann\n", "human_notes:\n", []string{`B-2 human_notes ["asked Ann"] → []`}},
			"first note":   {noNotes, noNotes[:len(noNotes)-4] + "\n      - yes\n      - |\n        two\n        lines\n", []string{`A-1 human_notes [] → ["yes","two\nlines\n"]`}},
			"abandoned":    {"status: BLOCKED", "status: ABANDONED", []string{`B-2 status "BLOCKED" → "ABANDONED"`}},
			"two at once":  {"    status: BLOCKED\n    intent: do B-2\n    priority: 100", "    intent: do B-2\n    priority: 3\n    status: ABANDONED", []string{`B-2 priority 100 → 3`, `B-2 status "BLOCKED" → "ABANDONED"`}},
			"other quotes": {"    intent: do A-1", "    intent: 'do A-1'", nil},
			"line ends":    {"tasks:\n", "tasks:\r\n", nil},
		} {
			t.Run(name, func(t *testing.T) {
				d := newDesk(t, fsys, twoTasks())
				d.flush()
				d.edit(c.old, c.new)
				if out := d.flush(); !out.Edited || out.Written {
					t.Fatalf("flush over an edit: %+v", out)
				}
				res := d.importOnce()
				var got []string
				for _, e := range res.Edits {
					got = append(got, string(e.Task)+" "+e.Field+" "+string(e.Old)+" → "+string(e.New))
				}
				slices.Sort(got)
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q; %s", got, c.want, res.Why)
				}
				if want := map[bool]Status{true: Imported, false: Restored}[len(c.want) > 0]; res.Status != want || res.BaseSeq != 1 || res.Kept != "" {
					t.Errorf("got %+v", res)
				}
				d.wantFresh()
				if res := d.importOnce(); res.Status != Clean {
					t.Errorf("again: %+v", res)
				}
			})
		}
	})
}

func TestRefusedEdits(t *testing.T) {
	for name, c := range map[string]struct{ old, new, why string }{
		"intent":          {"intent: do A-1", "intent: do more", "line 15: tasks.A-1.intent: cannot be edited here; use: orch task edit A-1"},
		"status":          {"status: UNCLAIMED", "status: MERGED", `tasks.A-1.status: cannot go from UNCLAIMED to "MERGED" by hand; only BLOCKED to ABANDONED can`},
		"abandon":         {"status: UNCLAIMED", "status: ABANDONED", "only BLOCKED to ABANDONED can"},
		"priority word":   {noNotes, strings.Replace(noNotes, "100", "high", 1), "tasks.A-1.priority: is not a whole number"},
		"priority float":  {noNotes, strings.Replace(noNotes, "100", "1.5", 1), "is not a whole number"},
		"priority bounds": {noNotes, strings.Replace(noNotes, "100", "-1", 1), "is not a whole number from 0 to"},
		"note mapping":    {"- asked Ann", "- asked: Ann", "is not a text"},
		"note empty":      {"- asked Ann", "- asked Ann\n      -", "an entry is empty"},
		"notes text":      {"human_notes: []", "human_notes: hello", "is not a list"},
		"task added":      {"tasks:\n", "tasks:\n  N-1: {}\n", "tasks cannot be added here"},
		"task removed":    {"  A-1:\n    status: UNCLAIMED\n" + noNotes, "  x:\n", "was removed"},
		"key added":       {"    intent: do A-1\n", "    intent: do A-1\n    owner: me\n", "tasks.A-1.owner: is not a key of this file"},
		"key removed":     {"    intent: do A-1\n", "", "tasks.A-1.intent: was removed"},
		"twice":           {"    intent: do A-1\n", "    intent: do A-1\n    priority: 1\n", "the key is there twice"},
		"header":          {"format: 2", "format: 3", "format: cannot be edited here"},
		"seq":             {"seq: 1,", "seq: 99,", "seq: is \"99\", which is no message of the log; it ends at 1"},
		"no seq":          {"seq: 1, ", "", "does not say any more which seq"},
		"no YAML":         {"tasks:\n", "tasks: [\n", "this is no YAML"},
		"tabs":            {"    intent: do A-1", "\tintent: do A-1", "this is no YAML"},
		"alias":           {"intent: do A-1", "intent: &x do A-1\n    scope: *x", "aliases are not understood here"},
		"documents":       {"tasks:\n", "---\ntasks:\n", "more than one document"},
		"only a comment":  {"tasks:\n", "tasks: # please hurry\n", "comments are not kept in this file, write human_notes: please hurry"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, journal.OSFS{}, twoTasks())
			d.flush()
			mine := d.edit(c.old, c.new)
			res := d.importOnce()
			if res.Status != Refused || !strings.Contains(res.Why, c.why) {
				t.Fatalf("got %+v, want %q", res, c.why)
			}
			if kept, err := os.ReadFile(res.Kept); err != nil || string(kept) != mine {
				t.Errorf("what the person wrote is not in %q: %v", res.Kept, err)
			}
			if r := res.Refusal(); r.Why != res.Why || r.Kept != filepath.Base(res.Kept) || !strings.HasPrefix(r.Kept, "state.yaml.rejected-") {
				t.Errorf("the message to log is %+v", r)
			}
			if len(d.board.edits) > 0 {
				t.Errorf("a refused edit was appended: %+v", d.board.edits)
			}
			d.wantFresh()
		})
	}
}

func TestAnImportedEditWithACommentIsKeptAsWell(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	d.flush()
	mine := d.edit("status: BLOCKED", "status: ABANDONED # nobody needs it")
	res := d.importOnce()
	if res.Status != Imported || !strings.Contains(res.Why, "nobody needs it") || d.read(filepath.Base(res.Kept)) != mine {
		t.Errorf("got %+v", res)
	}
	d.wantFresh()
}

func TestAnEditIsMergedWithWhatHappenedSince(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	d.flush()
	d.edit("      - asked Ann\n", "      - mine\n")
	d.board.advance(func(s *fakeState) {
		s.tasks[1].HumanNotes = append(s.tasks[1].HumanNotes, "theirs")
		s.tasks[1].Priority = 5
		s.tasks = append(s.tasks, plainTask("C-3", blackboard.Unclaimed))
	})
	if res := d.importOnce(); res.Status != Imported || len(res.Edits) != 1 {
		t.Fatalf("got %+v", res)
	}
	if got := d.board.now().tasks[1].HumanNotes; !slices.Equal(got, []string{"theirs", "mine"}) {
		t.Errorf("notes are %q", got)
	}
	d.wantFresh()
}

func TestConflictsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		old, new, why string
		change        func(*fakeState)
	}{
		"priority": {"do B-2\n    priority: 100", "do B-2\n    priority: 1",
			"you changed it from 100 to 1, meanwhile it became 7", func(s *fakeState) { s.tasks[1].Priority = 7 }},
		"status": {"status: BLOCKED", "status: ABANDONED", "not BLOCKED any more but UNCLAIMED", func(s *fakeState) { s.tasks[1].Status = blackboard.Unclaimed }},
		"gone":   {"status: BLOCKED", "status: ABANDONED", "the task is gone meanwhile", func(s *fakeState) { s.tasks = s.tasks[:1] }},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, journal.OSFS{}, twoTasks())
			d.flush()
			mine := d.edit(c.old, c.new)
			d.board.advance(c.change)
			res := d.importOnce()
			if res.Status != Refused || !strings.Contains(res.Why, c.why) || d.read(filepath.Base(res.Kept)) != mine {
				t.Errorf("got %+v", res)
			}
			d.wantFresh()
		})
	}
}

func TestASaveIsTakenInAfter300MSOfQuiet(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	d.flush()
	d.edit("status: BLOCKED", "status: ABANDONED")
	saved := day(0)
	if err := os.Chtimes(d.k.Path(), saved, saved); err != nil {
		t.Fatal(err)
	}
	d.clock.t = saved.Add(299 * time.Millisecond)
	if res := d.importOnce(); res.Status != Waiting || !res.Until.Equal(saved.Add(300*time.Millisecond)) {
		t.Fatalf("after 299 ms: %+v", res)
	}
	d.clock.t = saved.Add(300 * time.Millisecond)
	if res := d.importOnce(); res.Status != Imported {
		t.Fatalf("after 300 ms: %+v", res)
	}
	d.edit("priority: 100", "priority: 5")
	if err := os.Chtimes(d.k.Path(), saved, saved); err != nil {
		t.Fatal(err)
	}
	d.clock.t = saved.Add(-time.Hour)
	if res := d.importOnce(); res.Status == Waiting {
		t.Errorf("it waits for a clock that jumped back: %+v", res)
	}
}

// If the append fails nothing is lost, and doing it again does it once.
func TestImportCanBeRepeated(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	d.flush()
	mine := d.edit("      - asked Ann\n", "      - asked Ann\n      - more\n")
	d.board.fail = errors.New("disk full")
	if _, err := d.k.Import(t.Context(), d.board); !errors.Is(err, d.board.fail) {
		t.Fatalf("got %v", err)
	}
	if d.file() != mine {
		t.Fatal("the edit is gone after a failed import")
	}
	d.board.fail = nil
	d.importOnce()
	d.save(mine) // the same buffer again, as an editor does that was not told
	if res := d.importOnce(); res.Status != Restored || len(d.board.edits) != 1 {
		t.Errorf("got %+v and %d messages", res, len(d.board.edits))
	}
	d.wantFresh()
}

func TestWhatTheBoardRefusesIsRefused(t *testing.T) {
	for _, refusal := range []error{
		&blackboard.RefusedError{Type: "HumanEdit", Why: "because"}, &journal.TooLongError{Bytes: 2 << 20},
		&blackboard.TransitionError{Task: "B-2", Type: "HumanEdit", From: blackboard.Merged},
	} {
		d := newDesk(t, journal.OSFS{}, twoTasks())
		d.flush()
		mine := d.edit("status: BLOCKED", "status: ABANDONED")
		d.board.fail = refusal
		if res := d.importOnce(); res.Status != Refused || res.Why != refusal.Error() || d.read(filepath.Base(res.Kept)) != mine {
			t.Errorf("got %+v", res)
		}
		d.wantFresh()
	}
}
