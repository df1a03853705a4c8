package checkpoint

import (
	"bytes"
	"iter"
)

// Record is one record of a file.
type Record struct {
	Kind, Key string
	Value     []byte // must not be written to
}

// Entry is one entry of an index.
type Entry struct {
	Key    string // of the entry
	Record string // the key of the record it is for
}

// Get finds one record. The value must not be written to.
func (f *File) Get(kind, key string) ([]byte, bool, error) {
	want := treeKey(recordSpace, kind, key)
	for e, err := range f.from(want) {
		if err != nil {
			return nil, false, err
		}
		if bytes.Equal(e.key, want) {
			return e.value, true, nil
		}
		break
	}
	return nil, false, nil
}

// Scan yields the entries of an index whose keys begin with prefix, in
// ascending order of key, then record. An error ends it.
func (f *File) Scan(index, prefix string) iter.Seq2[Entry, error] {
	return f.ScanFrom(index, prefix, "")
}

// ScanFrom is Scan that begins at the first key that is not below from.
func (f *File) ScanFrom(index, prefix, from string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		name := len(treeKey(indexSpace, index, ""))
		within := treeKey(indexSpace, index, prefix)
		for e, err := range f.from(treeKey(indexSpace, index, max(prefix, from))) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !bytes.HasPrefix(e.key, within) || !yield(Entry{Key: string(e.key[name:]), Record: string(e.value)}, nil) {
				return
			}
		}
	}
}

// All yields the records of one kind, or of every kind if kind is empty, in
// ascending order. An error ends it.
func (f *File) All(kind string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		within := []byte{recordSpace}
		if kind != "" {
			within = treeKey(recordSpace, kind, "")
		}
		for e, err := range f.from(within) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !bytes.HasPrefix(e.key, within) {
				return
			}
			name, key, _ := bytes.Cut(e.key[1:], []byte{0})
			if !yield(Record{Kind: string(name), Key: string(key), Value: e.value}, nil) {
				return
			}
		}
	}
}

// Verify reads the whole file and checks every byte of it.
func (f *File) Verify() error {
	count := footer{}
	var last []byte
	for e, err := range f.from(nil) {
		switch {
		case err != nil:
			return err
		case bytes.Compare(e.key, last) < 0:
			return f.damaged("its entries are out of order")
		case len(e.key) > 0 && e.key[0] == recordSpace:
			count.Records++
		default:
			count.Entries++
		}
		last = e.key
	}
	if count.Records != f.foot.Records || count.Entries != f.foot.Entries {
		return f.damaged("it does not hold what its footer says")
	}
	return nil
}

// from yields every entry of the tree whose key is not below key, in order.
func (f *File) from(key []byte) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		f.walk(f.root, f.foot.Height, key, yield)
	}
}

// walk yields what is below a block and says whether to go on.
func (f *File) walk(entries []entry, height int, key []byte, yield func(entry, error) bool) bool {
	first := firstAtLeast(entries, key)
	if height == 0 {
		for _, e := range entries[first:] {
			if !yield(e, nil) {
				return false
			}
		}
		return true
	}
	// The child before may begin below key and reach it.
	for _, e := range entries[max(first-1, 0):] {
		at, err := decodePlace(e.value)
		if err != nil {
			yield(entry{}, f.damaged(err.Error()))
			return false
		}
		child, err := f.block(at)
		if err != nil {
			yield(entry{}, err)
			return false
		}
		if !f.walk(child, height-1, key, yield) {
			return false
		}
	}
	return true
}
