package report

import (
	"fmt"
	"math"
	"strings"

	"orch/blackboard/message"
	"orch/roles/auditor"
)

// The drawing areas, in units of the picture.
const (
	lossLeft, lossRight = 44.0, 624.0
	lossTop, lossBottom = 14.0, 190.0
	lossHeight          = 226.0
)

// lossChart is the loss of one goal over its rounds.
type lossChart struct {
	ID        int
	Goal, End string
	Summary   string // for who can not see it
	Lines     []line
	Grid      []grid
	Marks     []mark
	Left      int // rounds that are not drawn
	Rows      []lossRow
}

// line is one of L, D, P, Ω.
type line struct {
	Class, Name, Path string
	Dots              []dot
}

type dot struct {
	X, Y  string
	Label string
}

type grid struct{ Y, TextY, Label string }

// mark is the directive of a round, below the axis.
type mark struct{ X, Class, Letter, Round, Label string }

type lossRow struct {
	Round                 int
	Seq                   uint64
	L, D, P, Omega, GradL string
	Directive             string
}

func newLossChart(id int, t auditor.Trajectory) lossChart {
	points, left := last(t.Points, maxRows)
	c := lossChart{ID: id, Goal: name(string(t.Goal)), Left: left + t.Gone}
	ceiling := 1.0
	for _, p := range points {
		ceiling = math.Max(ceiling, math.Max(math.Max(finite(p.Loss.L), finite(p.Loss.D)), math.Max(finite(p.Loss.P), finite(p.Loss.Omega))))
	}
	y := func(v float64) float64 {
		return lossBottom - (lossBottom-lossTop)*math.Min(math.Max(finite(v)/ceiling, 0), 1)
	}
	x := func(i int) float64 {
		if len(points) == 1 {
			return (lossLeft + lossRight) / 2
		}
		return lossLeft + 16 + (lossRight-lossLeft-32)*float64(i)/float64(len(points)-1)
	}
	for i := range 5 {
		v := ceiling * float64(i) / 4
		c.Grid = append(c.Grid, grid{num(y(v)), num(y(v) + 4), fmt.Sprintf("%.2f", v)})
	}
	for _, s := range []struct {
		class, name string
		of          func(message.Loss) float64
	}{
		{"o", "Ω resources", func(l message.Loss) float64 { return l.Omega }},
		{"p", "P process", func(l message.Loss) float64 { return l.P }},
		{"d", "D distance", func(l message.Loss) float64 { return l.D }},
		{"l", "L loss", func(l message.Loss) float64 { return l.L }}, // last: on top
	} {
		ln := line{Class: s.class, Name: s.name}
		for i, p := range points {
			verb := "L"
			if i == 0 {
				verb = "M"
			}
			v := s.of(p.Loss)
			ln.Path += fmt.Sprintf("%s%s %s", verb, num(x(i)), num(y(v)))
			ln.Dots = append(ln.Dots, dot{num(x(i)), num(y(v)), fmt.Sprintf("round %d: %s %.3f", p.Round, s.name, v)})
		}
		c.Lines = append(c.Lines, ln)
	}
	every := 1 + len(points)/30 // so that the letters do not touch
	for i, p := range points {
		c.Rows = append(c.Rows, lossRow{p.Round, p.Seq, three(p.Loss.L), three(p.Loss.D), three(p.Loss.P), three(p.Loss.Omega), fmt.Sprintf("%+.3f", p.GradL), name(string(p.Directive))})
		if i%every == 0 || p.Final {
			class, letter := directiveLook(p.Directive)
			c.Marks = append(c.Marks, mark{num(x(i)), class, letter, fmt.Sprint(p.Round), fmt.Sprintf("round %d: %s", p.Round, name(string(p.Directive)))})
		}
		if p.Final {
			c.End = name(string(p.Directive))
		}
	}
	c.Summary = summary(points, c.End)
	return c
}

