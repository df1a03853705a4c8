package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"orch/blackboard/journal"
)

const (
	formatVersion = 1
	trailerMagic  = "orchckpt"
	trailerBytes  = 4 + len(trailerMagic)
	writeBytes    = 256 << 10 // what is collected before it goes to the file
)

// Header says what a checkpoint stands for.
type Header struct {
	Fold  int    `json:"fold"`  // version of the code that made the records of messages
	Board string `json:"board"` // id of the board
	Seq   uint64 `json:"seq"`   // the last message folded into it
	Head  string `json:"head"`  // the hash of that message
}

// ID is the content address of a checkpoint: lower-case hex of a SHA-256 that
// covers all of it.
type ID string

type footer struct {
	Format int `json:"format"`
	Header
	Records int    `json:"records"`
	Entries int    `json:"entries"` // of all indexes together
	Height  int    `json:"height"`  // of the root; 0 is a leaf
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
	Sum     string `json:"sum"` // of the root
}

// Writer builds a checkpoint under a temporary name. It is used by one goroutine.
type Writer struct {
	fsys   journal.FS
	temp   string
	file   journal.File // nil once committed or dropped
	block  int          // bytes at which a block is closed
	foot   footer
	buffer []byte
	offset int64 // where the buffer begins
	levels []level
	last   []byte
	index  []indexEntry
	err    error // the first failure; everything after it is refused
}

// level is the open block of one level of the tree.
type level struct {
	block   []byte
	first   []byte // its first key
	entries int
}

type indexEntry struct {
	key    []byte
	record string
}

// Create starts a checkpoint in the file temp, which is overwritten.
func Create(fsys journal.FS, temp string, h Header) (*Writer, error) {
	file, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	return &Writer{fsys: fsys, temp: temp, file: file, block: blockBytes, foot: footer{Format: formatVersion, Header: h}}, nil
}

// Record adds one record. The value is copied.
func (w *Writer) Record(kind, key string, value []byte) error {
	if w.err != nil {
		return w.err
	}
	if strings.IndexByte(kind, 0) >= 0 {
		return w.fail(fmt.Errorf("record kind %q holds a zero byte", kind))
	}
	full := treeKey(recordSpace, kind, key)
	if w.last != nil && bytes.Compare(full, w.last) <= 0 {
		return w.fail(fmt.Errorf("record %s %q is out of order", kind, key))
	}
	w.last = full
	w.foot.Records++
	return w.put(0, full, value)
}

// Index adds an index entry for a record.
func (w *Writer) Index(index, key, record string) error {
	if w.err != nil {
		return w.err
	}
	if strings.IndexByte(index, 0) >= 0 {
		return w.fail(fmt.Errorf("index name %q holds a zero byte", index))
	}
	w.index = append(w.index, indexEntry{treeKey(indexSpace, index, key), record})
	w.foot.Entries++
	return nil
}

// Commit completes the file, makes it durable and gives it the name that path
// returns for its id. Whatever happens, that name never stands for half a file.
func (w *Writer) Commit(path func(ID) string) (ID, error) {
	defer w.Abort()
	id, err := w.finish()
	if err != nil {
		return "", fmt.Errorf("write checkpoint: %w", err)
	}
	if err := w.file.Sync(); err != nil {
		return "", fmt.Errorf("write checkpoint: %w", w.fail(err))
	}
	if err := w.file.Close(); err != nil {
		return "", fmt.Errorf("write checkpoint: %w", w.fail(err))
	}
	name := path(id)
	if err := w.fsys.Rename(w.temp, name); err != nil {
		return "", fmt.Errorf("name checkpoint: %w", w.fail(err))
	}
	w.file = nil // it has its name: Abort has nothing to drop
	w.err = errors.New("the checkpoint is committed")
	if err := w.fsys.SyncDir(filepath.Dir(name)); err != nil {
		return "", fmt.Errorf("name checkpoint: %w", err)
	}
	return id, nil
}

// Abort drops the file. It does nothing after Commit.
func (w *Writer) Abort() {
	if w.file == nil {
		return
	}
	_ = w.file.Close() // the file is dropped, what becomes of it is no matter
	_ = w.fsys.Remove(w.temp)
	w.file = nil
	_ = w.fail(errors.New("the checkpoint was dropped"))
}

func (w *Writer) finish() (ID, error) {
	if w.err != nil {
		return "", w.err
	}
	sort.Slice(w.index, func(i, j int) bool {
		if c := bytes.Compare(w.index[i].key, w.index[j].key); c != 0 {
			return c < 0
		}
		return w.index[i].record < w.index[j].record
	})
	for _, e := range w.index {
		if err := w.put(0, e.key, []byte(e.record)); err != nil {
			return "", err
		}
	}
	w.index = nil
	root, err := w.closeTree()
	if err != nil {
		return "", err
	}
	w.foot.Offset, w.foot.Length, w.foot.Sum = root.offset, root.length, hex.EncodeToString(root.sum[:])
	raw, err := json.Marshal(w.foot)
	if err != nil {
		return "", w.fail(err)
	}
	digest := sha256.Sum256(raw)
	w.buffer = append(w.buffer, raw...)
	w.buffer = append(w.buffer, digest[:]...)
	w.buffer = binary.BigEndian.AppendUint32(w.buffer, uint32(len(raw)))
	w.buffer = append(w.buffer, trailerMagic...)
	if err := w.flush(); err != nil {
		return "", err
	}
	return ID(hex.EncodeToString(digest[:])), nil
}

// closeTree closes the open block of every level, lowest first. The highest
// level, which then holds one block, is the root.
func (w *Writer) closeTree() (place, error) {
	if len(w.levels) == 0 {
		w.levels = []level{{}}
	}
	for height := 0; ; height++ {
		if height == len(w.levels)-1 {
			w.foot.Height = height
			return w.write(w.levels[height].block)
		}
		if err := w.closeBlock(height); err != nil {
			return place{}, err
		}
	}
}

// put adds an entry to the open block of a level. A full block is closed only
// when another entry comes, so the open block of a level is never empty and a
// root never has a single child. An inner block has two children at least:
// otherwise long keys would pile up levels without end.
func (w *Writer) put(height int, key, value []byte) error {
	if height == len(w.levels) {
		w.levels = append(w.levels, level{})
	}
	if l := &w.levels[height]; len(l.block) >= w.block && (height == 0 || l.entries > 1) {
		if err := w.closeBlock(height); err != nil {
			return err
		}
	}
	l := &w.levels[height]
	if l.entries == 0 {
		l.first = bytes.Clone(key)
	}
	l.block = appendEntry(l.block, key, value)
	l.entries++
	return nil
}

func (w *Writer) closeBlock(height int) error {
	l := &w.levels[height]
	at, err := w.write(l.block)
	if err != nil {
		return err
	}
	first := l.first
	*l = level{block: l.block[:0]}
	return w.put(height+1, first, at.encode())
}

func (w *Writer) write(block []byte) (place, error) {
	at := place{offset: w.offset + int64(len(w.buffer)), length: int64(len(block)), sum: sha256.Sum256(block)}
	w.buffer = append(w.buffer, block...)
	if len(w.buffer) < writeBytes {
		return at, nil
	}
	return at, w.flush()
}

func (w *Writer) flush() error {
	n, err := w.file.Write(w.buffer)
	if err == nil && n < len(w.buffer) {
		err = fmt.Errorf("wrote %d of %d bytes", n, len(w.buffer))
	}
	if err != nil {
		return w.fail(err)
	}
	w.offset += int64(len(w.buffer))
	w.buffer = w.buffer[:0]
	return nil
}

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return err
}
