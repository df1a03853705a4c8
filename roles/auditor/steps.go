package auditor

import (
	"fmt"
	"time"

	"orch/blackboard/message"
)

// span is a step that runs.
type span struct {
	At    evidence        `json:"at"`
	Agent message.AgentID `json:"agent"`
	Try   int             `json:"try"`
}

func stepKey(role message.Role, subject string, cause message.ID) string {
	return string(role) + "\x00" + subject + "\x00" + string(cause)
}

func (a *Auditor) stepStarting(m message.Message, b message.StepStarting) {
	if len(a.s.Live) >= maxLive {
		return
	}
	key := stepKey(b.Role, b.Subject, b.Cause)
	if _, again := a.s.Live[key]; !again && m.Goal != "" {
		a.goalOf(m).Running++
	}
	a.s.Live[key] = span{At: at(m), Agent: b.Agent, Try: b.Try}
}

func (a *Auditor) stepEnded(m message.Message, b message.StepEnded) {
	key := stepKey(b.Role, b.Subject, b.Cause)
	began, ok := a.s.Live[key]
	if !ok {
		began = span{At: evidence{m.Seq, m.TS.Add(-time.Duration(b.DurationMS) * time.Millisecond)}}
	} else {
		delete(a.s.Live, key)
		if g := a.s.Goals[m.Goal]; g != nil && m.Goal != "" {
			g.Running = max(0, g.Running-1)
		}
	}
	a.s.Figures.step(a.window, m, b, began)
	own := b.Class == message.EndCrash || b.Class == message.EndTimeout
	if own || b.Class == message.EndDone {
		a.rate(m, b.Role, "steps that end well", !own, false)
	}
	a.crashed(m, b, key, own)
	a.spent(m, b)
}

// crashed counts how often one activation failed by its own fault.
func (a *Auditor) crashed(m message.Message, b message.StepEnded, key string, own bool) {
	if !own {
		if b.Class == message.EndDone {
			delete(a.s.Crashes, key)
		}
		return
	}
	list := a.s.Crashes[key]
	if list == nil && len(a.s.Crashes) >= maxCrashing {
		return
	}
	list = append(list, at(m))
	a.s.Crashes[key] = list
	if len(list) < a.p.Crashes {
		return
	}
	delete(a.s.Crashes, key)
	a.find(Finding{Kind: ExcessiveRetries, Severity: Warning, Goal: m.Goal, Subject: b.Subject, Role: b.Role, Agent: b.Agent,
		Message: fmt.Sprintf("the %s on %s failed %d times: %s", b.Role, b.Subject, len(list), b.Detail)}, list...)
}

func (a *Auditor) registered(m message.Message, b message.Registered) {
	if b.Role == message.Supervisor && len(a.s.Supervisors) < maxTalkers {
		a.s.Supervisors[b.Agent] = m.Seq
		a.attended(m)
	}
}

func (a *Auditor) deregistered(m message.Message, b message.Deregistered) {
	delete(a.s.Supervisors, b.Agent)
}

// attended begins the silence of every goal anew: until now nobody was there.
func (a *Auditor) attended(m message.Message) {
	if len(a.s.Supervisors) != 1 {
		return
	}
	for id, g := range a.s.Goals {
		if id != "" && g.Running == 0 {
			g.Last = at(m)
		}
	}
}
