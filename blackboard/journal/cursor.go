package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
)

// cursor reads records in order across segments, without any lock. It opens
// files of its own, so it needs nothing of the Journal but where things are.
type cursor struct {
	j    *Journal
	from uint64 // the first record wanted; 0 for the oldest there is
	hint int64  // where in the live file from may begin, or 0

	last Head // the last record given out or passed over; zero at the start

	file    File
	info    fs.FileInfo
	closed  *archived // the closed segment that file is, or nil for a live one
	lines   *lineReader
	inFile  Head  // the last record read from file
	suspect int64 // where a line looked damaged, to be looked at once more; -1 if none
	opened  int   // how many files were opened so far

	unfinished error // why the line after the last record is none; nil if there is none
}

// next returns the next record; false if there is none yet.
func (c *cursor) next() (Record, bool, error) {
	for {
		if c.file == nil {
			if err := c.open(); err != nil {
				return Record{}, false, err
			}
		}
		line, start, err := c.lines.next()
		if err != nil {
			again, err := c.stop(start, err)
			if again && err == nil {
				continue
			}
			return Record{}, false, err
		}
		r, err := Decode(line)
		if err == nil && c.inFile.Seq > 0 {
			err = follows(c.inFile, r.Seq, r.Prev)
		}
		if err != nil {
			again, err := c.stop(start, err)
			if again && err == nil {
				continue
			}
			return Record{}, false, err
		}
		c.inFile, c.suspect = r.Head(), -1
		if err := c.join(r, start); err != nil {
			return Record{}, false, err
		}
		if r.Seq > c.last.Seq {
			c.last = r.Head()
			if r.Seq >= c.from {
				return r, true, nil
			}
		}
	}
}

// join checks r against what was read from other files before.
func (c *cursor) join(r Record, start int64) error {
	switch {
	case c.last.Seq == 0 && c.from > 0 && r.Seq > c.from:
		return &MissingError{Seq: c.from}
	case c.last.Seq == 0 || r.Seq < c.last.Seq:
		return nil
	case r.Seq == c.last.Seq:
		if r.Hash != c.last.Hash {
			return &WentBackwardsError{Source: "this reader", Noted: c.last, Found: r.Head()}
		}
		return nil
	}
	if err := follows(c.last, r.Seq, r.Prev); err != nil {
		return c.corrupt(start, err.Error())
	}
	return nil
}

func (c *cursor) corrupt(offset int64, why string) error {
	return &CorruptError{Path: c.name(), Line: lineNumber(c.file, offset), Offset: offset, Why: why}
}

func (c *cursor) name() string {
	if c.closed != nil {
		return c.j.path(archiveName, c.closed.name)
	}
	return c.j.livePath
}

// stop decides what a place means where reading cannot go on: the end of a
// segment, the end of the log, a line on its way, or damage. It returns true if
// it is worth to read again.
func (c *cursor) stop(start int64, cause error) (again bool, err error) {
	var failed *readError
	if errors.As(cause, &failed) {
		return false, storageError("read the log", c.name(), cause)
	}
	c.lines.seek(start)
	if c.closed != nil {
		if cause != io.EOF {
			return false, c.corrupt(start, cause.Error())
		}
		if c.inFile.Seq < c.closed.last {
			return false, c.corrupt(start, fmt.Sprintf("the segment ends at message %d", c.inFile.Seq))
		}
		c.close()
		return true, nil
	}
	info, err := c.j.fsys.Stat(c.j.livePath)
	if err != nil {
		return false, c.j.missingLog(err)
	}
	if !c.j.fsys.SameFile(info, c.info) {
		c.close() // what it got before it was replaced is in the archive, or in its copy
		return true, nil
	}
	if info.Size() < start || (cause == io.EOF && c.inFile.Seq > 0 && c.inFile.Seq < c.last.Seq) {
		return false, &WentBackwardsError{Source: "this reader", Noted: c.last, Found: c.inFile}
	}
	if c.unfinished = cause; cause == io.EOF {
		c.unfinished = nil
		return false, nil
	}
	return c.doubt(start, cause)
}

// doubt looks at a bad line in the live file. Before it is called damage it is
// read a second time: a writer may have mended it under our eyes.
func (c *cursor) doubt(start int64, cause error) (again bool, err error) {
	bad := &flaw{offset: start, seq: max(c.inFile.Seq, c.last.Seq) + 1, cut: cause == errCut, why: cause.Error()}
	err = c.j.judge(c.file, bad, c.j.readHead())
	if err == nil {
		return false, nil
	}
	if c.suspect == start {
		return false, err
	}
	c.suspect = start
	return true, nil
}

// openTries bounds how often a reader looks again for a segment that lost its
// name under its eyes.
const openTries = 5

// open finds the file that holds the next record and goes to it or just before.
// A rotation may just then remove the name that an interrupted one had given the
// live file; so a name that is gone is looked for again.
func (c *cursor) open() error {
	for try := 1; ; try++ {
		err := c.openOnce()
		if try == openTries || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

func (c *cursor) openOnce() error {
	want := max(c.from, c.last.Seq+1)
	if c.from == 0 && c.last.Seq == 0 {
		want = 0
	}
	live, err := c.j.fsys.OpenFile(c.j.livePath, os.O_RDONLY, 0)
	if err != nil {
		return c.j.missingLog(err)
	}
	first, err := c.j.firstRecord(live)
	if err != nil {
		_ = live.Close()
		return err
	}
	if want >= first.Seq {
		return c.use(live, nil, want)
	}
	// A segment gets its name in the archive before it stops being the live one,
	// so whatever precedes the live file is there, or gone for good.
	list, err := c.j.listArchived()
	if err != nil {
		_ = live.Close()
		return err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if want == 0 {
			i = 0
		}
		if a := list[i]; want == 0 || (a.first <= want && want <= a.last) {
			_ = live.Close()
			file, err := c.j.fsys.OpenFile(c.j.path(archiveName, a.name), os.O_RDONLY, 0)
			if err != nil {
				return storageError("open a closed segment", c.j.path(archiveName, a.name), err)
			}
			return c.use(file, &a, want)
		}
	}
	if want == 0 {
		return c.use(live, nil, want)
	}
	_ = live.Close()
	return &MissingError{Seq: want}
}

// use makes file the one that is read, from the record want on.
func (c *cursor) use(file File, closed *archived, want uint64) error {
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return storageError("open the log", c.j.livePath, err)
	}
	c.file, c.info, c.closed = file, info, closed
	c.inFile, c.suspect = Head{}, -1
	c.opened++
	at, err := c.hint, error(nil)
	if c.hint = 0; at == 0 || closed != nil || !startsAt(file, at, want) {
		at, err = locate(file, info.Size(), want)
	}
	if err != nil {
		return storageError("search the log", c.name(), err)
	}
	c.lines = newLineReader(file, at)
	return nil
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close() // it was only read
		c.file = nil
	}
}

// Read yields the records with Seq >= from that are there now; see Log.
func (j *Journal) Read(from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		c := &cursor{j: j, from: from}
		defer c.close()
		for {
			r, ok, err := c.next()
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !ok || !yield(r, nil) {
				return
			}
		}
	}
}