func summary(points []auditor.LossPoint, end string) string {
	if len(points) == 0 {
		return "No round was measured."
	}
	first, final := points[0], points[len(points)-1]
	text := fmt.Sprintf("%d rounds; L went from %.3f to %.3f, D from %.3f to %.3f", len(points), first.Loss.L, final.Loss.L, first.Loss.D, final.Loss.D)
	if len(points) == 1 {
		text = fmt.Sprintf("One round; L was %.3f, D %.3f", final.Loss.L, final.Loss.D)
	}
	if end != "" {
		return text + "; it ended with " + end + "."
	}
	return text + "; it has not ended."
}

// directiveLook is a class and a letter, so that colour is never all there is.
func directiveLook(d message.Directive) (class, letter string) {
	switch d {
	case message.Init:
		return "plain", "I"
	case message.Refine:
		return "plain", "R"
	case message.ChangePath:
		return "turn", "P"
	case message.ChangeApproach:
		return "turn", "A"
	case message.BreakSymmetry:
		return "turn", "B"
	case message.Accept:
		return "good", "✓"
	case message.Success:
		return "good", "✓"
	case message.Abandon:
		return "bad", "✕"
	}
	return "plain", "?"
}

// spendBar is what one role used with one model.
type spendBar struct {
	Role, Model, Cost, In, Out, Took string
	Steps, Calls                     int
	CostBar, TimeBar                 string // widths, of 100
}

func spendBars(list []auditor.Spend) (bars []spendBar, left int) {
	rows, left := top(list)
	cost, took := 0.0, 0.0
	for _, s := range list {
		cost, took = cost+finite(s.Cost), took+float64(s.DurationMS)
	}
	for _, s := range rows {
		bars = append(bars, spendBar{
			Role: name(string(s.Role)), Model: modelName(s.Model), Cost: dollars(s.Cost), In: thousands(s.InputTokens),
			Out: thousands(s.OutputTokens), Took: lasted(ms(s.DurationMS)), Steps: s.Steps, Calls: s.ModelCalls,
			CostBar: share(s.Cost, cost), TimeBar: share(float64(s.DurationMS), took),
		})
	}
	return bars, left
}

// rateChart is how one figure of one role went, window by window.
type rateChart struct {
	Role, What, Now, Summary string
	Windows                  []rateBar
	Left                     int
}

type rateBar struct{ X, Y, W, H, Label string }

// maxWindows is how many windows of one rate are drawn.
const maxWindows = 30

func rateCharts(list []auditor.RateWindow) (charts []rateChart, left int) {
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Role == list[from].Role && list[to].What == list[from].What {
			to++
		}
		if len(charts) < maxRows {
			charts = append(charts, newRateChart(list[from:to]))
		} else {
			left++
		}
		from = to
	}
	return charts, left
}

// newRateChart draws windows of one rate in a picture of 240 × 60.
func newRateChart(list []auditor.RateWindow) rateChart {
	windows, left := last(list, maxWindows)
	c := rateChart{Role: name(string(list[0].Role)), What: plain(list[0].What, maxNameRunes), Left: left}
	slot := math.Min(240/float64(len(windows)), 48)
	for i, w := range windows {
		h := math.Max(60*w.Rate(), 1)
		c.Windows = append(c.Windows, rateBar{num(float64(i)*slot + 1), num(60 - h), num(slot - 2), num(h),
			fmt.Sprintf("messages %d–%d: %d of %d", w.FirstSeq, w.LastSeq, w.Yes, w.Samples)})
	}
	now := windows[len(windows)-1]
	c.Now = fmt.Sprintf("%.0f %%", 100*now.Rate())
	c.Summary = fmt.Sprintf("%d of %d in the latest window", now.Yes, now.Samples)
	if len(windows) > 1 {
		c.Summary += fmt.Sprintf("; %.0f %% in the first of %d shown", 100*windows[0].Rate(), len(windows))
	}
	return c
}

func share(v, of float64) string {
	if of <= 0 {
		return "0"
	}
	return num(min(100*max(finite(v), 0)/of, 100))
}

// finite keeps a forged figure from breaking a picture.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func num(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

func three(v float64) string { return fmt.Sprintf("%.3f", v) }

// thousands groups digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
