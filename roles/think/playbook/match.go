package playbook

import (
	"regexp"
	"slices"
	"strings"
)

// Fit says how a playbook whose words are in an intent goes together with the
// rest of it. The playbook fits when nothing speaks against it and it knows
// every word: what a person adds may change what they want.
type Fit struct {
	Book    *Playbook
	Against string   // what in the intent rules the playbook out; empty: nothing
	Unknown []string // words of the intent that the playbook does not know

	score int // a point for every group of words, ten for a pattern
}

// Fits tells whether the playbook may be taken without asking anybody.
func (f Fit) Fits() bool { return f.Against == "" && len(f.Unknown) == 0 }

// MatchIntent lists the playbooks whose words are in an intent: those that fit
// first, then those that only do not know a word, then the others. Among equals
// the highest score is first, then a person's own before a shipped one, then the
// name decides. Equal inputs give equal answers.
func MatchIntent(intent string, list []*Playbook) []Fit {
	var found []Fit
	for _, p := range list {
		if f := fit(p, intent); f.score > 0 {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Fit) int {
		for _, order := range []int{
			boolOrder(a.Fits(), b.Fits()), boolOrder(a.Against == "", b.Against == ""), b.score - a.score,
			boolOrder(a.Book.own, b.Book.own), strings.Compare(a.Book.Name, b.Book.Name),
		} {
			if order != 0 {
				return order
			}
		}
		return 0
	})
	return found
}

// fit compares one playbook with an intent. A score of 0 means that its words
// are not there; then nothing else is said.
func fit(p *Playbook, intent string) Fit {
	f := Fit{Book: p}
	said := splitWords(intent)
	c := newCover(p, intent)
	if hitsAll(p.Match.Words, said) {
		f.score += len(p.Match.Words)
	}
	if c.patterns {
		f.score += 10
	}
	if f.score == 0 {
		return f
	}
	for _, w := range said {
		if negates(w.text) && !w.glued(intent) && !c.excuses(w) {
			f.Against = quoted(w.text) + " speaks against it"
			return f
		}
	}
	for _, u := range p.Match.Unless {
		if f.Against = unlessHits(u, intent, said); f.Against != "" {
			return f
		}
	}
	f.judge(c, said)
	return f
}

// judge finds the words that the playbook does not know. One that begins a second
// wish speaks against it.
func (f *Fit) judge(c cover, said []word) {
	joined := false // only fillers since an "and"
	for _, w := range said {
		switch {
		case c.known(w):
			joined = false
		case among(joiners, w.text):
			joined = true
		case among(fillers, w.text), negates(w.text) && c.excuses(w):
		default:
			if joined && f.Against == "" {
				f.Against = quoted(w.text) + " asks for something else as well"
			}
			joined = false
			f.Unknown = append(f.Unknown, w.text)
		}
	}
}

// cover knows which parts of an intent a playbook declares.
type cover struct {
	book     *Playbook
	patterns bool   // one of match.patterns is in the intent
	declared []bool // by byte: part of a pattern, a parameter or a known phrase
	excused  []bool // by byte: what a negation may be part of
}

// newCover marks what the expressions of a playbook find. Inside a pattern or a
// parameter a negation still counts, because both may stretch over anything;
// inside a known phrase the author wrote it, and in quotes it is a value.
func newCover(p *Playbook, intent string) cover {
	c := cover{book: p, declared: make([]bool, len(intent)), excused: make([]bool, len(intent))}
	for _, expr := range p.Match.Patterns {
		c.patterns = mark(expr, intent, c.declared) || c.patterns
	}
	for _, known := range p.Match.Known {
		if expr, ok := expression(known); ok {
			mark(expr, intent, c.declared, c.excused)
		}
	}
	values := make([]bool, len(intent))
	for _, param := range p.Params {
		for _, expr := range param.Pattern {
			mark(expr, intent, c.declared, values)
		}
	}
	for _, at := range inQuotes.FindAllStringIndex(intent, -1) {
		for i := at[0]; i < at[1]; i++ {
			c.excused[i] = c.excused[i] || values[i]
		}
	}
	return c
}

func mark(expr, intent string, marks ...[]bool) bool {
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		return false // Decode has refused it
	}
	found := re.FindAllStringIndex(intent, -1)
	for _, at := range found {
		for _, m := range marks {
			for i := at[0]; i < at[1]; i++ {
				m[i] = true
			}
		}
	}
	return len(found) > 0
}

// known tells whether the playbook declares a word, alone or in an expression.
func (c cover) known(w word) bool {
	if whole(c.declared, w) || c.named(w, true) {
		return true
	}
	for _, known := range c.book.Match.Known {
		if _, isExpr := expression(known); !isExpr && hits(known, []word{w}) {
			return true
		}
	}
	return false
}

// excuses tells whether a negation is one that the playbook's author wrote, or
// part of a value in quotes.
func (c cover) excuses(w word) bool { return whole(c.excused, w) || c.named(w, false) }

// named tells whether the word is one of match.words.
func (c cover) named(w word, stems bool) bool {
	for _, group := range c.book.Match.Words {
		for _, want := range group {
			if (stems || !strings.HasSuffix(want, "*")) && hits(want, []word{w}) {
				return true
			}
		}
	}
	return false
}

func whole(marks []bool, w word) bool {
	return !slices.Contains(marks[w.from:w.to], false)
}

// expression is what stands between the slashes of an entry that is one.
func expression(entry string) (string, bool) {
	if len(entry) > 2 && strings.HasPrefix(entry, "/") && strings.HasSuffix(entry, "/") {
		return entry[1 : len(entry)-1], true
	}
	return "", false
}

// unlessHits says what of the intent an entry of unless rules out.
func unlessHits(u, intent string, said []word) string {
	if expr, ok := expression(u); ok {
		re, err := regexp.Compile("(?i)" + expr)
		if err != nil {
			return ""
		}
		if at := re.FindStringIndex(intent); at != nil {
			return quoted(cut(intent[at[0]:at[1]], 60)) + " speaks against it"
		}
		return ""
	}
	if hits(u, said) {
		return quoted(strings.TrimSuffix(u, "*")) + " speaks against it"
	}
	return ""
}

func hitsAll(groups []Strings, said []word) bool {
	for _, group := range groups {
		if !slices.ContainsFunc(group, func(want string) bool { return hits(want, said) }) {
			return false
		}
	}
	return len(groups) > 0
}

func hits(want string, said []word) bool {
	stem, open := strings.CutSuffix(strings.ToLower(want), "*")
	return slices.ContainsFunc(said, func(w word) bool {
		return w.text == stem || open && strings.HasPrefix(w.text, stem)
	})
}
