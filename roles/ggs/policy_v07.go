package ggs

import (
	"math"

	"orch/blackboard/message"
)

// v07 is the older table, kept for comparison: an improving loss is trusted
// whatever P says, only D = 0 succeeds, and only approaches are blocked.
//
// Law 2 is applied as under v0.8, which calls it retained. Where v0.7 has no
// row (D ≤ δ without improvement) it refines: nearly there is no reason to turn.
type v07 struct{}

func (v07) name() string { return message.V07 }

func (v07) rule(s situation) ruling {
	p := s.params
	switch {
	case s.Omega >= p.Theta:
		return s.spent()
	case s.closeEnough(0):
		return s.success()
	}
	count := s.worseningInARow()
	if count >= p.Law2 && s.D > p.Delta {
		return s.diverging(count)
	}
	r := s.ordered(s.v07Directive(), false)
	r.worsening = count
	return r
}

func (s situation) v07Directive() message.Directive {
	p := s.params
	plateau := math.Abs(s.gradL) < p.Epsilon
	wrong := s.P > p.Rho
	switch {
	case s.D <= p.Delta || s.gradL < -p.Epsilon:
		return message.Refine
	case plateau && wrong:
		return message.BreakSymmetry
	case plateau:
		return message.ChangePath
	case wrong:
		return message.ChangeApproach
	}
	return message.Refine
}
