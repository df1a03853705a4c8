package auditor

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"orch/blackboard/message"
)

// handler looks at one type of message, given raw or decoded.
type handler struct {
	raw  func(*Auditor, message.Message, json.RawMessage) error
	body func(*Auditor, message.Message, message.Body)
}

func on[T message.Body](f func(*Auditor, message.Message, T)) handler {
	return handler{
		raw: func(a *Auditor, m message.Message, raw json.RawMessage) error {
			var b T
			if err := json.Unmarshal(raw, &b); err != nil {
				return err
			}
			m.Body = b
			f(a, m, b)
			return nil
		},
		body: func(a *Auditor, m message.Message, b message.Body) { f(a, m, b.(T)) },
	}
}

// handlers are the types that a detection or a figure needs. Others are seen by
// their envelope alone, which is what makes a long log quick to read.
var handlers = sync.OnceValue(func() map[message.Type]handler {
	return map[message.Type]handler{
		"UserInput": on((*Auditor).userInput), "TaskSpec": on((*Auditor).taskSpec), "GiveUp": on((*Auditor).giveUp), "SubTask": on((*Auditor).subTask), "TaskAdded": on((*Auditor).taskAdded),
		"DispatchManifest": on((*Auditor).manifest), "PlanRejected": on((*Auditor).planRejected), "DraftVoided": on((*Auditor).draftVoided),
		"Rescoped": on((*Auditor).rescoped), "Abandoned": on((*Auditor).abandoned), "HumanEdit": on((*Auditor).humanEdit),
		"Claimed": on((*Auditor).claimed), "Released": on((*Auditor).released), "LeaseLapsed": on((*Auditor).leaseLapsed),
		"LateResult": on((*Auditor).lateResult), "Handoff": on((*Auditor).handoff), "Blocked": on((*Auditor).blocked), "Unblocked": on((*Auditor).unblocked),
		"ExecutionResult": on((*Auditor).executionResult), "TaskFinished": on((*Auditor).taskFinished),
		"CorrectionSignal": on((*Auditor).correction), "SubTaskOutcome": on((*Auditor).outcome),
		"ReviewRequested": on((*Auditor).reviewRequested), "ReviewVerdict": on((*Auditor).reviewVerdict),
		"Merged": on((*Auditor).merged), "IntegrationFailed": on((*Auditor).integrationFailed),
		"ReplanRequest": on((*Auditor).replanRequest), "OutcomeSummary": on((*Auditor).outcomeSummary),
		"PlanDirective": on((*Auditor).planDirective), "FinalResult": on((*Auditor).finalResult),
		"StepStarting": on((*Auditor).stepStarting), "StepEnded": on((*Auditor).stepEnded),
		"Registered": on((*Auditor).registered), "Deregistered": on((*Auditor).deregistered),
		"BoundaryViolation": on((*Auditor).boundaryViolation), "CheckpointReached": on((*Auditor).checkpointReached),
		"Paused": on((*Auditor).paused), "Resumed": on((*Auditor).resumed), "Aborted": on((*Auditor).aborted),
		"BudgetReached": on((*Auditor).budgetReached), "CircuitBreaker": on((*Auditor).circuitBreaker),
		"ApprovalRequest": on((*Auditor).approvalRequest), "ApprovalGiven": on((*Auditor).approvalGiven),
		"ClarificationQuestion": on((*Auditor).question), "ClarificationAnswer": on((*Auditor).answer),
		"Anomaly": on((*Auditor).anomaly), "ToolCall": deniedCall, "JournalRepaired": on((*Auditor).repaired),
	}
})

// envelope does what every message gets: time passes, silence ends, and who says
// it to whom is held against the routing table and the contracts.
func (a *Auditor) envelope(m message.Message, t message.Type) {
	a.pass(m.TS)
	if m.TS.After(a.s.LastTS) {
		a.s.LastTS = m.TS
	}
	a.s.Head.Seq = max(a.s.Head.Seq, m.Seq)
	a.s.Figures.count(a.window, m, t)
	a.flood(m)
	a.spoken(m, t)
	if g := a.s.Goals[m.Goal]; g != nil && m.Goal != "" {
		a.silence(m.Goal, g, m.TS)
		g.Last = at(m)
	}
}

