package blackboard

import (
	"slices"

	"orch/blackboard/message"
)

// Dreams is what is known of the memory's consolidation: when it is due, and
// who waits for a pass.
type Dreams struct {
	LastEnd    uint64       `json:"last_end,omitempty"`    // seq of the last FinalResult
	LastReport uint64       `json:"last_report,omitempty"` // seq of the last DreamReport that ended a pass
	Asked      []DreamAsked `json:"asked,omitempty"`       // not reported on, oldest first
}

// DreamAsked is a request for a pass.
type DreamAsked struct {
	Ref    Ref      `json:"ref"`
	Phases []string `json:"phases,omitempty"`
}

// Due tells whether a goal has ended since the last pass.
func (d Dreams) Due() bool { return d.LastEnd > d.LastReport }

// maxDreamsAsked bounds what is remembered of requests nobody serves; passes
// are idempotent, so the oldest can go.
const maxDreamsAsked = 100

func memoryEffects() []effect {
	return []effect{
		on((*tx).negativeFeedback), on((*tx).dreamRequest), on((*tx).dreamReport),
	}
}

// Dreams is what is known of the memory's consolidation.
func (s *State) Dreams() Dreams {
	d := s.board().Dreams
	d.Asked = slices.Clone(d.Asked)
	return d
}

// negativeFeedback of the controller belongs to a round, like a Megram, and is
// written once.
func (x *tx) negativeFeedback(b message.NegativeFeedback) error {
	if x.m.From != message.GGS {
		return nil
	}
	_, r, err := x.answers()
	if err != nil {
		return err
	}
	if r == nil {
		return x.refuse("a fact to remember says nothing against a rule")
	}
	return x.once(&r.Megrams, b.Ordinal)
}

func (x *tx) dreamRequest(b message.DreamRequest) error {
	d := &x.board().Dreams
	d.Asked = appended(d.Asked, DreamAsked{Ref: x.ref, Phases: b.Phases})
	if n := len(d.Asked) - maxDreamsAsked; n > 0 {
		d.Asked = d.Asked[n:]
	}
	return nil
}

// dreamReport of the last part of a pass is the answer to who asked for it.
func (x *tx) dreamReport(b message.DreamReport) error {
	if !b.Last {
		return nil
	}
	d := &x.board().Dreams
	d.LastReport = x.ref.Seq
	if x.m.Cause == "" {
		return nil
	}
	i := slices.IndexFunc(d.Asked, func(a DreamAsked) bool { return a.Ref.ID == x.m.Cause })
	if i < 0 {
		return x.refuse("it answers %s, which no request waits for", x.m.Cause)
	}
	d.Asked = slices.Delete(slices.Clone(d.Asked), i, i+1)
	return nil
}
