package auditor

import (
	"slices"
	"time"

	"orch/blackboard/message"
)

// Figures are what a report draws. They are bounded: of very long logs the
// latest goals, steps and windows are kept, and what was let go is counted.
type Figures struct {
	Messages  int                  `json:"messages"`
	FirstTS   time.Time            `json:"first_ts"`
	LastTS    time.Time            `json:"last_ts"`
	ByType    map[message.Type]int `json:"by_type"`
	Goals     []GoalStand          `json:"goals"`     // how they ended, in order; then those that are open
	EndsGone  int                  `json:"ends_gone"` // earlier ends that were let go
	Needs     []Need               `json:"needs"`     // what waits for a person
	Loss      []Trajectory         `json:"loss"`      // in the order in which the goals were first measured
	Steps     []StepSpan           `json:"steps"`     // in the order in which they ended
	Spend     []Spend              `json:"spend"`     // by role, then model
	Approval  []RateWindow         `json:"approval"`  // by role and what, in time
	StepsGone int                  `json:"steps_gone"`
	GoalsGone int                  `json:"goals_gone"`
	// Windows of rates and rows of spend that were let go.
	WindowsGone int `json:"windows_gone"`
	SpendGone   int `json:"spend_gone"` // steps whose spend is in no row
}

// Trajectory is how far a goal was from its intent, round by round.
type Trajectory struct {
	Goal   message.GoalID `json:"goal"`
	Points []LossPoint    `json:"points"`
	Gone   int            `json:"gone"` // earlier points that were let go
}

// LossPoint is what the controller measured in one round, and what it ordered.
type LossPoint struct {
	Round     int               `json:"round"`
	Seq       uint64            `json:"seq"`
	TS        time.Time         `json:"ts"`
	Loss      message.Loss      `json:"loss"`
	GradL     float64           `json:"grad_l"`
	Directive message.Directive `json:"directive"`
	Final     bool              `json:"final"` // it ended the goal
}

// StepSpan is one step from its start to its end.
type StepSpan struct {
	Role     message.Role    `json:"role"`
	Subject  string          `json:"subject"`
	Goal     message.GoalID  `json:"goal"`
	Agent    message.AgentID `json:"agent"`
	Start    time.Time       `json:"start"`
	End      time.Time       `json:"end"`
	StartSeq uint64          `json:"start_seq"`
	EndSeq   uint64          `json:"end_seq"`
	Try      int             `json:"try"`
	Class    string          `json:"class"` // one of message.EndDone, …
}

// Spend is what the steps of one role used with one model.
type Spend struct {
	Role         message.Role `json:"role"`
	Model        string       `json:"model"` // empty: none was asked
	Steps        int          `json:"steps"`
	Cost         float64      `json:"cost"` // US dollars
	InputTokens  int64        `json:"input_tokens"`
	OutputTokens int64        `json:"output_tokens"`
	ModelCalls   int          `json:"model_calls"`
	DurationMS   int64        `json:"duration_ms"`
}

// RateWindow is one window of a yes-or-no figure of a role.
type RateWindow struct {
	Role     message.Role `json:"role"`
	What     string       `json:"what"` // approvals, rounds accepted, steps that end well, …
	Samples  int          `json:"samples"`
	Yes      int          `json:"yes"`
	FirstSeq uint64       `json:"first_seq"`
	LastSeq  uint64       `json:"last_seq"`
	FirstTS  time.Time    `json:"first_ts"`
	LastTS   time.Time    `json:"last_ts"`
}

// Rate is the share of yes, 0 to 1.
func (w RateWindow) Rate() float64 {
	if w.Samples == 0 {
		return 0
	}
	return float64(w.Yes) / float64(w.Samples)
}

const (
	maxTrajectories = 200
	maxPoints       = 500 // of one goal
	maxSpans        = 5_000
	maxSpends       = 500
	maxWindows      = 2_000
	maxTypes        = 500
)

func newFigures() Figures {
	return Figures{ByType: map[message.Type]int{}, Goals: []GoalStand{}, Needs: []Need{}, Loss: []Trajectory{}, Steps: []StepSpan{}, Spend: []Spend{}, Approval: []RateWindow{}}
}

