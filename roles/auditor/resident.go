package auditor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/plainfile"
	"orch/roles/run/config"
)

// Resident follows the log of a board and keeps its audit.jsonl. Settings are
// what it is made with; nothing that it reads changes them.
type Resident struct {
	BoardDir string // .orch
	AuditDir string // .orch/audit
	Params   config.Audit
	Journal  journal.Options
	Now      func() time.Time
	Warn     func(error) // what went wrong without ending it
	Caught   func()      // called, if there is one, when all there is now was read and recorded

	Known []journal.Known // heads that the log is known to have had, beside those in audit.jsonl

	// Anew begins at the start of the log and notes no offset: for who looks beside
	// the one that orch run keeps up.
	Anew bool
	// Found, if there is one, gets all that is found by now, harm to audit.jsonl
	// first, each time the log was looked at.
	Found func([]Finding)

	lost journal.Head // an offset that the log does not have any more
}

// offsetFile says how far the log was read, and what was known then.
const offsetFile = "offset"

// Waits of the resident.
const (
	pollEvery  = 2 * time.Second // under the hints, which make it look at once
	blindEvery = time.Second     // without hints, and after a failure
	saveEvery  = 5 * time.Second
	checkEvery = 10 * time.Second // its own chain
	lastLook   = 2 * time.Second  // when it is told to end; a supervisor waits longer
)

// Run follows until ctx is done. A log that can not be read now is tried again:
// the auditor does not end because something is wrong.
func (r *Resident) Run(ctx context.Context) error {
	ledger, err := OpenLedger(ctx, r.AuditDir, r.Journal)
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer ledger.Close()
	hints, stop := r.hints()
	defer stop()
	for ctx.Err() == nil {
		err := r.follow(ctx, ledger, hints)
		if err != nil {
			r.Warn(err)
		}
		if ctx.Err() != nil {
			return nil
		}
		if moved(err) {
			if err := r.forget(err); err != nil {
				r.Warn(err)
			}
		}
		sleep(ctx, blindEvery)
	}
	return nil
}

// follow reads on from the offset until something goes wrong.
func (r *Resident) follow(ctx context.Context, ledger *Ledger, hints <-chan struct{}) error {
	a := r.load()
	pins := append(ledger.Pins(), r.Known...)
	if r.lost.Seq > 0 {
		pins = append(pins, journal.Known{Head: r.lost, Source: r.offset()})
	}
	reader := NewReader(a, r.BoardDir, r.Journal, pins)
	defer reader.Close()
	var saved, checked time.Time
	dirty := true
	for {
		n, err := reader.CatchUp(ctx)
		if err != nil {
			return err
		}
		if err := r.record(ctx, reader, ledger, dirty); err != nil {
			return err
		}
		r.tell(a, ledger)
		if now := r.Now(); n > 0 && now.Sub(saved) >= saveEvery {
			if err := r.save(a); err != nil {
				r.Warn(err)
			}
			saved = now
		}
		if now := r.Now(); now.Sub(checked) >= checkEvery {
			if err := ledger.Check(ctx); err != nil {
				return err
			}
			checked = now
		}
		if dirty = !ledger.complete(a.Findings()); !dirty && r.Caught != nil {
			r.Caught()
		}
		if !dirty && !wait(ctx, hints) {
			return r.last(ctx, reader, ledger)
		}
	}
}

// record writes what is found by now.
func (r *Resident) record(ctx context.Context, reader *Reader, ledger *Ledger, dirty bool) error {
	a := reader.Auditor
	reader.Lost()
	a.Tick(r.Now())
	if fresh := a.Fresh(); len(fresh) == 0 && !dirty {
		return nil
	}
	_, err := ledger.Record(ctx, a.Findings(), a.Head())
	return err
}

// tell says what is found by now to who wants to know.
func (r *Resident) tell(a *Auditor, ledger *Ledger) {
	if r.Found != nil {
		r.Found(append(ledger.Damage(), a.Findings()...))
	}
}

// last looks once more when the resident is told to end: how a run ended is in
// audit.jsonl when the run is over.
func (r *Resident) last(ctx context.Context, reader *Reader, ledger *Ledger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	_, err := reader.CatchUp(ctx)
	if err == nil {
		err = r.record(ctx, reader, ledger, false)
		r.tell(reader.Auditor, ledger)
	}
	return errors.Join(err, r.save(reader.Auditor))
}

// wait until there may be more; false when ctx is done.
func wait(ctx context.Context, hints <-chan struct{}) bool {
	every := pollEvery
	if hints == nil {
		every = blindEvery
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	select {
	case <-hints:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// hints tell that the board's directory changed; a slow poll lies under them.
func (r *Resident) hints() (<-chan struct{}, func()) {
	fsys := r.Journal.FS
	if fsys == nil {
		fsys = journal.OSFS{}
	}
	if notifier, ok := fsys.(journal.Notifier); ok {
		if hints, stop, err := notifier.Notify(r.BoardDir); err == nil {
			return hints, stop
		}
	}
	return nil, func() {}
}

func (r *Resident) offset() string { return filepath.Join(r.AuditDir, "run", offsetFile) }

// load takes up what was known. Without it, or if it is of another version, the
// log is read from its beginning, with the same outcome.
func (r *Resident) load() *Auditor {
	if r.Anew {
		return New(r.Params, Window{})
	}
	raw, err := plainfile.Read(r.offset())
	if err == nil {
		var a *Auditor
		if a, err = Load(r.Params, raw); err == nil {
			return a
		}
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrOtherSnapshot) {
		r.Warn(fmt.Errorf("read the log from its beginning: %w", err))
	}
	return New(r.Params, Window{})
}

func (r *Resident) save(a *Auditor) error {
	if r.Anew {
		return nil
	}
	raw, err := a.Save()
	if err != nil {
		return fmt.Errorf("note the offset: %w", err)
	}
	if err := journal.WriteFileAtomic(journal.OSFS{}, r.offset(), raw, 0o600); err != nil {
		return fmt.Errorf("note the offset: %w", err)
	}
	return nil
}

// forget removes an offset that the log does not have any more. If the log was
// cut or replaced, and not just archived away, the offset remains a witness.
func (r *Resident) forget(why error) error {
	var back *journal.WentBackwardsError
	if errors.As(why, &back) {
		r.lost = back.Noted
	}
	if r.Anew {
		return nil
	}
	if err := os.Remove(r.offset()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the offset: %w", err)
	}
	return nil
}
