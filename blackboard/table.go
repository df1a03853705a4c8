package blackboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/tidwall/btree"
)

// record is one thing the state remembers, encoded for a checkpoint.
type record struct {
	kind, key string
	value     []byte
}

// entry is one row of an index: which record a key leads to. Entries of one
// index are ordered by key; a key may repeat only for different records.
type entry struct {
	index, key, record string
}

// base is the checkpoint below the overlay, with its records left encoded.
// What it yields is in ascending order; an error ends a sequence. Kinds and
// index names hold no zero byte; keys may.
type base interface {
	get(kind, key string) ([]byte, bool, error)
	scan(index, prefix string) iter.Seq2[entry, error]
	all(kind string) iter.Seq2[record, error]
}

// faults remembers the first error of reading the base, so that getters need
// no error result and nothing is ever decided on a record that did not load.
type faults struct{ err error }

func (f *faults) note(err error) {
	if f.err == nil {
		f.err = err
	}
}

// table holds the records of one kind: what changed since the base, over the
// base. Values are never written to once they are in the table.
type table[T any] struct {
	kind   string
	names  []string // of its indexes, ascending
	index  func(key string, v *T) []entry
	still  func(old, now *T) bool // whether both surely have the same entries; may be nil
	base   base
	faults *faults
	rows   btree.Map[string, *T] // nil: deleted
	order  btree.Map[string, string]
	seen   map[string]*T // values of the base that were decoded lately; the base never changes
}

// maxSeen bounds the decoded values that are kept: more than a view shows, so
// that who looks at the same tasks after every message decodes them once.
const maxSeen = 2048

func (e entry) place() string { return e.index + "\x00" + e.key + "\x00" + e.record }

// get returns the value of a key, or nil. It must not be written through.
func (t *table[T]) get(key string) *T {
	if v, ok := t.rows.Get(key); ok {
		return v
	}
	if t.base == nil {
		return nil
	}
	if v, ok := t.seen[key]; ok {
		return v
	}
	raw, ok, err := t.base.get(t.kind, key)
	if err != nil {
		t.faults.note(fmt.Errorf("read %s %s of the checkpoint: %w", t.kind, key, err))
		return nil
	}
	if !ok {
		return nil
	}
	v := t.decode(key, raw)
	if v == nil {
		return nil
	}
	if t.seen == nil || len(t.seen) >= maxSeen {
		t.seen = make(map[string]*T)
	}
	t.seen[key] = v
	return v
}

// resting tells whether a record is as the base has it.
func (t *table[T]) resting(key string) bool {
	_, changed := t.rows.Get(key)
	return t.base != nil && !changed
}

func (t *table[T]) decode(key string, raw []byte) *T {
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		t.faults.note(fmt.Errorf("decode %s %s of the checkpoint: %w", t.kind, key, err))
		return nil
	}
	return v
}

// set puts a value, or deletes the key if v is nil, and moves its index entries.
func (t *table[T]) set(key string, v *T) {
	old, had := t.rows.Set(key, v)
	if had && old != nil && v != nil && t.still != nil && t.still(old, v) {
		return
	}
	if had && old != nil {
		for _, e := range t.index(key, old) {
			t.order.Delete(e.place())
		}
	}
	if v == nil {
		if t.base == nil {
			t.rows.Delete(key)
		}
		return
	}
	for _, e := range t.index(key, v) {
		t.order.Set(e.place(), e.record)
	}
}

// scan yields (index key, record key) of the entries of an index whose keys
// begin with prefix, in ascending order. The table must not change meanwhile.
func (t *table[T]) scan(index, prefix string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		name := index + "\x00"
		within := name + prefix
		it := t.order.Iter()
		more := it.Seek(within)
		over := func(below string) bool { // yields the overlay's entries below a place; all if it is empty
			for more && strings.HasPrefix(it.Key(), within) && (below == "" || it.Key() < below) {
				key := it.Key()[len(name) : len(it.Key())-len(it.Value())-1]
				if !yield(key, it.Value()) {
					return false
				}
				more = it.Next()
			}
			return true
		}
		if t.base != nil {
			for e, err := range t.base.scan(index, prefix) {
				if err != nil {
					t.faults.note(fmt.Errorf("read index %s of the checkpoint: %w", index, err))
					return
				}
				if _, hidden := t.rows.Get(e.record); hidden {
					continue
				}
				if !over(e.place()) || !yield(e.key, e.record) {
					return
				}
			}
		}
		over("")
	}
}

// records yields every record, encoded, in ascending order of key. Those of
// the base are passed on as they are.
func (t *table[T]) records() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		it := t.rows.Iter()
		more := it.First()
		over := func(below string, bounded bool) bool {
			for ; more && (!bounded || it.Key() < below); more = it.Next() {
				if it.Value() == nil {
					continue
				}
				raw, err := encodeRecord(it.Value())
				if err != nil {
					yield(record{}, fmt.Errorf("encode %s %s: %w", t.kind, it.Key(), err))
					return false
				}
				if !yield(record{t.kind, it.Key(), raw}, nil) {
					return false
				}
			}
			return true
		}
		if t.base != nil {
			for r, err := range t.base.all(t.kind) {
				if err != nil {
					yield(record{}, err)
					return
				}
				if !over(r.key, true) {
					return
				}
				if _, hidden := t.rows.Get(r.key); hidden {
					continue
				}
				if !yield(r, nil) {
					return
				}
			}
		}
		over("", false)
	}
}

// entries yields every index entry, in ascending order within each index.
func (t *table[T]) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, name := range t.names {
			for key, rec := range t.scan(name, "") {
				if !yield(entry{name, key, rec}) {
					return
				}
			}
		}
	}
}

// copy is a table that shares everything with t until either changes.
func (t *table[T]) copy(f *faults) table[T] {
	c := table[T]{kind: t.kind, names: t.names, index: t.index, still: t.still, base: t.base, faults: f}
	c.rows, c.order = *t.rows.Copy(), *t.order.Copy()
	return c
}

// size is the number of records that differ from the base.
func (t *table[T]) size() int { return t.rows.Len() }

func encodeRecord(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// staged is the view one message has of a table while it is applied: what it
// changes is kept aside until all of it is known to be legal.
type staged[T any] struct {
	table *table[T]
	keys  []string // in the order they were first changed
	rows  map[string]*T
}

// peek returns a value that must not be written through, or nil.
func (g *staged[T]) peek(key string) *T {
	if v, ok := g.rows[key]; ok {
		return v
	}
	return g.table.get(key)
}

// edit returns a copy that will be written back, or nil if there is none.
func (g *staged[T]) edit(key string) *T {
	if v, ok := g.rows[key]; ok {
		return v
	}
	old := g.table.get(key)
	if old == nil {
		return nil
	}
	v := *old
	g.put(key, &v)
	return &v
}

// put stages a value; nil deletes.
func (g *staged[T]) put(key string, v *T) {
	if g.rows == nil {
		g.rows = make(map[string]*T, 2)
	}
	if _, ok := g.rows[key]; !ok {
		g.keys = append(g.keys, key)
	}
	g.rows[key] = v
}

func (g *staged[T]) commit() {
	for _, key := range g.keys {
		g.table.set(key, g.rows[key])
	}
}
