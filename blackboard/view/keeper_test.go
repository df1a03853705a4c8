package view

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orch/blackboard"
	"orch/blackboard/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noExchange is the real file system as systems without an exchange have it.
type noExchange struct{ journal.OSFS }

func (noExchange) Exchange(string, string) error { return errors.ErrUnsupported }

// bothWays runs a test with and without the exchange.
func bothWays(t *testing.T, f func(t *testing.T, fsys journal.FS)) {
	t.Run("exchange", func(t *testing.T) { f(t, journal.OSFS{}) })
	t.Run("move aside", func(t *testing.T) { f(t, noExchange{}) })
}

func TestFlushWritesAndRestores(t *testing.T) {
	bothWays(t, func(t *testing.T, fsys journal.FS) {
		d := newDesk(t, fsys, twoTasks())
		if out := d.flush(); !out.Written {
			t.Errorf("first flush: %+v", out)
		}
		d.wantFresh()
		if out := d.flush(); out.Written {
			t.Errorf("nothing changed, it wrote again: %+v", out)
		}
		d.board.advance(func(s *fakeState) { s.tasks[0].Status = blackboard.Claimed })
		d.flush()
		d.wantFresh()
		before := d.file()
		if err := os.Remove(filepath.Join(d.dir, "state.yaml")); err != nil {
			t.Fatal(err)
		}
		d.flush()
		if d.file() != before {
			t.Error("a deleted view did not come back byte for byte")
		}
	})
}