// Figures are those of the window, up to now.
func (a *Auditor) Figures() Figures {
	f := a.s.Figures
	f.Goals, f.Needs = a.stands(), a.needs()
	f.Loss = slices.Clone(f.Loss)
	f.Steps = slices.Clone(f.Steps)
	f.Spend = slices.Clone(f.Spend)
	slices.SortFunc(f.Spend, func(x, y Spend) int {
		if x.Role != y.Role {
			return compareText(string(x.Role), string(y.Role))
		}
		return compareText(x.Model, y.Model)
	})
	f.Approval = slices.Clone(f.Approval)
	slices.SortStableFunc(f.Approval, func(x, y RateWindow) int {
		if x.Role != y.Role {
			return compareText(string(x.Role), string(y.Role))
		}
		return compareText(x.What, y.What)
	})
	return f
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (f *Figures) count(w Window, m message.Message, t message.Type) {
	if !w.Has(m.TS, m.Goal) {
		return
	}
	f.Messages++
	if f.FirstTS.IsZero() {
		f.FirstTS = m.TS
	}
	f.LastTS = m.TS
	if _, known := f.ByType[t]; known || len(f.ByType) < maxTypes {
		f.ByType[t]++
	}
}

func (f *Figures) point(w Window, m message.Message, p LossPoint) {
	if !w.Has(m.TS, m.Goal) {
		return
	}
	i := slices.IndexFunc(f.Loss, func(t Trajectory) bool { return t.Goal == m.Goal })
	if i < 0 {
		if len(f.Loss) >= maxTrajectories {
			f.Loss = slices.Delete(f.Loss, 0, 1)
			f.GoalsGone++
		}
		f.Loss = append(f.Loss, Trajectory{Goal: m.Goal})
		i = len(f.Loss) - 1
	}
	t := &f.Loss[i]
	if len(t.Points) >= maxPoints {
		t.Points = t.Points[maxPoints/2:]
		t.Gone += maxPoints / 2
	}
	t.Points = append(t.Points[:len(t.Points):len(t.Points)], p) // Figures has given out the old ones
}

func (f *Figures) step(w Window, m message.Message, b message.StepEnded, began span) {
	if !w.Has(m.TS, m.Goal) {
		return
	}
	if len(f.Steps) >= 2*maxSpans {
		f.Steps = slices.Delete(f.Steps, 0, maxSpans)
		f.StepsGone += maxSpans
	}
	f.Steps = append(f.Steps, StepSpan{Role: b.Role, Subject: b.Subject, Goal: m.Goal, Agent: b.Agent, Start: began.At.TS, End: m.TS,
		StartSeq: began.At.Seq, EndSeq: m.Seq, Try: began.Try, Class: b.Class})
	i := slices.IndexFunc(f.Spend, func(s Spend) bool { return s.Role == b.Role && s.Model == b.Usage.Model })
	if i < 0 {
		if len(f.Spend) >= maxSpends {
			f.SpendGone++
			return
		}
		f.Spend = append(f.Spend, Spend{Role: b.Role, Model: b.Usage.Model})
		i = len(f.Spend) - 1
	}
	s := &f.Spend[i]
	s.Steps++
	s.Cost += b.Cost
	s.InputTokens += b.Usage.InputTokens
	s.OutputTokens += b.Usage.OutputTokens
	s.ModelCalls += b.Usage.ModelCalls
	s.DurationMS += b.DurationMS
}

func (f *Figures) sample(w Window, m message.Message, role message.Role, what string, yes bool, size int) {
	if !w.Has(m.TS, m.Goal) {
		return
	}
	i := len(f.Approval) - 1
	for i >= 0 && (f.Approval[i].Role != role || f.Approval[i].What != what) {
		i--
	}
	if i < 0 || f.Approval[i].Samples >= size {
		if len(f.Approval) >= maxWindows {
			f.Approval = slices.Delete(f.Approval, 0, maxWindows/2)
			f.WindowsGone += maxWindows / 2
		}
		f.Approval = append(f.Approval, RateWindow{Role: role, What: what, FirstSeq: m.Seq, FirstTS: m.TS})
		i = len(f.Approval) - 1
	}
	r := &f.Approval[i]
	r.Samples++
	if yes {
		r.Yes++
	}
	r.LastSeq, r.LastTS = m.Seq, m.TS
}
