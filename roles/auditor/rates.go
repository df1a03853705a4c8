package auditor

import (
	"fmt"
	"math"

	"orch/blackboard/message"
)

// series is a yes-or-no figure of one role, in windows of so many samples.
type series struct {
	Past    int        `json:"past"` // samples before the window at hand
	PastYes int        `json:"past_yes"`
	Yes     int        `json:"yes"`
	Samples []evidence `json:"samples"` // of the window at hand
}

// drifted is how sure a change must be: z of two proportions.
const drifted = 3.0

// history is how many windows must lie behind before one is compared with them.
const history = 2

// rate takes one sample of a role. judges: the role judges the work of others.
func (a *Auditor) rate(m message.Message, role message.Role, what string, yes, judges bool) {
	key := string(role) + "\x00" + what
	s := a.s.Rates[key]
	if s == nil {
		if len(a.s.Rates) >= maxSeries {
			return
		}
		s = &series{}
		a.s.Rates[key] = s
	}
	s.Samples = append(s.Samples, at(m))
	if yes {
		s.Yes++
	}
	a.s.Figures.sample(a.window, m, role, what, yes, a.p.Window)
	if len(s.Samples) < a.p.Window {
		return
	}
	if s.Past >= history*a.p.Window {
		a.compare(role, what, s, judges)
	}
	s.Past += len(s.Samples)
	s.PastYes += s.Yes
	s.Yes, s.Samples = 0, nil
}

// maxSeries bounds how many figures are followed.
const maxSeries = 200

func (a *Auditor) compare(role message.Role, what string, s *series, judges bool) {
	n := len(s.Samples)
	before, now := float64(s.PastYes)/float64(s.Past), float64(s.Yes)/float64(n)
	if math.Abs(now-before) < a.p.Drift || zOf(s.PastYes, s.Past, s.Yes, n) < drifted {
		return
	}
	kind := RoleDrift
	if judges && now > before {
		kind = RubberStamping
	}
	a.find(Finding{Kind: kind, Severity: Warning, Subject: string(role), Role: role,
		Message: fmt.Sprintf("%s of the %s: %.0f %% of the last %d, against %.0f %% of the %d before", what, role, 100*now, n, 100*before, s.Past)},
		s.Samples...)
}

// zOf says by how many standard errors two proportions differ.
func zOf(k1, n1, k2, n2 int) float64 {
	p := float64(k1+k2) / float64(n1+n2)
	se := math.Sqrt(p * (1 - p) * (1/float64(n1) + 1/float64(n2)))
	if se == 0 {
		return 0
	}
	return math.Abs(float64(k1)/float64(n1)-float64(k2)/float64(n2)) / se
}

// spending is what the steps of one role cost, in windows of so many steps.
type spending struct {
	Past    int        `json:"past"`
	PastSum float64    `json:"past_sum"`
	Sum     float64    `json:"sum"`
	Samples []evidence `json:"samples"`
}

// spent compares what a role spends with what it used to: in money where there
// is any, and in tokens.
func (a *Auditor) spent(m message.Message, b message.StepEnded) {
	a.spend(m, b.Role, "USD", b.Cost)
	a.spend(m, b.Role, "tokens", float64(b.Usage.InputTokens+b.Usage.OutputTokens))
}

func (a *Auditor) spend(m message.Message, role message.Role, unit string, amount float64) {
	if amount <= 0 {
		return
	}
	key := string(role) + "\x00" + unit
	s := a.s.Spending[key]
	if s == nil {
		if len(a.s.Spending) >= maxSeries {
			return
		}
		s = &spending{}
		a.s.Spending[key] = s
	}
	s.Samples, s.Sum = append(s.Samples, at(m)), s.Sum+amount
	if len(s.Samples) < a.p.Window {
		return
	}
	n := len(s.Samples)
	before, now := s.PastSum/float64(max(s.Past, 1)), s.Sum/float64(n)
	if s.Past >= history*a.p.Window && now >= a.p.SpendFactor*before {
		a.find(Finding{Kind: SpendDrift, Severity: Warning, Subject: string(role), Role: role,
			Message: fmt.Sprintf("a step of the %s takes %.4g %s, %.1f times what it took before (%.4g)", role, now, unit, now/before, before)},
			s.Samples...)
	}
	s.Past, s.PastSum = s.Past+n, s.PastSum+s.Sum
	s.Sum, s.Samples = 0, nil
}
