package auditor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orch/blackboard/journal"
	"orch/blackboard/plainfile"
)

// LedgerName is the auditor's own log in .orch/audit, with a chain of its own.
const LedgerName = "audit.jsonl"

const (
	ledgerFormat  = 1
	openedType    = "AuditLog"
	findingType   = "Finding"
	acceptedType  = "LogAccepted"
	archiveDir    = "archive"
	damagedPrefix = "damaged-"
	rebuildLock   = "rebuild.lock"
)

// Entry is one record of the ledger.
type Entry struct {
	Finding Finding      `json:"finding"`
	Log     journal.Head `json:"log"` // where the board's log was when it was found

	// Accepted: no finding, but a person's choice of the log.
	Accepted bool `json:"accepted,omitempty"`
}

// Ledger is audit.jsonl. Several processes may add to it: a finding is there once.
type Ledger struct {
	dir     string
	opts    journal.Options
	log     *journal.Journal
	read    uint64 // how far entries are known
	entries []Entry
	known   map[string]int
	damage  []Finding
	origin  string // hash of the first record: another one is another ledger
}

// OpenLedger opens or makes the ledger in a directory. One that was damaged,
// edited or removed is set aside under archive/ and begun anew: the findings
// come from the board's log, so nothing is lost. Damage lists, as findings, every
// time this happened.
func OpenLedger(ctx context.Context, dir string, opts journal.Options) (*Ledger, error) {
	opts.Name = LedgerName
	opts.Repaired = func(journal.Torn) journal.Draft { return journal.Draft{Type: "Recovered", From: "auditor"} }
	if err := os.MkdirAll(filepath.Join(dir, archiveDir), 0o755); err != nil {
		return nil, fmt.Errorf("make the auditor's directory: %w", err)
	}
	l := &Ledger{dir: dir, opts: opts, known: map[string]int{}}
	err := l.open(ctx)
	if err != nil && spoiled(err) {
		err = l.rebuild(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", l.path(), err)
	}
	return l, l.findDamage()
}

func (l *Ledger) path() string { return filepath.Join(l.dir, LedgerName) }

// spoiled tells whether the ledger is not what the auditor wrote.
func spoiled(err error) bool {
	var corrupt *journal.CorruptError
	var back *journal.WentBackwardsError
	var entry *entryError
	var not *plainfile.NotFileError
	return errors.As(err, &not) || errors.As(err, &corrupt) || errors.As(err, &back) || errors.As(err, &entry) || errors.Is(err, journal.ErrPoisoned)
}

// entryError is a record of the ledger that the auditor did not write.
type entryError struct {
	seq uint64
	why string
}

func (e *entryError) Error() string { return fmt.Sprintf("record %d: %s", e.seq, e.why) }

func (l *Ledger) open(ctx context.Context) error {
	log, err := journal.Open(l.dir, l.opts)
	if errors.Is(err, journal.ErrNoLog) {
		payload := fmt.Appendf(nil, `{"format":%d}`, ledgerFormat)
		log, err = journal.Create(ctx, l.dir, l.opts, journal.Draft{Type: openedType, From: "auditor", Payload: payload})
		if errors.Is(err, journal.ErrExists) { // another process was faster
			log, err = journal.Open(l.dir, l.opts)
		}
	}
	if err != nil {
		return err
	}
	l.log, l.read, l.entries = log, 0, nil
	clear(l.known)
	if _, err := log.Verify(ctx, journal.Head{}); err != nil {
		return err
	}
	return l.Refresh()
}

// Refresh takes in what other processes added.
func (l *Ledger) Refresh() error {
	for r, err := range l.log.Read(l.read + 1) {
		if err != nil {
			return err
		}
		if err := l.take(r); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) take(r journal.Record) error {
	l.read = r.Seq
	if r.Seq == 1 {
		l.origin = r.Hash
	}
	if r.Type != findingType && r.Type != acceptedType {
		return nil
	}
	var e Entry
	if err := json.Unmarshal(r.Payload, &e); err != nil {
		return &entryError{r.Seq, err.Error()}
	}
	if r.Type == acceptedType {
		l.entries = append(l.entries, e)
		return nil
	}
	if e.Finding.ID != r.ID {
		return &entryError{r.Seq, "the finding has another id than its record"}
	}
	if _, there := l.known[e.Finding.ID]; there {
		return &entryError{r.Seq, "the finding is there twice"}
	}
	l.known[e.Finding.ID] = len(l.entries)
	l.entries = append(l.entries, e)
	return nil
}

// Entries lists what is known to be in the ledger, in order.
func (l *Ledger) Entries() []Entry { return slices.Clone(l.entries) }

// Damage lists every time the ledger had to be begun anew.
func (l *Ledger) Damage() []Finding { return slices.Clone(l.damage) }

// Pins are the heads of the board's log that the ledger noted.
func (l *Ledger) Pins() []journal.Known { return pinsOf(l.entries, l.path()) }

// ReadPins reads the heads of the board's log that the ledger in a directory noted.
func ReadPins(dir string, opts journal.Options) ([]journal.Known, error) {
	entries, err := ReadLedger(dir, opts)
	return pinsOf(entries, filepath.Join(dir, LedgerName)), err
}

// pinsOf are the heads of the board's log that are noted in a ledger. Those from
// before a person chose which log is the right one count no more.
func pinsOf(entries []Entry, source string) (pins []journal.Known) {
	for _, e := range entries {
		pin := journal.Known{Head: e.Log, Source: source}
		if e.Accepted {
			pins = nil
		}
		if e.Log.Hash != "" && !slices.Contains(pins, pin) {
			pins = append(pins, pin)
		}
	}
	return pins
}

// Accept notes in the ledger of a directory that a person chose which log is the
// right one, and what its head is. Where there is no ledger it makes none.
func Accept(ctx context.Context, dir string, opts journal.Options, head journal.Head) error {
	offset := filepath.Join(dir, "run", offsetFile)
	if err := os.Remove(offset); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget how far the auditor was: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, LedgerName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l, err := OpenLedger(ctx, dir, opts)
	if err != nil {
		return err
	}
	defer l.Close()
	payload, err := json.Marshal(Entry{Log: head, Accepted: true})
	if err != nil {
		return err
	}
	_, err = l.log.Append(ctx, journal.Draft{Type: acceptedType, From: "auditor", Payload: payload}, nil)
	return err
}

// errKnown: the finding is in the ledger.
var errKnown = errors.New("the finding is known")

// Add appends a finding unless it is there. It is durable when Add returns.
func (l *Ledger) Add(ctx context.Context, f Finding, head journal.Head) (added bool, err error) {
	payload, err := json.Marshal(Entry{Finding: f, Log: head})
	if err != nil {
		return false, err
	}
	_, err = l.log.AppendFunc(ctx, func(t journal.Tail) (journal.Draft, error) {
		for r, err := range t.Since(l.read) {
			if err == nil {
				err = l.take(r)
			}
			if err != nil {
				return journal.Draft{}, err
			}
		}
		if i, there := l.known[f.ID]; there {
			if !same(l.entries[i].Finding, f) {
				return journal.Draft{}, &entryError{uint64(i), "finding " + f.ID + " is not as it was found"}
			}
			return journal.Draft{}, errKnown
		}
		return journal.Draft{ID: f.ID, Type: findingType, From: "auditor", Goal: string(f.Goal), Subject: f.Subject, Payload: payload}, nil
	})
	if errors.Is(err, errKnown) {
		return false, nil
	}
	return err == nil, err
}

// same compares what a finding claims. Its wording may change with versions.
func same(a, b Finding) bool {
	return a.Kind == b.Kind && a.Severity == b.Severity && a.Goal == b.Goal && a.Subject == b.Subject && a.Trips == b.Trips &&
		slices.Equal(a.Seqs, b.Seqs)
}

// Record adds findings, and begins the ledger anew if it is found to be another
// than what was written; then all of them are added again.
func (l *Ledger) Record(ctx context.Context, all []Finding, head journal.Head) (added []Finding, err error) {
	for try := 0; ; try++ {
		for _, f := range append(l.Damage(), all...) {
			fresh, err := l.Add(ctx, f, head)
			if err != nil && try == 0 && spoiled(err) {
				if err := l.rebuild(ctx); err != nil {
					return added, err
				}
				break
			}
			if err != nil {
				return added, fmt.Errorf("add to %s: %w", l.path(), err)
			}
			if fresh {
				added = append(added, f)
			}
		}
		if try > 0 || l.complete(all) {
			return added, nil
		}
	}
}

func (l *Ledger) complete(all []Finding) bool {
	if err := l.Refresh(); err != nil {
		return false
	}
	return !slices.ContainsFunc(append(l.Damage(), all...), func(f Finding) bool { _, there := l.known[f.ID]; return !there })
}

// Check verifies the whole chain, and begins the ledger anew if it is broken.
func (l *Ledger) Check(ctx context.Context) error {
	_, err := l.log.Verify(ctx, journal.Head{})
	if err == nil {
		err = l.Refresh()
	}
	if err != nil && spoiled(err) {
		return l.rebuild(ctx)
	}
	return err
}

// rebuild sets the ledger aside and begins another. Of several processes one
// does it.
func (l *Ledger) rebuild(ctx context.Context) error {
	lock := journal.OSFS{}.NewLock(filepath.Join(l.dir, rebuildLock))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("begin %s anew: %w", l.path(), err)
	}
	defer func() { _ = lock.Close() }() // the system unlocks a closed file anyway
	l.Close()
	judged := l.origin
	if err := l.open(ctx); err == nil && l.origin != judged {
		return l.findDamage() // another process has done it
	} else if err != nil && !spoiled(err) {
		return err
	}
	l.Close()
	if err := l.setAside(); err != nil {
		return fmt.Errorf("set a damaged %s aside: %w", LedgerName, err)
	}
	if err := l.open(ctx); err != nil {
		return err
	}
	return l.findDamage()
}

// setAside keeps what there is under a name made of its content, and forgets
// what the journal remembers of it.
func (l *Ledger) setAside() error {
	text, err := plainfile.Read(l.path())
	var not *plainfile.NotFileError
	if errors.As(err, &not) {
		text, err = []byte(not.Error()), nil // its name is all there is to keep
	}
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return err
	}
	if gone {
		note, err := plainfile.Read(filepath.Join(l.dir, "run", "head"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		text = append([]byte(LedgerName+" was removed; it was known to have had:\n"), note...)
	}
	sum := sha256.Sum256(text)
	name := filepath.Join(l.dir, archiveDir, damagedPrefix+hex.EncodeToString(sum[:])[:12]+".jsonl")
	if gone {
		err = os.WriteFile(name, text, 0o600)
	} else {
		err = os.Rename(l.path(), name)
	}
	if err != nil {
		return err
	}
	for _, note := range []string{"head", "poisoned"} {
		if err := os.Remove(filepath.Join(l.dir, "run", note)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return journal.OSFS{}.SyncDir(l.dir)
}

// findDamage makes a finding of every ledger that was set aside.
func (l *Ledger) findDamage() error {
	names, err := filepath.Glob(filepath.Join(l.dir, archiveDir, damagedPrefix+"*"))
	if err != nil {
		return err
	}
	l.damage = nil
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("look at a damaged %s: %w", LedgerName, err)
		}
		kept := filepath.ToSlash(filepath.Join("audit", archiveDir, filepath.Base(name)))
		f := Finding{Kind: AuditLogDamaged, Severity: Critical, Subject: strings.TrimSuffix(filepath.Base(name), ".jsonl"),
			Message: fmt.Sprintf("%s was not what the auditor wrote; it is kept as %s and was written anew from the log", LedgerName, kept),
			FirstTS: info.ModTime().UTC(), LastTS: info.ModTime().UTC()}
		l.damage = append(l.damage, f.seal())
	}
	return nil
}

// Head is the last record of the ledger.
func (l *Ledger) Head() (journal.Head, error) { return l.log.Head() }

// Close releases the ledger.
func (l *Ledger) Close() {
	if l.log != nil {
		_ = l.log.Close() // what was added is durable
		l.log = nil
	}
}

// ReadLedger reads the entries of the ledger in a directory without taking a
// lock; none if there is no ledger.
func ReadLedger(dir string, opts journal.Options) ([]Entry, error) {
	opts.Name = LedgerName
	log, err := journal.Open(dir, opts)
	if errors.Is(err, journal.ErrNoLog) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &Ledger{dir: dir, opts: opts, log: log, known: map[string]int{}}
	defer l.Close()
	if err := l.Refresh(); err != nil {
		return nil, fmt.Errorf("read %s: %w", l.path(), err)
	}
	return l.entries, nil
}
