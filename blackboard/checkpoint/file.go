package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"orch/blackboard/journal"
)

const (
	footerBytes = 4 << 10 // longest footer that is believed
	cacheBlocks = 64      // verified blocks kept decoded, besides the root
	sumBytes    = sha256.Size
)

// DamagedError: the file is not a whole checkpoint of this format.
type DamagedError struct{ Path, Why string }

func (e *DamagedError) Error() string { return fmt.Sprintf("checkpoint %s: %s", e.Path, e.Why) }

// File is an open checkpoint. It may be used by many goroutines at once.
type File struct {
	path string
	file journal.File
	size int64 // of all blocks
	id   ID
	foot footer
	root []entry

	mu    sync.Mutex
	cache map[int64][]entry // by offset
}

// Open reads the footer and the root of a checkpoint. Everything else is read,
// and checked, when it is asked for.
func Open(fsys journal.FS, path string) (*File, error) {
	file, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	f := &File{path: path, file: file, cache: map[int64][]entry{}}
	if err := f.readFooter(); err != nil {
		_ = file.Close() // the error that matters is the first
		return nil, err
	}
	return f, nil
}

// OpenID is Open for a file that must have the given content.
func OpenID(fsys journal.FS, path string, id ID) (*File, error) {
	f, err := Open(fsys, path)
	if err != nil {
		return nil, err
	}
	if f.id != id {
		_ = f.Close()
		return nil, &DamagedError{path, fmt.Sprintf("it is %s, not %s", f.id, id)}
	}
	return f, nil
}

// ID is the content address of the file.
func (f *File) ID() ID { return f.id }

// Header says what the file stands for.
func (f *File) Header() Header { return f.foot.Header }

// Records is the number of records in the file.
func (f *File) Records() int { return f.foot.Records }

// Bytes is the size of what is in the file.
func (f *File) Bytes() int64 { return f.size }

// Close closes the file. Nothing may be read from it afterwards.
func (f *File) Close() error { return f.file.Close() }

func (f *File) readFooter() error {
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("open checkpoint: %w", err)
	}
	tail := make([]byte, min(info.Size(), footerBytes))
	if err := readFull(f.file, tail, info.Size()-int64(len(tail))); err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	rest, ok := bytes.CutSuffix(tail, []byte(trailerMagic))
	if !ok || len(rest) < 4+sumBytes {
		return f.damaged("it does not end like a checkpoint")
	}
	length := int64(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	rest = rest[:len(rest)-4]
	digest := rest[len(rest)-sumBytes:]
	rest = rest[:len(rest)-sumBytes]
	if length > int64(len(rest)) {
		return f.damaged("its footer is cut off")
	}
	raw := rest[int64(len(rest))-length:]
	if got := sha256.Sum256(raw); !bytes.Equal(got[:], digest) {
		return f.damaged("its footer does not fit its checksum")
	}
	f.id = ID(hex.EncodeToString(digest))
	f.size = info.Size() - int64(trailerBytes) - sha256.Size - length
	return f.parseFooter(raw)
}

func (f *File) parseFooter(raw []byte) error {
	if err := json.Unmarshal(raw, &f.foot); err != nil {
		return f.damaged("its footer is malformed")
	}
	if f.foot.Format != formatVersion {
		return f.damaged(fmt.Sprintf("it has format %d, this program reads %d", f.foot.Format, formatVersion))
	}
	rootSum, err := hex.DecodeString(f.foot.Sum)
	if err != nil || len(rootSum) != sha256.Size {
		return f.damaged("its footer names no root")
	}
	f.root, err = f.read(place{f.foot.Offset, f.foot.Length, sum(rootSum)})
	return err
}

// read fetches a block and checks it against the sum its parent has for it.
func (f *File) read(at place) ([]entry, error) {
	if at.offset < 0 || at.length < 0 || at.offset > f.size || at.length > f.size-at.offset {
		return nil, f.damaged("a block lies outside of it")
	}
	raw := make([]byte, at.length)
	if err := readFull(f.file, raw, at.offset); err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", f.path, err)
	}
	if sha256.Sum256(raw) != at.sum {
		return nil, f.damaged(fmt.Sprintf("the block at byte %d does not fit its checksum", at.offset))
	}
	entries, err := decodeBlock(raw)
	if err != nil {
		return nil, f.damaged(err.Error())
	}
	return entries, nil
}

// block is read with a memory. Which blocks stay in it is left to chance: the
// ones above the leaves are few and come back at once.
func (f *File) block(at place) ([]entry, error) {
	f.mu.Lock()
	entries, ok := f.cache[at.offset]
	f.mu.Unlock()
	if ok {
		return entries, nil
	}
	entries, err := f.read(at)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for offset := range f.cache {
		if len(f.cache) < cacheBlocks {
			break
		}
		delete(f.cache, offset)
	}
	f.cache[at.offset] = entries
	return entries, nil
}

func (f *File) damaged(why string) error { return &DamagedError{Path: f.path, Why: why} }

// readFull reads exactly len(p) bytes at offset.
func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	if n == len(p) {
		return nil // io.EOF may come with the last byte
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
