package memory

import (
	"cmp"
	"errors"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"orch/blackboard/message"
	"orch/roles/loop"
)

// Weights of what is not a row of the controller's matrix. A word against a
// rule is as strong as a person's word for it, so that one outweighs what was
// learned (at most 0.95), and fades like any other.
const (
	factF    = 1.0
	againstF = 1.0
	againstK = 0.05 // per day
)

// Categories of what was learned.
const (
	categoryFact       = "fact"
	categoryProcedure  = "procedure"
	categoryConstraint = "constraint"
)

const factSpace = "fact:" // of loop.FactSpace

// megram indexes a Megram. One of the memory's own that says through where its
// sources reach retires them.
func (w *writer) megram(m message.Message, b message.Megram) error {
	if m.From != message.Memory {
		b.Through = 0
	}
	if b.Through > 0 {
		if err := w.flush(); err != nil {
			return err
		}
		if known, err := w.s.db.Has(key(megramKeys, b.ID), nil); err != nil || known {
			return err
		}
		if err := w.retire(b); err != nil {
			return err
		}
	}
	return w.add(b, m.Seq)
}

// add indexes a new entry. An id that is known is passed over: the first counts.
func (w *writer) add(m message.Megram, seq uint64) error {
	if m.ID == "" || w.fresh[m.ID] {
		return nil
	}
	if known, err := w.s.db.Has(key(megramKeys, m.ID), nil); err != nil || known {
		return err
	}
	whole, err := encodeMegram(m)
	if err != nil {
		return err
	}
	w.fresh[m.ID] = true
	w.batch.Put(key(megramKeys, m.ID), whole)
	w.batch.Put(key(timeKeys, stamp(m.CreatedAt), m.ID), nil)
	w.list(m, weigh(m, seq))
	return nil
}

// list makes an entry count, with these weights.
func (w *writer) list(m message.Megram, r record) {
	w.batch.Put(key(pairKeys, m.Space, m.Entity, m.ID), r.encode())
	if r.level != LevelM[0] {
		w.batch.Put(key(levelKeys, r.levelName(), m.ID), nil)
	}
	for _, tag := range m.Content.Tags {
		w.batch.Put(tagKey(tag, r, m), nil)
	}
}

// unlist ends that.
func (w *writer) unlist(m message.Megram, r record) {
	w.batch.Delete(key(pairKeys, m.Space, m.Entity, m.ID))
	w.batch.Delete(key(levelKeys, r.levelName(), m.ID))
	for _, tag := range m.Content.Tags {
		w.batch.Delete(tagKey(tag, r, m))
	}
}

func tagKey(tag string, r record, m message.Megram) []byte {
	return key(tagKeys, tag, r.class(), stamp(m.CreatedAt), m.ID)
}

// retire takes the sources of a new rule out of the potentials: what counts
// for its pair and was said up to where it reaches, but not what a person or
// the controller declared a rule.
func (w *writer) retire(rule message.Megram) error {
	it := w.s.db.NewIterator(util.BytesPrefix(prefix(pairKeys, rule.Space, rule.Entity)), nil)
	defer it.Release()
	for it.Next() {
		r, err := decodeRecord(it.Value())
		if err != nil {
			return w.s.wrong("%v", err)
		}
		if !isSource(r) || r.seq > rule.Through {
			continue
		}
		names, err := parts(it.Key())
		if err != nil {
			return w.s.wrong("%v", err)
		}
		m, _, err := w.find(names[2])
		if err != nil {
			return err
		}
		w.unlist(m, r)
		w.batch.Put(key(doneKeys, m.ID), retired{record: r, into: rule.ID}.encode())
	}
	return it.Error()
}

// isSource tells whether an entry can become part of a rule: an episode, a
// rule that lost its trust, or an earlier rule made of such.
func isSource(r record) bool { return !r.timeless() || (r.rule && r.level == LevelC[0]) }

// find reads an entry that is written, and its record if it counts (else nil).
func (w *writer) find(id string) (message.Megram, *record, error) {
	return w.s.find(w.s.db, id)
}

type reader interface {
	Get(key []byte, ro *opt.ReadOptions) ([]byte, error)
}

