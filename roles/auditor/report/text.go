package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"orch/blackboard/visible"
	"orch/roles/auditor"
)

// How much of what the log says a page shows.
const (
	maxNameRunes    = 60
	maxMessageRunes = 600
	maxListed       = 300 // findings on a page
	maxCharts       = 12  // goals whose loss is drawn
	maxBars         = 200 // steps that are drawn
	maxRows         = 60  // rows of any other table
)

// plain makes one bounded line of text. Characters that change how the text
// around them is shown are made visible: the log must not forge a report.
func plain(s string, maxRunes int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n >= maxRunes {
			b.WriteRune('…')
			break
		}
		n++
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError || visible.Hidden(r, 0) || unicode.In(r, unicode.Cf, unicode.Co):
			b.WriteRune('�')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func name(s string) string {
	if strings.TrimSpace(s) == "" {
		return "–"
	}
	return plain(s, maxNameRunes)
}

func about(f auditor.Finding) string {
	if f.Goal == "" {
		return "the board"
	}
	return name(string(f.Goal))
}

// evidence lists the messages that prove a finding.
func evidence(f auditor.Finding) string {
	var parts []string
	for i, seq := range f.Seqs {
		if f.Evidence > len(f.Seqs) && i == len(f.Seqs)/2 {
			parts = append(parts, fmt.Sprintf("… %d more …", f.Evidence-len(f.Seqs)))
		}
		parts = append(parts, fmt.Sprint(seq))
	}
	return strings.Join(parts, " ")
}

func modelName(m string) string {
	if m == "" {
		return "no model"
	}
	return name(m)
}

// last keeps the latest n of a list, and says how many it leaves out.
func last[T any](list []T, n int) (kept []T, left int) {
	if len(list) <= n {
		return list, 0
	}
	return list[len(list)-n:], len(list) - n
}
