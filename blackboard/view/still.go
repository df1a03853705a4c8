package view

import (
	"context"
	"io/fs"
	"time"
)

// racyAge is how old a save must be before the time of the file alone tells it
// from the next one: file systems count time in steps of up to two seconds.
const racyAge = 3 * time.Second

// rest is a view that was compared with the file, byte for byte: as long as
// neither the board nor the file moves there is nothing to do.
type rest struct {
	seq  uint64
	file fs.FileInfo // nil: the file has to be read
}

// settled notes that the file was just read, and is the view of seq.
func (k *Keeper) settled(now found) {
	k.rest.file = nil
	at := now.info.ModTime()
	if !at.IsZero() && k.c.Clock.Now().Sub(at) >= racyAge {
		k.rest.file = now.info
	}
}

// resting tells whether nothing has happened since settled. When in doubt it
// says no; then the file is read.
func (k *Keeper) resting(ctx context.Context, b Board) bool {
	if k.rest.file == nil {
		return false
	}
	now, err := k.c.FS.Stat(k.files.path())
	was := k.rest.file
	if err != nil || !k.c.FS.SameFile(now, was) || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
		return false
	}
	if there, err := exists(k.c.FS, k.files.swap()); err != nil || there {
		return false
	}
	head, err := headOf(ctx, b)
	return err == nil && head == k.rest.seq
}
