package answer

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// closing is the quote that ends a text begun with a quote; 0 if it begins none.
func closing(open rune) rune {
	switch open {
	case '"', '\'', '＂':
		return open
	case '“', '”', '„':
		return '”'
	case '‘':
		return '’'
	case '「':
		return '」'
	}
	return 0
}

// quoted reads a text in quotes. Line breaks and other control characters in
// it are kept as they are; an escape that JSON does not know keeps its
// backslash, which is what a regular expression or a path means by it.
func (r *reader) quoted() (string, error) {
	open, size := r.peek()
	end := closing(open)
	r.at += size
	var out strings.Builder
	for r.at < len(r.text) {
		c, size := r.peek()
		switch {
		case c == end:
			r.at += size
			return out.String(), nil
		case c == '\\':
			if err := r.escape(&out); err != nil {
				return "", err
			}
			continue
		case c == utf8.RuneError && size == 1:
			out.WriteRune(utf8.RuneError)
		default:
			out.WriteString(r.text[r.at : r.at+size])
		}
		r.at += size
	}
	return "", errEnd
}

var escapes = map[byte]string{
	'"': `"`, '\\': `\`, '/': "/", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", '\'': "'", '`': "`", '\n': "",
}

func (r *reader) escape(out *strings.Builder) error {
	if r.at+1 >= len(r.text) {
		return errEnd
	}
	c := r.text[r.at+1]
	if s, known := escapes[c]; known {
		out.WriteString(s)
		r.at += 2
		return nil
	}
	if c != 'u' {
		out.WriteByte('\\')
		r.at++
		return nil
	}
	high, ok := r.unit(r.at)
	if !ok {
		if r.at+6 > len(r.text) {
			return errEnd
		}
		out.WriteByte('\\')
		r.at++
		return nil
	}
	r.at += 6
	if utf16.IsSurrogate(high) {
		if low, ok := r.unit(r.at); ok {
			if both := utf16.DecodeRune(high, low); both != utf8.RuneError {
				out.WriteRune(both)
				r.at += 6
				return nil
			}
		}
		high = utf8.RuneError
	}
	out.WriteRune(high)
	return nil
}

// unit reads \uXXXX at a place.
func (r *reader) unit(at int) (rune, bool) {
	if at+6 > len(r.text) || r.text[at] != '\\' || r.text[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[at+2:at+6], 16, 32)
	return rune(n), err == nil
}
