package loop

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/think"
)

// Actions the memory derives for a pair.
const (
	Exploit = "Exploit"
	Avoid   = "Avoid"
	Caution = "Caution"
	Ignore  = "Ignore"
)

// Sources of a ban.
const (
	FromMemory    = think.FromMemory
	FromDirective = think.FromDirective
)

// ConstraintsOf derives what the plan of this round must not and should do:
// what the memory says to avoid, and what the controller's last directive
// blocks. The controller accumulates over rounds, so its last word is complete.
// What that directive orders to refine or to return to is never forbidden. The
// plan that is being worked on may have set the memory's advice aside in slots
// where it would have left nothing to try.
func ConstraintsOf(g blackboard.Goal) think.Constraints {
	c := memoryConstraints(g.Calibration.Answer)
	if g.Spec != nil && g.Spec.Constraints.Scope != nil {
		c.Scope = think.ScopeOf(*g.Spec.Constraints.Scope)
	}
	if g.Plan != nil && g.PlanCause.ID == "" {
		c.SetAside = g.Plan.MemorySetAside
	}
	if d := LastDirective(g); d != nil {
		c.MustNot = append(c.MustNot, directiveBans(*d)...)
		c.MustNot = slices.DeleteFunc(c.MustNot, func(b think.Ban) bool { return forbidsOrder(b, *d) })
	}
	return c
}

// forbidsOrder tells whether a ban would forbid what the directive itself
// orders: to stay on a pair, or to return to one.
func forbidsOrder(b think.Ban, d message.PlanDirective) bool {
	for _, t := range d.TaskDirectives {
		for _, p := range []*message.Pair{t.Keep, t.ReturnTo} {
			if p != nil && b.Forbids(t.Slot, p.Tool, p.Target) {
				return true
			}
		}
	}
	return false
}

// LastDirective is the controller's latest order; nil before the first.
func LastDirective(g blackboard.Goal) *message.PlanDirective {
	for _, r := range slices.Backward(g.Rounds) {
		if r.Directive != nil {
			return r.Directive
		}
	}
	return nil
}

// memoryConstraints takes MUST NOT from (approach, target) pairs and from
// constraints that name one. What is known about the intent as a whole only
// advises: one abandoned goal would otherwise forbid the intent.
func memoryConstraints(a *message.MemoryAnswer) think.Constraints {
	var c think.Constraints
	if a == nil {
		return c
	}
	for _, p := range a.Potentials {
		if strings.HasPrefix(p.Pair.Tool, "intent:") {
			continue
		}
		switch p.Action {
		case Avoid:
			because := fmt.Sprintf("attention %.2f, decision %.2f", p.Attention, p.Decision)
			c.MustNot = append(c.MustNot, think.Ban{Approach: p.Pair.Tool, Target: p.Pair.Target, Source: FromMemory, Because: because})
		case Exploit:
			c.Prefer = append(c.Prefer, p.Pair)
		case Caution:
			c.Caution = append(c.Caution, p.Pair)
			if !p.Uncontested {
				c.AskFirst = append(c.AskFirst, p.Pair)
			}
		}
	}
	for _, sop := range a.SOPs {
		approach, ok := strings.CutPrefix(sop.Space, "tool:")
		if sop.Category != "constraint" || !ok || sop.Sigma > 0 {
			continue
		}
		target := strings.TrimPrefix(sop.Entity, "path:")
		if target == LocalEntity {
			target = ""
		}
		c.MustNot = append(c.MustNot, think.Ban{Approach: approach, Target: target, Source: FromMemory, Because: sop.Lesson})
	}
	return c
}

// Lessons are the memory's standing rules in words, for a planner that can read
// them: what a person declared, and what was learned.
func Lessons(a *message.MemoryAnswer) (facts, lessons []string) {
	if a == nil {
		return nil, nil
	}
	for _, sop := range a.SOPs {
		if IsFact(sop.Space, sop.Category) {
			facts = append(facts, sop.Lesson)
		} else {
			lessons = append(lessons, sop.Lesson)
		}
	}
	return facts, lessons
}

// directiveBans are what a directive blocks: under like-for-like slot by slot,
// otherwise for the whole goal.
func directiveBans(d message.PlanDirective) []think.Ban {
	var bans []think.Ban
	if d.Policy != message.LikeForLike {
		because := fmt.Sprintf("round %d: %s", d.Round, d.Directive)
		for _, approach := range d.BlockedTools {
			bans = append(bans, think.Ban{Approach: approach, Source: FromDirective, Because: because})
		}
		for _, target := range d.BlockedTargets {
			bans = append(bans, think.Ban{Target: target, Source: FromDirective, Because: because})
		}
		return bans
	}
	for _, t := range d.TaskDirectives {
		for _, approach := range t.BlockedApproaches {
			bans = append(bans, think.Ban{Slot: t.Slot, Approach: approach, Source: FromDirective, Because: t.Because})
		}
		for _, p := range t.BlockedPairs {
			bans = append(bans, think.Ban{Slot: t.Slot, Approach: p.Tool, Target: p.Target, Source: FromDirective, Because: t.Because})
		}
	}
	return bans
}
