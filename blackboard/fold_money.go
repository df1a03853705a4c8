package blackboard

import (
	"maps"
	"slices"

	"orch/blackboard/message"
)

// costReserved notes what a step, or the controller, may come to owe by the
// questions it asks. What it reserved before is replaced.
func (x *tx) costReserved(b message.CostReserved) error {
	if err := x.checkSpent(b.Spent); err != nil {
		return err
	}
	if !finite(b.Reserved) || b.Reserved < 0 {
		return x.refuse("it reserves %v", b.Reserved)
	}
	asked := &Asked{Model: b.Model, Reserved: b.Reserved, Spent: b.Spent}
	if b.Role == message.GGS {
		g, err := x.liveGoal()
		if err != nil {
			return err
		}
		m := x.meter(g.ID)
		more := asked.Total() - m.Advice.Total()
		m.Advice = asked
		m.hold(b.Role, more)
		return nil
	}
	key := ActivationKey{Role: b.Role, Subject: b.Subject, Cause: b.Cause}
	a := x.activations.edit(key.key())
	switch {
	case a == nil || !a.Live():
		return x.refuse("no step of %s on %s runs for %s", b.Role, b.Subject, b.Cause)
	case a.Agent != x.m.Agent:
		return x.refuse("the step is %s, not %s", a.Agent, x.m.Agent)
	}
	if a.Goal != "" {
		x.meter(a.Goal).hold(b.Role, asked.Total()-a.Asked.Total())
	}
	a.Asked = asked
	return nil
}

// hold changes what running steps of a role and the controller have reserved.
// No rounding error outlives the steps.
func (m *meter) hold(role message.Role, usd float64) {
	m.Reserved = max(0, m.Reserved+usd)
	m.byRole(role, Spend{Reserved: usd})
	if m.Running > 0 {
		return
	}
	m.Reserved = m.Advice.Total()
	for role, s := range m.ByRole {
		if s.Reserved != 0 && role != message.GGS {
			m.byRole(role, Spend{Reserved: -s.Reserved})
		}
	}
}

// byRole adds to what a role spent and reserves. The map is never written to
// after it is in the table.
func (m *meter) byRole(role message.Role, more Spend) {
	if more == (Spend{}) {
		return
	}
	m.ByRole = maps.Clone(m.ByRole)
	if m.ByRole == nil {
		m.ByRole = map[message.Role]Spend{}
	}
	s := m.ByRole[role]
	s.Cost, s.Doubt = s.Cost+more.Cost, s.Doubt+more.Doubt
	s.Reserved = max(0, s.Reserved+more.Reserved)
	m.ByRole[role] = s
}

// spend books what was taken beside the steps.
func (m *meter) spend(s message.Spent) {
	m.Cost, m.Doubt = m.Cost+s.Cost, m.Doubt+s.Doubt
	if s.Unpriced {
		m.Unpriced++
	}
}

// spent books what a step cost to its task, and to what its role usually costs.
func (x *tx) spent(b message.StepEnded) {
	_, doubt := message.SumOf(b.Spent)
	if t := x.tasks.peek(b.Subject); t != nil && b.Cost+doubt > 0 {
		t = x.tasks.edit(b.Subject)
		t.Cost, t.Doubt = t.Cost+b.Cost, t.Doubt+doubt
	}
	if b.Cost == 0 {
		return
	}
	r := x.board()
	r.Usual = maps.Clone(r.Usual)
	if r.Usual == nil {
		r.Usual = map[message.Role][]float64{}
	}
	last := append(slices.Clone(r.Usual[b.Role]), b.Cost)
	r.Usual[b.Role] = last[max(0, len(last)-usualSteps):]
}

// checkSpent refuses parts that are no amounts.
func (x *tx) checkSpent(spent []message.Spent) error {
	for _, s := range spent {
		if !finite(s.Cost) || s.Cost < 0 {
			return x.refuse("%s cost %v", s.Model, s.Cost)
		}
		if !finite(s.Doubt) || s.Doubt < 0 {
			return x.refuse("%s may have cost %v", s.Model, s.Doubt)
		}
	}
	return nil
}
