package weaken

import (
	"strings"
)

// turning tells whether a character makes what follows it show in another order
// than it is read in.
func turning(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// hidden finds added lines that do not show as what they are: a reviewer would
// read other code than what is run.
func (x *inspection) hidden(f file) {
	for _, l := range f.lines {
		i := strings.IndexFunc(l.text, turning)
		if l.op != '+' || i < 0 {
			continue
		}
		r := []rune(l.text[i:])[0]
		x.say(HiddenText, f, l, IsSource(f.name()), "U+%04X makes the line show in another order than it is read in", r)
	}
}
