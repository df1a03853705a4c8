package auditor

import (
	"strings"
	"testing"
)

func TestQuery(t *testing.T) {
	f := Finding{ID: "ab", Kind: Stall, Severity: Warning, Goal: "fix_it", Message: "Nothing was said", Seqs: []uint64{4, 9}, Evidence: 2}
	for query, want := range map[string]bool{
		"":                                      true,
		"kind = stall":                          true,
		"kind=stall and goal=fix_it":            true,
		"kind = lease_loss or severity=warning": true,
		"not kind = stall":                      false,
		"not (kind = lease_loss or goal = x)":   true,
		"message ~ 'WAS said'":                  true,
		"goal != fix_it":                        false,
		"seq = 9":                               true,
		"seq > 9":                               false,
		"seq<=4 and evidence >= 2":              true,
		"kind = a or kind = b and kind = stall": false,
		`"kind" = 'stall'`:                      true,
		"trips = false":                         true,
		"last < 2026-01-01T00:00:00Z":           true,
	} {
		q, err := ParseQuery(query)
		if err != nil || q.Fits(f) != want {
			t.Errorf("%q: %v, %v; want %v", query, err == nil && q.Fits(f), err, want)
		}
	}
	for query, what := range map[string]string{
		"kind":              "wanted at the end",
		"kind = stall goal": "too much",
		"colour = red":      "no field",
		"kind < stall":      "is text",
		"seq ~ 4":           "a number",
		"first = monday":    "a time",
		"(kind = stall":     "not closed",
		"kind = 'stall":     "not closed",
		"kind is stall":     "no operator",
		strings.Repeat("(", 1000) + "kind = stall": "levels",
	} {
		if _, err := ParseQuery(query); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%.40q: %v, want %q", query, err, what)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	f.Add("kind = stall and (goal = x or not seq > 3)")
	f.Fuzz(func(t *testing.T, s string) {
		if q, err := ParseQuery(s); err == nil {
			q.Fits(Finding{})
		}
	})
}
