package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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
	f, err := parseFrame(line)
	if err != nil {
		return Record{}, err
	}
	if !utf8.Valid(line) {
		return Record{}, errors.New("the line is not UTF-8")
	}
	r := Record{Seq: f.seq, Synced: f.synced, Prev: string(f.prev), Hash: string(f.hash)}
	if r.TS, err = parseTime(string(f.ts)); err != nil {
		return Record{}, err
	}
	if err := decodeEnvelope(string(f.envelope), &r); err != nil {
		return Record{}, err
	}
	if !json.Valid(f.payload) {
		return Record{}, errors.New("the payload is not JSON")
	}
	r.Payload = json.RawMessage(bytes.Clone(f.payload))
	return r, nil
}

// The end of a line, seen from the back, has fixed widths up to the digits of
// synced; that is how the payload's end is found without parsing the payload.
const (
	hashKey   = `,"hash":"`
	prevKey   = `,"prev":"`
	syncedKey = `,"synced":`
	lineEnd   = `"}`

	seqKey     = `{"seq":`
	tsKey      = `,"ts":"`
	payloadKey = `,"payload":`
)

// frame is what the chain needs of a line; its slices point into the line.
type frame struct {
	seq, synced uint64
	ts          []byte
	prev, hash  []byte
	envelope    []byte // what is before the payload
	payload     []byte // not checked
}

// parseFrame checks the hash and the fields around the payload, and nothing else:
// catching up with other writers needs no more, and must be cheap.
func parseFrame(line []byte) (f frame, err error) {
	if len(line) >= MaxLineBytes {
		return f, errors.New("the line is too long")
	}
	covered, hash, ok := cutHash(line, hashKey)
	if !ok {
		return f, errors.New("the line does not end in a hash")
	}
	var sum [hashChars]byte
	raw := sha256.Sum256(covered)
	hex.Encode(sum[:], raw[:])
	if f.hash = hash; string(sum[:]) != string(hash) {
		return f, errors.New("the hash does not fit the line")
	}
	rest, ok := bytes.CutSuffix(covered, []byte(`"`))
	if ok {
		rest, f.prev, ok = cutHex(rest, prevKey)
	}
	if !ok {
		return f, errors.New("field prev is malformed")
	}
	digits := len(rest)
	for digits > 0 && rest[digits-1] >= '0' && rest[digits-1] <= '9' {
		digits--
	}
	if f.synced, _, err = number(rest[digits:]); err != nil {
		return f, fmt.Errorf("field synced: %w", err)
	}
	if rest, ok = bytes.CutSuffix(rest[:digits], []byte(syncedKey)); !ok {
		return f, errors.New("field synced is malformed")
	}
	// A string of the envelope cannot hold the key: its quotes would be escaped.
	if f.envelope, f.payload, ok = bytes.Cut(rest, []byte(payloadKey)); !ok {
		return f, errors.New("there is no payload")
	}
	return f, f.parseFront()
}

// cutHash cuts key, a hash, and the end of the line from the back of a line.
func cutHash(line []byte, key string) (rest, hash []byte, ok bool) {
	rest, ok = bytes.CutSuffix(line, []byte(lineEnd))
	if !ok {
		return nil, nil, false
	}
	return cutHex(rest, key)
}

// cutHex cuts key and a hash from the back of s.
func cutHex(s []byte, key string) (rest, hash []byte, ok bool) {
	if len(s) < hashChars {
		return nil, nil, false
	}
	rest, hash = s[:len(s)-hashChars], s[len(s)-hashChars:]
	if !isHash(hash) {
		return nil, nil, false
	}
	rest, ok = bytes.CutSuffix(rest, []byte(key))
	return rest, hash, ok
}

// parseFront reads seq and ts, and leaves in envelope what follows them.
func (f *frame) parseFront() (err error) {
	rest, ok := bytes.CutPrefix(f.envelope, []byte(seqKey))
	if !ok {
		return errors.New("the line does not begin with seq")
	}
	if f.seq, rest, err = number(rest); err != nil {
		return fmt.Errorf("field seq: %w", err)
	}
	if f.seq == 0 {
		return errors.New("field seq is 0")
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(tsKey)); !ok || len(rest) <= len(timeLayout) || rest[len(timeLayout)] != '"' {
		return errors.New("field ts is malformed")
	}
	f.ts, f.envelope = rest[:len(timeLayout)], rest[len(timeLayout)+1:]
	return nil
}

// decodeEnvelope reads the fields from id to fence, and the door where there is one.
func decodeEnvelope(rest string, r *Record) (err error) {
	for _, field := range textFields(r) {
		if *field.value, rest, err = textOf(rest, field.name); err != nil {
			return err
		}
	}
	rest, ok := strings.CutPrefix(rest, `,"fence":`)
	if !ok {
		return errors.New("field fence is missing")
	}
	if r.Fence, rest, err = number(rest); err != nil {
		return fmt.Errorf("field fence: %w", err)
	}
	if rest != "" {
		if r.Door, rest, err = textOf(rest, "door"); err == nil && r.Door == "" {
			err = errors.New("field door is empty")
		}
		if err != nil {
			return err
		}
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
func number[T string | []byte](s T) (value uint64, rest T, err error) {
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		digit := uint64(s[i] - '0')
		if value > (math.MaxUint64-digit)/10 {
			return 0, s, errors.New("the number is too large")
		}
		value = value*10 + digit
	}
	if i == 0 || (i > 1 && s[0] == '0') {
		return 0, s, errors.New("not a number")
	}
	return value, s[i:], nil
}

func isHash[T string | []byte](s T) bool {
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
	if len(line) > len(seqKey)+21 {
		line = line[:len(seqKey)+21]
	}
	rest, ok := bytes.CutPrefix(line, []byte(seqKey))
	if !ok {
		return 0, false
	}
	seq, rest, err := number(rest)
	return seq, err == nil && bytes.HasPrefix(rest, []byte(","))
}
