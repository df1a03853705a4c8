package auditor

import (
	"fmt"

	"orch/blackboard/message"
)

// settingsChanged is the checkpoint of a step whose tool changed orch's own
// configuration.
const settingsChanged = "settings-changed"

// Why a goal waits, where the command that lets it go on depends on it.
const (
	byPermission = "a permission"
	byQuestion   = "a question"
)

// hold sets a brake on a goal, or without one on the board. Only a pause or a
// checkpoint can be forgotten; a question is somebody's turn.
func (a *Auditor) hold(m message.Message, by, what string, brake bool) {
	k := mark{evidence: at(m), What: short(what), By: by, Brake: brake}
	if m.Goal == "" {
		a.lifted("", &a.s.Brake, m)
		a.s.Brake = k
	} else if g := a.s.Goals[m.Goal]; g != nil {
		a.lifted(m.Goal, &g.Brake, m)
		g.Brake = k
	} else {
		return
	}
	if brake {
		a.due(m.TS.Add(ms(a.p.PauseMS)))
	}
}

// lifted ends a brake, and finds one that held too long.
func (a *Auditor) lifted(id message.GoalID, k *mark, m message.Message) {
	a.braked(id, k, m.TS)
	*k = mark{}
}

// lift ends the brakes of a message's goal, or of the board and all goals.
func (a *Auditor) lift(m message.Message) {
	if m.Goal == "" {
		a.lifted("", &a.s.Brake, m)
		a.s.Lifted = m.TS
	}
	for _, id := range sorted(a.s.Goals) {
		if g := a.s.Goals[id]; m.Goal == "" || m.Goal == id {
			a.lifted(id, &g.Brake, m)
			g.Lifted = m.TS
			g.Last = at(m) // a silence begins anew
		}
	}
}

func (a *Auditor) paused(m message.Message, b message.Paused) { a.hold(m, "the pause", b.Reason, true) }

func (a *Auditor) resumed(m message.Message, _ message.Resumed) { a.lift(m) }

func (a *Auditor) aborted(m message.Message, b message.Aborted) {
	a.hold(m, "the abort", b.Reason, false)
}

func (a *Auditor) budgetReached(m message.Message, b message.BudgetReached) {
	a.hold(m, "the budget", b.Cap, false)
}

func (a *Auditor) circuitBreaker(m message.Message, b message.CircuitBreaker) {
	a.hold(m, "the circuit breaker", b.Finding, true)
}

func (a *Auditor) checkpointReached(m message.Message, b message.CheckpointReached) {
	a.hold(m, "the checkpoint", b.Name+": "+b.Reason, true)
	if b.Name == settingsChanged {
		a.find(Finding{Kind: SettingsChanged, Severity: Critical, Goal: m.Goal, Subject: m.Subject, Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("orch's own settings changed while %s ran a tool: %s", m.Agent, b.Reason)}, at(m))
	}
}

func (a *Auditor) approvalRequest(m message.Message, b message.ApprovalRequest) {
	a.hold(m, byPermission, b.Reason, false)
}

func (a *Auditor) approvalGiven(m message.Message, _ message.ApprovalGiven) {
	if m.Goal != "" {
		a.lift(m)
	}
}

func (a *Auditor) question(m message.Message, b message.ClarificationQuestion) {
	a.hold(m, byQuestion, fmt.Sprintf("%d questions", len(b.Questions)), false)
}

func (a *Auditor) answer(m message.Message, _ message.ClarificationAnswer) { a.lift(m) }
