package memory

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"orch/blackboard/message"
)

// Phase is a part of what the Dreamer does.
type Phase string

// The phases, in their order.
const (
	Contradict  Phase = "contradict"  // a newer rule that says the opposite speaks against the older
	Bankrupt    Phase = "bankrupt"    // a rule that what is known speaks against fades from now on
	Consolidate Phase = "consolidate" // a pair that has earned it gets a rule, made of what is known
	Forget      Phase = "forget"      // what has faded is removed
)

// Phases lists all phases.
func Phases() []Phase { return []Phase{Contradict, Bankrupt, Consolidate, Forget} }

// Pass is one go of the Dreamer.
type Pass struct {
	Phases []Phase // nil: all
	// Say appends a Megram or a DreamReport to the log and applies it to the
	// store, together with whatever came before it, and then returns.
	Say func(context.Context, message.Body) error
	// Answer: a last DreamReport is said even if nothing was done.
	Answer bool
}

// Dreamt is what a pass did.
type Dreamt struct {
	Created      int   `json:"created"`
	Demoted      int   `json:"demoted"`
	Consolidated int   `json:"consolidated"`
	Deleted      int   `json:"deleted"`
	Scanned      int64 `json:"scanned"` // entries looked at, once for each phase
}

const (
	reportIDs   = 500  // entries of one report
	sliceRows   = 4096 // entries after which a scan lets go of its view of the store
	yieldRows   = 128  // entries after which others may run
	negligible  = 0.01 // of Params.Forget: what is left of a single entry when it goes in any case
	evidenceMax = 64   // sources whose content the new rule is made of
)

// Dream makes a pass. Each thing it says is complete in itself, so a pass that
// ends anywhere, by an error or by kill -9, is gone on with by another. It
// holds no lock that a query or Apply needs.
func (s *Store) Dream(ctx context.Context, p Pass) (Dreamt, error) {
	s.dreaming.Lock()
	defer s.dreaming.Unlock()
	d := &dreamer{s: s, say: p.Say}
	phases := p.Phases
	if phases == nil {
		phases = Phases()
	}
	for _, phase := range phases {
		work := map[Phase]func(context.Context, tally) error{
			Contradict: d.contradict, Bankrupt: d.bankrupt, Consolidate: d.consolidate, Forget: d.forget,
		}[phase]
		if work == nil {
			return d.did, fmt.Errorf("there is no phase %q of the Dreamer", phase)
		}
		d.report.Phase = string(phase)
		if err := d.pairs(ctx, work); err != nil {
			return d.did, fmt.Errorf("dream, %s: %w", phase, err)
		}
		if phase == Forget {
			if err := d.forgetRetired(ctx); err != nil {
				return d.did, fmt.Errorf("dream, %s: %w", phase, err)
			}
		}
		if err := d.flush(ctx); err != nil {
			return d.did, fmt.Errorf("dream, %s: %w", phase, err)
		}
	}
	if p.Answer || d.said {
		d.report.Last = true
		d.report.Scanned = d.scanned
		if err := d.say(ctx, d.report); err != nil {
			return d.did, fmt.Errorf("dream: %w", err)
		}
	}
	return d.did, nil
}

// once is for scans of the whole store, which would push everything else out
// of the cache.
var once = &opt.ReadOptions{DontFillCache: true}

// dreamer is one pass.
type dreamer struct {
	s       *Store
	say     func(context.Context, message.Body) error
	report  message.DreamReport
	entries int   // in report
	scanned int64 // since the report before
	said    bool
	did     Dreamt
}

// note puts an entry into the report, and says the report when it is full.
func (d *dreamer) note(ctx context.Context, list *[]string, count *int, id string) error {
	*list = append(*list, id)
	*count++
	if d.entries++; d.entries < reportIDs {
		return nil
	}
	return d.flush(ctx)
}

