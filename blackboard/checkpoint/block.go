package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sort"
)

const (
	blockBytes = 8 << 10 // a block is closed once it is this large

	recordSpace = 0x01
	indexSpace  = 0x02
)

type sum [sha256.Size]byte

// place says where a block is and what it must hash to.
type place struct {
	offset, length int64
	sum            sum
}

func (p place) encode() []byte {
	out := binary.AppendUvarint(nil, uint64(p.offset))
	out = binary.AppendUvarint(out, uint64(p.length))
	return append(out, p.sum[:]...)
}

func decodePlace(raw []byte) (place, error) {
	offset, n := binary.Uvarint(raw)
	if n <= 0 {
		return place{}, errors.New("a block names no child")
	}
	length, m := binary.Uvarint(raw[n:])
	if m <= 0 || len(raw)-n-m != sha256.Size || offset > 1<<62 || length > 1<<62 {
		return place{}, errors.New("a block names no child")
	}
	return place{offset: int64(offset), length: int64(length), sum: sum(raw[n+m:])}, nil
}

// entry is a key and a value inside a block; both share its memory.
type entry struct{ key, value []byte }

func appendEntry(block, key, value []byte) []byte {
	block = binary.AppendUvarint(block, uint64(len(key)))
	block = binary.AppendUvarint(block, uint64(len(value)))
	block = append(block, key...)
	return append(block, value...)
}

// decodeBlock finds the entries of a block.
func decodeBlock(raw []byte) ([]entry, error) {
	var entries []entry
	for len(raw) > 0 {
		keyLen, n := binary.Uvarint(raw)
		if n <= 0 {
			return nil, errors.New("a block is malformed")
		}
		raw = raw[n:]
		valueLen, n := binary.Uvarint(raw)
		if n <= 0 {
			return nil, errors.New("a block is malformed")
		}
		raw = raw[n:]
		size := uint64(len(raw))
		if keyLen > size || valueLen > size-keyLen {
			return nil, errors.New("a block is malformed")
		}
		entries = append(entries, entry{key: raw[:keyLen:keyLen], value: raw[keyLen : keyLen+valueLen : keyLen+valueLen]})
		raw = raw[keyLen+valueLen:]
	}
	return entries, nil
}

// firstAtLeast is the position of the first entry whose key is not below key.
func firstAtLeast(entries []entry, key []byte) int {
	return sort.Search(len(entries), func(i int) bool { return bytes.Compare(entries[i].key, key) >= 0 })
}

func treeKey(space byte, name, key string) []byte {
	out := make([]byte, 0, 2+len(name)+len(key))
	out = append(out, space)
	out = append(out, name...)
	out = append(out, 0)
	return append(out, key...)
}
