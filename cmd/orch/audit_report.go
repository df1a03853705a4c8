package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"orch/blackboard/journal"
	"orch/roles/auditor"
	"orch/roles/auditor/report"
)

// The forms of a report.
const (
	formatText = "text"
	formatMD   = "md"
	formatHTML = "html"
	formatJSON = "json"
)

// checkAuditForms refuses what does not go together; --json is --format json.
func (a *app) checkAuditForms(p *auditPicker, f auditFlags) error {
	forms := []string{formatText, formatMD, formatHTML, formatJSON}
	p.format, p.report = f.format, f.report
	switch {
	case !slices.Contains(forms, f.format):
		return usagef("--format "+strings.Join(forms, ", "), "there is no format %q", f.format)
	case a.asJSON && f.format != formatText && f.format != formatJSON:
		return usagef("either --json or --format "+f.format, "--json and --format %s do not go together", f.format)
	case f.follow && (f.report || f.format != formatText):
		return usagef("orch audit --report once it has ended, or --follow --json", "--follow prints findings and makes no report")
	case a.asJSON:
		p.format = formatJSON
	}
	return nil
}

// report is what was surveyed, in the forms it can be written in.
func (s surveyed) report(p auditPicker, picked []auditor.Finding) report.Report {
	r := report.New(s.Head(), s.ledger, p.window, picked, s.Uncounted(), s.Figures())
	r.Query = p.asked
	return r
}

func writeForm(r report.Report, format string, w io.Writer) error {
	switch format {
	case formatMD:
		return r.Markdown(w)
	case formatHTML:
		return r.HTML(w)
	}
	return r.JSON(w)
}

// writeReports replaces the reports in .orch/audit, and says where they are.
func (a *app) writeReports(root string, r report.Report) error {
	for _, format := range []string{formatMD, formatJSON, formatHTML} {
		path := filepath.Join(auditDir(root), "report."+format)
		var text bytes.Buffer
		if err := writeForm(r, format, &text); err != nil {
			return err
		}
		if err := journal.WriteFileAtomic(journal.OSFS{}, path, text.Bytes(), 0o600); err != nil { // like the log it is made from
			return fmt.Errorf("write %s: %w", path, err)
		}
		say(a.err, "written to %s\n", path)
	}
	return nil
}
