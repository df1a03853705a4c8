package journal

import (
	"fmt"
	"io/fs"
	"os"

	"orch/blackboard/crash"

	"github.com/fsnotify/fsnotify"
)

// OSFS is the file system of the machine.
type OSFS struct{}

var (
	_ FS       = OSFS{}
	_ Notifier = OSFS{}
)

// OpenFile is os.OpenFile; children do not inherit the file. What is no ordinary
// file is refused: a fifo in its place would be waited for.
func (OSFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return openOSFile(name, flag, perm)
}

// Stat is os.Stat.
func (OSFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SameFile is os.SameFile.
func (OSFS) SameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) }

// ReadDir lists the names in a directory, sorted.
func (OSFS) ReadDir(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}

// MkdirAll is os.MkdirAll.
func (OSFS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

// Rename is os.Rename.
func (OSFS) Rename(from, to string) error { return os.Rename(from, to) }

// Link is os.Link.
func (OSFS) Link(from, to string) error { return os.Link(from, to) }

// Remove is os.Remove.
func (OSFS) Remove(name string) error { return os.Remove(name) }

// NewLock returns a lock on the file name, which is created if it is missing
// and never removed.
func (OSFS) NewLock(name string) Lock { return &fileLock{name: name} }

// Notify signals changes of names and contents directly in dir.
func (OSFS) Notify(dir string) (<-chan struct{}, func(), error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	if err := watcher.Add(dir); err != nil {
		_ = watcher.Close()
		return nil, nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	hints := make(chan struct{}, 1)
	done := make(chan struct{})
	crash.Go(func() {
		defer close(done)
		for {
			select {
			case _, ok := <-watcher.Events:
				if !ok {
					return
				}
			case _, ok := <-watcher.Errors: // an overflow is a hint too
				if !ok {
					return
				}
			}
			select {
			case hints <- struct{}{}:
			default: // one pending signal says it all
			}
		}
	})
	stop := func() {
		_ = watcher.Close()
		<-done
	}
	return hints, stop, nil
}
