package memory

import (
	"math"
	"slices"
	"time"

	"orch/blackboard/message"
	"orch/roles/loop"
)

// brute is the memory as a plain list, gone over from the beginning for every
// question: what the log says, without index, batch or key.
type brute struct{ all []*remembered }

type remembered struct {
	message.Megram
	seq    uint64
	into   string
	byMind bool // a rule made by the memory itself
	recall time.Time
}

func replay(log []message.Message) *brute {
	b := &brute{}
	for _, m := range log {
		b.hear(m)
	}
	return b
}

func (b *brute) find(id string) *remembered {
	for _, r := range b.all {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (b *brute) add(g message.Megram, seq uint64) *remembered {
	if b.find(g.ID) != nil {
		return nil
	}
	if g.Level == "C" {
		g.K = 0
	}
	r := &remembered{Megram: g, seq: seq}
	b.all = append(b.all, r)
	return r
}

func (b *brute) hear(m message.Message) {
	switch x := m.Body.(type) {
	case message.Megram:
		if rule := b.add(x, m.Seq); rule != nil && x.Through > 0 {
			rule.byMind = true
			for _, r := range b.all {
				source := r.Level == "M" || r.Level == "K" || r.byMind
				if r != rule && r.into == "" && source && r.seq <= x.Through && r.Space == x.Space && r.Entity == x.Entity {
					r.into = x.ID
				}
			}
		}
	case message.MemoryFact:
		b.add(message.Megram{ID: string(m.ID), Level: "C", CreatedAt: m.TS, Space: loop.FactSpace(x.Text), Entity: "env:local", F: 1, Sigma: 1}, m.Seq)
	case message.NegativeFeedback:
		if r := b.find(x.RuleID); r != nil {
			sigma := -1.0
			if r.Sigma < 0 {
				sigma = 1
			}
			b.add(message.Megram{ID: string(m.ID), Level: "M", CreatedAt: m.TS, Space: r.Space, Entity: r.Entity, F: 1, Sigma: sigma, K: 0.05}, m.Seq)
		}
	case message.MemoryAnswer:
		for _, id := range x.Recalled {
			if r := b.find(id); r != nil && r.Level == "C" && r.into == "" {
				r.recall = m.TS
			}
		}
	case message.MemoryForget:
		b.remove(x.IDs)
	case message.DreamReport:
		for _, id := range x.Demoted {
			if r := b.find(id); r != nil && r.Level == "C" && r.into == "" {
				r.Level, r.K, r.byMind = "K", x.DemotedK, false
				if r.recall.After(r.CreatedAt) {
					r.CreatedAt = r.recall
				}
			}
		}
		b.remove(x.Deleted)
	}
}

func (b *brute) remove(ids []string) {
	b.all = slices.DeleteFunc(b.all, func(r *remembered) bool { return slices.Contains(ids, r.ID) })
}

func (b *brute) potentials(p Pair, now time.Time) (attention, decision float64) {
	for _, r := range b.all {
		if r.into != "" || r.Space != p.Space || r.Entity != p.Entity {
			continue
		}
		days := max(now.Sub(r.CreatedAt).Hours()/24, 0)
		attention += r.F * math.Exp(-r.K*days)
		decision += r.Sigma * r.F * math.Exp(-r.K*days)
	}
	return attention, decision
}

// rules are the ids of a pair's rules, without those a newer one contradicts.
func (b *brute) rules(p Pair) []string {
	var list []*remembered
	for _, r := range b.all {
		if r.into == "" && r.Level == "C" && r.Space == p.Space && r.Entity == p.Entity {
			list = append(list, r)
		}
	}
	slices.Reverse(list) // the log is in order, so is all
	var ids []string
	for _, r := range list {
		if r.Sigma*list[0].Sigma >= 0 {
			ids = append(ids, r.ID)
		}
	}
	return ids[:min(len(ids), 10)]
}
