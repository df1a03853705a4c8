package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"orch/roles/auditor"
)

//go:embed report.html.tmpl
var pageText string

// page is what the template is given: text and numbers only, so that escaping is
// the template package's alone.
type page struct {
	Verdict, Period string
	Clean           bool
	Log, AuditLog   Head
	Goal, Since     string
	Query           string
	Messages, Steps int
	Cost            string
	Goals           []standRow
	GoalsLeft       int
	Needs           []needRow
	NeedsLeft       int
	Severities      []tally
	Findings        []row
	FindingsLeft    int
	NotListed       []tally
	Loss            []lossChart
	LossLeft        int
	Gantt           gantt
	Spend           []spendBar
	SpendLeft       int
	SpendGone       int
	Rates           []rateChart
	RatesLeft       int
	WindowsGone     int
}

type tally struct {
	Name string
	N    int
}

// row is one finding.
type row struct {
	ID, Kind, Severity, About, Subject, Message, When, Evidence string
	Trips                                                       bool
}

// HTML writes the report as one file: no script, no font, no picture, no request.
func (r Report) HTML(w io.Writer) error {
	t, err := template.New("report").Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, r.page()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func (r Report) page() page {
	p := page{
		Verdict: r.verdict(), Period: r.period(), Clean: len(r.Findings) == 0, Log: r.Log, AuditLog: r.AuditLog,
		Goal: plain(string(r.Window.Goal), maxNameRunes), Since: clock(r.Window.Since), Query: plain(r.Query, maxMessageRunes),
		Messages: r.Figures.Messages, Steps: r.steps(), Cost: dollars(r.cost()),
		Gantt: newGantt(r.Figures.Steps, r.Figures.StepsGone),
	}
	p.Goals, p.GoalsLeft = standRows(r.Figures.Goals)
	p.GoalsLeft += r.Figures.EndsGone
	p.Needs, p.NeedsLeft = needRows(r.Figures.Needs)
	for i, f := range r.worstFirst() {
		if last := len(p.Severities) - 1; last < 0 || p.Severities[last].Name != string(f.Severity) {
			p.Severities = append(p.Severities, tally{Name: string(f.Severity)})
		}
		p.Severities[len(p.Severities)-1].N++
		if i < maxListed {
			p.Findings = append(p.Findings, rowOf(f))
		}
	}
	p.FindingsLeft = len(r.Findings) - len(p.Findings)
	for _, k := range auditor.Kinds() {
		if n := r.NotListed[k]; n > 0 {
			p.NotListed = append(p.NotListed, tally{string(k), n})
		}
	}
	goals, left := last(r.Figures.Loss, maxCharts)
	for i, t := range goals {
		p.Loss = append(p.Loss, newLossChart(i, t))
	}
	p.LossLeft = left + r.Figures.GoalsGone
	p.Spend, p.SpendLeft = spendBars(r.Figures.Spend)
	p.Rates, p.RatesLeft = rateCharts(r.Figures.Approval)
	p.SpendGone, p.WindowsGone = r.Figures.SpendGone, r.Figures.WindowsGone
	return p
}

func rowOf(f auditor.Finding) row {
	return row{
		ID: f.ID, Kind: strings.ReplaceAll(string(f.Kind), "_", " "), Severity: string(f.Severity), About: about(f),
		Subject: plain(f.Subject, maxNameRunes), Message: plain(f.Message, maxMessageRunes), When: clock(f.LastTS),
		Evidence: evidence(f), Trips: f.Trips,
	}
}

func dollars(v float64) string {
	if v > 0 && v < 0.01 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// top keeps the dearest rows, in the order they had.
func top(list []auditor.Spend) (rows []auditor.Spend, left int) {
	if len(list) <= maxRows {
		return list, 0
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(x, y auditor.Spend) int {
		switch {
		case x.Cost > y.Cost:
			return -1
		case x.Cost < y.Cost:
			return 1
		}
		return int(y.DurationMS - x.DurationMS)
	})
	return sorted[:maxRows], len(list) - maxRows
}
