package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// checksumPrefix begins the last line of a view. It is a comment, so that the
// file stays plain YAML.
const checksumPrefix = "# checksum: sha256:"

const checksumLineBytes = len(checksumPrefix) + sha256.Size*2 + 1

// seal appends the checksum over all of b.
func seal(b []byte) []byte { return appendChecksum(b, b) }

func appendChecksum(b, over []byte) []byte {
	sum := sha256.Sum256(over)
	b = append(b, checksumPrefix...)
	b = hex.AppendEncode(b, sum[:])
	return append(b, '\n')
}

// Sealed tells whether data is a view as it was rendered: nobody changed it
// since, nothing of it is missing.
func Sealed(data []byte) bool {
	at := len(data) - checksumLineBytes
	return at >= 0 && bytes.Equal(appendChecksum(nil, data[:at]), data[at:])
}

// SeqOf reads the seq a view or an edit of one states. A view of the first form
// states it at its beginning.
func SeqOf(data []byte) (uint64, bool) {
	text, ok := "", false
	if FormatOf(data) == 1 {
		text, ok = headerField(data, "seq")
	} else {
		text, _, ok = strings.Cut(logLine(data), ", head: ")
	}
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(text, 10, 64)
	return seq, err == nil
}

// headIn reads the head a view states.
func headIn(data []byte) (string, bool) {
	_, head, ok := strings.Cut(logLine(data), ", head: ")
	return strings.Trim(head, `"}`), ok
}

// logLine is the seq and the head that a view states; empty without them.
func logLine(data []byte) string {
	at := bookkeepingAt(data)
	if at < 0 {
		return ""
	}
	_, rest, ok := bytes.Cut(data[at:], []byte("\n"+seqPrefix))
	line, _, whole := bytes.Cut(rest, []byte("\n"))
	if !ok || !whole {
		return ""
	}
	return strings.TrimRight(string(line), " \t\r")
}

// bookkeepingAt is where the last section begins, at the end of the line before
// it; -1 without one. Text that says the same is indented.
func bookkeepingAt(data []byte) int {
	return bytes.LastIndex(data, []byte("\n"+bookkeepingKey+":"))
}

// FormatOf reads the form of a view; 0 if it states none.
func FormatOf(data []byte) int {
	text, _ := headerField(data, "format")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// Stale tells whether a view has to be written anew for a log that ends at head:
// it is older, or of an older form. An edit of it is not stale.
func Stale(data []byte, head uint64) bool {
	if blank(data) {
		return true
	}
	seq, ok := SeqOf(data)
	return (olderForm(data) || ok && seq < head) && Sealed(data)
}

// olderForm tells whether a file is in a form that was shown before this one.
func olderForm(data []byte) bool {
	form := FormatOf(data)
	return form > 0 && form < Format
}

// boardOf reads the id of the board a view is of.
func boardOf(data []byte) string {
	board, _ := headerField(data, "board")
	return board
}

// headerField finds a key of the outermost mapping without parsing YAML. Only
// the first lines are looked at; a view has its header there.
func headerField(data []byte, key string) (string, bool) {
	const headerLines = 40
	for range headerLines {
		line, rest, more := bytes.Cut(data, []byte("\n"))
		if value, ok := bytes.CutPrefix(line, []byte(key+":")); ok {
			return string(bytes.Trim(value, " \t\r\"")), true
		}
		if !more {
			return "", false
		}
		data = rest
	}
	return "", false
}
