package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// stateFactor: a log is closed when it is that many times larger than the state
// it leads to, so that writing checkpoints stays a small part of all writing.
const stateFactor = 4

// WantsRotation says whether Rotate would do anything for a board whose
// checkpoint has stateBytes, as far as the log is known here: it does not look, so
// that it may be asked after every append.
func (j *Journal) WantsRotation(stateBytes int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.end >= j.rotateAt(stateBytes)
}

func (j *Journal) rotateAt(stateBytes int64) int64 {
	return max(j.opts.RotateBytes, stateFactor*stateBytes)
}

// Rotate closes the live file and starts another, if the live one is at least
// max(RotateBytes, 4 × stateBytes) long; otherwise, or if somebody else just did
// it, it returns false. The new file begins with the message that first makes,
// under the lock, of the caught-up log; what it names, a checkpoint of the state
// at Tail.Head, must be durable before first returns.
//
// A crash in between leaves the old file live or the new one, never neither.
func (j *Journal) Rotate(ctx context.Context, stateBytes int64, first func(Tail) (Draft, error)) (Record, bool, error) {
	leave, err := j.appending.enter(ctx)
	if err != nil {
		return Record{}, false, err
	}
	defer leave()
	if err := j.prepare(); err != nil {
		return Record{}, false, err
	}
	if !j.WantsRotation(stateBytes) {
		return Record{}, false, nil
	}
	t, err := j.tail()
	if err != nil {
		return Record{}, false, err
	}
	d, err := first(t)
	if err != nil {
		return Record{}, false, err
	}
	r, err := j.rotate(ctx, d)
	return r, err == nil, err
}

// rotate does the work with orch.lock held.
func (j *Journal) rotate(ctx context.Context, d Draft) (Record, error) {
	j.mu.Lock()
	head := j.head
	j.mu.Unlock()
	if err := j.syncTo(ctx, head.Seq); err != nil { // everything in the old file
		return Record{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return Record{}, ErrClosed
	}
	r, line, err := j.compose(d, head, j.lastTS, head.Seq)
	if err != nil {
		return Record{}, err
	}
	if err := j.makeArchive(); err != nil {
		return Record{}, err
	}
	if err := j.dropStaleLinks(j.live); err != nil {
		return Record{}, err
	}
	name := j.path(archiveName, archivedName(j.live.first.Seq, head.Seq))
	if err := j.keepOld(name); err != nil {
		return Record{}, storageError("close a segment", name, err)
	}
	// From here the old file has two names, until it loses the live one.
	if err := j.install(line); err != nil {
		return Record{}, storageError("start a segment", j.livePath, err)
	}
	if _, err := j.refresh(); err != nil {
		return Record{}, err
	}
	if err := j.writeHead(r.Head()); err != nil {
		return Record{}, storageError("note the durable head", j.headPath, err)
	}
	j.durable, j.synced, j.live.named = r.Seq, r.Head(), true
	return r, j.writeNote()
}

// keepOld gives the live file a durable name in the archive: a second name where
// the file system has such, a copy where it has not.
func (j *Journal) keepOld(name string) error {
	err := j.fsys.Link(j.livePath, name)
	if err == nil {
		return j.fsys.SyncDir(j.path(archiveName))
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	content, readErr := j.readAll(j.end)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	return WriteFileAtomic(j.fsys, name, content, filePerm)
}

// readAll returns the first size bytes of the live file.
func (j *Journal) readAll(size int64) ([]byte, error) {
	file, err := j.fsys.OpenFile(j.livePath, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content := make([]byte, size)
	if n, err := file.ReadAt(content, 0); int64(n) < size {
		return nil, fmt.Errorf("read %d of %d bytes: %w", n, size, errors.Join(err, io.ErrUnexpectedEOF))
	}
	return content, nil
}
