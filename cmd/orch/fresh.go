package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/journal"
	"orch/blackboard/plainfile"
	"orch/blackboard/view"
)

// freshView keeps state.yaml as fresh as the log, for a process that writes to
// the board: whoever does, and whatever drives it. A moment after a message it
// shows what the log says, and again before the board closes. Where another
// process has the duty to, that is one look at a lock.
type freshView struct {
	a *app

	mu    sync.Mutex
	timer *time.Timer // nil while nothing new is to be shown
	off   bool

	showing sync.Mutex // held while the view is written; taken before mu, never after
	keeper  *view.Keeper
}

// showAfterMS is how long after a message the view is written, unless the
// process ends before.
const showAfterMS = view.DefaultEveryMS

// appended has the view written soon.
func (f *freshView) appended(b *blackboard.Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.off || f.timer != nil {
		return
	}
	f.timer = time.AfterFunc(showAfterMS*time.Millisecond, crash.Safe(func() {
		f.showing.Lock()
		defer f.showing.Unlock()
		f.mu.Lock()
		off := f.off
		f.timer = nil // what is said from here on is shown next time
		f.mu.Unlock()
		if !off {
			f.show(b)
		}
	}))
}

// closing has the view written for the last time.
func (f *freshView) closing(b *blackboard.Board) {
	if f.stop() {
		f.showing.Lock()
		defer f.showing.Unlock()
		f.show(b)
	}
}

// stop leaves the view to others in this process; false if it was so already.
// Afterwards nothing is going on.
func (f *freshView) stop() bool {
	f.mu.Lock()
	was := f.off
	f.off = true
	if f.timer != nil {
		f.timer.Stop()
	}
	f.mu.Unlock()
	f.showing.Lock() // until what is going on has ended
	defer f.showing.Unlock()
	return !was
}

// show writes the view, unless an edit of it waits: that is for a person's
// command, or a run, to take in.
func (f *freshView) show(b *blackboard.Board) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var err error
	if f.keeper == nil {
		f.keeper, err = f.a.newKeeperOfView(b)
	}
	var out view.Freshness
	if err == nil {
		out, err = f.keeper.Flush(ctx, view.Of(b))
	}
	if err != nil {
		f.a.warn(fmt.Errorf("keep state.yaml fresh: %w", err))
	}
	f.a.sayRenewed(out)
}

// sayRenewed tells a person that the view looks different from now on.
func (a *app) sayRenewed(out view.Freshness) {
	if out.Renewed && !a.asJSON {
		a.note("state.yaml has a new form: tasks stand under their slots, and what changes all the time is at its end")
	}
}

func (a *app) newKeeperOfView(b *blackboard.Board) (*view.Keeper, error) {
	if a.maxTasks.Load() == 0 {
		if _, err := a.config(b.Root()); err != nil {
			return nil, err
		}
	}
	show := view.Options{MaxTasks: int(a.maxTasks.Load())}
	return view.NewKeeper(view.Config{Dir: b.Dir(), FS: journal.OSFS{}, Clock: journal.SystemClock{}, Program: thisBuild(), Show: show}), nil
}

// bringUpToDate writes the view for a command that only reads, if it is missing,
// older than the log or of an older form. Where nothing may be written, or the
// view cannot be, that is no fault of reading.
func (a *app) bringUpToDate(ctx context.Context, b *blackboard.Board) {
	head, err := headOf(ctx, b)
	if err != nil {
		return
	}
	raw, err := plainfile.Read(viewPath(b))
	switch {
	case err == nil && !view.Stale(raw, head), err != nil && !errors.Is(err, os.ErrNotExist):
		return
	}
	keeper, err := a.newKeeperOfView(b)
	if err != nil {
		return
	}
	if out, err := keeper.Flush(ctx, view.Of(b)); err == nil {
		a.sayRenewed(out)
	}
}

func viewPath(b *blackboard.Board) string {
	return view.NewKeeper(view.Config{Dir: b.Dir(), FS: journal.OSFS{}, Clock: journal.SystemClock{}}).Path()
}

// thisBuild tells the program from any other build of it; empty if that is not known.
func thisBuild() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
}
