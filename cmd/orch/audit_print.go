package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orch/roles/auditor"
	"orch/roles/auditor/report"
)

// printAudit prints a report of the window.
func (a *app) printAudit(s surveyed, p auditPicker, picked []auditor.Finding) error {
	if p.format != formatText {
		return writeForm(s.report(p, picked), p.format, a.out)
	}
	for _, line := range report.Lines(s.Figures()) {
		sayLine(a.out, line)
	}
	for _, f := range picked {
		if err := a.printFinding(f); err != nil {
			return err
		}
	}
	fig := s.Figures()
	cost := 0.0
	for _, sp := range fig.Spend {
		cost += sp.Cost
	}
	say(a.out, "%d messages, %d steps, $%.4f; log head %d %s\n", fig.Messages, len(fig.Steps)+fig.StepsGone, cost, s.Head().Seq, shortHash(s.Head().Hash))
	for _, k := range auditor.Kinds() {
		if n := s.Uncounted()[k]; n > 0 {
			say(a.out, "%d more findings of kind %s are counted, not listed\n", n, k)
		}
	}
	if len(picked) == 0 {
		_, err := sayLine(a.out, "nothing found")
		return err
	}
	_, err := say(a.out, "%s; orch show <seq> prints the evidence\n", report.Count(picked))
	return err
}

func shortHash(h string) string { return h[:min(12, len(h))] }

func (a *app) printFinding(f auditor.Finding) error {
	if a.asJSON {
		return writeLine(a.out, f)
	}
	where := string(f.Goal)
	if where == "" {
		where = "the board"
	}
	seqs := make([]string, 0, len(f.Seqs))
	for _, seq := range f.Seqs {
		seqs = append(seqs, fmt.Sprint(seq))
	}
	if f.Evidence > len(f.Seqs) {
		seqs = slices.Insert(seqs, len(seqs)/2, fmt.Sprintf("… %d more …", f.Evidence-len(f.Seqs)))
	}
	when := ""
	if !f.LastTS.IsZero() {
		when = f.LastTS.Format(time.RFC3339)
	}
	_, err := say(a.out, "%-12s %-26s %s  %s  %s\n             %s\n", f.Severity, f.Kind, f.ID, when, where, oneLine(f.Message, 400))
	if err == nil && len(seqs) > 0 {
		_, err = say(a.out, "             evidence: %s\n", strings.Join(seqs, " "))
	}
	return err
}
