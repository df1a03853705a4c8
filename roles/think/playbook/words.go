package playbook

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orch/blackboard/lazyregexp"
)

// word is one word of an intent, in small letters, and the bytes it stands at.
type word struct {
	text     string
	from, to int
}

// glued tells whether the word is part of a name, as in pkg/none or not_found.go.
func (w word) glued(s string) bool {
	const glue = "/._-@"
	return w.from > 0 && strings.IndexByte(glue, s[w.from-1]) >= 0 || w.to+1 < len(s) && strings.IndexByte(glue, s[w.to]) >= 0 && !unicode.IsSpace(rune(s[w.to+1]))
}

// splitWords finds the words: letters with their marks, digits, and apostrophes
// inside. A possessive 's is no part of a word.
func splitWords(s string) []word {
	var list []word
	from := -1
	end := func(to int) {
		if from < 0 {
			return
		}
		raw := strings.TrimRight(s[from:to], "'’")
		text := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
		list = append(list, word{strings.TrimSuffix(text, "'s"), from, from + len(raw)})
		from = -1
	}
	for i, r := range s {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == utf8.RuneError
		switch {
		case inside && from < 0:
			from = i
		case !inside && (r != '\'' && r != '’'):
			end(i)
		}
	}
	end(len(s))
	return list
}

// inQuotes finds a person's quotations.
var inQuotes = lazyregexp.New("\"[^\"]*\"|`[^`]*`|“[^”]*”")

func quoted(s string) string { return `"` + s + `"` }

// The words every playbook understands. They are English; a playbook for another
// language declares its own under match.known. What is in none of these lists and
// declared by nobody is unknown, whatever the language.
const (
	// fillers change nothing about a wish.
	fillers = " a an the this that these those my our your its their it them they they're they've me us we we'd we've you i i'd i'm " +
		"please kindly thanks thank can could would will shall should need needs want wants like to " +
		"be is are was were been being get gets got let in on at of for from by with as so " +
		"again now once more finally all every each any here there up sure "
	// joiners may begin a second wish.
	joiners = " and or then also plus afterwards additionally "
	// negations take back or narrow what the other words say.
	negations = " not no never none nothing nobody neither nor cannot cant dont doesnt didnt wont isnt arent " +
		"without except excluding but only just merely solely instead rather unless avoid stop "
)

func among(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// negates tells whether a word takes back or narrows a wish.
func negates(w string) bool { return among(negations, w) || strings.HasSuffix(w, "n't") }
