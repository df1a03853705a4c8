package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"orch/blackboard/message"
)

// LocalEntity is the entity of everything done on this machine.
const LocalEntity = "env:local"

const (
	slugWords = 3
	slugRunes = 12 // of a script that has no spaces between words
)

// IntentSpace is the memory space of an intent: its first three words, or its
// first twelve runes in a script without spaces. One that has no words, only
// signs, is named by its hash, so that no two intents share a space because
// nothing was left of either.
func IntentSpace(intent string) string {
	slug := Slug(intent)
	if slug == "" && intent != "" {
		sum := sha256.Sum256([]byte(intent))
		slug = hex.EncodeToString(sum[:6])
	}
	return "intent:" + slug
}

// factSpaceBytes bounds the words of a fact in the name of its space.
const factSpaceBytes = 80

// factPrefix begins the memory space of a fact.
const factPrefix = "fact:"

// FactSpace is the memory space of a fact that a person declares: its text as
// it is, so that no two different facts share one. Only what stands around the
// text does not count.
func FactSpace(text string) string {
	name := strings.TrimSpace(text)
	if len(name) > factSpaceBytes {
		sum := sha256.Sum256([]byte(name))
		name = strings.ToValidUTF8(name[:factSpaceBytes], "") + "-" + hex.EncodeToString(sum[:16])
	}
	return factPrefix + name
}

// IsFact tells whether a rule of the memory is a fact that a person declared.
func IsFact(space, category string) bool {
	return category == "fact" && strings.HasPrefix(space, factPrefix)
}

// Slug joins the first words of a text, in lower case, by underscores.
func Slug(text string) string { return firstWords(text, slugWords) }

func firstWords(text string, limit int) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	first := strings.Join(words[:min(len(words), limit)], "_")
	if strings.ContainsFunc(first, spaceless) {
		runes := []rune(strings.Join(words, ""))
		return string(runes[:min(len(runes), slugRunes)])
	}
	return first
}

// spaceless tells whether a rune belongs to a script that does not separate words by spaces.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Bounds of a goal's name: enough words to recognise it in a list.
const (
	goalWords = 6
	goalRunes = 40
)

// GoalSlug is the snake_case name a goal is given by its first words; the board
// makes it unique. It is never empty.
func GoalSlug(text string) message.GoalID {
	s := []rune(firstWords(text, goalWords))
	if len(s) > goalRunes {
		s = s[:goalRunes]
	}
	if name := strings.Trim(string(s), "_"); name != "" {
		return message.GoalID(name)
	}
	return "goal"
}
