package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
	"unicode/utf8"
)

// Flaw is damage that a Scan passed over: lines that are none, or records that
// do not continue the chain.
type Flaw struct {
	File   string // the file's name, with archive/ before that of a closed segment
	Line   int    // of the first bad line, from 1; 0 if it could not be counted
	Offset int64
	After  uint64 // Seq of the last good record before it; 0 for none
	Next   uint64 // Seq of the first good record behind it; 0 for none
	Why    string
}

// Where names the place of the damage.
func (f Flaw) Where() string {
	return fmt.Sprintf("%s, line %d (byte %d)", f.File, f.Line, f.Offset)
}

// Scan reads a log for somebody who must know what is in it even if it is
// damaged: it goes on behind what is bad, and says what it passed over. Nobody
// else may: what a board is folded from is read by Read, which refuses.
//
// It takes no lock, keeps no bytes of an incomplete line, and follows rotations.
type Scan struct {
	j       *Journal
	after   Head // to go on behind; until it is found, records are passed over
	seeking bool

	last   Head
	lastTS time.Time

	file   File
	info   fs.FileInfo
	name   string
	closed bool   // a closed segment; otherwise the live file
	first  uint64 // Seq its first line claims
	gone   bool   // it was replaced; what it has left is read
	lines  *lineReader
	bad    *Flaw // bad lines that no good one has followed yet
	held   *Record
	ends   ending // what the last look at the end of the log saw
	told   bool   // that the log ends too early
	whole  bool   // the last look at the end of the log found nothing to doubt
}

// ending is a place where nothing more can be read.
type ending struct{ start, size int64 }

// OpenScan begins a scan of the log in dir behind a record; the zero Head means
// at the oldest that is kept. The record must still be there: otherwise Next
// returns a WentBackwardsError.
func OpenScan(dir string, opts Options, after Head) *Scan {
	return &Scan{j: newJournal(dir, opts), after: after, seeking: after.Seq > 0}
}

// Close releases the file.
func (s *Scan) Close() {
	if s.file != nil {
		_ = s.file.Close() // it was only read
		s.file = nil
	}
}

// Head is the last record that was given out.
func (s *Scan) Head() Head { return s.last }

// Next returns the next record, or a flaw if there is damage before it. Neither,
// without an error, means that there is nothing more now; unless Whole, ask
// twice before that is taken for the end of a damaged log. The record's payload is unchecked, and valid until the next call.
func (s *Scan) Next() (r Record, flaw *Flaw, ok bool, err error) {
	if s.held != nil {
		r, s.held = *s.held, nil
		s.took(r)
		return r, nil, true, nil
	}
	for {
		if s.file == nil {
			if err := s.open(); err != nil {
				return Record{}, nil, false, err
			}
		}
		line, start, err := s.lines.next()
		if err == nil {
			var r Record
			if r, err = decodeLoose(line); err == nil {
				if r, flaw, ok, err := s.good(r, start); ok || flaw != nil || err != nil {
					return r, flaw, ok, err
				}
				continue
			}
			s.spoil(start, err)
			continue
		}
		if flaw, again, err := s.end(start, err); !again {
			return Record{}, flaw, false, err
		}
	}
}

// Whole tells, after Next found nothing more, that no later record is known of:
// asking again at once could only find what is written meanwhile.
func (s *Scan) Whole() bool { return s.whole }

// good takes a line in that is good in itself. It gives nothing out while the
// record to begin behind is looked for.
func (s *Scan) good(r Record, start int64) (Record, *Flaw, bool, error) {
	if s.seeking {
		return Record{}, nil, false, s.seek(r)
	}
	if s.last.Seq > 0 && s.bad == nil {
		err := follows(s.last, r.Seq, r.Prev)
		if err == nil && r.TS.Before(s.lastTS) {
			err = fmt.Errorf("message %d is earlier than the one before", r.Seq)
		}
		if err != nil {
			s.spoil(start, err)
		}
	}
	if s.bad == nil {
		s.took(r)
		return r, nil, true, nil
	}
	flaw := s.bad
	flaw.Next = r.Seq
	s.bad = nil
	r.Payload = bytes.Clone(r.Payload)
	s.held = &r
	return Record{}, flaw, false, nil
}

// seek passes over records up to the one to begin behind.
func (s *Scan) seek(r Record) error {
	switch {
	case r.Seq < s.after.Seq:
		s.last = r.Head()
	case r.Seq > s.after.Seq && s.last.Seq == 0:
		return &MissingError{Seq: s.after.Seq}
	case r.Head() != s.after:
		return &WentBackwardsError{Source: "the caller", Noted: s.after, Found: r.Head()}
	default:
		s.seeking, s.bad = false, nil
		s.took(r)
	}
	return nil
}

func (s *Scan) took(r Record) { s.last, s.lastTS = r.Head(), r.TS }

// spoil remembers where damage begins.
func (s *Scan) spoil(start int64, why error) {
	if s.bad == nil {
		s.bad = &Flaw{File: s.name, Line: lineNumber(s.file, start), Offset: start, After: s.last.Seq, Why: why.Error()}
	}
}

