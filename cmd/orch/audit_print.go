package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orch/blackboard/journal"
	"orch/roles/auditor"
)

// printAudit prints a report of the window.
func (a *app) printAudit(s surveyed, p auditPicker, picked []auditor.Finding) error {
	if a.asJSON {
		return a.printJSON(map[string]any{
			"version": 1, "log": headOf(s.Head()), "audit_log": headOf(s.ledger), "window": p.window,
			"findings": picked, "not_listed": s.Uncounted(), "figures": s.Figures(),
		})
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
	fmt.Fprintf(a.out, "%d messages, %d steps, $%.4f; log head %d %s\n", fig.Messages, len(fig.Steps)+fig.StepsGone, cost, s.Head().Seq, shortHash(s.Head().Hash))
	for _, k := range auditor.Kinds() {
		if n := s.Uncounted()[k]; n > 0 {
			fmt.Fprintf(a.out, "%d more findings of kind %s are counted, not listed\n", n, k)
		}
	}
	if len(picked) == 0 {
		_, err := fmt.Fprintln(a.out, "nothing found")
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s; orch show <seq> prints the evidence\n", countOf(picked))
	return err
}

func headOf(h journal.Head) map[string]any { return map[string]any{"seq": h.Seq, "hash": h.Hash} }

func shortHash(h string) string { return h[:min(12, len(h))] }

// countOf says how many findings there are of each severity.
func countOf(list []auditor.Finding) string {
	counts := map[auditor.Severity]int{}
	for _, f := range list {
		counts[f.Severity]++
	}
	var parts []string
	for _, sev := range []auditor.Severity{auditor.Critical, auditor.Architecture, auditor.Spec, auditor.Scope, auditor.External, auditor.Warning, auditor.Info} {
		if counts[sev] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[sev], sev))
		}
	}
	word := "findings"
	if len(list) == 1 {
		word = "finding"
	}
	return fmt.Sprintf("%d %s: %s", len(list), word, strings.Join(parts, ", "))
}

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
	_, err := fmt.Fprintf(a.out, "%-12s %-26s %s  %s  %s\n             %s\n", f.Severity, f.Kind, f.ID, when, where, oneLine(f.Message, 400))
	if err == nil && len(seqs) > 0 {
		_, err = fmt.Fprintf(a.out, "             evidence: %s\n", strings.Join(seqs, " "))
	}
	return err
}
