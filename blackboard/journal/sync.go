package journal

import (
	"context"
	"errors"
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

// syncTo makes everything up to seq, which this process has seen in the log,
// durable. One goroutine syncs at a time; those who waited for their turn
// meanwhile mostly find their record covered, and leave. Between processes the
// system merges the flushes: nothing here makes one process wait for another.
func (j *Journal) syncTo(ctx context.Context, seq uint64) error {
	select {
	case j.syncing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-j.syncing }()
	return j.flush(seq)
}

// flush syncs the live file. Older segments are durable already: a file is synced
// before it is closed. If somebody closed ours a moment ago, syncing it once more
// does no harm.
func (j *Journal) flush(seq uint64) error {
	seg, head, err := j.holdLive(seq)
	if err != nil || seg == nil {
		return err
	}
	defer j.letGo(seg)
	if err := seg.file.Sync(); err != nil {
		return j.syncFailed(err)
	}
	// Whoever installed this file may have died before its name was durable.
	if !seg.named {
		if err := j.fsys.SyncDir(j.dir); err != nil {
			return j.syncFailed(err)
		}
	}
	// A failed sync tells only those who had the file open; so look who was told.
	if err := j.checkPoisonFile(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.poison != "" && seg == j.live {
		return &PoisonedError{Reason: j.poison}
	}
	seg.named = true
	j.durable = max(j.durable, head.Seq)
	if head.Seq > j.synced.Seq {
		j.synced = head
	}
	return storageError("note the durable head", j.headPath, j.writeHead(head))
}

func (j *Journal) syncFailed(cause error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.poisonBySync(cause)
}

// poisonBySync makes a failed sync final: pages may be lost that count as clean
// now, so a second sync could succeed and mean nothing. mu must be held.
func (j *Journal) poisonBySync(cause error) error {
	return errors.Join(j.setPoison(fmt.Sprintf("a sync failed: %v", cause)), cause)
}

// holdLive returns the live file and the last record known to be in it; the file
// stays open until it is let go. It returns nil if seq is durable already.
func (j *Journal) holdLive(seq uint64) (*segment, Head, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return nil, Head{}, ErrClosed
	case seq <= j.durable:
		return nil, Head{}, nil
	case j.poison != "":
		return nil, Head{}, &PoisonedError{Reason: j.poison}
	}
	j.live.users++
	return j.live, j.head, nil
}

func (j *Journal) letGo(seg *segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	seg.release()
}
