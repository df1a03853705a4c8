package auditor

import (
	"context"
	"errors"
	"time"

	"orch/blackboard/crash"
	"orch/blackboard/journal"
	"orch/blackboard/plainfile"
	"orch/roles/run/config"
)

// Reader feeds an auditor from the files of a log.
type Reader struct {
	Auditor *Auditor
	scan    *journal.Scan
	pins    map[uint64][]journal.Known // heads that were noted elsewhere
	told    bool                       // that the log is another one: once is enough
}

// NewReader reads on behind what the auditor has seen. The pins are heads that
// the log is known to have had: one that it has no longer is a finding.
func NewReader(a *Auditor, boardDir string, opts journal.Options, known []journal.Known) *Reader {
	r := &Reader{Auditor: a, scan: journal.OpenScan(boardDir, opts, a.Head()), pins: map[uint64][]journal.Known{}}
	for _, k := range known {
		r.pins[k.Seq] = append(r.pins[k.Seq], k)
	}
	return r
}

// Close releases the log.
func (r *Reader) Close() { r.scan.Close() }

// lookAgain is how long a log that may be in the middle of a write is given
// before it is looked at a second time.
const lookAgain = 20 * time.Millisecond

// CatchUp takes in everything that is in the log now, and says how much it was.
// Reading and checking the lines goes on beside looking at them.
func (r *Reader) CatchUp(ctx context.Context) (records int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	full, empty := make(chan *batch, batches), make(chan *batch, batches)
	for range batches {
		empty <- &batch{}
	}
	failed := make(chan error, 1)
	crash.Go(func() {
		defer close(full)
		failed <- r.fill(ctx, full, empty)
	})
	for b := range full {
		for i := range b.seen {
			records += r.see(&b.seen[i])
		}
		empty <- b
	}
	cancel()
	return records, <-failed
}

// batch is a part of the log on its way from reading to looking.
type batch struct {
	seen     []sighting
	payloads []byte
}

type sighting struct {
	record journal.Record
	flaw   *journal.Flaw
}

const (
	batches      = 4
	batchRecords = 256
	batchBytes   = 256 << 10
)

// take copies a record, whose payload is the reader's.
func (b *batch) take(rec journal.Record, flaw *journal.Flaw) {
	at := len(b.payloads)
	b.payloads = append(b.payloads, rec.Payload...)
	rec.Payload = b.payloads[at:len(b.payloads):len(b.payloads)]
	b.seen = append(b.seen, sighting{rec, flaw})
}

func (b *batch) isFull() bool { return len(b.seen) >= batchRecords || len(b.payloads) >= batchBytes }

// fill reads to the end of the log.
func (r *Reader) fill(ctx context.Context, full chan<- *batch, empty <-chan *batch) error {
	for idle := 0; idle < 2; {
		b := <-empty
		b.seen, b.payloads = b.seen[:0], b.payloads[:0]
		for !b.isFull() {
			rec, flaw, ok, err := r.scan.Next()
			if err != nil {
				full <- b // what came before it counts
				return err
			}
			if !ok && flaw == nil {
				idle++
				break
			}
			idle = 0
			b.take(rec, flaw)
		}
		full <- b
		if idle == 1 && r.scan.Whole() {
			return ctx.Err()
		}
		if idle == 1 && !sleep(ctx, lookAgain) {
			return ctx.Err()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// see looks at what was read.
func (r *Reader) see(s *sighting) (records int) {
	if s.flaw != nil {
		r.Auditor.ObserveFlaw(*s.flaw)
		return 0
	}
	rec := s.record
	if r.Auditor.Head().Seq == 0 && rec.Seq > 1 {
		r.Auditor.Beheaded(rec.Head())
	}
	for _, k := range r.pins[rec.Seq] {
		if k.Hash != rec.Hash && !r.told {
			r.told = true
			r.Auditor.Rewritten(k, rec.Head())
		}
	}
	r.Auditor.ObserveRecord(rec)
	return 1
}

// Lost reports pins behind the end of the log. It is asked when all of it is read.
func (r *Reader) Lost() {
	for _, seq := range sorted(r.pins) {
		if head := r.Auditor.Head(); seq > head.Seq {
			r.Auditor.Rewritten(r.pins[seq][0], head)
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
func Survey(ctx context.Context, boardDir string, opts journal.Options, p config.Audit, w Window, now time.Time, known []journal.Known) (*Auditor, error) {
	a := New(p, w)
	r := NewReader(a, boardDir, opts, known)
	defer r.Close()
	if _, err := r.CatchUp(ctx); err != nil && unreadable(err, known) {
		a.Gone(err)
	} else if err != nil {
		return nil, err
	}
	r.Lost()
	a.Tick(now)
	return a, nil
}

// unreadable tells whether a log can not be read because of what was done to it.
func unreadable(err error, known []journal.Known) bool {
	var back *journal.WentBackwardsError
	return errors.As(err, &back) || plainfile.NoFile(err) || errors.Is(err, journal.ErrNoLog) && len(known) > 0
}

// moved tells whether the log is no longer the one an offset was noted in.
func moved(err error) bool {
	var back *journal.WentBackwardsError
	var missing *journal.MissingError
	return errors.As(err, &back) || errors.As(err, &missing)
}
