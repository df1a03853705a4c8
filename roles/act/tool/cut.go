package tool

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// tailChars is how much of an output's end is kept as evidence.
const tailChars = 120

// ModelChars is how much of an output a model sees by default.
const ModelChars = 4_000

// CutForModel keeps head and tail of an output, maxChars in all with the line
// between them that says what is missing. Both parts stay valid UTF-8.
func CutForModel(output string, maxChars int) string {
	output = strings.ToValidUTF8(output, "\uFFFD")
	total := utf8.RuneCountInString(output)
	if total <= maxChars {
		return output
	}
	gap := fmt.Sprintf("\n[… %d characters left out …]\n", total)
	room := maxChars - utf8.RuneCountInString(gap)
	if room < 2 {
		return string([]rune(output)[:max(maxChars, 0)])
	}
	runes := []rune(output)
	head, tail := room-room/2, room/2
	gap = fmt.Sprintf("\n[… %d characters left out …]\n", total-room)
	return string(runes[:head]) + gap + string(runes[total-tail:])
}

// cut keeps head and tail of an output within max bytes.
func cut(output []byte, max int) []byte {
	if len(output) <= max {
		return output
	}
	gap := fmt.Appendf(nil, "\n[… %d bytes left out …]\n", len(output)-max)
	room := max - len(gap)
	if room < 2 {
		return output[:max]
	}
	return append(append(append([]byte{}, output[:room-room/2]...), gap...), output[len(output)-room/2:]...)
}

// headAndTail are the first line and the last characters of an output.
func headAndTail(output []byte) (head, tail string) {
	text := bytes.TrimSpace(bytes.ToValidUTF8(output, []byte("\uFFFD")))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	h, t := []rune(string(first)), []rune(lastBytes(text, 4*tailChars))
	return string(h[:min(len(h), tailChars)]), string(t[max(0, len(t)-tailChars):])
}

// lastBytes is the end of valid UTF-8 text, not cut within a character.
func lastBytes(text []byte, n int) string {
	if len(text) > n {
		text = text[len(text)-n:]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	return string(text)
}
