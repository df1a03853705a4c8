package endpoint

import (
	"bufio"
	"bytes"
	"io"
)

// Event is one event of a text/event-stream.
type Event struct {
	Name string // of its event field; empty when it has none
	Data []byte // its data fields, joined by line feeds; valid until the next event is read
}

// events reads a text/event-stream as the HTML standard says ("Server-sent
// events", parsing and interpreting an event stream): a line ends with CRLF, LF
// or CR, a byte order mark at the start is dropped, and an event counts only
// once an empty line has ended it. It passes over id and retry, since nothing
// here reconnects.
//
// It never waits for more than the end of the line that completes an event, and
// never keeps more than max bytes of a line or of an event's data.
type events struct {
	r       *bufio.Reader
	max     int
	line    []byte
	data    []byte
	started bool // the first line was read
	afterCR bool // a line feed now belongs to the line before
}

func newEvents(r io.Reader, max int) *events { return &events{r: bufio.NewReader(r), max: max} }

// next returns the next event that holds data. At the end of the stream it
// returns io.EOF, also in the middle of an event.
func (s *events) next() (Event, error) {
	var e Event
	s.data = s.data[:0]
	filled := false
	for {
		line, err := s.readLine()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if filled {
				e.Data = s.data[:len(s.data)-1]
				return e, nil
			}
			e.Name = ""
			continue
		}
		// A comment is a line whose field has no name.
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.Name = string(value)
		case "data":
			if len(s.data)+len(value) >= s.max {
				return Event{}, ErrTooLarge
			}
			s.data = append(append(s.data, value...), '\n')
			filled = true
		}
	}
}

// readLine returns a line without its end. A last line that nothing ends is
// dropped.
func (s *events) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		if _, err := s.r.Peek(1); err != nil {
			return nil, err
		}
		have, _ := s.r.Peek(s.r.Buffered()) // cannot fail: it is there
		if s.afterCR {
			s.afterCR = false
			if have[0] == '\n' {
				_, _ = s.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(have, "\r\n")
		part := have
		if end >= 0 {
			part = have[:end]
		}
		if len(s.line)+len(part) > s.max {
			return nil, ErrTooLarge
		}
		s.line = append(s.line, part...)
		if end < 0 {
			_, _ = s.r.Discard(len(part))
			continue
		}
		s.afterCR = have[end] == '\r'
		_, _ = s.r.Discard(end + 1)
		if !s.started {
			s.started = true
			return bytes.TrimPrefix(s.line, []byte("\uFEFF")), nil
		}
		return s.line, nil
	}
}
