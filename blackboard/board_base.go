package blackboard

import (
	"iter"

	"orch/blackboard/checkpoint"
)

// fileBase is a checkpoint file as the base of a state.
type fileBase struct{ file *checkpoint.File }

var _ base = fileBase{}

func (b fileBase) get(kind, key string) ([]byte, bool, error) { return b.file.Get(kind, key) }

func (b fileBase) scan(index, prefix string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for e, err := range b.file.Scan(index, prefix) {
			if !yield(entry{index: index, key: e.Key, record: e.Record}, err) {
				return
			}
		}
	}
}

func (b fileBase) all(kind string) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for r, err := range b.file.All(kind) {
			if !yield(record{kind: r.Kind, key: r.Key, value: r.Value}, err) {
				return
			}
		}
	}
}