func TestOfferWritesAtMostEvery100MS(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	offer := func() Freshness {
		t.Helper()
		out, err := d.k.Offer(t.Context(), d.board)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := offer(); !out.Written {
		t.Fatalf("the first offer was not written: %+v", out)
	}
	for range 3 {
		d.board.advance(nil)
		d.clock.pass(30 * time.Millisecond)
		out := offer()
		if out.Written || !out.Again.Equal(d.k.last.Add(100*time.Millisecond)) {
			t.Fatalf("an offer within 100 ms: %+v", out)
		}
	}
	d.clock.pass(10 * time.Millisecond)
	if out := offer(); !out.Written || !out.Again.IsZero() {
		t.Fatalf("an offer after 100 ms: %+v", out)
	}
	d.wantFresh()
	d.clock.pass(-time.Hour)
	d.board.advance(nil)
	if out := offer(); !out.Written {
		t.Errorf("after the clock jumped back: %+v", out)
	}
	d.flush()
}

// Who has the duty writes; an exiting process leaves it to them, and takes it
// over from one that is gone.
func TestTheDutyIsOnesAtATime(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	if _, err := d.k.Offer(t.Context(), d.board); err != nil {
		t.Fatal(err)
	}
	other := d.keeper()
	d.board.advance(nil)
	out, err := other.Flush(t.Context(), d.board)
	if err != nil || !out.ByOther || out.Written {
		t.Fatalf("flush while another has the duty: %+v, %v", out, err)
	}
	d.flush() // gives the duty up, and shows what the other left
	d.wantFresh()
	d.board.advance(nil)
	out, err = other.Offer(t.Context(), d.board)
	if err != nil || !out.Written {
		t.Fatalf("offer after the duty was given up: %+v, %v", out, err)
	}
	d.wantFresh()
	if _, err := other.Flush(t.Context(), d.board); err != nil {
		t.Fatal(err)
	}
}

// meddler appends a message and flushes through another keeper while the first
// is writing, as a step does that ends just then.
type meddler struct {
	*fakeBoard
	t     *testing.T
	other *Keeper
	left  int
}

func (m *meddler) View(ctx context.Context, f func(State) error) error {
	if err := m.fakeBoard.View(ctx, f); err != nil {
		return err
	}
	if m.left == 0 {
		return nil
	}
	m.left--
	m.advance(nil)
	out, err := m.other.Flush(ctx, m.fakeBoard)
	if err == nil && !out.ByOther && !out.Written {
		m.t.Errorf("the other flush neither wrote nor left it: %+v", out)
	}
	return err
}

func TestNoMessageFallsBetweenTwoFlushes(t *testing.T) {
	for left := range 6 {
		d := newDesk(t, journal.OSFS{}, twoTasks())
		b := &meddler{fakeBoard: d.board, t: t, other: d.keeper(), left: left}
		if _, err := d.k.Flush(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		d.wantFresh()
	}
}

func TestSeveralKeepersNeverGoBack(t *testing.T) {
	bothWays(t, func(t *testing.T, fsys journal.FS) {
		d := newDesk(t, fsys, twoTasks())
		d.flush()
		stop := make(chan struct{})
		var watcher, writers sync.WaitGroup
		watcher.Go(func() {
			last := uint64(0)
			for {
				data, _, err := readFile(journal.OSFS{}, d.k.Path())
				if err == nil {
					seq, ok := SeqOf(data)
					if !ok || !Sealed(data) || seq < last {
						t.Errorf("seq %d after %d, whole: %v", seq, last, Sealed(data))
						return
					}
					last = seq
				} else if _, moved := fsys.(noExchange); !moved {
					t.Errorf("there was no view for a moment: %v", err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
		for range 4 {
			writers.Go(func() {
				k := d.keeper()
				for range 25 {
					d.board.advance(nil)
					if _, err := k.Flush(t.Context(), d.board); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		close(stop)
		watcher.Wait()
		d.wantFresh()
		if got := d.board.now().seq; got != 101 {
			t.Errorf("seq %d", got)
		}
	})
}

func TestAStuckWriterIsNotWaitedForForever(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	d.flush()
	stuck := journal.OSFS{}.NewLock(filepath.Join(d.dir, "run", writeLockFile))
	if err := stuck.Lock(); err != nil {
		t.Fatal(err)
	}
	k := NewKeeper(Config{Dir: d.dir, FS: d.fs, Clock: d.clock, LockMS: 20})
	_, err := k.Flush(t.Context(), d.board)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := stuck.Unlock(); err != nil {
		t.Fatal(err)
	}
	patient := NewKeeper(Config{Dir: d.dir, FS: d.fs, Clock: d.clock, LockMS: 120_000})
	if _, err := patient.Flush(t.Context(), d.board); err != nil {
		t.Errorf("after the writer went on: %v", err)
	}
}

// A view with a later seq than the log has is of a log that is gone, as after a
// restore or from another clone.
func TestAViewOfAnotherLogIsReplaced(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	foreign := twoTasks()
	foreign.seq = 900
	d.save(string(Render(foreign, Options{})))
	d.flush()
	d.wantFresh()
}

func TestAnEmptyFileIsNoEdit(t *testing.T) {
	for _, content := range []string{"", "\n \n", "\x00\x00\x00"} {
		d := newDesk(t, journal.OSFS{}, twoTasks())
		d.save(content)
		if res := d.importOnce(); res.Status != Restored || res.Kept != "" {
			t.Errorf("%q: %+v", content, res)
		}
		d.wantFresh()
	}
}

// A board and a file that do not move are not rendered and read again.
func TestAnUnmovedViewIsLeftAlone(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	offer := func() Freshness {
		t.Helper()
		d.clock.pass(time.Second)
		out, err := d.k.Offer(t.Context(), d.board)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	rendered := func() bool { // whether the last offer rendered
		before := d.k.renderer.round
		out := offer()
		if out.Written {
			t.Errorf("nothing changed, it wrote: %+v", out)
		}
		return d.k.renderer.round > before
	}
	offer()
	path := filepath.Join(d.dir, "state.yaml")
	long := d.clock.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	if !rendered() {
		t.Error("a file with another time was not compared")
	}
	if rendered() {
		t.Error("an unmoved view was rendered again")
	}
	d.board.advance(nil)
	if out := offer(); !out.Written {
		t.Errorf("the board moved: %+v", out)
	}
	d.wantFresh()
	if err := os.Chtimes(path, d.clock.Now(), d.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if !rendered() || !rendered() {
		t.Error("a file that was just saved was taken for known")
	}
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	if !rendered() || rendered() {
		t.Error("it did not come to rest")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, "# mine\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := offer(); !out.Edited {
		t.Errorf("an edit was not seen: %+v", out)
	}
}
