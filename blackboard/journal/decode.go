package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Decode reads one line, without its newline, and checks everything that the
// line says about itself: the fields and their order, UTF-8, the payload's
// syntax, and the hash. It cannot check Seq and Prev: those need the line before.
func Decode(line []byte) (Record, error) {
	var r Record
	if len(line) >= MaxLineBytes {
		return r, errors.New("the line is too long")
	}
	head, payload, err := split(line, &r)
	if err != nil {
		return Record{}, err
	}
	if !utf8.Valid(line) {
		return Record{}, errors.New("the line is not UTF-8")
	}
	if err := decodeEnvelope(string(head), &r); err != nil {
		return Record{}, err
	}
	if !json.Valid(payload) {
		return Record{}, errors.New("the payload is not JSON")
	}
	r.Payload = json.RawMessage(bytes.Clone(payload))
	return r, nil
}

// The end of a line, seen from the back, has fixed widths up to the digits of
// synced; that is how the payload's end is found without parsing the payload.
const (
	hashKey   = `,"hash":"`
	prevKey   = `,"prev":"`
	syncedKey = `,"synced":`
	lineEnd   = `"}`

	payloadKey = `,"payload":`
)

// split checks the hash, reads the fields behind the payload into r, and returns
// the envelope before the payload, and the payload.
func split(line []byte, r *Record) (head, payload []byte, err error) {
	rest, ok := bytes.CutSuffix(line, []byte(lineEnd))
	if !ok || len(rest) < len(hashKey)+hashChars {
		return nil, nil, errors.New("the line does not end in a hash")
	}
	r.Hash = string(rest[len(rest)-hashChars:])
	covered, ok := bytes.CutSuffix(rest[:len(rest)-hashChars], []byte(hashKey))
	if !ok {
		return nil, nil, errors.New("the line does not end in a hash")
	}
	if hashOf(covered) != r.Hash {
		return nil, nil, errors.New("the hash does not fit the line")
	}

	rest, ok = bytes.CutSuffix(covered, []byte(`"`))
	if !ok || len(rest) < hashChars {
		return nil, nil, errors.New("field prev is malformed")
	}
	r.Prev = string(rest[len(rest)-hashChars:])
	if !isHash(r.Prev) {
		return nil, nil, errors.New("field prev is malformed")
	}
	if rest, ok = bytes.CutSuffix(rest[:len(rest)-hashChars], []byte(prevKey)); !ok {
		return nil, nil, errors.New("field prev is malformed")
	}
	digits := len(rest)
	for digits > 0 && rest[digits-1] >= '0' && rest[digits-1] <= '9' {
		digits--
	}
	if r.Synced, _, err = number(string(rest[digits:])); err != nil {
		return nil, nil, fmt.Errorf("field synced: %w", err)
	}
	if rest, ok = bytes.CutSuffix(rest[:digits], []byte(syncedKey)); !ok {
		return nil, nil, errors.New("field synced is malformed")
	}
	// A string of the envelope cannot hold the key: its quotes would be escaped.
	head, payload, ok = bytes.Cut(rest, []byte(payloadKey))
	if !ok {
		return nil, nil, errors.New("there is no payload")
	}
	return head, payload, nil
}

// decodeEnvelope reads the fields from seq to fence.
func decodeEnvelope(head string, r *Record) (err error) {
	rest, ok := strings.CutPrefix(head, `{"seq":`)
	if !ok {
		return errors.New("the line does not begin with seq")
	}
	if r.Seq, rest, err = number(rest); err != nil {
		return fmt.Errorf("field seq: %w", err)
	}
	if r.Seq == 0 {
		return errors.New("field seq is 0")
	}
	var ts string
	if ts, rest, err = textOf(rest, "ts"); err != nil {
		return err
	}
	if r.TS, err = parseTime(ts); err != nil {
		return err
	}
	for _, field := range textFields(r) {
		if *field.value, rest, err = textOf(rest, field.name); err != nil {
			return err
		}
	}
	if rest, ok = strings.CutPrefix(rest, `,"fence":`); !ok {
		return errors.New("field fence is missing")
	}
	if r.Fence, rest, err = number(rest); err != nil {
		return fmt.Errorf("field fence: %w", err)
	}
	if rest != "" {
		return errors.New("there is an unknown field before the payload")
	}
	if r.Type == "" {
		return errors.New("field type is empty")
	}
	return nil
}

func parseTime(s string) (time.Time, error) {
	if len(s) != len(timeLayout) || !strings.HasSuffix(s, "Z") {
		return time.Time{}, errors.New("field ts is malformed")
	}
	ts, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, errors.New("field ts is malformed")
	}
	return ts.UTC(), nil
}

// textOf reads `,"name":"…"` from the front of s.
func textOf(s, name string) (value, rest string, err error) {
	malformed := func() (string, string, error) {
		return "", "", fmt.Errorf("field %s is missing or malformed", name)
	}
	if len(s) < len(name)+5 || s[0] != ',' || s[1] != '"' || s[2:2+len(name)] != name || s[2+len(name):len(name)+5] != `":"` {
		return malformed()
	}
	s = s[len(name)+5:]
	escaped := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' && !escaped:
			return s[:i], s[i+1:], nil
		case c == '"':
			var text string
			if err := json.Unmarshal([]byte(`"`+s[:i+1]), &text); err != nil {
				return malformed()
			}
			return text, s[i+1:], nil
		case c == '\\':
			escaped = true
			i++ // whatever follows does not end the string
		case c < 0x20:
			return malformed()
		}
	}
	return malformed()
}

// number reads a decimal uint64 in its only form: no sign, no leading zero.
func number(s string) (value uint64, rest string, err error) {
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		digit := uint64(s[i] - '0')
		if value > (math.MaxUint64-digit)/10 {
			return 0, "", errors.New("the number is too large")
		}
		value = value*10 + digit
	}
	if i == 0 || (i > 1 && s[0] == '0') {
		return 0, "", errors.New("not a number")
	}
	return value, s[i:], nil
}

func isHash(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == hashChars
}

// seqOf reads just the seq at the front of a line, for searching; the line may
// be cut off and is not checked.
func seqOf(line []byte) (uint64, bool) {
	const key = `{"seq":`
	if len(line) > len(key)+21 {
		line = line[:len(key)+21]
	}
	rest, ok := strings.CutPrefix(string(line), key)
	if !ok {
		return 0, false
	}
	seq, rest, err := number(rest)
	return seq, err == nil && strings.HasPrefix(rest, ",")
}