// flush says what was done since the report before, if anything.
func (d *dreamer) flush(ctx context.Context) error {
	if d.entries == 0 {
		return nil
	}
	d.report.DemotedK = d.s.o.Params.BankruptK
	d.report.Scanned = d.scanned
	d.s.o.hook(d.report.Phase + ": report")
	if err := d.say(ctx, d.report); err != nil {
		return err
	}
	d.s.o.hook(d.report.Phase + ": reported")
	d.report = message.DreamReport{Phase: d.report.Phase}
	d.entries, d.scanned, d.said = 0, 0, true
	return nil
}

// tally is what a pair amounts to.
type tally struct {
	pair  Pair
	at    uint64 // seq up to which it is known
	count int

	known                                 // of all
	freshAttention, freshDecision float64 // of what can still become part of a rule and fades
	sources                       int     // what would become part of a rule
	sumF                          float64 // of those
	faded                         bool    // an entry is there of which next to nothing is left
	rules                         []row
}

func (t *tally) add(r row, now time.Time, p Params) {
	w := r.weights()
	attention, decision := w.Attention(now), w.Decision(now)
	t.count++
	t.known.add(w, now)
	if !r.timeless() {
		t.freshAttention += attention
		t.freshDecision += decision
		t.faded = t.faded || attention < p.Forget*negligible
	} else if r.level == LevelC[0] {
		t.rules = append(t.rules, r)
	}
	if isSource(r.record) {
		t.sources++
		t.sumF += r.f
	}
}

// pairs calls each with every pair of the store, in key order. It works on a
// view of the store that is let go of every few thousand entries.
func (d *dreamer) pairs(ctx context.Context, each func(context.Context, tally) error) error {
	next := prefix(pairKeys)
	for next != nil {
		var err error
		if next, err = d.slice(ctx, next, each); err != nil {
			return err
		}
	}
	return nil
}

// slice goes over the pairs from a key on until it has seen enough, and
// returns where to go on.
func (d *dreamer) slice(ctx context.Context, from []byte, each func(context.Context, tally) error) ([]byte, error) {
	snap, err := d.s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	at, err := d.s.placeOf(snap)
	if err != nil {
		return nil, err
	}
	end := util.BytesPrefix(prefix(pairKeys)).Limit
	it := snap.NewIterator(&util.Range{Start: from, Limit: end}, once)
	defer it.Release()
	now := d.s.o.Now()
	var t *tally
	seen := 0
	for it.Next() {
		if seen++; seen%yieldRows == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			runtime.Gosched()
		}
		names, err := parts(it.Key())
		if err != nil || len(names) != 3 {
			return nil, d.s.wrong("key %q is no pair's: %v", it.Key(), err)
		}
		r, err := decodeRecord(it.Value())
		if err != nil {
			return nil, d.s.wrong("%v", err)
		}
		if p := (Pair{names[0], names[1]}); t == nil || p != t.pair {
			if t != nil {
				if err := d.visit(ctx, *t, each); err != nil {
					return nil, err
				}
				if seen > sliceRows {
					return slices.Clone(it.Key()), nil
				}
			}
			t = &tally{pair: p, at: at.Seq}
		}
		t.add(row{names[2], r}, now, d.s.o.Params)
	}
	if err := it.Error(); err != nil {
		return nil, d.s.damage("read the pairs", err)
	}
	if t != nil {
		return nil, d.visit(ctx, *t, each)
	}
	return nil, nil
}

func (d *dreamer) visit(ctx context.Context, t tally, each func(context.Context, tally) error) error {
	d.did.Scanned += int64(t.count)
	d.scanned += int64(t.count)
	return each(ctx, t)
}

// placeOf is the place in the log up to which a view of the store goes.
func (s *Store) placeOf(db view) (Head, error) {
	raw, err := db.Get([]byte(atKey), nil)
	if isNotFound(err) {
		return Head{}, nil
	}
	if err != nil {
		return Head{}, s.damage("read how far the memory is", err)
	}
	h, err := decodeHead(raw)
	if err != nil {
		return Head{}, s.wrong("how far it is: %v", err)
	}
	return h, nil
}
