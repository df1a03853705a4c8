package endpoint

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// all reads events to the end of the stream.
func all(r io.Reader, max int) ([]Event, error) {
	s := newEvents(r, max)
	var out []Event
	for {
		e, err := s.next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, Event{e.Name, bytes.Clone(e.Data)})
	}
}

func data(lines ...string) (out []Event) {
	for _, l := range lines {
		out = append(out, Event{Data: []byte(l)})
	}
	return out
}

// The cases of the web platform tests for event streams, as far as they are
// about fields that are read here, and what servers of models do.
func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []Event
	}{
		"nothing":                   {"", nil},
		"plain":                     {"data: a\n\ndata: b\n\n", data("a", "b")},
		"named":                     {"event: x\ndata: a\n\ndata: b\n\n", []Event{{"x", []byte("a")}, {"", []byte("b")}}},
		"name after the data":       {"data: a\nevent: x\n\n", []Event{{"x", []byte("a")}}},
		"name without data":         {"event: x\n\ndata: a\n\n", data("a")},
		"last name counts":          {"event: x\nevent: y\ndata: a\n\n", []Event{{"y", []byte("a")}}},
		"name taken back":           {"event: x\nevent\ndata: a\n\n", data("a")},
		"several lines":             {"data: a\ndata\ndata:b\n\n", data("a\n\nb")},
		"empty data":                {"data:\n\ndata\n\ndata\ndata\n\n", data("", "", "\n")},
		"no empty line at the end":  {"data: a\n\ndata: b\n", data("a")},
		"no line end at the end":    {"data: a\n\ndata: b", data("a")},
		"empty line at the end":     {"data: a\n", nil},
		"comments":                  {":\n: x\n:data: x\ndata: a\n:\x00\ndata: b\n:" + strings.Repeat("x", 9000) + "\n\n:\n\n", data("a\nb")},
		"one space":                 {"data:  a\n\ndata:\ta\n\ndata: \n\n", data(" a", "\ta", "")},
		"colons":                    {"data:a:b\n\ndata: :\n\n", data("a:b", ":")},
		"fields are spelled so":     {"Data: a\n data: b\ndata : c\ndatax: d\ndata\x00: e\n\n", nil},
		"other fields":              {"id: 1\nretry: 5\nfoo: bar\ndata: a\n\nid: 2\n\n", data("a")},
		"CR":                        {"data: a\rdata: b\r\r", data("a\nb")},
		"CRLF":                      {"data: a\r\ndata: b\r\n\r\n", data("a\nb")},
		"each kind of line end":     {"data:a\r\ndata:b\rdata:c\ndata:d\r\n\rdata:e\n\rdata:f\r\n\n", data("a\nb\nc\nd", "e", "f")},
		"mark at the start":         {"\uFEFFdata: a\n\n", data("a")},
		"two marks at the start":    {"\uFEFF\uFEFFdata: a\n\ndata: b\n\n", data("b")},
		"mark later":                {"data: a\n\uFEFFdata: b\n\n", data("a")},
		"mark before an empty line": {"\uFEFF\ndata: a\n\n", data("a")},
		"zero byte":                 {"data: \x00\n\n", data("\x00")},
		"other white space":         {"data: a\u2028b\u0085c\vd\fe\n\n", data("a\u2028b\u0085c\vd\fe")},
		"longer than any buffer":    {"data: " + strings.Repeat("wörd ", 20_000) + "\n\n", data(strings.Repeat("wörd ", 20_000))},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":   strings.NewReader(c.stream),
				"bytewise":  iotest.OneByteReader(strings.NewReader(c.stream)),
				"in halves": iotest.HalfReader(strings.NewReader(c.stream)),
				"with EOF":  iotest.DataErrReader(strings.NewReader(c.stream)),
			} {
				if got, err := all(r, 1<<20); err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s: %v %q, want %q", how, err, got, c.want)
				}
			}
		})
	}
}

func TestEventsAreBounded(t *testing.T) {
	for name, stream := range map[string]string{
		"line":           "data: " + strings.Repeat("x", 1000),
		"line of nobody": strings.Repeat("x", 1000),
		"comment":        ": " + strings.Repeat("x", 1000),
		"name":           "event: " + strings.Repeat("x", 1000),
		"event":          strings.Repeat("data: 1234567890\n", 20),
		"empty lines":    strings.Repeat("data\n", 200),
	} {
		s := newEvents(iotest.OneByteReader(strings.NewReader(stream)), 100)
		if _, err := s.next(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if len(s.line) > 100 || len(s.data) > 100 {
			t.Errorf("%s: kept %d and %d bytes", name, len(s.line), len(s.data))
		}
	}
	if got, err := all(strings.NewReader(strings.Repeat(": comment\n", 1000)+"data: a\n\n"), 100); err != nil || len(got) != 1 {
		t.Errorf("many short comments: %v %q", err, got)
	}
	if got, err := all(strings.NewReader("data:"+strings.Repeat("x", 94)+"\n\n"), 99); err != nil || len(got) != 1 {
		t.Errorf("exactly as much as is allowed: %v %q", err, got)
	}
}

func TestEventsFailWithTheirReader(t *testing.T) {
	gone := errors.New("gone")
	got, err := all(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(gone)), 1<<20)
	if !errors.Is(err, gone) || !reflect.DeepEqual(got, data("a")) {
		t.Errorf("%v %q", err, got)
	}
}

// An event is there when its last line ends, whatever comes next: a server that
// ends lines with CR would otherwise be one event behind.
func TestEventsDoNotWaitForMore(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		r, w := io.Pipe()
		s := newEvents(r, 1<<20)
		go func() { _, _ = io.WriteString(w, "data: a"+end+end) }() // and stays open
		if e, err := s.next(); err != nil || string(e.Data) != "a" {
			t.Errorf("%q: %v %q", end, err, e.Data)
		}
		r.Close()
	}
}

// bySpec reads a whole stream in the words of the standard: decode, split into
// lines, and interpret each.
func bySpec(stream string) (out []Event) {
	stream = strings.TrimPrefix(stream, "\uFEFF")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var data, name string
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if data != "" {
				out = append(out, Event{name, []byte(strings.TrimSuffix(data, "\n"))})
			}
			data, name = "", ""
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			data += value + "\n"
		}
	}
	return out
}

// Whatever comes and however it is cut, it is read as the standard says or
// refused as too large.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "\uFEFFevent: x\r\ndata\r\n\r\n", "data:a\rdata:b\r\r\n:c\n\n\n", "data: {\"error\":null}\n\ndata: [DONE]\n\n", "\xef\xbb", "\r\n\r\r\n\ndata"} {
		f.Add([]byte(s), uint16(4096))
		f.Add([]byte(s), uint16(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, max uint16) {
		got, err := all(bytes.NewReader(stream), int(max)+1)
		cut, cutErr := all(iotest.OneByteReader(bytes.NewReader(stream)), int(max)+1)
		if !reflect.DeepEqual(got, cut) || !errors.Is(cutErr, err) {
			t.Fatalf("whole %q %v, cut %q %v", got, err, cut, cutErr)
		}
		want := bySpec(string(stream))
		if err != nil {
			if !errors.Is(err, ErrTooLarge) || len(stream) <= int(max) || len(got) > len(want) {
				t.Fatalf("%v after %q", err, got)
			}
			want = want[:len(got)]
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("read %q, want %q", got, want)
		}
	})
}