// spoken finds what the routing table or the sender's contract forbids.
func (a *Auditor) spoken(m message.Message, t message.Type) {
	why := ""
	if err := a.route(m, t); err != nil {
		why = err.Error()
	} else if m.From != message.Board && m.Agent != "" {
		why = a.wrongName(m, t)
	}
	if why != "" {
		a.find(Finding{Kind: BoundaryViolation, Severity: Critical, Goal: m.Goal, Subject: m.Subject, Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("the log has a %s that its sender may not send: %s", t, why)}, at(m))
	}
}

// route holds a record against the table. Once the log has doors every record
// has one. Before, who claimed a task by hand said so as the agent.
func (a *Auditor) route(m message.Message, t message.Type) error {
	a.s.Doors = a.s.Doors || m.Door != ""
	if m.Door == "" && a.s.Doors {
		return fmt.Errorf("%s came through no door", t)
	}
	err := message.Route(t, m.Door, m.From, m.To)
	if err != nil && m.Door == "" && byHand(m, t) && a.nameOf(m.Agent).role == m.From {
		return nil
	}
	return err
}

// agentName is what an agent's id says about it.
type agentName struct {
	role message.Role
	err  error
}

// nameOf parses an agent's id; a long log names few agents many times.
func (a *Auditor) nameOf(id message.AgentID) agentName {
	n, known := a.names[id]
	if !known {
		n.role, n.err = message.ParseAgent(id)
		if len(a.names) >= maxTalkers {
			clear(a.names)
		}
		a.names[id] = n
	}
	return n
}

func (a *Auditor) wrongName(m message.Message, t message.Type) string {
	name := a.nameOf(m.Agent)
	role := name.role
	switch {
	case name.err != nil:
		return name.err.Error()
	case role == m.From, slices.Contains(message.Names(role), m.From), m.From == message.Human && byHand(m, t):
		return ""
	}
	return fmt.Sprintf("%s speaks as %s", m.Agent, m.From)
}

// byHand tells whether a person may have said it under an agent's name: orch
// claim --as. Of a record without a door only the type is known.
func byHand(m message.Message, t message.Type) bool {
	e, _ := message.Lookup(t)
	return slices.Contains(e.Changes, message.Tasks) && len(e.Through(message.DoorPerson)) > 0 && (m.Door == message.DoorPerson || m.Door == "")
}

// goalOf is the remembered goal of a message. A goal that began before the log
// does, or was let go of, is taken up where it is.
func (a *Auditor) goalOf(m message.Message) *goal {
	g := a.s.Goals[m.Goal]
	if g == nil {
		g = newGoal(at(m))
		if len(a.s.Goals) >= maxGoals {
			return g // looked at, not kept
		}
		a.s.Goals[m.Goal] = g
	}
	return g
}

// working is goalOf for what may only be said while the goal has not ended.
func (a *Auditor) working(m message.Message, t message.Type) (*goal, bool) {
	if seq, over := a.s.Ended.has(string(m.Goal)); over && m.Goal != "" && a.s.Goals[m.Goal] == nil {
		a.find(Finding{Kind: BoundaryViolation, Severity: Critical, Goal: m.Goal, Subject: m.Subject, Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("a %s about goal %s, which has ended", t, m.Goal)}, evidence{seq, a.s.LastTS}, at(m))
		return nil, false
	}
	return a.goalOf(m), true
}

func (a *Auditor) userInput(m message.Message, b message.UserInput) {
	if _, over := a.s.Ended.has(string(m.Goal)); !over {
		a.goalOf(m).Text = short(b.Text)
	}
}

func (a *Auditor) taskSpec(m message.Message, b message.TaskSpec) {
	if _, over := a.s.Ended.has(string(m.Goal)); !over {
		a.goalOf(m).Fact = b.Declarative
	}
}

func (a *Auditor) giveUp(m message.Message, b message.GiveUp) {
	if _, over := a.s.Ended.has(string(m.Goal)); !over {
		a.goalOf(m).Dropped = m.From == message.Human && b.Deadline == nil
	}
}

func (a *Auditor) boundaryViolation(m message.Message, b message.BoundaryViolation) {
	a.find(Finding{Kind: BoundaryViolation, Severity: Warning, Goal: m.Goal, Subject: b.Subject, Role: b.From, Agent: b.By,
		Message: fmt.Sprintf("refused: %s tried to say %s: %s", b.By, b.Refused, b.Why)}, at(m))
	a.refused(m, b.From, string(b.By), b.Why)
}

// short cuts text that comes from the log to a line.
func short(s string) string {
	const most = 400
	runes := 0
	for i := range s {
		if runes++; runes > most {
			return s[:i] + "…"
		}
	}
	return s
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
