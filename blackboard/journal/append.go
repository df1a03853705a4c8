package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"
)

// Append adds a record if under allows it; see Log.
func (j *Journal) Append(ctx context.Context, d Draft, under func(Tail) error) (Record, error) {
	return j.AppendFunc(ctx, func(t Tail) (Draft, error) {
		if under == nil {
			return d, nil
		}
		return d, under(t)
	})
}

// AppendFunc adds the record that draft makes of the caught-up log; see Log.
// Once written, a record is synced even if ctx ends: half an answer helps nobody.
func (j *Journal) AppendFunc(ctx context.Context, draft func(Tail) (Draft, error)) (Record, error) {
	r, err := j.write(ctx, draft)
	if err != nil {
		return Record{}, err
	}
	if err := j.syncTo(context.WithoutCancel(ctx), r.Seq); err != nil {
		return Record{}, &UnacknowledgedError{Record: r, Err: err}
	}
	return r, nil
}

// write does the part of an append that needs the lock.
func (j *Journal) write(ctx context.Context, draft func(Tail) (Draft, error)) (Record, error) {
	leave, err := j.appending.enter(ctx)
	if err != nil {
		return Record{}, err
	}
	defer leave()
	if err := j.prepare(); err != nil {
		return Record{}, err
	}
	t, err := j.tail()
	if err != nil {
		return Record{}, err
	}
	d, err := draft(t)
	if err != nil {
		return Record{}, err
	}
	return j.writeLine(d)
}

// prepare makes the log ready for a writer who holds orch.lock: caught up, and
// ending in a whole line.
func (j *Journal) prepare() error {
	if err := j.checkPoisonFile(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.live != nil && j.live.why != nil { // perhaps it can be written by now
		j.live.release()
		j.live = nil
	}
	bad, err := j.refresh()
	if err != nil {
		return err
	}
	if j.poison != "" {
		return &PoisonedError{Reason: j.poison}
	}
	if j.live.why != nil {
		return storageError("append a message", j.livePath, j.live.why)
	}
	if bad == nil {
		return nil
	}
	return j.setAside(bad)
}

// tail is what a condition sees of the log.
func (j *Journal) tail() (Tail, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed { // since it was prepared
		return nil, ErrClosed
	}
	return &tail{j: j, head: j.head, now: stamp(j.opts.Clock.Now(), j.lastTS), first: j.live.first.Seq}, nil
}

type tail struct {
	j     *Journal
	head  Head
	now   time.Time
	first uint64 // of the live file
}

func (t *tail) Head() Head { return t.head }

func (t *tail) Now() time.Time { return t.now }

func (t *tail) Segment() string { return archivedName(t.first, t.head.Seq) }

func (t *tail) Since(seq uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if seq >= t.head.Seq {
			return
		}
		c := &cursor{j: t.j, from: seq + 1, hint: t.j.startOf(seq + 1)}
		defer c.close()
		for {
			r, ok, err := c.next()
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !ok || !yield(r, nil) || r.Seq >= t.head.Seq {
				return
			}
		}
	}
}

// startOf returns where a recent line begins, or 0.
func (j *Journal) startOf(seq uint64) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	offset, _ := j.recent.find(seq)
	return offset
}

// writeLine adds one line. orch.lock must be held and prepare must have been
// called under it.
func (j *Journal) writeLine(d Draft) (Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.writeLineLocked(d)
}

func (j *Journal) writeLineLocked(d Draft) (Record, error) {
	if j.closed { // while the draft was being made
		return Record{}, ErrClosed
	}
	r, line, err := j.compose(d, j.head, j.lastTS, j.durable)
	if err != nil {
		return Record{}, err
	}
	n, err := j.live.file.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return Record{}, j.undo(err)
	}
	j.advance(r.Head(), r.TS, j.end, j.end+int64(len(line)))
	return r, nil
}

// undo takes back what a failed write may have left.
func (j *Journal) undo(cause error) error {
	failed := storageError("append a message", j.livePath, cause)
	if err := j.live.file.Truncate(j.end); err != nil {
		reason := fmt.Sprintf("a line was written in part (%v) and could not be taken back (%v)", cause, err)
		return errors.Join(failed, j.setPoison(reason))
	}
	return failed
}

// compose makes the record and the line that follow last.
func (j *Journal) compose(d Draft, last Head, lastTS time.Time, durable uint64) (Record, []byte, error) {
	now := d.TS
	if now.IsZero() {
		now = j.opts.Clock.Now()
	}
	r := Record{
		Seq: last.Seq + 1, TS: stamp(now, lastTS), ID: d.ID,
		From: d.From, To: d.To, Type: d.Type, Goal: d.Goal, Subject: d.Subject, Cause: d.Cause, Agent: d.Agent,
		Fence: d.Fence, Door: d.Door, Payload: d.Payload, Synced: durable, Prev: last.Hash,
	}
	if r.ID == "" {
		id, err := j.opts.IDs.NewID()
		if err != nil {
			return Record{}, nil, fmt.Errorf("make a message id: %w", err)
		}
		r.ID = id
	}
	line, err := encode(&r)
	if err != nil {
		return Record{}, nil, err
	}
	return r, line, nil
}

// checkPoisonFile refuses if anybody closed the log to writers.
func (j *Journal) checkPoisonFile() error {
	name := j.poisonPath
	_, err := j.fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return storageError("look for a failed write", name, err)
	}
	return &PoisonedError{Reason: "see " + name}
}

// setPoison closes the log to writers, here and, if the disk still takes it, for
// everybody. It returns the error to report. mu must be held.
func (j *Journal) setPoison(reason string) error {
	j.poison = reason
	poisoned := &PoisonedError{Reason: reason}
	if err := j.closeToWriters(reason); err != nil {
		return errors.Join(poisoned, storageError("close the log to writers", j.poisonPath, err))
	}
	return poisoned
}

// closeToWriters writes run/poisoned.
func (j *Journal) closeToWriters(reason string) error {
	if err := j.makeRunDir(); err != nil {
		return err
	}
	if err := writeSynced(j.fsys, j.poisonPath, []byte(reason+"\n"), filePerm); err != nil {
		return err
	}
	return j.fsys.SyncDir(j.path(runName))
}

func (j *Journal) makeRunDir() error {
	return storageError("make a directory", j.path(runName), j.fsys.MkdirAll(j.path(runName), dirPerm))
}
