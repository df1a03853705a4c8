package ggs

import (
	"fmt"
	"math"

	"orch/blackboard/message"
)

// v08 is the reference to the letter: one directive per goal from a table of 24
// cells, the budget asked before the distance, Law 2 on the loss, and the sign
// of the gradient as urgency.
type v08 struct{}

func (v08) name() string { return message.V08 }

// MacroState is v0.8's table: 24 cells of ∇L, D, P and Ω in six macro-states.
func MacroState(p Params, l message.Loss, gradL float64) message.Directive {
	p = rounded(p)
	switch {
	case exact(l.Omega) >= p.Theta:
		return message.Abandon
	case exact(l.D) <= p.Delta:
		return message.Success
	}
	return action(p, l, gradL)
}

// action is the grid of the four macro-states that go on.
func action(p Params, l message.Loss, gradL float64) message.Directive {
	plateau := math.Abs(exact(gradL)) < p.Epsilon
	wrong := exact(l.P) > p.Rho
	switch {
	case plateau && wrong:
		return message.BreakSymmetry
	case wrong:
		return message.ChangeApproach
	case plateau:
		return message.ChangePath
	}
	return message.Refine
}

func (v08) rule(s situation) ruling {
	p := s.params
	switch {
	case s.Omega >= p.Theta:
		return s.spent()
	case s.closeEnough(p.Delta):
		return s.success()
	}
	count := s.worseningInARow()
	if count >= p.Law2 && s.D > p.Delta {
		return s.diverging(count)
	}
	r := s.ordered(action(p, s.Loss, s.gradL), true)
	r.worsening = count
	if s.D <= p.Delta {
		r.why += fmt.Sprintf(" D %.2f would be close enough, but %s.", s.D, s.refused())
		r.trace = append(r.trace, "success refused: "+s.refused())
	}
	return r
}

// worseningInARow counts the rounds up to this one in which the loss rose by
// more than ε. Any other gradient starts again.
func (s situation) worseningInARow() int {
	if s.gradL <= s.params.Epsilon {
		return 0
	}
	if d := s.before(); d != nil {
		return d.WorseningCount + 1
	}
	return 1
}

// diverging is Law 2.
func (s situation) diverging(count int) ruling {
	return ruling{
		directive: message.Abandon, worsening: count,
		why:   fmt.Sprintf("It got worse %d rounds in a row: going on would only spend the budget.", count),
		trace: []string{fmt.Sprintf("abandon: Law 2, worsening %d rounds in a row", count)},
	}
}

// ordered is the ruling for one directive for the whole goal, with what it
// blocks. targets tells whether the policy blocks targets at all.
func (s situation) ordered(d message.Directive, targets bool) ruling {
	r := ruling{directive: d, why: s.goalReason(d)}
	r.trace = append(r.trace, fmt.Sprintf("%s: |∇L| %.4g, ε %g; P %.4g, ρ %g", d, math.Abs(s.gradL), s.params.Epsilon, s.P, s.params.Rho))
	switch d {
	case message.BreakSymmetry, message.ChangeApproach:
		onlyLogical := targets && d == message.ChangeApproach && s.gradL < -s.params.Epsilon
		r.blockedTools = s.toolsToBlock(onlyLogical)
	default:
		if targets {
			r.blockedTargets = targetsOf(s.pairsToBlock(d))
		}
	}
	return r
}

// toolsToBlock are the approaches blocked so far and those of the failing tasks.
func (s situation) toolsToBlock(onlyLogical bool) []string {
	var out []string
	for _, round := range s.rounds {
		if round.exhausted {
			out = nil // nothing was left to try
		}
		if round.answer != nil {
			out = addNew(out, round.answer.BlockedTools...)
		}
	}
	for _, t := range s.now().suspects() {
		if blockable(t.Approach) && (!onlyLogical || t.logical()) {
			out = addNew(out, t.Approach)
		}
	}
	return out
}

// pairsToBlock are the inputs that failed, as urgency asks: only the latest
// while refining improves, those of all rounds otherwise, and everything the
// failing tasks acted on while refining makes it worse.
func (s situation) pairsToBlock(d message.Directive) []message.Pair {
	rounds := s.rounds
	if d == message.Refine && s.gradL < -s.params.Epsilon {
		rounds = rounds[len(rounds)-1:]
	}
	failing := map[string]bool{}
	for _, t := range s.now().suspects() {
		failing[slotOf(t.SubTaskOutcome)] = true
	}
	expand := d == message.Refine && s.gradL > s.params.Epsilon
	var out []message.Pair
	for _, round := range rounds {
		for _, t := range round.suspects() {
			out = addNew(out, t.failedPairs()...)
			if expand && failing[slotOf(t.SubTaskOutcome)] && t.Target != "" {
				out = addNew(out, pairOf(t.SubTaskOutcome))
			}
		}
	}
	return out
}

func (s situation) goalReason(d message.Directive) string {
	where := map[message.Directive]string{
		message.BreakSymmetry:  "The approach is wrong and nothing moves: every approach that was tried is blocked, something different in kind is needed.",
		message.ChangeApproach: "The approach is wrong, although the result moves: another method is needed.",
		message.ChangePath:     "The approach is sound, but nothing moves: the same approach on another target or with other parameters.",
		message.Refine:         "The approach is sound and the result moves: tighten the parameters.",
	}[d]
	if s.now().planFails {
		where = "No plan passed the rules. " + where
	}
	return where
}
