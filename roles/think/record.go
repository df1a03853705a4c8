package think

import (
	"strings"
	"unicode"
)

// Record is something that orch executed or read by itself.
type Record struct {
	Name  string `json:"name"`            // R1, R2, …
	What  string `json:"what"`            // what was read or executed
	Asked string `json:"asked,omitempty"` // the call or check, in the words of whoever made it
	Text  string `json:"text"`            // what orch saw
}

// minQuote is how many letters and digits a quote has that is no whole line;
// less would be found anywhere.
const minQuote = 12

// Shows tells whether a quote proves something: its words are in the record,
// however they are spaced, and are enough to mean this place. Dots may stand
// for what was left out between pieces that follow each other; each piece has
// to be enough by itself. What is also in the call's own words shows nothing:
// "echo the tests pass" says what its caller says.
func (r Record) Shows(quote string) bool {
	rest, asked := spaced(r.Text), spaced(r.Asked)
	found := false
	for _, piece := range strings.Split(strings.ReplaceAll(spaced(quote), "...", "…"), "…") {
		piece = strings.TrimSpace(piece)
		if !strings.Contains(rest, piece) { // the judge may have put it into quotes
			piece = strings.Trim(piece, ` "'“”‘’`+"`")
		}
		if piece == "" {
			continue
		}
		i := strings.Index(rest, piece)
		if i < 0 || strings.Contains(asked, piece) || weight(piece) < minQuote && !r.hasLine(piece) {
			return false
		}
		rest, found = rest[i+len(piece):], true
	}
	return found
}

// hasLine tells whether the record has a line of exactly these words.
func (r Record) hasLine(words string) bool {
	for line := range strings.Lines(r.Text) {
		if spaced(line) == words {
			return weight(words) > 0
		}
	}
	return false
}

// weight is how many letters and digits a text has.
func weight(s string) (n int) {
	for _, c := range s {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n
}

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// Cites is the record that a judgement names, if its quote is in it.
func (j Judgement) Cites(records []Record) (Record, bool) {
	for _, r := range records {
		if r.Name == strings.TrimSpace(j.Record) {
			return r, r.Shows(j.Quote)
		}
	}
	return Record{}, false
}
