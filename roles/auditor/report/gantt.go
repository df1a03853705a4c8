package report

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"orch/blackboard/message"
	"orch/roles/auditor"
)

const (
	ganttLabel  = 250.0 // where the bars begin
	ganttRight  = 940.0
	ganttRow    = 22.0
	ganttHead   = 26.0
	maxLanes    = 60
	ganttTicks  = 5
	shortestBar = 2.0
)

// gantt is the timeline of steps: a lane for each role and subject.
type gantt struct {
	Height  string
	Bottom  string
	Lanes   []lane
	Ticks   []tick
	Left    int // steps that are not drawn
	Summary string
}

type lane struct {
	Role, Subject, Y, TextY string
	Stripe                  bool
	Bars                    []bar
}

type bar struct{ X, Y, W, Class, Label string }

type tick struct{ X, Anchor, Label string }

func newGantt(all []auditor.StepSpan, gone int) gantt {
	steps, left := last(all, maxBars)
	g := gantt{Left: left + gone}
	if len(steps) == 0 {
		return g
	}
	from, to := steps[0].Start, steps[0].End
	for _, s := range steps {
		if s.Start.Before(from) {
			from = s.Start
		}
		if s.End.After(to) {
			to = s.End
		}
	}
	whole := max(to.Sub(from), time.Millisecond)
	x := func(t time.Time) float64 {
		return ganttLabel + (ganttRight-ganttLabel)*float64(t.Sub(from))/float64(whole)
	}
	lanes := map[string]int{}
	drawn := 0
	for _, s := range steps {
		key := string(s.Role) + "\x00" + s.Subject
		i, known := lanes[key]
		if !known {
			if len(g.Lanes) == maxLanes {
				g.Left++
				continue
			}
			i = len(g.Lanes)
			lanes[key] = i
			y := ganttHead + ganttRow*float64(i)
			g.Lanes = append(g.Lanes, lane{Role: plain(string(s.Role), 15), Subject: laneName(s.Subject), Y: num(y), TextY: num(y + 15), Stripe: i%2 == 0})
		}
		y := ganttHead + ganttRow*float64(i) + 4
		width := max(x(s.End)-x(s.Start), shortestBar)
		g.Lanes[i].Bars = append(g.Lanes[i].Bars, bar{num(min(x(s.Start), ganttRight-width)), num(y), num(width), classLook(s.Class),
			fmt.Sprintf("%s on %s, %s, %s, messages %d–%d", name(string(s.Role)), name(s.Subject), name(s.Class), lasted(s.End.Sub(s.Start)), s.StartSeq, s.EndSeq)})
		drawn++
	}
	for i := range ganttTicks {
		at := from.Add(whole * time.Duration(i) / (ganttTicks - 1))
		anchor := "middle"
		if i == ganttTicks-1 {
			anchor = "end"
		}
		g.Ticks = append(g.Ticks, tick{num(x(at)), anchor, "+" + lasted(at.Sub(from))})
	}
	bottom := ganttHead + ganttRow*float64(len(g.Lanes))
	g.Bottom, g.Height = num(bottom), num(bottom+4)
	g.Summary = fmt.Sprintf("%d steps in %d lanes, from %s on, over %s.", drawn, len(g.Lanes), clock(from), lasted(to.Sub(from)))
	return g
}

// laneName shortens a subject to what fits. Ids of tasks made one after another
// begin alike, so that it is their end that tells them apart.
func laneName(subject string) string {
	const fits = 16
	if id, err := uuid.Parse(subject); err == nil {
		text := id.String()
		return "…" + text[len(text)-12:]
	}
	return plain(subject, fits)
}

func classLook(class string) string {
	switch class {
	case message.EndDone:
		return "good"
	case message.EndAgain, message.EndMoved, message.EndUnjudged, message.EndInterrupted, message.EndOutage:
		return "turn"
	}
	return "bad"
}
