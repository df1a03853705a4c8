package view

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"orch/blackboard/crash"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// Defaults of Config.
const (
	DefaultEveryMS = 100
	DefaultQuietMS = 300
	DefaultLockMS  = 5000
)

// Locks, under run/.
const (
	dutyLockFile  = "view.lock"
	writeLockFile = "view-write.lock"
)

// Board is what a Keeper needs of a board. Of makes one of a *blackboard.Board.
type Board interface {
	// View calls f with the state caught up with the log.
	View(ctx context.Context, f func(State) error) error
	// StateAt folds the log up to a seq.
	StateAt(ctx context.Context, seq uint64) (State, error)
	// AppendFunc appends what f makes of the caught-up state, under the lock of
	// the log. An error of f is returned as it is.
	AppendFunc(ctx context.Context, f func(State) (message.Message, error)) (message.Message, error)
}

// Config says where a view is and how often it is written.
type Config struct {
	Dir     string // .orch
	FS      journal.FS
	Clock   journal.Clock
	Show    Options
	EveryMS int // least time between two writes of this process; 0 means DefaultEveryMS
	QuietMS int // age of a save before it is taken in; 0 means DefaultQuietMS
	// Program names the very program that runs; where it made the view on disk, what
	// has not changed is copied from that. Empty: nothing is.
	Program string
	LockMS  int // longest wait for another process that writes; 0 means DefaultLockMS
}

// Freshness says what an Offer or a Flush came to.
type Freshness struct {
	Written bool
	Again   time.Time // offer again then; zero if this process has nothing left to write
	ByOther bool      // another process keeps the view fresh
	Edited  bool      // a person's edit waits for Import; nothing is written before
	Renewed bool      // the view that was there had an older form
}

// Keeper keeps state.yaml fresh and takes edits of it in. Its methods may be
// called at any time from any goroutine, but not from inside the board's View
// or AppendFunc.
type Keeper struct {
	c     Config
	files files

	mu       sync.Mutex
	renderer *Renderer
	duty     journal.Lock // nil while not held
	last     time.Time    // of the last write
	rest     rest
	recalled bool // whether the blocks of the view on disk were looked for
}

// NewKeeper returns a Keeper. It touches nothing before it is used.
func NewKeeper(c Config) *Keeper {
	for _, d := range []struct {
		value *int
		def   int
	}{{&c.EveryMS, DefaultEveryMS}, {&c.QuietMS, DefaultQuietMS}, {&c.LockMS, DefaultLockMS}} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
	return &Keeper{c: c, files: files{fs: c.FS, dir: c.Dir}, renderer: NewRenderer(c.Show)}
}

// Path is where the view is.
func (k *Keeper) Path() string { return k.files.path() }

// Offer writes the view if it is time and no other process has the duty to.
// Who gets the duty keeps it until Flush, and has to offer every advance.
func (k *Keeper) Offer(ctx context.Context, b Board) (Freshness, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ok, err := k.takeDuty(); err != nil || !ok {
		return Freshness{ByOther: err == nil}, err
	}
	every := time.Duration(k.c.EveryMS) * time.Millisecond
	if since := k.c.Clock.Now().Sub(k.last); since >= 0 && since < every {
		return Freshness{Again: k.last.Add(every)}, nil
	}
	if k.resting(ctx, b) {
		return Freshness{}, nil
	}
	out, _, err := k.refresh(ctx, b)
	return out, err
}

// Flush gives the duty up and leaves the view as fresh as the log, or in the
// hands of a process that has the duty and will see what this one appended.
func (k *Keeper) Flush(ctx context.Context, b Board) (Freshness, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		if ok, err := k.takeDuty(); err != nil || !ok {
			return Freshness{ByOther: err == nil}, err
		}
		out, shown, err := k.refresh(ctx, b)
		if derr := k.leaveDuty(); err == nil {
			err = derr
		}
		if err != nil || out.Edited {
			return out, err
		}
		// Who appended and flushed while the duty was held here left it to us:
		// only a look after giving it up is the last one.
		head, err := headOf(ctx, b)
		if err != nil || head <= shown {
			return out, err
		}
	}
}

