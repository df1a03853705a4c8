package main

import "strings"

// wrapIndent is how far the rest of a wrapped line stands under its head.
const wrapIndent = 14

// wrap breaks a line at spaces so that no part is wider than the terminal.
// Colour codes take no room. A word that does not fit is left as it is: the
// terminal breaks it.
func wrap(line string, width int) []string {
	if width <= 2*wrapIndent || visible(line) <= width {
		return []string{line}
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var out []string
	now, used := lead, len(lead)
	for i, word := range strings.Split(line[len(lead):], " ") {
		n := visible(word)
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

// visible counts the characters of a text that a person sees.
func visible(s string) int {
	n, inside := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			inside = true
		case inside:
			inside = r != 'm'
		default:
			n++
		}
	}
	return n
}
