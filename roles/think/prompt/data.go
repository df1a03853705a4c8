package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// frameBytes is more than what render adds to a part's label and text: the
// heading, two marks, line ends.
const frameBytes = 160

// render gives a part its heading, and its marks if it is data.
func (p Part) render() string {
	if !p.Data {
		return "## " + p.Label + "\n\n" + p.Text
	}
	return "## " + p.Label + "\n\n" + Fence(p.Label, p.Text)
}

// Fence sets foreign text apart. The marks carry a piece of the text's own
// hash, so no text can hold the mark that would end it.
func Fence(label, text string) string {
	name := fenceName(label)
	id := fenceID(text, shortHash)
	return fmt.Sprintf("<<<%s %s\n%s\n%s %s>>>", name, id, text, id, name)
}

// fenceID is a hash that does not occur in the text, not even in one that was
// made to hold its own.
func fenceID(text string, hash func(string) string) string {
	for salted := text; ; salted += "." {
		if id := hash(salted); !strings.Contains(text, id) {
			return id
		}
	}
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// fenceName is the label in capitals, ASCII only, at most 40 characters.
func fenceName(label string) string {
	var name strings.Builder
	for _, r := range strings.ToUpper(label) {
		switch {
		case name.Len() >= 40:
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "_"):
			name.WriteByte('_')
		}
	}
	if s := strings.TrimSuffix(name.String(), "_"); s != "" {
		return s
	}
	return "DATA"
}

// share divides room among texts: the shorter ones get all they need, the
// longer ones the same each.
func share(sizes []int, room int) []int {
	byLength := make([]int, len(sizes))
	for i := range byLength {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return sizes[a] - sizes[b] })
	allowed := make([]int, len(sizes))
	for n, i := range byLength {
		allowed[i] = min(sizes[i], room/(len(sizes)-n))
		room -= allowed[i]
	}
	return allowed
}

// cut keeps the head and the tail of a text, within the limit.
func cut(text string, limitBytes int) string {
	if len(text) <= limitBytes {
		return text
	}
	const mark = "\n[… %d bytes left out …]\n"
	room := limitBytes - len(mark) - 10
	if room < 0 {
		return ""
	}
	head, tail := room*2/3, len(text)-room/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + fmt.Sprintf(mark, tail-head) + text[tail:]
}
