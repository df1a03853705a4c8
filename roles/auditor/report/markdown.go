package report

import (
	"fmt"
	"io"
	"strings"

	"orch/roles/auditor"
)

// Markdown writes the report for people and for git. All that the log says stands
// in code spans, where nothing is markup.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	r.mdHead(&b)
	r.mdStands(&b)
	r.mdFindings(&b)
	r.mdLoss(&b)
	r.mdSteps(&b)
	r.mdSpend(&b)
	r.mdRates(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) mdHead(b *strings.Builder) {
	fmt.Fprintf(b, "# Audit report\n\n**%s**\n\n", r.verdict())
	fmt.Fprintf(b, "- Head of the log: message %d, `%s`\n", r.Log.Seq, orDash(r.Log.Hash))
	fmt.Fprintf(b, "- Head of the audit log: entry %d, `%s`\n", r.AuditLog.Seq, orDash(r.AuditLog.Hash))
	fmt.Fprintf(b, "- Period: %s\n", r.period())
	if r.Window.Goal != "" {
		fmt.Fprintf(b, "- Only the goal %s\n", span(name(string(r.Window.Goal))))
	}
	if !r.Window.Since.IsZero() {
		fmt.Fprintf(b, "- Only since %s\n", clock(r.Window.Since))
	}
	if r.Query != "" {
		fmt.Fprintf(b, "- Only findings that fit %s\n", span(plain(r.Query, maxMessageRunes)))
	}
	fmt.Fprintf(b, "- %d messages, %d steps, $%.4f\n", r.Figures.Messages, r.steps(), r.cost())
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func (r Report) mdFindings(b *strings.Builder) {
	b.WriteString("\n## Findings\n\n")
	if len(r.Findings) == 0 {
		b.WriteString("None.\n")
	}
	for i, f := range r.worstFirst() {
		if i == maxListed {
			fmt.Fprintf(b, "- … and %d more; the JSON form has them\n", len(r.Findings)-i)
			break
		}
		fmt.Fprintf(b, "- **%s** %s `%s`, %s, %s: %s", f.Severity, f.Kind, f.ID, span(about(f)), orDash(clock(f.LastTS)), span(plain(f.Message, maxMessageRunes)))
		if len(f.Seqs) > 0 {
			fmt.Fprintf(b, "  \n  Evidence: %s", evidence(f))
		}
		b.WriteString("\n")
	}
	for _, k := range auditor.Kinds() {
		if n := r.NotListed[k]; n > 0 {
			fmt.Fprintf(b, "- %d more of kind %s were counted, not kept\n", n, k)
		}
	}
}

func (r Report) mdLoss(b *strings.Builder) {
	goals, left := last(r.Figures.Loss, maxCharts)
	if len(goals) == 0 {
		return
	}
	b.WriteString("\n## Loss\n\nL is the loss, of distance D, process P and resources Ω.\n")
	if left += r.Figures.GoalsGone; left > 0 {
		fmt.Fprintf(b, "%d earlier goals are left out.\n", left)
	}
	for _, t := range goals {
		fmt.Fprintf(b, "\n### %s\n\n| round | message | L | D | P | Ω | ∇L | directive |\n|--:|--:|--:|--:|--:|--:|--:|---|\n", span(name(string(t.Goal))))
		points, gone := last(t.Points, maxRows)
		for _, p := range points {
			fmt.Fprintf(b, "| %d | %d | %.3f | %.3f | %.3f | %.3f | %+.3f | %s |\n",
				p.Round, p.Seq, p.Loss.L, p.Loss.D, p.Loss.P, p.Loss.Omega, p.GradL, cell(string(p.Directive)))
		}
		if gone += t.Gone; gone > 0 {
			fmt.Fprintf(b, "\n%d earlier rounds are left out.\n", gone)
		}
	}
}

func (r Report) mdSteps(b *strings.Builder) {
	if len(r.Figures.Steps) == 0 {
		return
	}
	steps, left := last(r.Figures.Steps, maxRows)
	b.WriteString("\n## Steps\n\n| began | took | role | subject | end | messages |\n|---|--:|---|---|---|--:|\n")
	for _, s := range steps {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %d–%d |\n", clock(s.Start), lasted(s.End.Sub(s.Start)),
			cell(string(s.Role)), cell(s.Subject), cell(s.Class), s.StartSeq, s.EndSeq)
	}
	if left += r.Figures.StepsGone; left > 0 {
		fmt.Fprintf(b, "\n%d earlier steps are left out.\n", left)
	}
}

func (r Report) mdSpend(b *strings.Builder) {
	if len(r.Figures.Spend) == 0 {
		return
	}
	b.WriteString("\n## Spend\n\n| role | model | steps | cost | tokens in | tokens out | model calls | time |\n|---|---|--:|--:|--:|--:|--:|--:|\n")
	rows, left := top(r.Figures.Spend)
	for _, s := range rows {
		fmt.Fprintf(b, "| %s | %s | %d | $%.4f | %d | %d | %d | %s |\n", cell(string(s.Role)), cell(modelName(s.Model)),
			s.Steps, s.Cost, s.InputTokens, s.OutputTokens, s.ModelCalls, lasted(ms(s.DurationMS)))
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%d cheaper ones are left out.\n", left)
	}
	if n := r.Figures.SpendGone; n > 0 {
		fmt.Fprintf(b, "\n%d steps with still other models were counted in no row.\n", n)
	}
}

func (r Report) mdRates(b *strings.Builder) {
	if len(r.Figures.Approval) == 0 {
		return
	}
	b.WriteString("\n## Rates\n\n| role | what | messages | yes | of | rate |\n|---|---|--:|--:|--:|--:|\n")
	rows, left := last(r.Figures.Approval, maxRows)
	for _, w := range rows {
		fmt.Fprintf(b, "| %s | %s | %d–%d | %d | %d | %.0f %% |\n", cell(string(w.Role)), w.What, w.FirstSeq, w.LastSeq, w.Yes, w.Samples, 100*w.Rate())
	}
	if left += r.Figures.WindowsGone; left > 0 {
		fmt.Fprintf(b, "\n%d windows are left out.\n", left)
	}
}

// span puts text into a code span that the text can not end.
func span(s string) string {
	longest, run := 0, 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cell is a code span in a table, where a bar would end the cell even within one.
func cell(s string) string { return span(strings.ReplaceAll(name(s), "|", "∣")) }