func (s *Store) find(db reader, id string) (message.Megram, *record, error) {
	raw, err := db.Get(key(megramKeys, id), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return message.Megram{}, nil, ErrUnknown
	}
	if err != nil {
		return message.Megram{}, nil, s.damage("read a memory", err)
	}
	m, err := decodeMegram(raw)
	if err != nil {
		return m, nil, s.wrong("%v", err)
	}
	raw, err = db.Get(key(pairKeys, m.Space, m.Entity, id), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return m, nil, nil
	}
	if err != nil {
		return m, nil, s.damage("read a memory", err)
	}
	r, err := decodeRecord(raw)
	if err != nil {
		return m, nil, s.wrong("%v", err)
	}
	return m, &r, nil
}

// feedback speaks against a rule in the rule's own pair. About a rule that is
// not known any more there is nothing to say.
func (w *writer) feedback(m message.Message, b message.NegativeFeedback) error {
	if err := w.flush(); err != nil {
		return err
	}
	rule, _, err := w.find(b.RuleID)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.add(message.Megram{
		ID: string(m.ID), Level: LevelM, CreatedAt: m.TS, Space: rule.Space, Entity: rule.Entity,
		Content: message.MegramContent{Lesson: b.Content, Tags: rule.Content.Tags, Category: categoryFact},
		F:       againstF, Sigma: against(rule.Sigma), K: againstK,
	}, m.Seq)
}

// against is the sign of what speaks against a rule.
func against(sigma float64) float64 { return cmp.Or(-sign(sigma), -1) }

// recalled notes when rules were last put to use.
func (w *writer) recalled(m message.Message, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	for _, id := range ids {
		_, r, err := w.find(id)
		if errors.Is(err, ErrUnknown) {
			continue
		}
		if err != nil {
			return err
		}
		if r != nil && r.timeless() {
			w.batch.Put(key(recallKeys, id), []byte(m.TS.UTC().Format(time.RFC3339Nano)))
		}
	}
	return nil
}

// dreamt does what a pass of the Dreamer says it did.
func (w *writer) dreamt(b message.DreamReport) error {
	if len(b.Demoted) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	for _, id := range b.Demoted {
		if err := w.demote(id, b.DemotedK); err != nil {
			return err
		}
	}
	return w.removeAll(b.Deleted)
}

// demote makes a rule fade like what it was made of, from when it was last put
// to use.
func (w *writer) demote(id string, k float64) error {
	m, r, err := w.find(id)
	if errors.Is(err, ErrUnknown) || err == nil && (r == nil || r.level != LevelC[0]) {
		return nil
	}
	if err != nil {
		return err
	}
	last, err := w.s.lastRecall(w.s.db, id)
	if err != nil {
		return err
	}
	w.unlist(m, *r)
	r.level, r.k, r.rule = LevelK[0], max(k, 0), false
	if !last.IsZero() {
		r.since = max(r.since, nanos(last))
	}
	w.list(m, *r)
	return nil
}

// lastRecall is the zero time for what was never recalled.
func (s *Store) lastRecall(db reader, id string) (time.Time, error) {
	raw, err := db.Get(key(recallKeys, id), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, s.damage("read a recall", err)
	}
	at, err := time.Parse(time.RFC3339Nano, string(raw))
	if err != nil {
		return time.Time{}, s.wrong("%v", err)
	}
	return at, nil
}

func (w *writer) removeAll(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.remove(id); err != nil {
			return err
		}
	}
	return w.flush() // what is said again under such an id must not be taken for known
}

// remove takes every trace of an entry away.
func (w *writer) remove(id string) error {
	m, r, err := w.find(id)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	if r != nil {
		w.unlist(m, *r)
	}
	w.batch.Delete(key(megramKeys, id))
	w.batch.Delete(key(timeKeys, stamp(m.CreatedAt), id))
	w.batch.Delete(key(doneKeys, id))
	w.batch.Delete(key(recallKeys, id))
	return nil
}

// factMegram is a person's word as a rule of its own pair. The same words
// again are the same pair.
func factMegram(m message.Message, b message.MemoryFact) message.Megram {
	return message.Megram{
		ID: string(m.ID), Level: LevelC, CreatedAt: m.TS, Space: loop.FactSpace(b.Text), Entity: loop.LocalEntity,
		Content: message.MegramContent{Lesson: b.Text, Tags: b.Tags, Category: categoryFact},
		F:       factF, Sigma: 1,
	}
}
