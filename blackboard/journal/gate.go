package journal

import (
	"context"
	"errors"
	"time"
)

// gate lets one goroutine of one process through at a time: a mutex for ours, an
// advisory file lock for the others.
type gate struct {
	fsys    FS
	path    string
	timeout time.Duration
	turn    chan struct{} // holds one token while a goroutine of ours is inside
}

func newGate(fsys FS, path string, timeout time.Duration) *gate {
	return &gate{fsys: fsys, path: path, timeout: timeout, turn: make(chan struct{}, 1)}
}

// enter waits for its turn, at most for the timeout, and returns what ends it.
// The wait for the file lock is a blocking one: polling starves.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	deadline := newLazyTimer(g.timeout)
	defer deadline.stop()
	select {
	case g.turn <- struct{}{}:
	default:
		select {
		case g.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline.after():
			return nil, &LockTimeoutError{Path: g.path, Waited: g.timeout}
		}
	}
	lock := g.fsys.NewLock(g.path)
	held, err := lock.TryLock()
	if err == nil && !held {
		err = g.wait(ctx, lock, deadline)
	}
	if err != nil {
		<-g.turn
		if ctx.Err() != nil || errors.As(err, new(*LockTimeoutError)) {
			return nil, err
		}
		return nil, storageError("lock", g.path, err)
	}
	return func() {
		_ = lock.Unlock() // the descriptor is closed either way, which unlocks
		<-g.turn
	}, nil
}

// wait blocks for the lock. If it gives up first, the winner that comes too late
// unlocks again.
func (g *gate) wait(ctx context.Context, lock Lock, deadline *lazyTimer) error {
	won := make(chan error, 1)
	go func() { won <- lock.Lock() }()
	var gaveUp error
	select {
	case err := <-won:
		return err
	case <-ctx.Done():
		gaveUp = ctx.Err()
	case <-deadline.after():
		gaveUp = &LockTimeoutError{Path: g.path, Waited: g.timeout}
	}
	go func() {
		if err := <-won; err == nil {
			_ = lock.Unlock()
		}
	}()
	return gaveUp
}

// lazyTimer is a timer that starts when it is first waited for, since hardly any
// turn has to be waited for.
type lazyTimer struct {
	duration time.Duration
	timer    *time.Timer
}

func newLazyTimer(d time.Duration) *lazyTimer { return &lazyTimer{duration: d} }

func (t *lazyTimer) after() <-chan time.Time {
	if t.timer == nil {
		t.timer = time.NewTimer(t.duration)
	}
	return t.timer.C
}

func (t *lazyTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}
