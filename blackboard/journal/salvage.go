package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
)

// pool is every whole record that some files hold, whatever stands around them
// and in whatever order. A record proves itself by its hash, and the one before
// it by naming that one's: so a chain that ends in a known head can be put
// together from anywhere, and is the right one.
type pool struct {
	files []File
	own   int // so many of the files are the log's own, the others copies
	found map[digest]piece
}

type digest [hashChars / 2]byte

// piece is where a record is, and what it follows.
type piece struct {
	seq    uint64
	prev   digest
	file   int
	offset int64
	length int
	copied bool // a copy has it
	owned  bool // the log's own files have it

	rooted  bool // all before it is there
	outside int  // heads known outside, on the way here
	inside  int  // other known heads
	copies  int  // records of copies
}

func digestOf[T string | []byte](hash T) (d digest) {
	_, _ = hex.Decode(d[:], []byte(hash)) // it was checked to be a hash
	return d
}

// salvageWindow holds at least one whole line, wherever it begins in the first
// half.
const salvageWindow = 2 * MaxLineBytes

// add takes in what a file holds; none if it can not be opened as one.
func (p *pool) add(fsys FS, name string, copied bool) error {
	file, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	p.files = append(p.files, file)
	if !copied {
		p.own++
	}
	window := make([]byte, salvageWindow)
	for at := int64(0); ; {
		n, err := file.ReadAt(window, at)
		if err != nil && err != io.EOF {
			return err
		}
		used := p.lines(window[:n], at, copied, n < len(window))
		if at += int64(used); n < len(window) {
			return nil
		}
	}
}

// lines takes in the whole lines of a window, and says how much of it is done with.
func (p *pool) lines(window []byte, at int64, copied, last bool) (used int) {
	for {
		end := bytes.IndexByte(window[used:], '\n')
		switch {
		case end >= 0:
			p.line(window[used:used+end], at+int64(used), copied)
			used += end + 1
		case last:
			p.line(window[used:], at+int64(used), copied)
			return len(window)
		case used > 0:
			return used
		default: // no line of ours is so long: half of it can begin none that does not end here
			p.line(window, at, copied)
			return len(window) - MaxLineBytes
		}
	}
}

// salvageTries bounds how often a line is looked at: who made it so that more are
// needed did not lose it by accident.
const salvageTries = 64

// line takes in the records of a line: mostly it is one, but there may be other
// things before, between and behind.
func (p *pool) line(line []byte, at int64, copied bool) {
	if f, err := parseFrame(line); err == nil {
		p.take(f, at, len(line), copied)
		return
	}
	tries := 0
	for start := nextStart(line, 0); start >= 0; {
		next := start + 1
		for end := start; tries < salvageTries; tries++ {
			i := bytes.Index(line[end:], []byte(hashKey))
			if i < 0 {
				break
			}
			if end += i + len(hashKey) + hashChars + len(lineEnd); end > len(line) {
				break
			}
			if f, err := parseFrame(line[start:end]); err == nil {
				p.take(f, at+int64(start), end-start, copied)
				next = end
				break
			}
			end -= hashChars + len(lineEnd)
		}
		start = nextStart(line, next)
	}
}

func (p *pool) take(f frame, at int64, length int, copied bool) {
	key := digestOf(f.hash)
	known, there := p.found[key]
	if !there {
		known = piece{seq: f.seq, prev: digestOf(f.prev), file: len(p.files) - 1, offset: at, length: length}
	}
	known.copied, known.owned = known.copied || copied, known.owned || !copied
	p.found[key] = known
}

func (p *pool) close() {
	for _, file := range p.files {
		_ = file.Close() // it was only read
	}
}

// read returns a record as it was found.
func (p *pool) read(key digest) (Record, []byte, error) {
	at := p.found[key]
	line := make([]byte, at.length)
	if n, err := p.files[at.file].ReadAt(line, at.offset); n < len(line) {
		return Record{}, nil, fmt.Errorf("read message %d again: %w", at.seq, errors.Join(err, io.ErrUnexpectedEOF))
	}
	r, err := Decode(line)
	if err == nil && digestOf(r.Hash) != key {
		err = errors.New("the file was changed meanwhile")
	}
	return r, line, err
}

// best finds the chain that most speaks for: what a person gave as a copy, then
// what is remembered outside the board's directory, then what is inside, then
// length. It begins with the first message, or, where nothing reaches back to it,
// with the oldest that there is.
func (p *pool) best(known []Known) []digest {
	heads := map[digest]int{}
	for _, k := range known {
		if k.Outside {
			heads[digestOf(k.Hash)] |= 1
		} else {
			heads[digestOf(k.Hash)] |= 2
		}
	}
	order := make([]digest, 0, len(p.found))
	first := uint64(math.MaxUint64)
	for key, at := range p.found {
		order = append(order, key)
		first = min(first, at.seq)
	}
	slices.SortFunc(order, func(x, y digest) int {
		if a, b := p.found[x].seq, p.found[y].seq; a != b {
			return compareSeq(a, b)
		}
		return bytes.Compare(x[:], y[:])
	})
	var end digest
	for _, key := range order {
		at := p.found[key]
		before, there := p.found[at.prev]
		switch {
		case there && before.seq+1 == at.seq && before.rooted:
			at.rooted, at.outside, at.inside, at.copies = true, before.outside, before.inside, before.copies
		case at.seq == 1 && at.prev == digest{}, at.seq == first && first > 1:
			at.rooted = true
		}
		at.outside += heads[key] & 1
		at.inside += heads[key] >> 1
		if at.copied {
			at.copies++
		}
		p.found[key] = at
		if at.rooted && at.betterThan(p.found[end]) {
			end = key
		}
	}
	return p.back(end)
}

func compareSeq(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

// betterThan compares the ends of two chains.
func (a piece) betterThan(b piece) bool {
	switch {
	case a.copies != b.copies:
		return a.copies > b.copies
	case a.outside != b.outside:
		return a.outside > b.outside
	case a.inside != b.inside:
		return a.inside > b.inside
	}
	return a.seq > b.seq
}

// back lists a chain from its first record to its end.
func (p *pool) back(end digest) []digest {
	var chain []digest
	for at, ok := p.found[end]; ok && at.rooted; at, ok = p.found[end] {
		chain = append(chain, end)
		end = at.prev
	}
	slices.Reverse(chain)
	return chain
}

// ownFiles are the files of a log in a board's directory, and what of a restore
// that was cut short is there.
func (j *Journal) ownFiles() ([]string, error) {
	names := []string{j.livePath}
	list, err := j.listArchived()
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		names = append(names, j.path(archiveName, a.name))
	}
	return names, nil
}

// gather makes the pool of the log's own files and of copies. A file of ours that
// is missing or none holds nothing; one of a copy has to be there.
func (j *Journal) gather(copies []string) (*pool, error) {
	p := &pool{found: map[digest]piece{}}
	own, err := j.ownFiles()
	if err != nil {
		return nil, err
	}
	for _, name := range own {
		err := p.add(j.fsys, name, false)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotFile(err) {
			p.close()
			return nil, storageError("read the log", name, err)
		}
	}
	for _, name := range copies {
		if err := p.add(j.fsys, name, true); err != nil {
			p.close()
			return nil, storageError("read the copy", name, err)
		}
	}
	return p, nil
}
