package main

import (
	"strings"

	"golang.org/x/text/width"
)

// wrapIndent is how far the rest of a wrapped line stands under its head.
const wrapIndent = 14

// wrap breaks a line at spaces so that no part is wider than the terminal.
// Colour codes take no room. A word that does not fit is left as it is: the
// terminal breaks it.
func wrap(line string, width int) []string {
	if width <= 2*wrapIndent || widthOf(line) <= width {
		return []string{line}
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var out []string
	now, used := lead, len(lead)
	for i, word := range strings.Split(line[len(lead):], " ") {
		n := widthOf(word)
		switch {
		case i == 0:
			now, used = now+word, used+n
		case used+1+n > width && strings.TrimSpace(now) != "":
			out = append(out, strings.TrimRight(now, " "))
			now, used = strings.Repeat(" ", wrapIndent)+word, wrapIndent+n
		default:
			now, used = now+" "+word, used+1+n
		}
	}
	return append(out, now)
}

// widthOf counts the columns of a terminal that a text takes.
func widthOf(s string) int {
	n, inside := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			inside = true
		case inside:
			inside = r != 'm'
		default:
			n += widthOfRune(r)
		}
	}
	return n
}

// widthOfRune is how wide a character is shown. Those that take no room count as
// one: a line may be shorter than the terminal, but not longer.
func widthOfRune(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cutTo is as much of a text as fits into so many columns.
func cutTo(s string, most int) string {
	if widthOf(s) <= most {
		return s
	}
	used := 0
	for i, r := range s {
		if used += widthOfRune(r); used > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}
