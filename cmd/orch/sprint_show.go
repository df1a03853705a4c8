package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	coding "orch/roles/loop/code"
	"orch/roles/run/config"
)

// sprintReport is the documented shape of a sprint, version 1.
type sprintReport struct {
	Goal          message.GoalID     `json:"goal"`
	Opened        time.Time          `json:"opened"`
	Deadline      *time.Time         `json:"deadline"`
	Closed        *time.Time         `json:"closed"` // null while it is open
	Planned       []taskRow          `json:"planned"`
	Stretch       []taskRow          `json:"stretch"`
	Reached       []string           `json:"reached"` // its checkpoints
	Metrics       map[string]float64 `json:"metrics"` // so far, or at its end
	Retrospective string             `json:"retrospective"`
}

func sprintReportOf(st *blackboard.State, s blackboard.Sprint) sprintReport {
	r := sprintReport{Goal: s.Goal, Opened: s.Opened.TS, Deadline: untilOf(s), Planned: rowsOf(st, s.Scope.Planned), Stretch: rowsOf(st, s.Scope.Stretch),
		Reached: append([]string{}, s.Reached...), Metrics: s.Metrics, Retrospective: s.Retrospective}
	if s.Open() {
		r.Metrics = coding.Metrics(s, st.Task)
	} else {
		closed := s.Closed.TS
		r.Closed = &closed
	}
	return r
}

func rowsOf(st *blackboard.State, ids []message.TaskID) []taskRow {
	out := []taskRow{}
	for _, id := range ids {
		if t, ok := st.Task(id); ok {
			out = append(out, rowOf(t))
		}
	}
	return out
}

// untilOf is the sprint's deadline; nil without one.
func untilOf(s blackboard.Sprint) *time.Time {
	if s.Deadline.IsZero() {
		return nil
	}
	return &s.Deadline
}

func untilText(deadline *time.Time) string {
	if deadline == nil {
		return ""
	}
	return ", until " + deadline.Format(time.RFC3339)
}

func (r sprintReport) doneOf() string {
	return fmt.Sprintf("%g of %g planned", r.Metrics[coding.MetricPlannedDone], r.Metrics[coding.MetricPlanned])
}

func (r sprintReport) stretchOf() string {
	return fmt.Sprintf("%g of %d stretch", r.Metrics[coding.MetricStretchDone], len(r.Stretch))
}

func (a *app) printSprint(r sprintReport, now time.Time) error {
	d := newDisplay(painting(a.out), config.Default())
	state := "open since " + r.Opened.Format(time.RFC3339)
	if r.Closed != nil {
		state = r.Opened.Format(time.RFC3339) + " to " + r.Closed.Format(time.RFC3339)
	}
	if r.Goal != "" {
		state += ", goal " + string(r.Goal)
	}
	lines := []string{d.head("sprint", state)}
	if r.Deadline != nil {
		lines = append(lines, d.head("deadline", r.Deadline.Format(time.RFC3339)+leftOf(r, now)))
	}
	lines = append(lines, d.head("planned", fmt.Sprintf("%g of %g done", r.Metrics[coding.MetricPlannedDone], r.Metrics[coding.MetricPlanned])))
	lines = append(lines, d.taskLines(r.Planned)...)
	if len(r.Stretch) > 0 {
		lines = append(lines, d.head("stretch", fmt.Sprintf("%g of %d done", r.Metrics[coding.MetricStretchDone], len(r.Stretch))))
		lines = append(lines, d.taskLines(r.Stretch)...)
	}
	for i, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		head := d.head("figures", fmt.Sprintf("%-18s %.4g", name, r.Metrics[name]))
		if i > 0 {
			head = d.cont(fmt.Sprintf("%-18s %.4g", name, r.Metrics[name]))
		}
		lines = append(lines, head)
	}
	for _, name := range r.Reached {
		lines = append(lines, d.head("reached", name))
	}
	if r.Retrospective != "" {
		lines = append(lines, d.head("looked back", r.Retrospective))
	}
	for _, l := range lines {
		if _, err := sayLine(a.out, l); err != nil {
			return err
		}
	}
	return nil
}

// leftOf says how far away the deadline of an open sprint is.
func leftOf(r sprintReport, now time.Time) string {
	left := r.Deadline.Sub(now).Round(time.Second)
	switch {
	case r.Closed != nil:
		return ""
	case left > 0:
		return fmt.Sprintf(" (in %s)", left)
	}
	return fmt.Sprintf(" (%s ago)", -left)
}

// maxName is how wide the names of tasks are shown.
const maxName = 18

func (d *display) taskLines(rows []taskRow) []string {
	var out []string
	for _, r := range rows {
		name := cmp.Or(r.Slot, string(r.ID))
		if r.Slot == "" && len(name) > maxName {
			name = short(name)
		}
		out = append(out, d.cont(fmt.Sprintf("• %-*s %-16s %s", maxName, name, r.Status, d.paint.dim(oneLine(r.Intent, 70)))))
	}
	return out
}
