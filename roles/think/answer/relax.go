package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a value.
const maxDepth = 100

// reader reads one value from a text, kindly, and writes it as strict JSON.
type reader struct {
	text  string
	at    int
	out   bytes.Buffer
	depth int
}

// errEnd says that the text ended inside a value.
var errEnd = errors.New("the text ends inside a value")

// syntaxError says what is wrong where.
type syntaxError struct {
	at  int
	why string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.why, e.at) }

func (r *reader) fail(why string) error { return &syntaxError{r.at, why} }

// whole reads a value and words its failure as a refusal.
func (r *reader) whole() (json.RawMessage, error) {
	if err := r.value(); err != nil {
		if errors.Is(err, errEnd) {
			return nil, &Error{Truncated, "it is cut off inside a value"}
		}
		return nil, &Error{Broken, "it is not valid JSON: " + err.Error()}
	}
	return json.RawMessage(bytes.Clone(r.out.Bytes())), nil
}

func (r *reader) peek() (rune, int) { return utf8.DecodeRuneInString(r.text[r.at:]) }

// space skips white space and comments.
func (r *reader) space() error {
	for r.at < len(r.text) {
		c, size := r.peek()
		switch rest := r.text[r.at:]; {
		case isSpace(c):
			r.at += size
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				return errEnd
			}
			r.at += end + 1
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return errEnd
			}
			r.at += end + 2
		default:
			return nil
		}
	}
	return errEnd
}

// plain maps punctuation of other scripts to what JSON uses.
func plain(c rune) rune {
	switch c {
	case '｛':
		return '{'
	case '｝':
		return '}'
	case '［':
		return '['
	case '］':
		return ']'
	case '：':
		return ':'
	case '，', '、':
		return ','
	}
	return c
}

func (r *reader) value() error {
	if err := r.space(); err != nil {
		return err
	}
	c, _ := r.peek()
	switch c = plain(c); {
	case c == '{':
		return r.nested(r.object)
	case c == '[':
		return r.nested(r.list)
	case closing(c) != 0:
		s, err := r.quoted()
		if err != nil {
			return err
		}
		return r.write(s)
	}
	return r.literal()
}

func (r *reader) nested(read func() error) error {
	if r.depth++; r.depth > maxDepth {
		return r.fail("nested too deeply")
	}
	defer func() { r.depth-- }()
	_, size := r.peek()
	r.at += size
	return read()
}

// next skips white space and takes one piece of punctuation.
func (r *reader) next() (rune, error) {
	if err := r.space(); err != nil {
		return 0, err
	}
	c, size := r.peek()
	r.at += size
	return plain(c), nil
}

// ends tells whether the closing bracket comes next, and takes it.
func (r *reader) ends(bracket rune) (bool, error) {
	if err := r.space(); err != nil {
		return false, err
	}
	c, size := r.peek()
	if plain(c) != bracket {
		return false, nil
	}
	r.at += size
	r.out.WriteRune(bracket)
	return true, nil
}

// members reads what stands between two brackets. A comma may follow the last.
func (r *reader) members(bracket rune, member func() error) error {
	for first := true; ; first = false {
		done, err := r.ends(bracket)
		if done || err != nil {
			return err
		}
		if !first {
			r.out.WriteByte(',')
		}
		if err := member(); err != nil {
			return err
		}
		mark := r.at
		c, err := r.next()
		switch {
		case err != nil:
			return err
		case c == bracket:
			r.out.WriteRune(bracket)
			return nil
		case c != ',':
			r.at = mark
			return r.fail("a comma or a closing bracket is missing")
		}
	}
}

func (r *reader) list() error {
	r.out.WriteByte('[')
	return r.members(']', r.value)
}

func (r *reader) object() error {
	r.out.WriteByte('{')
	seen := map[string]bool{}
	return r.members('}', func() error {
		key, err := r.key()
		if err != nil {
			return err
		}
		// Decoding ignores the case of keys, so two that differ in it only would
		// let the later one win.
		if folded := strings.ToLower(key); seen[folded] {
			return r.fail(fmt.Sprintf("the key %q comes twice", key))
		} else {
			seen[folded] = true
		}
		if err := r.write(key); err != nil {
			return err
		}
		c, err := r.next()
		if err != nil {
			return err
		}
		if c != ':' {
			return r.fail("a colon is missing")
		}
		r.out.WriteByte(':')
		return r.value()
	})
}

// key is quoted, or a plain name.
func (r *reader) key() (string, error) {
	if err := r.space(); err != nil {
		return "", err
	}
	if c, _ := r.peek(); closing(c) != 0 {
		return r.quoted()
	}
	name := r.word()
	if name == "" || unicode.IsDigit(rune(name[0])) {
		return "", r.fail("a key is missing")
	}
	if r.at >= len(r.text) {
		return "", errEnd
	}
	return name, nil
}

// word takes letters, digits, hyphens and underscores.
func (r *reader) word() string {
	from := r.at
	for r.at < len(r.text) {
		c, size := r.peek()
		if c != '_' && c != '-' && c != '$' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			break
		}
		r.at += size
	}
	return r.text[from:r.at]
}

// literal is a number or a name that stands for a value, in JSON or in Python.
func (r *reader) literal() error {
	from := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.", r.text[r.at]) >= 0 {
		r.at++
	}
	for r.word() != "" && r.at < len(r.text) && strings.IndexByte("+-.", r.text[r.at]) >= 0 {
		r.at++
	}
	word := r.text[from:r.at]
	switch word {
	case "True", "TRUE":
		word = "true"
	case "False", "FALSE":
		word = "false"
	case "None", "NULL", "Null":
		word = "null"
	}
	switch {
	case word == "":
		return r.fail("a value is missing")
	case r.at == len(r.text) && r.depth > 0:
		return errEnd
	case !json.Valid([]byte(word)):
		r.at = from
		return r.fail(fmt.Sprintf("%.40q is no value", word))
	}
	r.out.WriteString(word)
	return nil
}

// write writes a string as JSON.
func (r *reader) write(s string) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	r.out.Write(raw)
	return nil
}
