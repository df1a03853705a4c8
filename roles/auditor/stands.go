package auditor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"orch/blackboard/message"
)

// GoalStand says how a goal ended, or how it stands.
type GoalStand struct {
	Goal   message.GoalID    `json:"goal"`
	Text   string            `json:"text"`   // what was asked for
	Result message.Directive `json:"result"` // empty: it has not ended
	Rounds int               `json:"rounds"`
	Unmet  int               `json:"unmet"` // criteria
	Seq    uint64            `json:"seq"`   // the message that ended it, or the last about it
	TS     time.Time         `json:"ts"`
	Why    string            `json:"why"`  // of the one who ended it
	Next   []string          `json:"next"` // what a person could do now
}

// Need is something that waits for a person.
type Need struct {
	Goal    message.GoalID `json:"goal"` // empty: the board
	What    string         `json:"what"`
	Command string         `json:"command"`
	Seq     uint64         `json:"seq"` // the message that says so
	TS      time.Time      `json:"ts"`
}

const (
	maxStands = 200
	maxNext   = 5
)

// ended takes in how a goal ended; giving it up is a finding, unless a person did.
func (a *Auditor) ended(m message.Message, g *goal, b message.FinalResult) {
	s := GoalStand{Goal: m.Goal, Text: g.Text, Result: b.Directive, Rounds: g.Rounds, Unmet: len(b.UnmetCriteria), Seq: m.Seq, TS: m.TS, Why: short(b.Rationale), Next: []string{}}
	for _, move := range b.NextMoves[:min(maxNext, len(b.NextMoves))] {
		s.Next = append(s.Next, short(move))
	}
	f := &a.s.Figures
	if a.window.Has(m.TS, m.Goal) {
		if len(f.Goals) >= 2*maxStands { // a copy, as figures that were handed out keep the old list
			f.Goals = slices.Clone(f.Goals[maxStands:])
			f.EndsGone += maxStands
		}
		f.Goals = append(f.Goals, s)
	}
	if b.Directive == message.Abandon && !g.Dropped {
		a.find(Finding{Kind: GoalAbandoned, Severity: Warning, Goal: m.Goal, Subject: string(m.Goal), Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("goal %s was given up after %d rounds, %d criteria unmet: %s", m.Goal, g.Rounds, len(b.UnmetCriteria), b.Rationale)}, at(m))
	}
}

// stands are how the goals of the window ended, then those that are open.
func (a *Auditor) stands() []GoalStand {
	list := slices.Clone(a.s.Figures.Goals)
	for _, id := range sorted(a.s.Goals) {
		g := a.s.Goals[id]
		if id != "" && len(list) < 2*maxStands && a.window.Has(g.Last.TS, id) {
			list = append(list, GoalStand{Goal: id, Text: g.Text, Rounds: g.Rounds, Seq: g.Last.Seq, TS: g.Last.TS, Next: []string{}})
		}
	}
	return list
}

// needs are what waits for a person now.
func (a *Auditor) needs() []Need {
	list := []Need{}
	if k := a.s.Brake; k.set() {
		list = append(list, needOf("", k))
	}
	for _, id := range sorted(a.s.Goals) {
		g := a.s.Goals[id]
		if id != "" && a.window.Goal != "" && a.window.Goal != id {
			continue
		}
		if id != "" && g.Brake.set() {
			list = append(list, needOf(id, g.Brake))
		}
		for _, name := range sorted(g.Tasks) {
			if t := g.Tasks[name]; t.Status == blocked && len(list) < maxStands {
				list = append(list, Need{Goal: id, What: fmt.Sprintf("task %s is blocked", name), Command: "orch task unblock " + string(name), Seq: t.Since.Seq, TS: t.Since.TS})
			}
		}
	}
	return list
}

func needOf(id message.GoalID, k mark) Need {
	n := Need{Goal: id, What: k.By + ": " + k.What, Seq: k.Seq, TS: k.TS, Command: "orch resume"}
	switch k.By {
	case byQuestion:
		n.Command = "orch answer"
	case byPermission:
		n.Command = "orch allow"
	}
	return n
}

// refused counts what one role was refused on one subject: an append, a call, a
// plan.
func (a *Auditor) refused(m message.Message, role message.Role, subject, why string) {
	by := a.s.Refused
	if g := a.s.Goals[m.Goal]; g != nil && m.Goal != "" {
		by = g.Refused
	}
	key := string(role) + "\x00" + subject
	list := by[key]
	if len(list) >= a.p.Refusals || list == nil && len(by) >= maxCrashing {
		return // it was said
	}
	list = append(list, at(m))
	by[key] = list
	if len(list) == a.p.Refusals {
		a.find(Finding{Kind: RepeatedRefusals, Severity: Warning, Goal: m.Goal, Subject: subject, Role: role, Agent: m.Agent,
			Message: fmt.Sprintf("%s was refused %d times on %s, the last time: %s", role, len(list), subject, why)}, list...)
	}
}

var deniedKey = []byte(`"denied":"`)

// deniedCall looks into the calls that a gate refused. There are more calls than
// anything else, and hardly any is refused: the rest is not decoded.
var deniedCall = handler{
	raw: func(a *Auditor, m message.Message, raw json.RawMessage) error {
		if !bytes.Contains(raw, deniedKey) {
			return nil
		}
		var b message.ToolCall
		if err := json.Unmarshal(raw, &b); err != nil {
			return err
		}
		a.toolCall(m, b)
		return nil
	},
	body: func(a *Auditor, m message.Message, b message.Body) { a.toolCall(m, b.(message.ToolCall)) },
}

func (a *Auditor) toolCall(m message.Message, b message.ToolCall) {
	if b.Denied != "" {
		a.refused(m, m.From, m.Subject, b.Denied)
	}
}

// repaired tells of a log that a person put together again. That a crash cut off
// what nobody was promised is none of it.
func (a *Auditor) repaired(m message.Message, b message.JournalRepaired) {
	what := ""
	switch {
	case b.LostTo > 0:
		what = fmt.Sprintf("%s gave up messages %d to %d, which had been there", m.Agent, b.FromSeq, b.LostTo)
	case len(b.Files) > 0:
		what = fmt.Sprintf("%s gave up %d files that messages name", m.Agent, len(b.Files))
	case b.From != "":
		what = fmt.Sprintf("%s restored the log from %s", m.Agent, b.From)
	default:
		return
	}
	if b.Kept != "" {
		what += "; what was replaced is kept as " + b.Kept
	}
	a.find(Finding{Kind: LogRestored, Severity: Warning, Subject: "log", Role: message.Human, Agent: m.Agent, Message: what}, at(m))
}
