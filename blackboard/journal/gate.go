package journal

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"orch/blackboard/crash"
)

// gate lets one goroutine of one process through at a time: a mutex for ours, an
// advisory file lock for the others.
type gate struct {
	fsys    FS
	path    string
	timeout time.Duration
	turn    chan struct{} // holds one token while a goroutine of ours is inside
	idle    func()        // useful work for who has the turn and waits for the lock
	lock    Lock          // belongs to who has the turn
	closed  atomic.Bool   // the last one out drops the lock
}

func newGate(fsys FS, path string, timeout time.Duration, idle func()) *gate {
	return &gate{fsys: fsys, path: path, timeout: timeout, idle: idle, turn: make(chan struct{}, 1)}
}

// enter waits for its turn, at most for the timeout, and returns what ends it.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case g.turn <- struct{}{}:
	default:
		timer := time.NewTimer(g.timeout)
		defer timer.Stop()
		select {
		case g.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			return nil, &LockTimeoutError{Path: g.path, Waited: g.timeout}
		}
	}
	if err := g.take(ctx); err != nil {
		<-g.turn
		return nil, err
	}
	return func() {
		if g.lock.Unlock() != nil { // then closing it must do
			g.drop()
		}
		<-g.turn
		if g.closed.Load() {
			g.close()
		}
	}, nil
}

// briefTries is how often take looks again before it waits for good. A holder
// mostly needs less time than it takes to put a waiter to sleep and wake it, which
// on few cores decides how many appends there are in a second. Together the tries
// take a few milliseconds: who polls for longer starves.
const briefTries = 50

// take gets the file lock.
func (g *gate) take(ctx context.Context) error {
	if g.lock == nil {
		g.lock = g.fsys.NewLock(g.path)
	}
	held, err := g.lock.TryLock()
	for n := 0; n < briefTries && !held && err == nil; n++ {
		if n == 0 {
			g.idle()
		}
		pause(n)
		held, err = g.lock.TryLock()
	}
	if err == nil && !held {
		err = g.wait(ctx)
	}
	var late *LockTimeoutError
	if err == nil || ctx.Err() != nil || errors.As(err, &late) {
		return err
	}
	g.drop()
	return storageError("lock", g.path, err)
}

// wait blocks for the lock. If it gives up first, the winner that comes too late
// unlocks again; the gate gets another Lock next time.
func (g *gate) wait(ctx context.Context) error {
	lock := g.lock
	won := make(chan error, 1)
	crash.Go(func() { won <- lock.Lock() })
	timer := time.NewTimer(g.timeout)
	defer timer.Stop()
	var gaveUp error
	select {
	case err := <-won:
		return err
	case <-ctx.Done():
		gaveUp = ctx.Err()
	case <-timer.C:
		gaveUp = &LockTimeoutError{Path: g.path, Waited: g.timeout}
	}
	g.lock = nil
	lock.Abandon()
	crash.Go(func() {
		<-won
		_ = lock.Close()
	})
	return gaveUp
}

func (g *gate) drop() {
	if g.lock != nil {
		_ = g.lock.Close() // whether it works or not, it is not ours any more
		g.lock = nil
	}
}

// close gives back the descriptor, at once or when whoever is inside leaves.
func (g *gate) close() {
	g.closed.Store(true)
	select {
	case g.turn <- struct{}{}:
		g.drop()
		<-g.turn
	default: // the one inside will see that it is closed
	}
}
