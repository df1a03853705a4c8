package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// Options are what a store needs from outside. The zero value is the real world.
type Options struct {
	Now     func() time.Time // default time.Now
	NewID   func() string    // of new rules; default UUIDv4
	Params  Params           // default Defaults()
	Distill Distill          // default FromEvidence

	// hook is called by name where a crash would be worst; tests die there.
	hook func(place string)
	// bufferBytes are kept in memory before they become a table; default 8 MiB.
	bufferBytes int
}

// Head is a place in the log. The zero Head is before its first message.
type Head struct {
	Seq  uint64
	Hash string
}

// Store is the index. Its methods may be called from any goroutine.
type Store struct {
	dir  string
	o    Options
	lock *flock.Flock
	db   *leveldb.DB

	mu        sync.Mutex // one Apply at a time; guards what follows
	at        Head       // the last message seen
	persisted Head       // what the store itself knows of that
	closed    bool

	dreaming sync.Mutex // one pass at a time
}

const (
	formatVersion = "2" // 1 filed facts that differ in case only as one
	lockSuffix    = ".lock"

	defaultBufferBytes = 8 << 20

	dirPerm = fs.FileMode(0o755)
)

// dbOptions open strict: what does not check out is an error, never passed
// over. Buffers, tables and the first level are larger than usual: what is
// written about one memory lies all over the key space, so every merge of fresh
// tables rewrites the whole first level, and is better rare. Without a block
// cache every open table keeps its index and filter, which is what looking up
// random ids needs; with one these push each other out (three times the CPU at
// 300,000 memories). Blocks of data are the system's to cache.
func (o Options) dbOptions() *opt.Options {
	return &opt.Options{
		Strict:                 opt.StrictAll,
		Filter:                 filter.NewBloomFilter(10),
		DisableBlockCache:      true,
		BlockSize:              16 << 10,
		WriteBuffer:            o.bufferBytes,
		CompactionTableSize:    8 << 20,
		CompactionTotalSize:    256 << 20,
		CompactionL0Trigger:    8,
		WriteL0SlowdownTrigger: 24,
		WriteL0PauseTrigger:    48,
		OpenFilesCacheCapacity: 128,
	}
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Params == (Params{}) {
		o.Params = Defaults()
	}
	if o.Distill == nil {
		o.Distill = FromEvidence
	}
	if o.bufferBytes == 0 {
		o.bufferBytes = defaultBufferBytes
	}
	if o.hook == nil {
		o.hook = func(string) {}
	}
	return o
}

// Open opens the store in dir, or makes an empty one. It is a *HeldError if
// another process, or another Store of this one, has it, and a *CorruptError
// if what is there is not whole.
func Open(dir string, o Options) (*Store, error) {
	lock, err := take(dir)
	if err != nil {
		return nil, err
	}
	s, err := open(dir, o, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// take takes the lock beside dir. It outlives the directory, which Rebuild moves.
func take(dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(dir), dirPerm); err != nil {
		return nil, fmt.Errorf("open the memory: %w", err)
	}
	lock := flock.New(dir + lockSuffix)
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the memory: %w", err)
	}
	if !got {
		return nil, &HeldError{Dir: dir}
	}
	return lock, nil
}

func open(dir string, o Options, lock *flock.Flock) (*Store, error) {
	s := &Store{dir: dir, o: o.withDefaults(), lock: lock}
	db, err := leveldb.OpenFile(dir, s.o.dbOptions())
	if err != nil {
		return nil, s.damage("open the memory", err)
	}
	s.db = db
	if err := s.loadHead(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// loadHead reads how far the log is indexed, and refuses another layout.
func (s *Store) loadHead() error {
	format, err := s.db.Get([]byte(formatKey), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		it := s.db.NewIterator(nil, nil)
		defer it.Release()
		if it.Next() {
			return s.wrong("it has entries and no format")
		}
		if err := it.Error(); err != nil {
			return s.damage("read the memory", err)
		}
		return s.damage("begin the memory", s.db.Put([]byte(formatKey), []byte(formatVersion), nil))
	}
	if err != nil {
		return s.damage("read the memory's format", err)
	}
	if string(format) != formatVersion {
		return s.wrong("format %q, this version knows %s", format, formatVersion)
	}
	raw, err := s.db.Get([]byte(atKey), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return s.damage("read how far the memory is", err)
	}
	if s.at, err = decodeHead(raw); err != nil {
		return s.wrong("how far it is: %v", err)
	}
	s.persisted = s.at
	return nil
}

func (h Head) encode() []byte { return []byte(strconv.FormatUint(h.Seq, 10) + " " + h.Hash) }

func decodeHead(b []byte) (Head, error) {
	seq, hash, ok := strings.Cut(string(b), " ")
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil || !ok {
		return Head{}, fmt.Errorf("%q is not a place in the log", b)
	}
	return Head{Seq: n, Hash: hash}, nil
}

// At is the last message the store has seen.
func (s *Store) At() Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// Close notes how far the log was seen and gives the store back. Closing twice
// is allowed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(s.persist(), s.damage("close the memory", s.db.Close()), s.lock.Close())
}

// persist notes how far the log was seen if the store does not know yet. s.mu
// must be held.
func (s *Store) persist() error {
	if s.at == s.persisted {
		return nil
	}
	if err := s.db.Put([]byte(atKey), s.at.encode(), nil); err != nil {
		return s.damage("note how far the memory is", err)
	}
	s.persisted = s.at
	return nil
}
