package blackboard

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orch/blackboard/checkpoint"
	"orch/blackboard/crash"
)

const (
	// foldVersion changes whenever the same messages make other records; then
	// checkpoints made before stand for nothing any more.
	foldVersion = 12

	cachePrefix   = "board-"
	archivePrefix = "checkpoint-"
	cacheTemp     = "board.tmp"
	archiveTemp   = "checkpoint.tmp"
	writeLockName = "checkpoint.lock"

	keptCheckpoints = 2 // in the cache: one may be in use by a process that is about to read on

	// A checkpoint is written again when more records than these lie over it: so
	// many cost each process after this one some 6 ms to fold. While a process adds
	// many, it is written when they are a part of it, or writing would have no end.
	tailRecords = 250
	tailShare   = 8
)

func cacheName(seq uint64) string { return fmt.Sprintf("%s%020d", cachePrefix, seq) }

func cacheSeq(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, cachePrefix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil
}

// cached lists the checkpoints in the cache, newest first.
func (b *Board) cached() []string {
	names, err := b.opts.FS.ReadDir(b.path(CacheDir))
	if err != nil {
		return nil // nothing there that could be used
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, ok := cacheSeq(name); return !ok })
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

// archived lists the checkpoints that rotations left, newest first. Their names
// are their ids, so their seqs have to be read.
func (b *Board) archived() []string {
	names, err := b.opts.FS.ReadDir(b.path(ArchiveDir))
	if err != nil {
		return nil
	}
	seqs := map[string]uint64{}
	for _, name := range names {
		if !strings.HasPrefix(name, archivePrefix) || name == archiveTemp {
			continue
		}
		file, err := b.openCheckpoint(b.path(ArchiveDir, name))
		if err != nil {
			continue // damaged: the log has everything in it
		}
		seqs[name] = file.Header().Seq
		_ = file.Close() // it was only read
	}
	list := make([]string, 0, len(seqs))
	for name := range seqs {
		list = append(list, name)
	}
	slices.SortFunc(list, func(x, y string) int {
		if seqs[x] != seqs[y] {
			if seqs[x] > seqs[y] {
				return -1
			}
			return 1
		}
		return strings.Compare(x, y)
	})
	return list
}

// checkpoints yields the paths of what may be a checkpoint of this board, the
// most promising first.
func (b *Board) checkpoints() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range b.cached() {
			if !yield(b.path(CacheDir, name)) {
				return
			}
		}
		for _, name := range b.archived() {
			if !yield(b.path(ArchiveDir, name)) {
				return
			}
		}
	}
}

func (b *Board) openCheckpoint(path string) (*checkpoint.File, error) {
	if id, ok := strings.CutPrefix(filepath.Base(path), archivePrefix); ok {
		return checkpoint.OpenID(b.opts.FS, path, checkpoint.ID(id))
	}
	return checkpoint.Open(b.opts.FS, path)
}

// writeCheckpoint writes s under the name that name gives for its id.
func (b *Board) writeCheckpoint(s *State, temp string, name func(checkpoint.ID) string) (checkpoint.ID, error) {
	seq, hash := s.Head()
	header := checkpoint.Header{Fold: foldVersion, Board: s.BoardID(), Seq: seq, Head: hash}
	w, err := checkpoint.Create(b.opts.FS, temp, header)
	if err != nil {
		return "", err
	}
	defer w.Abort()
	for r, err := range s.records() {
		if err != nil {
			return "", fmt.Errorf("write checkpoint: %w", err)
		}
		if err := w.Record(r.kind, r.key, r.value); err != nil {
			return "", fmt.Errorf("write checkpoint: %w", err)
		}
	}
	for e := range s.entries() {
		if err := w.Index(e.index, e.key, e.record); err != nil {
			return "", fmt.Errorf("write checkpoint: %w", err)
		}
	}
	if err := s.Err(); err != nil {
		return "", fmt.Errorf("write checkpoint: %w", err)
	}
	return w.Commit(name)
}

