package main

import (
	"bytes"
	"io"
	"os"

	"orch/blackboard/lazyregexp"
)

// tame writes to a terminal what a person may see there and no more: texts of
// goals, models and commands can not move the cursor, name the window, or talk
// to the terminal. Colours and the erasing of the bottom line pass.
type tame struct{ f *os.File }

// ours are the sequences this program writes itself.
var ours = lazyregexp.New(`^\x1b\[(?:[0-9]{0,2}m|2K)`)

// tamed is a stream as this program writes to it. What is no terminal gets
// every byte as it is.
func tamed(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && terminal(f) {
		return tame{f}
	}
	return w
}

// Fd lets the terminal's size be asked for.
func (t tame) Fd() uintptr { return t.f.Fd() }

// Write passes p on. It reports p as written whole, or not at all.
func (t tame) Write(p []byte) (int, error) {
	if _, err := t.f.Write(taming(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// taming replaces what a terminal would obey.
func taming(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		switch b := p[i]; {
		case b == '\n' || b == '\t' || b == '\r' || b >= 0x20 && b != 0x7f && b != 0xc2:
			out = append(out, b)
		case b == 0xc2 && (i+1 >= len(p) || p[i+1] >= 0xa0): // not one of the C1 controls, which are C2 80 to C2 9F
			out = append(out, b)
		case b == 0x1b && ours.Match(p[i:]):
			seq := ours.Find(p[i:])
			out = append(out, seq...)
			i += len(seq) - 1
		default:
			out = append(out, '?')
			if b == 0xc2 {
				i++
			}
		}
	}
	// Direction marks can make a line read as something else.
	for _, mark := range []string{"\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068"} {
		out = bytes.ReplaceAll(out, []byte(mark), []byte("?"))
	}
	return out
}
