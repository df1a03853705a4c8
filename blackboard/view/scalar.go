package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orch/blackboard/visible"
)

// appendString writes s in the form that is easiest to read and edit: plain,
// as a block of lines, or quoted. n is the indent of the key or the dash.
func appendString(b []byte, n int, s string) []byte {
	switch {
	case isPlain(s):
		return append(b, s...)
	case isBlock(s):
		return appendBlock(b, n+2, s)
	}
	return appendQuoted(b, s)
}

// isPlain is deliberately narrow: what could be anything but a string to any
// YAML reader, old or new, is quoted.
func isPlain(s string) bool {
	if s == "" || s[len(s)-1] == ' ' || s[len(s)-1] == ':' || !plainStart(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return isPlainUnicode(s[i:])
		}
		if c < ' ' || c == 0x7f || c == ':' && s[i+1] == ' ' || c == '#' && i > 0 && s[i-1] == ' ' {
			return false
		}
	}
	return !looksTyped(s)
}

func plainStart(s string) bool {
	c := s[0]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '/' || c == '_' || c == '(' || c >= utf8.RuneSelf
}

// isPlainUnicode goes on where the first letter beyond ASCII is. Such text is
// never taken for a number, but has more ways to break a line or to hide.
func isPlainUnicode(s string) bool {
	prev := rune('x')
	for i, r := range s {
		if !printable(r, s[i:]) || r == '#' && prev == ' ' || r == ' ' && prev == ':' {
			return false
		}
		prev = r
	}
	return true
}

// printable excludes what has no glyph, breaks lines, or turns the direction
// of writing, and bytes that are not UTF-8.
func printable(r rune, at string) bool {
	if r == utf8.RuneError {
		return strings.HasPrefix(at, "\uFFFD")
	}
	return unicode.IsPrint(r) && !visible.Hidden(r, 0)
}

// looksTyped tells whether some YAML reader takes s for a number, a date, a
// bool or null.
func looksTyped(s string) bool {
	if c := s[0]; c >= '0' && c <= '9' {
		return !isUUID(s) && strings.Trim(s, "0123456789abcdefABCDEFxXoO_+-.:eETtZz ") == ""
	}
	if len(s) > 5 {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return true
	}
	return false
}

// isUUID spares ids the quotes: five groups of hex digits are no number.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// isBlock tells whether s survives as a literal block, also in an editor that
// strips spaces at the end of lines.
func isBlock(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\t' || s[0] == '\n' || strings.HasSuffix(s, "\n\n") {
		return false
	}
	prev := rune('x')
	for i, r := range s {
		switch {
		case r == '\n':
			if prev == ' ' || prev == '\t' {
				return false
			}
		case r == '\t':
			if prev == '\n' || prev == ' ' {
				return false
			}
		case !printable(r, s[i:]):
			return false
		}
		prev = r
	}
	return prev != ' ' && prev != '\t'
}

func appendBlock(b []byte, n int, s string) []byte {
	b = append(b, '|')
	if !strings.HasSuffix(s, "\n") {
		b = append(b, '-')
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		b = append(b, '\n')
		if line == "" {
			continue
		}
		for range n {
			b = append(b, ' ')
		}
		b = append(b, line...)
	}
	return b
}

// appendQuoted writes s between double quotes on one line. Bytes that are not
// UTF-8 become U+FFFD.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if r >= ' ' && r < 0x7f && r != '"' && r != '\\' || r >= utf8.RuneSelf && printable(r, s[i:]) {
			i += size
			continue
		}
		b = appendEscape(append(b, s[from:i]...), r)
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\t':
		return append(b, `\t`...)
	case '\r':
		return append(b, `\r`...)
	}
	digits := 4
	if r > 0xffff {
		digits = 8
		b = append(b, `\U`...)
	} else {
		b = append(b, `\u`...)
	}
	for shift := (digits - 1) * 4; shift >= 0; shift -= 4 {
		b = append(b, hex[r>>shift&0xf])
	}
	return b
}
