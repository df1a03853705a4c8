// Package visible owns how text that orch did not write itself is shown.
//
// A control character can move the cursor, hide text, rename the window or
// answer for the person; a mark of writing direction or an invisible character
// makes a line read as something it is not. This package says which characters
// do that, and writes them the way JSON does: \u001b, \r, \u202e. What it makes
// of text is safe on a terminal, and what it makes of JSON is the same JSON.
// Line feeds and tabs stay: whether text may have lines is up to the caller.
package visible

import (
	"unicode"
	"unicode/utf8"
)

// Hidden tells whether a character must not be shown as it is behind prev (0 at
// the beginning). Joiners and variation selectors, which Persian, Hindi and
// emoji need, stay where they join something: behind a letter, mark or symbol
// beyond ASCII.
func Hidden(r, prev rune) bool {
	switch {
	case r >= ' ' && r < 0x7f || r == '\n' || r == '\t':
		return false
	case r < 0xa0:
		return true
	case r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f:
		return prev < 0xa0 || !unicode.In(prev, unicode.L, unicode.M, unicode.S) || invisible(prev)
	}
	return invisible(r)
}

// invisible tells whether a character has no glyph, breaks lines, or turns the
// direction of writing.
func invisible(r rune) bool {
	if unicode.In(r, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Text is s with what is hidden made visible.
func Text(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || Hidden(rune(c), 0) {
			return string(Append(nil, []byte(s)))
		}
	}
	return s
}

// Append adds text to b with what is hidden made visible. A byte that is not
// UTF-8 becomes \xff with its own digits.
func Append(b, text []byte) []byte {
	prev := rune(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, '\\', 'x', hex[text[i]>>4], hex[text[i]&0xf])
		case Hidden(r, prev):
			b = appendEscape(b, r)
		default:
			b = append(b, text[i:i+size]...)
		}
		i, prev = i+size, r
	}
	return b
}

const hex = "0123456789abcdef"

func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '\r':
		return append(b, `\r`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	if r > 0xffff { // JSON knows only sixteen bits at a time
		r -= 0x10000
		b = appendEscape(b, 0xd800+r>>10)
		return appendEscape(b, 0xdc00+r&0x3ff)
	}
	return append(b, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
}
