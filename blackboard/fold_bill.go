package blackboard

import "orch/blackboard/message"

// openBill begins the bill of what the message asks the controller: it is open
// as long as the step that says it goes on. Where no step is known, nothing is
// waited for.
func (x *tx) openBill() Bill {
	if a := x.s.liveOf(x.m.Agent); a != nil && a.Goal == x.m.Goal {
		return Bill{Step: a.ActivationKey}
	}
	return Bill{}
}

// closeBill notes what the goal has cost and taken at the end of the step that
// asked. It comes after all that the end of a step does to these figures.
func (x *tx) closeBill() {
	end, ok := x.m.Body.(message.StepEnded)
	if !ok || x.goal == "" {
		return
	}
	key := ActivationKey{Role: end.Role, Subject: end.Subject, Cause: end.Cause}
	g := x.goals.peek(string(x.goal))
	if g == nil || g.bill().Step != key {
		return
	}
	m := x.meters.peek(string(x.goal))
	if m == nil {
		return // the base could not be read; prepare refuses
	}
	g = x.goals.edit(string(x.goal))
	bill := &g.Bill
	if r := g.ownOpenRound(); r != nil {
		bill = &r.Bill
	}
	*bill = Bill{Cost: m.Cost, ActiveMS: m.ActiveMS}
}

// bill is that of what waits for the controller: of the open round, or of a fact
// to remember.
func (g *Goal) bill() Bill {
	if r := g.open(); r != nil {
		return r.Bill
	}
	return g.Bill
}

// answer closes the round. What is not on its bill by then was not known when it
// was decided.
func (r *Round) answer(at Ref) {
	r.Answer, r.Bill.Step = at, ActivationKey{}
}