// end decides what a place means where no whole line can be read.
func (s *Scan) end(start int64, cause error) (flaw *Flaw, again bool, err error) {
	var failed *readError
	switch {
	case errors.As(cause, &failed):
		return nil, false, storageError("read the log", s.j.path(s.name), cause)
	case errors.Is(cause, errLong):
		s.spoil(start, cause)
		next, err := lineEndAfter(s.file, start)
		if err != nil {
			return nil, false, storageError("read the log", s.j.path(s.name), err)
		}
		s.lines.seek(next)
		return nil, true, nil
	case s.closed || s.gone:
		if errors.Is(cause, errCut) {
			s.spoil(start, cause)
		}
		s.Close()
		return nil, true, nil
	}
	info, err := s.j.fsys.Stat(s.j.livePath)
	if err == nil && !s.j.fsys.SameFile(info, s.info) {
		s.gone = true // whatever was added before the rotation is read first
		return nil, true, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, storageError("look at the log", s.j.livePath, err)
	}
	if s.seeking {
		return nil, false, &WentBackwardsError{Source: "the caller", Noted: s.after, Found: s.last}
	}
	flaw = s.tail(start, cause, info)
	if s.bad != nil {
		// A writer may set bad lines at the end aside and write on in their place.
		s.lines.seek(s.bad.Offset)
		s.bad = nil
	}
	return flaw, false, nil
}

// tail says whether what the log ends in is damage: bad lines, a cut one, or
// none, although run/head knows a later record. A writer may be at it just now,
// so it has to look the same twice.
func (s *Scan) tail(start int64, cause error, info fs.FileInfo) *Flaw {
	s.whole = false
	if info == nil {
		return nil
	}
	noted := s.j.readHead()
	s.whole = noted.Seq <= s.last.Seq && s.bad == nil && !errors.Is(cause, errCut)
	now := ending{start, info.Size()}
	if noted.Seq <= s.last.Seq || s.told || s.ends != now {
		s.ends = now
		return nil
	}
	s.told = true
	f := Flaw{File: s.name, Line: lineNumber(s.file, start), Offset: start, After: s.last.Seq, Why: "the log ends here"}
	if s.bad != nil {
		f = *s.bad
	} else if errors.Is(cause, errCut) {
		f.Why = cause.Error()
	}
	f.Why += fmt.Sprintf(", though run/head knows message %d", noted.Seq)
	return &f
}

// open finds the file to read next: the oldest closed segment that begins behind
// the one that was read, and the live one after all of them.
func (s *Scan) open() error {
	live, err := s.j.fsys.OpenFile(s.j.livePath, os.O_RDONLY, 0)
	if err != nil {
		return s.j.missingLog(err)
	}
	info, err := live.Stat()
	if err != nil {
		_ = live.Close()
		return storageError("open the log", s.j.livePath, err)
	}
	list, err := s.j.listArchived()
	if err != nil {
		_ = live.Close()
		return err
	}
	begins, known := firstSeq(live)
	for _, a := range list {
		if known && a.first >= begins {
			break // what a restore that was cut short left: the live file has it
		}
		if a.first <= s.first || (s.seeking && a.last < s.after.Seq) {
			continue
		}
		name := archiveName + "/" + a.name
		file, err := s.j.fsys.OpenFile(s.j.path(archiveName, a.name), os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			_ = live.Close()
			return storageError("open a closed segment", s.j.path(archiveName, a.name), err)
		}
		if ai, err := file.Stat(); err != nil || s.j.fsys.SameFile(ai, info) {
			_ = file.Close() // the name an interrupted rotation gave the live file
			continue
		}
		_ = live.Close()
		s.first = max(s.first, a.first) // whatever it holds: it is not opened again
		return s.use(file, name, true)
	}
	return s.use(live, s.j.liveName(), false)
}

func (s *Scan) use(file File, name string, closed bool) error {
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return storageError("open the log", s.j.path(name), err)
	}
	at := int64(0)
	if s.seeking {
		if at, err = locate(file, info.Size(), s.after.Seq); err != nil {
			at = 0
		}
	}
	s.file, s.info, s.name, s.closed, s.gone = file, info, name, closed, false
	s.lines = newLineReader(file, at)
	if first, ok := firstSeq(file); ok {
		s.first = max(s.first, first)
	}
	return nil
}

// firstSeq reads what the first line of a file claims to be.
func firstSeq(file File) (uint64, bool) {
	buf := make([]byte, 64)
	n, _ := file.ReadAt(buf, 0) // what can not be read is found out by the reader
	return seqOf(buf[:n])
}

// lineEndAfter finds the first line that begins behind start.
func lineEndAfter(file File, start int64) (int64, error) {
	buf := make([]byte, biteBytes)
	for at := start; ; {
		n, err := file.ReadAt(buf, at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		at += int64(n)
		if err == io.EOF {
			return at, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// decodeLoose is Decode without a look at the payload, which points into line.
func decodeLoose(line []byte) (Record, error) {
	f, err := parseFrame(line)
	if err != nil {
		return Record{}, err
	}
	if !utf8.Valid(line) {
		return Record{}, errors.New("the line is not UTF-8")
	}
	r := Record{Seq: f.seq, Synced: f.synced, Prev: string(f.prev), Hash: string(f.hash), Payload: json.RawMessage(f.payload)}
	if r.TS, err = parseTime(string(f.ts)); err != nil {
		return Record{}, err
	}
	return r, decodeEnvelope(string(f.envelope), &r)
}
