package blackboard

import (
	"context"
	"fmt"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// Rotate closes the live segment of the log and begins another, if it is long
// enough; see Options.RotateBytes. The new segment begins with a LogRotated that
// names a checkpoint in the archive, so that it can be opened without the old
// one. Appends see to it by themselves.
func (b *Board) Rotate(ctx context.Context) (rotated bool, err error) {
	if b.opts.ReadOnly {
		return false, ErrReadOnly
	}
	size := b.stateBytes()
	var id checkpoint.ID
	r, rotated, err := b.log.Rotate(ctx, size, func(t journal.Tail) (journal.Draft, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := b.catchUp(t); err != nil {
			return journal.Draft{}, err
		}
		var err error
		if id, err = b.archiveCheckpoint(); err != nil {
			return journal.Draft{}, err
		}
		return rotationDraft(t, id, b.opts.Identity.Agent)
	})
	if err != nil || !rotated {
		return false, err
	}
	b.cacheArchived(id, r.Seq-1)
	return true, b.rebase(b.archivePath(id))
}

// cacheArchived has the checkpoint in the archive serve the cache as well,
// unless somebody writes there now; without it the archive does.
func (b *Board) cacheArchived(id checkpoint.ID, seq uint64) {
	lock := b.opts.FS.NewLock(b.path(RunDir, writeLockName))
	defer func() { _ = lock.Close() }() // the system unlocks a closed file anyway
	if held, err := lock.TryLock(); err != nil || !held {
		return
	}
	if err := b.opts.FS.Link(b.archivePath(id), b.path(CacheDir, cacheName(seq))); err == nil {
		b.prune(seq)
	}
}

// stateBytes is the size of the newest checkpoint.
func (b *Board) stateBytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return 0
	}
	return b.file.Bytes()
}

func (b *Board) archivePath(id checkpoint.ID) string {
	return b.path(ArchiveDir, archivePrefix+string(id))
}

// archiveCheckpoint writes the state into the archive, durably, under the name
// of its content. b.mu must be held, and the log's lock.
func (b *Board) archiveCheckpoint() (checkpoint.ID, error) {
	id, err := b.writeCheckpoint(b.state, b.path(ArchiveDir, archiveTemp), b.archivePath)
	if err != nil {
		return "", fmt.Errorf("rotate the log: %w", err)
	}
	return id, nil
}

func rotationDraft(t journal.Tail, id checkpoint.ID, agent message.AgentID) (journal.Draft, error) {
	body := message.LogRotated{Segment: t.Segment(), Checkpoint: string(id), UpToSeq: t.Head().Seq}
	payload, err := message.Encode(body)
	if err != nil {
		return journal.Draft{}, err
	}
	return journal.Draft{
		From: string(message.Board), To: string(message.All), Type: string(body.Type()), Agent: string(agent), Door: string(message.DoorBoard), Payload: payload,
	}, nil
}
