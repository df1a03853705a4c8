package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var (
	errCut  = errors.New("the line is cut off")
	errLong = errors.New("the line is too long")
)

// readError tells a failure to read from a line that is bad.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// lineReader reads whole lines. It keeps no bytes of an incomplete line: those
// may be undone or replaced before the line is whole.
type lineReader struct {
	file io.ReaderAt
	off  int64  // of the next line
	data []byte // what was read from off on
	buf  []byte
}

const (
	minReadBytes = 8 << 10
	biteBytes    = 256 << 10
)

func newLineReader(file io.ReaderAt, off int64) *lineReader {
	return &lineReader{file: file, off: off}
}

// seek goes to the line at off, and reads it anew.
func (l *lineReader) seek(off int64) { l.off, l.data = off, nil }

// next returns the next line without its newline, valid until the next call, and
// its offset. io.EOF: there are no bytes after off. errCut: there are, but no
// newline. errLong: there is none within MaxLineBytes. After any of these, off
// has not moved. A readError: the system could not read.
func (l *lineReader) next() (line []byte, start int64, err error) {
	for {
		if i := bytes.IndexByte(l.data, '\n'); i >= 0 {
			start = l.off
			line, l.data = l.data[:i], l.data[i+1:]
			l.off += int64(i) + 1
			return line, start, nil
		}
		if len(l.data) >= MaxLineBytes {
			l.data = nil
			return nil, l.off, errLong
		}
		switch {
		case l.buf == nil:
			l.buf = make([]byte, minReadBytes)
		case len(l.data) == len(l.buf), // one line does not fit
			len(l.data) > 0 && len(l.buf) < biteBytes: // reading on: take larger bites
			l.buf = make([]byte, 4*len(l.buf))
		}
		n, err := l.file.ReadAt(l.buf, l.off)
		if err != nil && err != io.EOF {
			l.data = nil
			return nil, l.off, &readError{err}
		}
		l.data = l.buf[:n]
		if n < len(l.buf) && bytes.IndexByte(l.data, '\n') < 0 {
			l.data = nil
			if n == 0 {
				return nil, l.off, io.EOF
			}
			return nil, l.off, errCut
		}
	}
}

// laterClaim says whether a line from offset on, good in itself, says that the
// record seq was durable.
func laterClaim(file File, offset int64, seq uint64) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	rest := max(info.Size()-offset, 1)
	lines := bufio.NewReaderSize(io.NewSectionReader(file, offset, rest), int(min(rest, MaxLineBytes)))
	for {
		line, err := lines.ReadSlice('\n')
		for err == bufio.ErrBufferFull { // no line of ours: pass over it
			line = nil
			_, err = lines.ReadSlice('\n')
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if line == nil {
			continue
		}
		line = line[:len(line)-1]
		// A damaged newline makes two lines one: look for a good one at the end.
		for at := 0; at >= 0; at = nextStart(line, at+1) {
			if f, err := parseFrame(line[at:]); err == nil && f.synced >= seq {
				return true, nil
			}
		}
	}
}

// nextStart finds where a line could begin, from the given place on; -1 if nowhere.
func nextStart(line []byte, from int) int {
	if from >= len(line) {
		return -1
	}
	at := bytes.Index(line[from:], []byte(seqKey))
	if at < 0 {
		return -1
	}
	return from + at
}

// lineNumber counts the line that begins at offset; 0 if it cannot be read.
func lineNumber(file io.ReaderAt, offset int64) int {
	number := 1
	buf := make([]byte, min(offset, biteBytes))
	for at := int64(0); at < offset; {
		part := buf[:min(int64(len(buf)), offset-at)]
		n, err := file.ReadAt(part, at)
		number += bytes.Count(part[:n], []byte{'\n'})
		at += int64(n)
		if err != nil && at < offset {
			return 0
		}
	}
	return number
}
