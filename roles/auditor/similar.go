package auditor

import (
	"strings"
	"unicode"
)

// comparedRunes bounds the texts that are compared: what an error says, it says
// at its beginning.
const comparedRunes = 200

// normalise makes texts comparable: lower case, every run of digits or long run
// of hexadecimal one sign, everything else but letters one space.
func normalise(s string) string {
	var b strings.Builder
	runes := 0
	space := false
	for _, word := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if space {
			b.WriteByte(' ')
		}
		space = true
		for _, r := range plain(word) {
			if runes++; runes > comparedRunes {
				return b.String()
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain replaces what differs from one run to the next in a word.
func plain(word string) string {
	digits := strings.ContainsFunc(word, unicode.IsDigit)
	if !digits {
		return word
	}
	if len(word) >= 7 && strings.Trim(word, "0123456789abcdef") == "" {
		return "#" // a hash or an id
	}
	var b strings.Builder
	number := false
	for _, r := range word {
		if !unicode.IsDigit(r) {
			b.WriteRune(r)
		} else if !number {
			b.WriteByte('#')
		}
		number = unicode.IsDigit(r)
	}
	return b.String()
}

// similar tells whether the Levenshtein ratio of two normalised texts reaches a
// least: 1 − distance ÷ length of the longer.
func similar(a, b string, least float64) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	longer := max(len(x), len(y))
	allowed := int(float64(longer)*(1-least) + 1e-9)
	return distance(x, y, allowed) <= allowed
}

// distance is the Levenshtein distance, or any number above most if it is
// larger. Only cells that can matter are computed.
func distance(x, y []rune, most int) int {
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > most {
		return most + 1
	}
	row := make([]int, len(x)+1)
	for i := range row {
		row[i] = i
	}
	for j := 1; j <= len(y); j++ {
		from, to := max(1, j-most), min(len(x), j+most)
		diagonal := row[from-1]
		if from == 1 {
			row[0] = j
		} else {
			row[from-1] = most + 1
		}
		least := row[from-1]
		for i := from; i <= to; i++ {
			above := row[i]
			if i == j+most { // outside the band of the row before
				above = most + 1
			}
			cost := diagonal
			if x[i-1] != y[j-1] {
				cost = 1 + min(diagonal, above, row[i-1])
			}
			diagonal, row[i] = row[i], cost
			least = min(least, cost)
		}
		if least > most {
			return most + 1
		}
	}
	return row[len(x)]
}
