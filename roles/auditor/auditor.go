package auditor

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// Auditor is the pure part: messages in, findings out. It is used by one
// goroutine at a time.
type Auditor struct {
	p      config.Audit
	window Window
	s      state
	known  map[string]bool // ids of what was found
	names  map[message.AgentID]agentName
	fresh  int // index in s.Found of the first finding not yet taken
}

// New makes an auditor that has seen nothing. The window limits the figures;
// findings are looked for in everything, since what came before decides.
func New(p config.Audit, w Window) *Auditor {
	return &Auditor{p: p, window: w, s: newState(), known: map[string]bool{}, names: map[message.AgentID]agentName{}}
}

// Head is the last record that was observed.
func (a *Auditor) Head() journal.Head { return a.s.Head }

// Findings lists what was found so far, in the order in which it was found.
func (a *Auditor) Findings() []Finding { return append([]Finding{}, a.s.Found...) }

// Uncounted says per kind how many findings were not listed one by one.
func (a *Auditor) Uncounted() map[Kind]int { return a.s.More }

// Fresh lists what was found since the last call.
func (a *Auditor) Fresh() []Finding {
	out := a.s.Found[a.fresh:]
	a.fresh = len(a.s.Found)
	return out
}

// Observe takes a message in whose body was decoded.
func (a *Auditor) Observe(m message.Message) {
	a.envelope(m, m.Type())
	if h, ok := handlers()[m.Type()]; ok && m.Body != nil {
		h.body(a, m, m.Body)
	}
}

// ObserveRecord takes a line of the log in. It reads bodies leniently: what the
// rest of the program would refuse is what it is here to find. The record's
// payload is not kept. Its text is UTF-8, as that of every line a scan lets pass.
func (a *Auditor) ObserveRecord(r journal.Record) {
	a.s.Head = r.Head()
	m := message.Message{
		Seq: r.Seq, TS: r.TS, ID: message.ID(r.ID), From: message.Role(r.From), To: message.Role(r.To), Door: message.Door(r.Door),
		Goal: message.GoalID(r.Goal), Subject: r.Subject, Cause: message.ID(r.Cause),
		Agent: message.AgentID(r.Agent), Fence: message.Fence(r.Fence),
	}
	t := message.Type(r.Type)
	a.envelope(m, t)
	h, ok := handlers()[t]
	if !ok {
		return
	}
	if err := h.raw(a, m, r.Payload); err != nil {
		a.find(Finding{Kind: MalformedMessage, Severity: Critical, Goal: m.Goal, Subject: m.Subject, Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("a %s can not be read: %s", t, short(err.Error()))}, at(m))
	}
}

// ObserveFlaw takes damage of the log in.
func (a *Auditor) ObserveFlaw(f journal.Flaw) {
	f0 := Finding{Kind: BrokenChain, Severity: Critical, Subject: fmt.Sprintf("after message %d", f.After),
		Message: fmt.Sprintf("the log is damaged in %s: %s; `orch board repair` tries to mend it", f.Where(), f.Why)}
	if f.After == 0 {
		a.find(f0)
		return
	}
	a.find(f0, evidence{f.After, a.s.LastTS}) // what comes behind may not be written yet
}

// Rewritten says that the log has another record where a head was noted, or none.
func (a *Auditor) Rewritten(noted journal.Known, found journal.Head) {
	what := fmt.Sprintf("message %d is not the one that was noted", noted.Seq)
	ev := []evidence{{noted.Seq, a.s.LastTS}}
	if found.Seq < noted.Seq {
		what = fmt.Sprintf("the log ends before message %d, which was noted", noted.Seq)
	}
	a.find(Finding{Kind: LogRewritten, Severity: Critical, Subject: noted.Hash, Message: what + leadsOut}, ev...)
}

// Gone says that there is no log that could be read, although there was one.
func (a *Auditor) Gone(why error) {
	a.find(Finding{Kind: LogRewritten, Severity: Critical, Subject: "log", Message: fmt.Sprintf("the log can not be read: %s", why) + leadsOut})
}

// Beheaded says that the oldest messages of the log are gone.
func (a *Auditor) Beheaded(first journal.Head) {
	a.find(Finding{Kind: LogRewritten, Severity: Critical, Subject: "its beginning",
		Message: fmt.Sprintf("the log begins with message %d: those before it are gone", first.Seq) + leadsOut}, evidence{Seq: first.Seq})
}

// Unfinished says that the log ends in bytes that are no message.
func (a *Auditor) Unfinished(what string) {
	a.find(Finding{Kind: BrokenChain, Severity: Warning, Subject: "behind the last message", Message: "the log does not end with its last message: " + what +
		"; nobody was told that it was written; `orch board repair` sets it aside"}, evidence{a.s.Head.Seq, a.s.LastTS})
}

// leadsOut is the command for a log that is not the one it was.
const leadsOut = "; `orch board restore --from COPY` puts a copy back"

// evidence is a message that proves something, and when it was said.
type evidence struct {
	Seq uint64    `json:"seq"`
	TS  time.Time `json:"ts"`
}

func at(m message.Message) evidence { return evidence{m.Seq, m.TS} }

// told counts the findings of one kind about one goal.
type told map[Kind]int

// maxFound bounds all findings that are listed; behind it they are counted.
const maxFound = 20_000

// find adds a finding unless it was found before. Of one kind and goal only so
// many are listed: whoever floods the log does not flood the report.
func (a *Auditor) find(f Finding, ev ...evidence) {
	for _, e := range ev {
		f.Seqs = append(f.Seqs, e.Seq)
		if f.FirstTS.IsZero() || e.TS.Before(f.FirstTS) {
			f.FirstTS = e.TS
		}
		if e.TS.After(f.LastTS) {
			f.LastTS = e.TS
		}
	}
	f.Message = short(f.Message)
	f = f.seal()
	if a.known[f.ID] {
		return
	}
	told := a.s.Told
	if g := a.s.Goals[f.Goal]; g != nil && f.Goal != "" {
		told = g.Told
	}
	told[f.Kind]++
	if n := told[f.Kind]; n > a.p.Listed || len(a.s.Found) >= maxFound {
		a.s.More[f.Kind]++
		return
	}
	a.known[f.ID] = true
	a.s.Found = append(a.s.Found, f)
}

// snapshot is what Save writes.
type snapshot struct {
	Format int          `json:"format"`
	Params config.Audit `json:"params"`
	State  state        `json:"state"`
}

// snapshotFormat changes whenever the detections or the state do: an older
// snapshot is then read as none, and the log from its beginning.
const snapshotFormat = 3

// ErrOtherSnapshot: a snapshot was made by another version or with other
// thresholds.
var ErrOtherSnapshot = errors.New("the snapshot is of another version or other thresholds")

// Save writes down all that the auditor knows.
func (a *Auditor) Save() ([]byte, error) {
	return json.Marshal(snapshot{Format: snapshotFormat, Params: a.p, State: a.s})
}

// Load makes an auditor of what Save wrote. Its findings count as taken.
func Load(p config.Audit, raw []byte) (*Auditor, error) {
	s := snapshot{State: newState()}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read a snapshot of the auditor: %w", err)
	}
	if s.Format != snapshotFormat || s.Params != p {
		return nil, ErrOtherSnapshot
	}
	a := New(p, Window{})
	a.s = s.State
	a.s.restore()
	for _, f := range a.s.Found {
		a.known[f.ID] = true
	}
	a.fresh = len(a.s.Found)
	return a, nil
}
