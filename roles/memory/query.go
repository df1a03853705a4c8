package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"orch/blackboard/message"
)

const (
	maxAnswers = 10  // entries of an answer
	tagReach   = 200 // newest entries of a tag that are looked at
)

// view is a store at one moment.
type view interface {
	reader
	NewIterator(slice *util.Range, ro *opt.ReadOptions) iterator.Iterator
}

// row is what counts of one entry of a pair.
type row struct {
	id string
	record
}

// rows calls each with what counts for a pair, by id.
func (s *Store) rows(db view, p Pair, each func(row) error) error {
	it := db.NewIterator(util.BytesPrefix(prefix(pairKeys, p.Space, p.Entity)), nil)
	defer it.Release()
	for it.Next() {
		names, err := parts(it.Key())
		if err != nil || len(names) != 3 {
			return s.wrong("key %q is no pair's: %v", it.Key(), err)
		}
		r, err := decodeRecord(it.Value())
		if err != nil {
			return s.wrong("%v", err)
		}
		if err := each(row{names[2], r}); err != nil {
			return err
		}
	}
	return s.damage("read a pair", it.Error())
}

// looked reads a pair once: its potentials, and its rules, newest first.
func (s *Store) looked(db view, p Pair, now time.Time) (k known, rules []row, err error) {
	err = s.rows(db, p, func(r row) error {
		k.add(r.weights(), now)
		if r.timeless() {
			rules = append(rules, r)
		}
		return nil
	})
	return k, standing(rules), err
}

// standing sorts rules of one pair, newest first, and leaves out those that a
// newer one contradicts.
func standing(rules []row) []row {
	slices.SortFunc(rules, newestFirst)
	if len(rules) == 0 {
		return nil
	}
	newest := sign(rules[0].sigma)
	return slices.DeleteFunc(rules, func(r row) bool { return sign(r.sigma) == -newest && newest != 0 })
}

func newestFirst(a, b row) int {
	return cmp.Or(cmp.Compare(b.seq, a.seq), strings.Compare(a.id, b.id))
}

func (s *Store) snapshot() (*leveldb.Snapshot, error) {
	snap, err := s.db.GetSnapshot()
	return snap, s.damage("read the memory", err)
}

// QueryMK is the potentials of a pair now.
func (s *Store) QueryMK(space, entity string) (message.Potential, error) {
	p := Pair{space, entity}
	k, _, err := s.looked(s.db, p, s.o.Now())
	return s.o.Params.potential(p.message(), k), err
}

// QueryC is the rules of a pair, newest first, at most ten. It does not count as
// a recall: a MemoryAnswer that names them does.
func (s *Store) QueryC(space, entity string) ([]message.SOPRecord, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	_, rules, err := s.looked(snap, Pair{space, entity}, s.o.Now())
	if err != nil {
		return nil, err
	}
	return s.records(snap, rules)
}

func (s *Store) records(db view, rules []row) ([]message.SOPRecord, error) {
	var out []message.SOPRecord
	for _, r := range rules[:min(len(rules), maxAnswers)] {
		m, _, err := s.find(db, r.id)
		if err != nil {
			return nil, err
		}
		out = append(out, sop(m))
	}
	return out, nil
}

func sop(m message.Megram) message.SOPRecord {
	return message.SOPRecord{
		ID: m.ID, Space: m.Space, Entity: m.Entity, Lesson: m.Content.Lesson, Category: m.Content.Category, F: m.F, Sigma: m.Sigma,
	}
}

// QueryByTags is what is known under any of the tags, whatever the pair: rules
// before others, then those with most of the tags, then the newest. At most ten.
func (s *Store) QueryByTags(tags []string) ([]Entry, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	return s.byTags(snap, tags, ruleClass, megramClass)
}

func (s *Store) byTags(db view, tags []string, classes ...string) ([]Entry, error) {
	var found []Entry
	for _, class := range classes {
		ids, err := s.tagged(db, tags, class)
		if err != nil {
			return nil, err
		}
		for _, id := range ids[:min(len(ids), maxAnswers-len(found))] {
			e, err := s.entry(db, id)
			if err != nil {
				return nil, err
			}
			found = append(found, e)
		}
	}
	return found, nil
}

// tagged ranks the newest entries of a class under the tags.
func (s *Store) tagged(db view, tags []string, class string) ([]string, error) {
	type hit struct {
		id, stamp string
		tags      int
	}
	hits := map[string]*hit{}
	for _, tag := range slices.Compact(slices.Sorted(slices.Values(tags))) {
		it := db.NewIterator(util.BytesPrefix(prefix(tagKeys, tag, class)), nil)
		left := tagReach
		for ok := it.Last(); ok && left > 0; ok = it.Prev() {
			left--
			names, err := parts(it.Key())
			if err != nil || len(names) != 4 {
				it.Release()
				return nil, s.wrong("key %q is no tag's: %v", it.Key(), err)
			}
			if hits[names[3]] == nil {
				hits[names[3]] = &hit{id: names[3], stamp: names[2]}
			}
			hits[names[3]].tags++
		}
		it.Release()
		if err := it.Error(); err != nil {
			return nil, s.damage("read a tag", err)
		}
	}
	var list []*hit
	for _, h := range hits {
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b *hit) int {
		return cmp.Or(cmp.Compare(b.tags, a.tags), strings.Compare(b.stamp, a.stamp), strings.Compare(a.id, b.id))
	})
	var ids []string
	for _, h := range list {
		ids = append(ids, h.id)
	}
	return ids, nil
}

// Get is one memory, whether it still counts or has become part of a rule. It
// is ErrUnknown if there is none.
func (s *Store) Get(id string) (Entry, error) {
	snap, err := s.snapshot()
	if err != nil {
		return Entry{}, err
	}
	defer snap.Release()
	return s.entry(snap, id)
}

func (s *Store) entry(db view, id string) (Entry, error) {
	m, r, err := s.find(db, id)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Megram: m}
	if r == nil {
		raw, err := db.Get(key(doneKeys, id), nil)
		if err != nil {
			return Entry{}, s.wrong("%s neither counts nor is part of a rule: %v", id, err)
		}
		d, err := decodeRetired(raw)
		if err != nil {
			return Entry{}, s.wrong("%v", err)
		}
		r, e.Into = &d.record, d.into
	}
	e.Level, e.Weights, e.Seq, e.Rule = r.levelName(), r.weights(), r.seq, r.rule
	e.Recalled, err = s.lastRecall(db, id)
	return e, err
}

// Entries is all that counts for a pair, the strongest now first.
func (s *Store) Entries(p Pair) ([]Entry, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	var list []Entry
	err = s.rows(snap, p, func(r row) error {
		e, err := s.entry(snap, r.id)
		list = append(list, e)
		return err
	})
	now := s.o.Now()
	slices.SortStableFunc(list, func(a, b Entry) int {
		return cmp.Compare(b.Weights.Attention(now), a.Weights.Attention(now))
	})
	return list, err
}
