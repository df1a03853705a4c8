package auditor

import (
	"fmt"
	"time"

	"orch/blackboard/message"
)

// A flood is too many messages of one agent within any minute, wherever on the
// clock it begins. They are counted in slots, so that a count covers between 55
// and 60 seconds: it never says too much.
const (
	floodSlots  = 12
	slotSeconds = 60 / floodSlots
)

// talk is what one agent said in the last minute.
type talk struct {
	At    int64             `json:"at"` // number of the latest slot, in the log's time
	Slots [floodSlots]spoke `json:"slots"`
	N     int               `json:"n"`    // in all slots
	Told  bool              `json:"told"` // until it falls quiet
}

// spoke is what was said in one slot.
type spoke struct {
	First evidence `json:"first"`
	N     int      `json:"n"`
}

// flood counts messages per agent.
func (a *Auditor) flood(m message.Message) {
	slot := m.TS.Unix() / slotSeconds
	t := a.s.Talk[m.Agent]
	if t == nil {
		if len(a.s.Talk) >= maxTalkers && !a.dropSilent(slot) {
			return
		}
		t = &talk{At: slot}
		a.s.Talk[m.Agent] = t
	}
	t.move(slot)
	now := &t.Slots[t.At%floodSlots]
	if now.N++; now.N == 1 {
		now.First = at(m)
	}
	if t.N++; t.N <= a.p.FloodMessages {
		t.Told = false
		return
	}
	if t.Told {
		return
	}
	t.Told = true
	a.find(Finding{Kind: LogFlood, Severity: Warning, Subject: string(m.Agent), Role: m.From, Agent: m.Agent,
		Message: fmt.Sprintf("%s said more than %d messages within a minute", m.Agent, a.p.FloodMessages)}, t.first(), at(m))
}

// move forgets what is more than a minute past. Time never goes back in a log;
// in one that was damaged it counts as standing still.
func (t *talk) move(slot int64) {
	if slot-t.At >= floodSlots {
		*t = talk{At: slot, Told: t.Told}
		return
	}
	for t.At < slot {
		t.At++
		old := &t.Slots[t.At%floodSlots]
		t.N -= old.N
		*old = spoke{}
	}
}

// first is the earliest message that still counts.
func (t *talk) first() evidence {
	for n := range int64(floodSlots) {
		if s := t.Slots[(t.At+1+n)%floodSlots]; s.N > 0 {
			return s.First
		}
	}
	return evidence{TS: time.Time{}}
}

// dropSilent forgets who said nothing for a minute.
func (a *Auditor) dropSilent(slot int64) bool {
	for id, t := range a.s.Talk {
		if slot-t.At >= floodSlots {
			delete(a.s.Talk, id)
		}
	}
	return len(a.s.Talk) < maxTalkers
}
