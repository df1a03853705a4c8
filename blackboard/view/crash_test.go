package view

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/internal/simfs"
	"orch/blackboard/journal"
)

// lateSaver saves between the check of the file and its replacement.
type lateSaver struct {
	journal.OSFS
	save func()
	with bool // exchange
}

func (l *lateSaver) Exchange(a, b string) error {
	if !l.with {
		return errors.ErrUnsupported
	}
	l.now()
	return osExchange(a, b)
}

func (l *lateSaver) now() {
	if save := l.save; save != nil {
		l.save = nil
		save()
	}
}

func (l *lateSaver) Rename(from, to string) error {
	if !l.with && strings.HasSuffix(to, ".swap") {
		l.now()
	}
	return l.OSFS.Rename(from, to)
}

func TestASaveJustBeforeTheReplacementIsFound(t *testing.T) {
	for _, with := range []bool{true, false} {
		for name, replaced := range map[string]bool{"in place": false, "by rename": true} {
			fsys := &lateSaver{with: with}
			d := newDesk(t, fsys, twoTasks())
			d.flush()
			d.board.advance(nil)
			text := strings.Replace(d.file(), "status: BLOCKED", "status: ABANDONED", 1)
			fsys.save = func() {
				if !replaced {
					d.save(text)
					return
				}
				temp := filepath.Join(d.dir, ".state.yaml.swp")
				if err := errors.Join(os.WriteFile(temp, []byte(text), 0o600), os.Rename(temp, d.k.Path())); err != nil {
					t.Error(err)
				}
			}
			if out := d.flush(); !out.Edited || fsys.save != nil {
				t.Fatalf("%s: the save was not found: %+v", name, out)
			}
			if out := d.flush(); !out.Edited || out.Written {
				t.Fatalf("%s: the edit was passed over: %+v", name, out)
			}
			if res := d.importOnce(); res.Status != Imported {
				t.Fatalf("%s: %+v", name, res)
			}
			d.wantFresh()
		}
	}
}

// A second save while the first is taken in is an edit of its own.
func TestASaveDuringImportIsFound(t *testing.T) {
	fsys := &lateSaver{with: true}
	d := newDesk(t, fsys, twoTasks())
	d.flush()
	mine := d.edit("status: BLOCKED", "status: ABANDONED")
	fsys.save = func() { d.save(strings.Replace(mine, "- asked Ann", "- asked Bob", 1)) }
	if res := d.importOnce(); res.Status != Imported {
		t.Fatalf("first: %+v", res)
	}
	if res := d.importOnce(); res.Status != Imported || res.Edits[0].Field != FieldHumanNotes {
		t.Fatalf("second: %+v", res)
	}
	d.wantFresh()
	if got := d.board.now().tasks[1]; got.Status != blackboard.Abandoned || !slices.Equal(got.HumanNotes, []string{"asked Bob"}) {
		t.Errorf("got %+v", got)
	}
}

// A power cut after any operation of a write and an import, whatever survives:
// the edit is in the log, in the view, or in a file that was kept.
func TestPowerCutsLoseNoEdit(t *testing.T) {
	t.Run("moved aside", func(t *testing.T) { powerCuts(t, func(f *simfs.FS) journal.FS { return f }) })
	t.Run("exchanged", func(t *testing.T) { powerCuts(t, func(f *simfs.FS) journal.FS { return exchanging{f} }) })
}

// exchanging is a simulated file system on which two names can trade places.
type exchanging struct{ *simfs.FS }

func (e exchanging) Exchange(a, b string) error { return e.Swap(a, b) }

func powerCuts(t *testing.T, as func(*simfs.FS) journal.FS) {
	for _, edit := range []string{"status: ABANDONED", "status: MERGED"} {
		whole := simfs.New()
		run := func(fsys *simfs.FS) (d *desk, mine string) {
			d = &desk{t: t, fs: as(fsys), dir: "/p/.orch", board: newBoard(twoTasks()), clock: newClock()}
			if err := fsys.MkdirAll(d.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"/", "/p"} {
				if err := fsys.SyncDir(dir); err != nil {
					t.Fatal(err)
				}
			}
			d.k = d.keeper()
			d.flush()
			mine = d.edit("status: BLOCKED", edit)
			return d, mine
		}
		d, _ := run(whole)
		from := len(whole.Trace())
		d.importOnce()
		d.flush()
		to := len(whole.Trace())
		for cut := from + 1; cut <= to; cut++ {
			for _, fate := range simfs.Fates() {
				fsys := simfs.New()
				d, mine := run(fsys)
				fsys.CrashAfter(cut)
				_, err := d.k.Import(t.Context(), d.board)
				if err == nil {
					_, err = d.k.Flush(t.Context(), d.board)
				}
				if !fsys.Crashed() {
					t.Fatalf("cut %d of %d never came: %v", cut, to, err)
				}
				d.fs = as(fsys.Crash(fate))
				d.k = d.keeper()
				wantNothingLost(t, d, mine, cut, fate)
			}
		}
	}
}

func wantNothingLost(t *testing.T, d *desk, mine string, cut int, fate simfs.Fate) {
	t.Helper()
	for range 4 {
		if d.importOnce().Status == Clean {
			break
		}
	}
	d.flush()
	d.wantFresh()
	if len(d.board.edits) > 1 {
		t.Fatalf("cut %d, %v: appended %d times", cut, fate, len(d.board.edits))
	}
	if len(d.board.edits) == 1 {
		return
	}
	for _, name := range d.leftovers() {
		if d.read(name) == mine {
			return
		}
	}
	t.Fatalf("cut %d, %v: the edit is lost; there is %v", cut, fate, d.leftovers())
}

// killed is the real file system of a process that is killed after some
// operations that change something.
type killed struct {
	journal.OSFS
	left int
}

var errKilled = errors.New("killed")

func (k *killed) spend() error {
	if k.left == 0 {
		return errKilled
	}
	k.left--
	return nil
}

func (k *killed) Exchange(a, b string) error {
	if err := k.spend(); err != nil {
		return err
	}
	return osExchange(a, b)
}

func (k *killed) Rename(a, b string) error {
	if err := k.spend(); err != nil {
		return err
	}
	return k.OSFS.Rename(a, b)
}

func (k *killed) Remove(a string) error {
	if err := k.spend(); err != nil {
		return err
	}
	return k.OSFS.Remove(a)
}

func (k *killed) OpenFile(name string, flag int, perm os.FileMode) (journal.File, error) {
	if flag != os.O_RDONLY {
		if err := k.spend(); err != nil {
			return nil, err
		}
	}
	return k.OSFS.OpenFile(name, flag, perm)
}

// The same with the exchange, and with a save in the middle: killed after any
// operation.
func TestKillsLoseNoEdit(t *testing.T) {
	for cut := range 12 {
		fsys := &killed{left: -1}
		d := newDesk(t, fsys, twoTasks())
		d.flush()
		mine := d.edit("status: BLOCKED", "status: MERGED")
		fsys.left = cut
		_, err := d.k.Import(t.Context(), d.board)
		if err == nil && cut < 4 {
			t.Fatalf("it did all with %d operations", cut)
		}
		if err := d.k.leaveDuty(); err != nil {
			t.Fatal(err)
		}
		d.fs = journal.OSFS{}
		d.k = d.keeper()
		wantNothingLost(t, d, mine, cut, simfs.Fate{})
	}
}
