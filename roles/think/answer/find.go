package answer

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// windowBytes is how far the end of a brace that begins no JSON is looked for.
const windowBytes = 4 << 10

// escape begins a terminal's control sequence when a bracket follows it.
const escape = 0x1b

// maxValues bounds how many values of a text are tried.
const maxValues = 64

// finding is what a text holds.
type finding struct {
	values  []json.RawMessage
	refusal *Error // what was wrong besides; nil if nothing was
	cut     bool   // the text ends inside a value or inside its reasoning
	looked  int    // bytes spent on brackets that begin no JSON
}

// find lists the JSON values outside reasoning, in order. It stops at a value
// that does not end: what lies inside it is a part, not an answer.
func find(text string) finding {
	trimmed := trimSpace(text)
	if json.Valid([]byte(trimmed)) {
		if !twice(trimmed) {
			return finding{values: []json.RawMessage{json.RawMessage(trimmed)}}
		}
		_, err := Relax(trimmed)
		return finding{refusal: asRefusal(err)}
	}
	var f finding
	for at := 0; at < len(text) && len(f.values) < maxValues; {
		if end, what := reasoning(text, at); what != notReasoning {
			switch what {
			case endless:
				f.refusal, f.cut = &Error{Unfinished, "it ends inside its reasoning, without an answer"}, true
				return f
			case orphan: // all before it was reasoning
				f = finding{looked: f.looked}
			}
			at = end
			continue
		}
		c, size := utf8.DecodeRuneInString(text[at:])
		if c = plain(c); c != '{' && c != '[' || at > 0 && text[at-1] == escape {
			at += size
			continue
		}
		next, done := f.take(text, at, size, c)
		if done {
			return f
		}
		at = next
	}
	if len(f.values) == 0 && f.refusal == nil {
		f.refusal = f.bare(trimmed)
	}
	return f
}

// take reads the value that begins at a bracket, or skips the bracket. done
// says that the text ends inside a value.
func (f *finding) take(text string, at, size int, bracket rune) (next int, done bool) {
	r := reader{text: text, at: at}
	value, err := r.whole()
	if err == nil {
		f.values = append(f.values, value)
		return r.at, false
	}
	refusal := asRefusal(err)
	if !looksLikeJSON(text[at+size:], bracket) {
		if f.looked > 4*len(text) { // so that no text takes more than linear time
			return at + size, false
		}
		end, ok := balance(text, at, windowBytes)
		if !ok {
			f.looked += windowBytes
			return at + size, false
		}
		return end, false
	}
	if f.refusal == nil {
		f.refusal = refusal
	}
	end, ok := balance(text, at, len(text))
	if !ok {
		f.refusal, f.cut = refusal, true
		return len(text), true
	}
	return end, false
}

// bare is the refusal of a text without any bracket.
func (f *finding) bare(trimmed string) *Error {
	if trimmed == "" {
		return &Error{Empty, "it is empty"}
	}
	return &Error{NoValue, "it has no JSON in it"}
}

func asRefusal(err error) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	return &Error{Broken, "it is not valid JSON"}
}

// looksLikeJSON tells a bracket that begins a value from one in prose or code.
func looksLikeJSON(after string, bracket rune) bool {
	after = strings.TrimLeftFunc(after, isSpace)
	c, _ := utf8.DecodeRuneInString(after)
	switch {
	case after == "", strings.HasPrefix(after, "//"), strings.HasPrefix(after, "/*"):
		return true
	case bracket == '{':
		if c = plain(c); c == '}' || closing(c) != 0 {
			return true
		}
		r := reader{text: after}
		if r.word() == "" {
			return false
		}
		c, err := r.next()
		return err == nil && c == ':'
	}
	c = plain(c)
	return c == '{' || c == '[' || c == ']' || closing(c) != 0 && c != '\'' || unicode.IsDigit(c) || c == '-'
}

// balance finds the bracket that closes the one at a place; brackets in double
// quotes do not count.
func balance(text string, at, limitBytes int) (end int, ok bool) {
	depth, quoted := 0, false
	limit := len(text)
	if limitBytes < limit-at {
		limit = at + limitBytes
	}
	for i := at; i < limit; {
		c, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch c = plain(c); {
		case quoted && c == '\\' && i < limit:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i, true
			}
		}
	}
	return 0, false
}

// twice tells whether an object in strict JSON names a key twice. The decoder
// ignores the case of keys and would let the last one win.
func twice(text string) bool {
	r := reader{text: text}
	return r.value() != nil
}