func headOf(ctx context.Context, b Board) (seq uint64, err error) {
	err = b.View(ctx, func(s State) error {
		seq, _ = s.Head()
		return nil
	})
	return seq, err
}

// refresh writes the view of the board as it is now; shown is its seq.
func (k *Keeper) refresh(ctx context.Context, b Board) (out Freshness, shown uint64, err error) {
	unlock, err := k.lockWrite(ctx)
	if err != nil {
		return Freshness{}, 0, err
	}
	data, shown, err := k.render(ctx, b)
	if err != nil {
		return Freshness{}, 0, unlock(err)
	}
	k.rest = rest{seq: shown}
	out, err = k.put(data)
	k.last = k.c.Clock.Now()
	return out, shown, unlock(err)
}

func (k *Keeper) render(ctx context.Context, b Board) (data []byte, seq uint64, err error) {
	err = b.View(ctx, func(s State) error {
		seq, _ = s.Head()
		k.recall(s)
		data = k.renderer.Render(s)
		return nil
	})
	return data, seq, err
}

// put replaces the view by data, unless an edit is in the way. data was
// rendered after the write lock was taken, from a state caught up with the log,
// so it is no step back: every other writer had a turn, and a shorter log,
// before. A file that shows a later seq all the same is of a log that is gone.
func (k *Keeper) put(data []byte) (Freshness, error) {
	displaced, err := k.files.settle()
	if err != nil || displaced.edited() {
		return Freshness{Edited: err == nil}, err
	}
	now, err := k.files.read(k.files.path())
	if err != nil || now.edited() {
		return Freshness{Edited: err == nil}, err
	}
	if bytes.Equal(now.data, data) {
		k.settled(now)
		return Freshness{}, nil
	}
	displaced, err = k.files.replace(data)
	if err != nil || displaced.edited() {
		return Freshness{Written: err == nil, Edited: err == nil}, err
	}
	k.remember(data)
	return Freshness{Written: true, Renewed: olderForm(displaced.data)}, k.files.drop(k.files.swap())
}

func (k *Keeper) takeDuty() (bool, error) {
	if k.duty != nil {
		return true, nil
	}
	lock, err := k.newLock(dutyLockFile)
	if err != nil {
		return false, err
	}
	ok, err := lock.TryLock()
	if err != nil {
		return false, fmt.Errorf("take the duty for the view: %w", err)
	}
	if ok {
		k.duty = lock
	}
	return ok, nil
}

func (k *Keeper) leaveDuty() error {
	if k.duty == nil {
		return nil
	}
	lock := k.duty
	k.duty = nil
	if err := lock.Unlock(); err != nil {
		return fmt.Errorf("leave the duty for the view: %w", err)
	}
	return nil
}

func (k *Keeper) newLock(name string) (journal.Lock, error) {
	dir := filepath.Join(k.c.Dir, "run")
	if err := k.c.FS.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	return k.c.FS.NewLock(filepath.Join(dir, name)), nil
}

// lockWrite waits for its turn to change the files. unlock ends it and returns
// the error it was given, or its own.
func (k *Keeper) lockWrite(ctx context.Context) (unlock func(error) error, err error) {
	lock, err := k.newLock(writeLockFile)
	if err != nil {
		return nil, err
	}
	wait := time.Duration(k.c.LockMS) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got := make(chan error)
	crash.Go(func() {
		err := lock.Lock()
		select {
		case got <- err:
		case <-ctx.Done():
			if err == nil { // too late: nobody waits for it any more
				_ = lock.Unlock()
			}
		}
	})
	select {
	case err = <-got:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("wait at most %s for a turn to write the view: %w", wait, err)
	}
	return func(err error) error {
		if uerr := lock.Unlock(); err == nil && uerr != nil {
			return fmt.Errorf("end the turn to write the view: %w", uerr)
		}
		return err
	}, nil
}
