package blackboard

import (
	"time"

	"orch/blackboard/message"
)

// ActiveGapMS bounds what one gap between two messages of a goal adds to its
// active time while its steps run: what is longer may be a machine that slept
// or a board nobody served. A step that ends says how long it really ran.
const ActiveGapMS = 30_000

// account adds to the goal's active time: the time in which at least one of
// its steps ran.
func (x *tx) account() {
	if x.goal == "" {
		return
	}
	before, running := x.s.meters.get(string(x.goal)), false
	if now := x.meters.peek(string(x.goal)); now != nil {
		running = now.Running > 0
	}
	ran := before != nil && before.Running > 0
	if !ran && !running {
		return
	}
	m := x.meters.edit(string(x.goal))
	if ran && x.m.TS.After(before.LastActive) {
		m.ActiveMS += min(x.m.TS.Sub(before.LastActive).Milliseconds(), ActiveGapMS)
	}
	switch b := x.m.Body.(type) {
	case message.StepStarting:
		x.activations.edit(ActivationKey{Role: b.Role, Subject: b.Subject, Cause: b.Cause}.key()).ActiveMS = m.ActiveMS
	case message.StepEnded:
		m.measure(x.s.activations.get(ActivationKey{Role: b.Role, Subject: b.Subject, Cause: b.Cause}.key()), b, x.m.TS)
	case message.Registered, message.Deregistered, message.Outage:
	default:
		x.worked()
	}
	if !ran || x.m.TS.After(before.LastActive) {
		m.LastActive = x.m.TS
	}
}

// worked notes when a step last did or said something: until then it was no wait.
func (x *tx) worked() {
	key := ActivationKey{Role: x.m.From, Subject: x.m.Subject, Cause: x.m.Cause}.key()
	if a := x.activations.peek(key); a != nil && a.Live() && a.Agent == x.m.Agent {
		x.activations.edit(key).Worked = x.m.TS
	}
}

// measure corrects the active time at the end of a step: all the time in which
// its process was awake counts, whether it said anything or not. Of a step that
// was found dead nobody knows how long it ran.
func (m *meter) measure(a *Activation, end message.StepEnded, at time.Time) {
	switch end.Class {
	case message.EndLost:
		return
	case message.EndOutage:
		m.waited(a, end)
		return
	}
	span := at.Sub(a.Started.TS).Milliseconds()
	awake := max(0, min(end.DurationMS, span))
	m.ActiveMS = max(m.ActiveMS, a.ActiveMS+awake)
	if !m.Measured.Before(a.Started.TS) { // by a step that ended while this one ran
		m.ActiveMS = max(m.ActiveMS, m.MeasuredMS+at.Sub(m.Measured).Milliseconds()-(span-awake))
	}
	m.Measured, m.MeasuredMS = at, m.ActiveMS
}

// waited takes back the time in which a step waited for a provider: that is no
// work. What it did before nobody answered counts, and all of it where another
// step worked meanwhile.
func (m *meter) waited(a *Activation, end message.StepEnded) {
	if m.Running > 0 || m.Measured.After(a.Started.TS) {
		return
	}
	worked := min(a.Worked.Sub(a.Started.TS).Milliseconds(), end.DurationMS)
	m.ActiveMS = a.ActiveMS + max(0, worked)
}
