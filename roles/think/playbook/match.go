package playbook

import (
	"regexp"
	"strings"
	"unicode"
)

// MatchIntent picks the playbook an intent is for: the highest score, then a person's
// own before a shipped one, then by name. Equal inputs give equal answers.
func MatchIntent(intent string, list []*Playbook) (*Playbook, bool) {
	var best *Playbook
	bestScore := 0
	for _, p := range list {
		s := score(p, intent)
		if s == 0 || s < bestScore {
			continue
		}
		if s == bestScore && best != nil && (best.own && !p.own || best.own == p.own && best.Name <= p.Name) {
			continue
		}
		best, bestScore = p, s
	}
	return best, best != nil
}

// score is 0 when the playbook is not for the intent: a point for every group
// of words, ten for a pattern.
func score(p *Playbook, intent string) int {
	words := splitWords(intent)
	for _, u := range p.Match.Unless {
		if unlessHits(u, intent, words) {
			return 0
		}
	}
	s := 0
	if hitsAll(p.Match.Words, words) {
		s += len(p.Match.Words)
	}
	for _, expr := range p.Match.Patterns {
		if re, err := regexp.Compile("(?i)" + expr); err == nil && re.MatchString(intent) {
			s += 10
			break
		}
	}
	return s
}

func unlessHits(u, intent string, words []string) bool {
	if len(u) > 1 && strings.HasPrefix(u, "/") && strings.HasSuffix(u, "/") {
		re, err := regexp.Compile("(?i)" + u[1:len(u)-1])
		return err == nil && re.MatchString(intent)
	}
	return hits(u, words)
}

func hitsAll(groups []Strings, words []string) bool {
	for _, group := range groups {
		found := false
		for _, w := range group {
			if found = hits(w, words); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return len(groups) > 0
}

func hits(want string, words []string) bool {
	want = strings.ToLower(want)
	stem, open := strings.CutSuffix(want, "*")
	for _, w := range words {
		if w == want || open && strings.HasPrefix(w, stem) {
			return true
		}
	}
	return false
}

func splitWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
