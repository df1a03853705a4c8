package journal

import (
	"context"
	"fmt"
)

// Barrier returns once everything up to seq is durable; see Log.
func (j *Journal) Barrier(ctx context.Context, seq uint64) error {
	j.mu.Lock()
	if seq <= j.durable {
		defer j.mu.Unlock()
		if j.closed {
			return ErrClosed
		}
		return nil
	}
	_, err := j.refresh()
	head := j.head
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if seq > head.Seq {
		return fmt.Errorf("wait until message %d is durable: the log ends at %d", seq, head.Seq)
	}
	return j.syncTo(ctx, seq)
}

// syncTo makes everything up to seq durable. One goroutine of one process syncs
// at a time, and notes in run/head how far it got; those who waited for their
// turn meanwhile mostly find their own record covered, and leave. So writers
// share flushes, and nobody acknowledges anything while somebody else is finding
// out that a sync has failed.
func (j *Journal) syncTo(ctx context.Context, seq uint64) error {
	if j.isDurable(seq) {
		return nil
	}
	if err := j.makeRunDir(); err != nil {
		return err
	}
	leave, err := j.syncing.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := j.checkPoisonFile(); err != nil {
		return err
	}
	if j.isDurable(seq) {
		return nil
	}
	if noted := j.readHead(); noted.Seq >= seq {
		j.setDurable(noted.Seq)
		return nil
	}
	return j.flush(seq)
}

// flush syncs the live file with run/sync.lock held. Rotation takes that lock as
// well, and syncs a file before it closes it; so syncing the live one is enough.
func (j *Journal) flush(seq uint64) error {
	seg, head, err := j.holdLive()
	if err != nil {
		return err
	}
	defer j.letGo(seg)
	if head.Seq < seq {
		return &WentBackwardsError{Source: "this process", Noted: Head{Seq: seq}, Found: head}
	}
	noted := j.readHead()
	if err := seg.file.Sync(); err != nil {
		return j.syncFailed(err)
	}
	// Whoever installed this file may have died before its name was durable.
	if noted.Seq < seg.first.Seq {
		if err := j.fsys.SyncDir(j.dir); err != nil {
			return j.syncFailed(err)
		}
	}
	if err := j.writeHead(head); err != nil {
		return storageError("note the durable head", j.path(runName, headName), err)
	}
	j.setDurable(head.Seq)
	return nil
}

// syncFailed makes a failed sync final: pages may be lost that count as clean
// now, so a second sync could succeed and mean nothing.
func (j *Journal) syncFailed(cause error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.setPoison(fmt.Sprintf("a sync failed: %v", cause))
}

// holdLive returns the live file as it is now, and its head. It stays open until
// it is let go.
func (j *Journal) holdLive() (*segment, Head, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.refresh(); err != nil {
		return nil, Head{}, err
	}
	j.live.users++
	return j.live, j.head, nil
}

func (j *Journal) letGo(seg *segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	seg.release()
}

func (j *Journal) isDurable(seq uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return seq <= j.durable
}

func (j *Journal) setDurable(seq uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.durable = max(j.durable, seq)
}