// notice has the checkpoint written again if the tail is large against it, and
// the log rotated if it is long. It costs next to nothing here: the work is done
// beside. b.mu must be held, and the state be there.
func (b *Board) notice() {
	if b.opts.ReadOnly || b.writing || b.closing || b.tail < b.retryTail {
		return
	}
	below, belowBytes, limit := uint64(0), int64(0), tailRecords
	if b.file != nil {
		below, belowBytes, limit = b.file.Header().Seq, b.file.Bytes(), max(limit, b.file.Records()/tailShare)
	}
	rotate := b.log.WantsRotation(belowBytes)
	if !rotate && !b.tailIsLarge(limit) {
		return
	}
	b.writing = true
	snapshot := b.state.snapshot()
	b.writers.Go(crash.Safe(func() {
		var rebased bool
		if rotate {
			rebased, _ = b.Rotate(context.Background()) // tried again later; appends go on meanwhile
		} else {
			rebased = b.renewCheckpoint(snapshot, below)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.writing, b.retryTail = false, 0
		if !rebased { // not so soon again
			b.retryTail = b.tail + b.opts.CheckpointMessages/4
		}
	}))
}

// leaveCheckpoint does at the end what notice would have done, if the writer
// beside was still busy with an earlier state when the last messages came.
func (b *Board) leaveCheckpoint() {
	b.mu.Lock()
	large := b.appended && b.state != nil && b.tail >= b.retryTail && b.tailIsLarge(tailRecords)
	var snapshot *State
	below := uint64(0)
	if large {
		snapshot = b.state.snapshot()
		if b.file != nil {
			below = b.file.Header().Seq
		}
	}
	b.mu.Unlock()
	if large {
		b.renewCheckpoint(snapshot, below)
	}
}

func (b *Board) tailIsLarge(records int) bool {
	return b.tail > b.opts.CheckpointMessages || b.state.changed() > records
}

// renewCheckpoint writes a checkpoint, unless another process just did or does,
// and puts the state, which rests on the one at below, on it. A cache that cannot
// be written is no error: everything works without it, just slower.
func (b *Board) renewCheckpoint(s *State, below uint64) bool {
	lock := b.opts.FS.NewLock(b.path(RunDir, writeLockName))
	defer func() { _ = lock.Close() }() // the system unlocks a closed file anyway
	if held, err := lock.TryLock(); err != nil || !held {
		return false
	}
	seq, _ := s.Head()
	if names := b.cached(); len(names) > 0 {
		have, _ := cacheSeq(names[0])
		recent := have > below && have+uint64(b.opts.CheckpointMessages)/2 >= seq
		if recent && b.rebase(b.path(CacheDir, names[0])) == nil {
			return true
		}
	}
	return b.cacheCheckpoint(s) == nil
}

// prune removes what is older than the last checkpoints up to seq, and what
// claims to be newer: it was just found to be of no use. The lock of those who
// write there must be held, or a checkpoint is taken from under who reads it back.
func (b *Board) prune(seq uint64) {
	kept := 0
	for _, name := range b.cached() {
		if have, _ := cacheSeq(name); have <= seq && kept < keptCheckpoints {
			kept++
			continue
		}
		_ = b.opts.FS.Remove(b.path(CacheDir, name)) // in use elsewhere: next time
	}
}

// rebase puts the state on a newer checkpoint, so that it needs less memory.
func (b *Board) rebase(path string) error {
	file, err := b.openCheckpoint(path)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		_ = file.Close() // it was only read
		return ErrClosed
	}
	s, tail, err := b.foldOver(file)
	if err != nil {
		_ = file.Close() // it was only read
		return err
	}
	b.adopt(s, file, tail)
	return nil
}

// Checkpoint writes the state into the cache now, whatever the tail.
func (b *Board) Checkpoint(ctx context.Context) error {
	if b.opts.ReadOnly {
		return ErrReadOnly
	}
	var snapshot *State
	err := b.View(ctx, func(s *State) error {
		snapshot = s.snapshot()
		return nil
	})
	if err != nil {
		return err
	}
	lock := b.opts.FS.NewLock(b.path(RunDir, writeLockName))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	defer func() { _ = lock.Close() }() // the system unlocks a closed file anyway
	return b.cacheCheckpoint(snapshot)
}

// cacheCheckpoint writes s into the cache and puts the state on it. The lock of
// those who write there must be held.
func (b *Board) cacheCheckpoint(s *State) error {
	seq, _ := s.Head()
	path := b.path(CacheDir, cacheName(seq))
	if _, err := b.writeCheckpoint(s, b.path(CacheDir, cacheTemp), func(checkpoint.ID) string { return path }); err != nil {
		return err
	}
	b.prune(seq)
	return b.rebase(path)
}
