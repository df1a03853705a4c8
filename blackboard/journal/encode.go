package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// MaxLineBytes bounds a line, its newline included.
	MaxLineBytes = 1 << 20

	hashChars  = 2 * sha256.Size
	timeLayout = "2006-01-02T15:04:05.000000000Z"
)

// genesisPrev stands where the first record would name the one before.
var genesisPrev = strings.Repeat("0", hashChars)

// encode makes the line of r, newline included, and sets r.Hash and the compact
// form of r.Payload.
func encode(r *Record) ([]byte, error) {
	if err := checkText(r); err != nil {
		return nil, err
	}
	payload, err := compactPayload(r.Payload)
	if err != nil {
		return nil, err
	}
	r.Payload = payload

	line := make([]byte, 0, 512+len(payload))
	line = append(line, `{"seq":`...)
	line = strconv.AppendUint(line, r.Seq, 10)
	line = append(line, `,"ts":"`...)
	line = r.TS.AppendFormat(line, timeLayout)
	line = append(line, '"')
	for _, field := range textFields(r) {
		line = append(line, ',', '"')
		line = append(line, field.name...)
		line = append(line, '"', ':')
		line = appendQuoted(line, *field.value)
	}
	line = append(line, `,"fence":`...)
	line = strconv.AppendUint(line, r.Fence, 10)
	if r.Door != "" {
		line = append(line, `,"door":`...)
		line = appendQuoted(line, r.Door)
	}
	line = append(line, `,"payload":`...)
	line = append(line, payload...)
	line = append(line, `,"synced":`...)
	line = strconv.AppendUint(line, r.Synced, 10)
	line = append(line, `,"prev":"`...)
	line = append(line, r.Prev...)
	line = append(line, '"')

	r.Hash = hashOf(line)
	line = append(line, `,"hash":"`...)
	line = append(line, r.Hash...)
	line = append(line, "\"}\n"...)
	if len(line) > MaxLineBytes {
		return nil, &TooLongError{Bytes: len(line)}
	}
	return line, nil
}

func hashOf(covered []byte) string {
	sum := sha256.Sum256(covered)
	return hex.EncodeToString(sum[:])
}

type textField struct {
	name  string
	value *string
}

// textFields are the strings of the envelope in the order they are written.
func textFields(r *Record) [8]textField {
	return [8]textField{
		{"id", &r.ID}, {"from", &r.From}, {"to", &r.To}, {"type", &r.Type},
		{"goal", &r.Goal}, {"subject", &r.Subject}, {"cause", &r.Cause}, {"agent", &r.Agent},
	}
}

func checkText(r *Record) error {
	for _, field := range textFields(r) {
		if !utf8.ValidString(*field.value) {
			return &DraftError{Field: field.name, Why: "is not UTF-8"}
		}
	}
	if !utf8.ValidString(r.Door) {
		return &DraftError{Field: "door", Why: "is not UTF-8"}
	}
	if r.Type == "" {
		return &DraftError{Field: "type", Why: "is empty"}
	}
	if year := r.TS.Year(); year < 0 || year > 9999 {
		return &DraftError{Field: "ts", Why: "is outside the years 0 to 9999"}
	}
	return nil
}

func compactPayload(payload json.RawMessage) (json.RawMessage, error) {
	if payload == nil {
		return json.RawMessage("null"), nil
	}
	if !utf8.Valid(payload) {
		return nil, &DraftError{Field: "payload", Why: "is not UTF-8"}
	}
	var compact bytes.Buffer
	compact.Grow(len(payload))
	if err := json.Compact(&compact, payload); err != nil {
		return nil, &DraftError{Field: "payload", Why: "is not JSON: " + err.Error()}
	}
	return compact.Bytes(), nil
}

// appendQuoted appends s as a JSON string. Most strings of an envelope need no
// escape; the rest go the slow way.
func appendQuoted(line []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, err := json.Marshal(s)
			if err != nil { // not for a string, which checkText found valid
				panic(err)
			}
			return append(line, quoted...)
		}
	}
	line = append(line, '"')
	line = append(line, s...)
	return append(line, '"')
}

// stamp is the time a record gets: now, but never before the record ahead of it.
func stamp(now, last time.Time) time.Time {
	now = now.UTC().Round(0)
	if now.Before(last) {
		return last
	}
	return now
}
