// Package report writes down what the auditor found: as Markdown, as JSON, and as
// one HTML file that needs nothing else.
//
// It owns the look of a report and the limits of what it draws. It promises that
// the same log and window give the same bytes; that a report states the head of
// the log it is about; that nothing the log says can become markup, a link or a
// request; and that a report stays small however long the log is, saying what it
// leaves out. JSON leaves nothing out that the auditor kept.
//
// It never reads a log, and never writes a file.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"orch/blackboard/journal"
	"orch/roles/auditor"
)

// Version is that of the JSON form.
const Version = 1

// Head is where a hash chain ended when it was read.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Report is everything a report says.
type Report struct {
	Version   int                  `json:"version"`
	Log       Head                 `json:"log"`
	AuditLog  Head                 `json:"audit_log"`
	Window    auditor.Window       `json:"window"`
	Query     string               `json:"query,omitempty"` // what the findings were picked by
	Findings  []auditor.Finding    `json:"findings"`
	NotListed map[auditor.Kind]int `json:"not_listed"` // counted only
	Figures   auditor.Figures      `json:"figures"`
}

// New puts a report together from what was read.
func New(log, ledger journal.Head, w auditor.Window, found []auditor.Finding, notListed map[auditor.Kind]int, f auditor.Figures) Report {
	return Report{
		Version: Version, Log: Head(log), AuditLog: Head(ledger), Window: w,
		Findings: found, NotListed: notListed, Figures: f,
	}
}

// JSON writes the report for programs.
func (r Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// cost is what all steps cost together, in US dollars.
func (r Report) cost() float64 {
	sum := 0.0
	for _, s := range r.Figures.Spend {
		sum += s.Cost
	}
	return sum
}

// steps is how many steps there were, drawn or not.
func (r Report) steps() int { return len(r.Figures.Steps) + r.Figures.StepsGone }

// verdict is the report in one line.
func (r Report) verdict() string {
	if len(r.Findings) == 0 {
		return "Nothing found."
	}
	return Count(r.Findings) + "."
}

// Count says how many findings there are of each severity, the worst first.
func Count(list []auditor.Finding) string {
	counts := map[auditor.Severity]int{}
	for _, f := range list {
		counts[f.Severity]++
	}
	word := "findings"
	if len(list) == 1 {
		word = "finding"
	}
	text, sep := fmt.Sprintf("%d %s", len(list), word), ": "
	for _, sev := range severities() {
		if counts[sev] > 0 {
			text += fmt.Sprintf("%s%d %s", sep, counts[sev], sev)
			sep = ", "
		}
	}
	return text
}

// worstFirst are the findings by severity, otherwise in the order they had.
func (r Report) worstFirst() []auditor.Finding {
	rank := map[auditor.Severity]int{}
	for i, sev := range severities() {
		rank[sev] = i - len(severities()) // one that is not listed is 0: behind all that are
	}
	return slices.SortedStableFunc(slices.Values(r.Findings), func(x, y auditor.Finding) int { return rank[x.Severity] - rank[y.Severity] })
}

// severities lists them, the worst first.
func severities() []auditor.Severity {
	return []auditor.Severity{auditor.Critical, auditor.Architecture, auditor.Spec, auditor.Scope, auditor.External, auditor.Warning, auditor.Info}
}

// period says what the report is about.
func (r Report) period() string {
	f := r.Figures
	if f.FirstTS.IsZero() {
		return "no message is in this window"
	}
	return fmt.Sprintf("%s to %s (%s)", clock(f.FirstTS), clock(f.LastTS), lasted(f.LastTS.Sub(f.FirstTS)))
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// lasted rounds a duration to what a person reads.
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
