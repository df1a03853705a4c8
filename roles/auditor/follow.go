package auditor

import (
	"context"
	"errors"
	"time"

	"orch/blackboard/journal"
	"orch/roles/config"
)

// Reader feeds an auditor from the files of a log.
type Reader struct {
	Auditor *Auditor
	scan    *journal.Scan
	pins    map[uint64]string // heads that were noted elsewhere
}

// NewReader reads on behind what the auditor has seen. The pins are heads that
// the log is known to have had: one that it has no longer is a finding.
func NewReader(a *Auditor, boardDir string, opts journal.Options, pins map[uint64]string) *Reader {
	return &Reader{Auditor: a, scan: journal.OpenScan(boardDir, opts, a.Head()), pins: pins}
}

// Close releases the log.
func (r *Reader) Close() { r.scan.Close() }

// lookAgain is how long a log that may be in the middle of a write is given
// before it is looked at a second time.
const lookAgain = 20 * time.Millisecond

// CatchUp takes in everything that is in the log now, and says how much it was.
func (r *Reader) CatchUp(ctx context.Context) (records int, err error) {
	for idle := 0; idle < 2; {
		rec, flaw, ok, err := r.scan.Next()
		switch {
		case err != nil:
			return records, err
		case flaw != nil:
			r.Auditor.ObserveFlaw(*flaw)
			continue
		case !ok:
			if idle++; idle < 2 && !sleep(ctx, lookAgain) {
				return records, ctx.Err()
			}
			continue
		}
		idle = 0
		if hash, noted := r.pins[rec.Seq]; noted && hash != rec.Hash {
			r.Auditor.Rewritten(journal.Head{Seq: rec.Seq, Hash: hash}, rec.Head())
		}
		r.Auditor.ObserveRecord(rec)
		if records++; records%1024 == 0 && ctx.Err() != nil {
			return records, ctx.Err()
		}
	}
	return records, nil
}

// Lost reports pins behind the end of the log. It is asked when all of it is read.
func (r *Reader) Lost() {
	for _, seq := range sorted(r.pins) {
		if head := r.Auditor.Head(); seq > head.Seq {
			r.Auditor.Rewritten(journal.Head{Seq: seq, Hash: r.pins[seq]}, head)
			return
		}
	}
}

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Survey reads the whole log of a board once, as of now.
func Survey(ctx context.Context, boardDir string, opts journal.Options, p config.Audit, w Window, now time.Time, pins map[uint64]string) (*Auditor, error) {
	a := New(p, w)
	r := NewReader(a, boardDir, opts, pins)
	defer r.Close()
	if _, err := r.CatchUp(ctx); err != nil {
		return nil, err
	}
	r.Lost()
	a.Tick(now)
	return a, nil
}

// moved tells whether the log is no longer the one an offset was noted in.
func moved(err error) bool {
	var back *journal.WentBackwardsError
	var missing *journal.MissingError
	return errors.As(err, &back) || errors.As(err, &missing)
}
