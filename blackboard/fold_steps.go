package blackboard

import (
	"cmp"
	"slices"
	"strings"

	"orch/blackboard/message"
)

func stepEffects() []effect {
	return []effect{
		on((*tx).stepStarting), on((*tx).stepEnded), on((*tx).outage), on((*tx).costReserved),
		on((*tx).registered), on((*tx).agentStatus), on((*tx).deregistered),
	}
}

func (x *tx) stepStarting(b message.StepStarting) error {
	if err := x.checkStart(b); err != nil {
		return err
	}
	key := ActivationKey{Role: b.Role, Subject: b.Subject, Cause: b.Cause}
	a := Activation{ActivationKey: key}
	if old := x.activations.peek(key.key()); old != nil {
		if old.Live() || old.Class == message.EndDone {
			return &ActivationTakenError{Key: key, Agent: old.Agent, Done: !old.Live()}
		}
		a = *old
	}
	if b.Try != a.Try+1 {
		return x.refuse("try %d after %d", b.Try, a.Try)
	}
	if other := x.s.liveOf(b.Agent); other != nil {
		return x.refuse("agent %s is at work on %s", b.Agent, other.Subject)
	}
	a.Goal, a.Agent, a.Marker, a.Holder = x.m.Goal, b.Agent, b.Marker, b.Holder
	a.Try, a.Reserve, a.Started = b.Try, b.Reserve, x.ref
	a.Ended, a.Class, a.Exit, a.Detail, a.Asked = Ref{}, "", 0, "", nil
	x.activations.put(key.key(), &a)
	if x.m.Goal != "" {
		m := x.meter(x.m.Goal)
		m.Running++
		m.Steps++
		m.Reserved += b.Reserve
		m.byRole(b.Role, Spend{Reserved: b.Reserve})
	}
	return nil
}

