package memory

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kinds of keys; see the package doc.
const (
	megramKeys = "megram"
	pairKeys   = "idx"
	levelKeys  = "lvl"
	tagKeys    = "tag"
	timeKeys   = "time"
	doneKeys   = "done"
	recallKeys = "recall"

	atKey     = "meta:at"
	formatKey = "meta:format"
)

// Classes of tag keys.
const (
	ruleClass   = "r"
	megramClass = "m"
)

// key joins escaped components.
func key(kind string, parts ...string) []byte {
	b := make([]byte, 0, 96)
	b = append(b, kind...)
	for _, p := range parts {
		b = append(b, ':')
		b = appendEscaped(b, p)
	}
	return b
}

// prefix is what the keys that go on after these components begin with.
func prefix(kind string, parts ...string) []byte { return append(key(kind, parts...), ':') }

func appendEscaped(b []byte, s string) []byte {
	for i := range len(s) {
		switch s[i] {
		case ':':
			b = append(b, "%3A"...)
		case '%':
			b = append(b, "%25"...)
		default:
			b = append(b, s[i])
		}
	}
	return b
}

// parts splits a key into its components after the kind.
func parts(k []byte) ([]string, error) {
	split := strings.Split(string(k), ":")[1:]
	for i, p := range split {
		whole, err := unescape(p)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", k, err)
		}
		split[i] = whole
	}
	return split, nil
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '%':
			b.WriteByte(s[i])
			continue
		case strings.HasPrefix(s[i:], "%3A"):
			b.WriteByte(':')
		case strings.HasPrefix(s[i:], "%25"):
			b.WriteByte('%')
		default:
			return "", fmt.Errorf("%q is not escaped", s)
		}
		i += 2
	}
	return b.String(), nil
}

// stamp renders a time so that stamps sort as the times do. What does not fit
// into 64 bits of nanoseconds (before 1678, after 2262) is the nearest that does.
func stamp(t time.Time) string {
	n := t.UnixNano()
	switch {
	case t.Year() < 1678:
		n = -1 << 63
	case t.Year() > 2261:
		n = 1<<63 - 1
	}
	s := strconv.FormatUint(uint64(n)^(1<<63), 16)
	return strings.Repeat("0", 16-len(s)) + s
}

func unstamp(s string) (time.Time, error) {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: %w", s, err)
	}
	return time.Unix(0, int64(n^(1<<63))).UTC(), nil
}
