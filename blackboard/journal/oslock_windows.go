package journal

import "github.com/gofrs/flock"

// fileLock is an advisory lock by LockFileEx, which here is a mandatory one.
type fileLock struct {
	name string
	held *flock.Flock
}

func (l *fileLock) Lock() error {
	l.held = flock.New(l.name)
	return l.held.Lock()
}

func (l *fileLock) TryLock() (bool, error) {
	l.held = flock.New(l.name)
	return l.held.TryLock()
}

func (l *fileLock) Unlock() error {
	if l.held == nil {
		return nil
	}
	return l.held.Unlock()
}

func (l *fileLock) Close() error { return l.Unlock() }

// Abandon has nothing to do: a file that somebody waits for cannot be removed.
func (l *fileLock) Abandon() {}