// cutDetail keeps what a checkpoint has room for; the log has the rest.
func cutDetail(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (x *tx) checkStart(b message.StepStarting) error {
	role, err := message.ParseAgent(b.Agent)
	if err != nil {
		return x.refuse("%v", err)
	}
	if err := x.checkName("subject", b.Subject); err != nil {
		return err
	}
	if err := x.checkName("cause", string(b.Cause)); err != nil {
		return err
	}
	switch {
	case role != b.Role:
		return x.refuse("agent %s can not act as %s", b.Agent, b.Role)
	case !finite(b.Reserve) || b.Reserve < 0:
		return x.refuse("it reserves %v", b.Reserve)
	}
	if why := x.boards.peek(boardKey).Brakes.why(); why != "" {
		return x.refuse("%s", why)
	}
	if x.m.Goal == "" {
		return nil
	}
	g := x.goals.peek(string(x.m.Goal))
	if g.Status != GoalOpen {
		e := &GoalNotOpenError{Goal: g.ID, Status: g.Status}
		if g.Suspended != nil {
			e.Why, e.Command = g.Suspended.Why, g.Suspended.Command
		}
		return e
	}
	return nil
}

// meter returns the staged meter of a goal.
func (x *tx) meter(goal message.GoalID) *meter {
	m := x.meters.edit(string(goal))
	if m == nil {
		m = &meter{}
		x.meters.put(string(goal), m)
	}
	return m
}

var endClasses = []string{message.EndDone, message.EndAgain, message.EndMoved, message.EndUnjudged, message.EndCrash, message.EndKilled, message.EndTimeout, message.EndInterrupted, message.EndOutage, message.EndLost}

func (x *tx) stepEnded(b message.StepEnded) error {
	key := ActivationKey{Role: b.Role, Subject: b.Subject, Cause: b.Cause}
	a := x.activations.edit(key.key())
	switch {
	case a == nil || !a.Live():
		return x.refuse("no step of %s on %s runs for %s", b.Role, b.Subject, b.Cause)
	case a.Agent != b.Agent:
		return x.refuse("the step is %s, not %s", a.Agent, b.Agent)
	case !slices.Contains(endClasses, b.Class):
		return x.refuse("class %q is none", b.Class)
	case !finite(b.Cost) || b.Cost < 0:
		return x.refuse("it cost %v", b.Cost)
	}
	if err := x.checkSpent(b.Spent); err != nil {
		return err
	}
	held := a.Reserve + a.Asked.Total()
	a.Ended, a.Class, a.Exit, a.Detail, a.Asked = x.ref, b.Class, b.Exit, cutDetail(b.Detail), nil
	switch b.Class {
	case message.EndDone, message.EndAgain, message.EndMoved, message.EndUnjudged, message.EndCrash, message.EndTimeout:
		a.Outage = nil // it was answered, or what failed was something else
	}
	switch b.Class {
	case message.EndCrash, message.EndTimeout:
		a.Crashes++
	case message.EndKilled, message.EndLost, message.EndMoved:
		// Who asks for a step and the step itself see the board alike. If they
		// ever do not, that must not go on for ever.
		a.Kills++
	}
	if x.agents.peek(string(b.Agent)) != nil {
		x.agents.put(string(b.Agent), nil)
	}
	x.spent(b)
	if a.Goal == "" {
		return nil
	}
	x.goal = a.Goal
	m := x.meter(a.Goal)
	m.Running--
	_, doubt := message.SumOf(b.Spent)
	m.Cost, m.Doubt = m.Cost+b.Cost, m.Doubt+doubt
	m.hold(b.Role, -held)
	m.byRole(b.Role, Spend{Cost: b.Cost, Doubt: doubt})
	if slices.ContainsFunc(b.Spent, func(s message.Spent) bool { return s.Unpriced }) {
		m.Unpriced++
	}
	if g := x.goals.peek(string(a.Goal)); g != nil && g.Status == GoalEnded {
		x.activations.put(key.key(), nil)
	}
	return nil
}

// outage notes what keeps a step from being answered.
func (x *tx) outage(b message.Outage) error {
	key := ActivationKey{Role: b.Role, Subject: b.Subject, Cause: b.Cause}
	a := x.activations.edit(key.key())
	switch {
	case a == nil || !a.Live():
		return x.refuse("no step of %s on %s runs for %s", b.Role, b.Subject, b.Cause)
	case b.Try < 1:
		return x.refuse("try %d", b.Try)
	}
	a.Outage = &Outage{Accounts: b.Accounts, Reason: cutDetail(b.Reason), Since: b.Since, Try: b.Try, Until: b.Until, Last: x.ref}
	return nil
}

func (x *tx) registered(b message.Registered) error {
	role, err := message.ParseAgent(b.Agent)
	if err != nil {
		return x.refuse("%v", err)
	}
	if role != b.Role {
		return x.refuse("agent %s can not act as %s", b.Agent, b.Role)
	}
	if old := x.agents.edit(string(b.Agent)); old != nil && old.Process == b.Process {
		old.Lease = b.Lease // renewed
		return nil
	} else if old != nil && old.Lease.ExpiresAt.After(x.m.TS) {
		return &AgentLiveError{Agent: b.Agent, Process: old.Process}
	}
	status := cmp.Or(b.Status, message.AgentStarting)
	if !slices.Contains(agentStates, status) {
		return x.refuse("status %q is not one of %v", status, agentStates)
	}
	a := &Agent{ID: b.Agent, Role: b.Role, Status: status, Terminal: b.Terminal, Process: b.Process, Lease: b.Lease, Since: x.ref}
	for _, key := range x.s.tasks.scan("task.holder", string(b.Agent)+sep) {
		if t := x.tasks.edit(key); t != nil && !t.ByHand {
			t.Step = b.Process
			a.CurrentTask = t.ID
		}
	}
	x.agents.put(string(b.Agent), a)
	return nil
}

var agentStates = []string{message.AgentStarting, message.AgentIdle, message.AgentWorking, message.AgentReviewing, message.AgentWaiting, message.AgentHandoff}

func (x *tx) agentStatus(b message.AgentStatus) error {
	a := x.agents.edit(string(b.Agent))
	switch {
	case a == nil:
		return x.refuse("agent %q is not registered", b.Agent)
	case !slices.Contains(agentStates, b.Status):
		return x.refuse("status %q is not one of %v", b.Status, agentStates)
	}
	a.Status, a.CurrentTask, a.Since = b.Status, b.CurrentTask, x.ref
	return nil
}

// deregistered is no error for an agent that is not there: the end of its step
// may have been seen first.
func (x *tx) deregistered(b message.Deregistered) error {
	if x.agents.peek(string(b.Agent)) != nil {
		x.agents.put(string(b.Agent), nil)
	}
	return nil
}
