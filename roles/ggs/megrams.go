package ggs

import (
	"fmt"
	"strings"
	"time"

	"orch/blackboard/message"
	"orch/roles/loop"
)

// weights are a row of the quantization matrix: how strong a memory is, whether
// it speaks for or against, and how fast it fades.
type weights struct{ f, sigma, k float64 }

var matrix = map[message.Directive]weights{
	message.Abandon:        {0.95, -1, 0.05},
	message.Accept:         {0.90, +1, 0.05},
	message.ChangeApproach: {0.85, -1, 0.05},
	message.Success:        {0.80, +1, 0.05},
	message.BreakSymmetry:  {0.75, +1, 0.05},
	message.ChangePath:     {0.30, 0, 0.2},
	message.Refine:         {0.10, +0.5, 0.5},
}

// How a pair is filed.
const (
	toolSpace  = "tool:"
	pathEntity = "path:"
)

// The kinds of what was learned.
const (
	categoryFact       = "fact"
	categoryProcedure  = "procedure"
	categoryConstraint = "constraint"
)

// notebook collects the Megrams of one decision. Their ordinals make each unique
// together with the round that caused it.
type notebook struct {
	tags []string
	now  time.Time
	id   func() string
	list []message.Megram
}

func (n *notebook) write(state message.Directive, w weights, space, entity, category, lesson string) {
	for _, m := range n.list {
		if m.State == state && m.Space == space && m.Entity == entity && m.Sigma == w.sigma {
			return
		}
	}
	n.list = append(n.list, message.Megram{
		ID: n.id(), Level: "M", CreatedAt: n.now, Space: space, Entity: entity,
		Content: message.MegramContent{Lesson: lesson, Tags: n.tags, Category: category},
		State:   state, F: w.f, Sigma: w.sigma, K: w.k, Ordinal: len(n.list) + 1,
	})
}

func (n *notebook) pair(state message.Directive, w weights, p message.Pair, category, lesson string) {
	if p.Tool == "" || p.Target == "" {
		return // nothing to find it by
	}
	n.write(state, w, toolSpace+p.Tool, pathEntity+p.Target, category, lesson)
}

// megrams is what a round teaches: see "What is remembered" in docs/controller.md.
func (s situation) megrams(h History, r ruling, now time.Time, newID func() string) []message.Megram {
	n := &notebook{tags: h.Tags, now: now, id: newID}
	switch {
	case r.ends() || r.directive == message.Accept:
		s.noteEnd(n, r, h)
	case len(r.tasks) > 0:
		for _, t := range r.tasks {
			s.noteTask(n, t)
		}
	default:
		s.noteGoal(n, r)
	}
	return n.list
}

// noteEnd writes how the goal ended, what brought it home, and which approaches
// did so after the old ones had been ruled out.
func (s situation) noteEnd(n *notebook, r ruling, h History) {
	space := h.Space
	if space == "" {
		space = "intent:" + string(h.Goal)
	}
	category, verb := categoryProcedure, "worked"
	if r.directive == message.Abandon {
		category, verb = categoryConstraint, "was given up"
	}
	rounds := fmt.Sprintf("%d rounds", len(s.rounds))
	if len(s.rounds) == 1 {
		rounds = "the first round"
	}
	lesson := verb + " after " + rounds
	if t := s.approachesNow(); t != "" {
		lesson += " with " + t
	}
	n.write(r.directive, matrix[r.directive], space, loop.LocalEntity, category, lesson)
	if r.directive == message.Abandon {
		return
	}
	for _, o := range s.now().outcomes {
		if o.Status == message.Matched {
			n.pair(r.directive, matrix[r.directive], pairOf(o), categoryProcedure, label(pairOf(o))+" worked"+partOf(o, h))
		}
	}
	if before := s.before(); before != nil && r.directive == message.Accept {
		s.noteBreakthroughs(n, before)
	}
}

// partOf names what an outcome was good for.
func partOf(o message.SubTaskOutcome, h History) string {
	if h.Intent == "" {
		return ""
	}
	if o.Slot == "" {
		return fmt.Sprintf(" for “%s”", short(h.Intent))
	}
	return fmt.Sprintf(" as %s of “%s”", o.Slot, short(h.Intent))
}

// noteBreakthroughs writes which new pairs were accepted in the plan after an
// order to do something different in kind.
func (s situation) noteBreakthroughs(n *notebook, before *message.PlanDirective) {
	for _, o := range s.now().outcomes {
		if o.Status == message.Matched && broke(before, slotOf(o)) && !s.ranBefore(o) {
			n.pair(message.BreakSymmetry, matrix[message.BreakSymmetry], pairOf(o), categoryProcedure,
				fmt.Sprintf("%s worked after everything tried before had failed", label(pairOf(o))))
		}
	}
}

// broke tells whether a directive ordered something different in kind for a slot.
func broke(d *message.PlanDirective, slot string) bool {
	if len(d.TaskDirectives) == 0 {
		return d.Directive == message.BreakSymmetry
	}
	for _, t := range d.TaskDirectives {
		if t.Slot == slot {
			return t.Directive == message.BreakSymmetry
		}
	}
	return false
}

// ranBefore tells whether an earlier round ran the same pair in the same slot.
func (s situation) ranBefore(o message.SubTaskOutcome) bool {
	for _, round := range s.rounds[:len(s.rounds)-1] {
		for _, x := range round.outcomes {
			if slotOf(x) == slotOf(o) && pairOf(x) == pairOf(o) && x.Status != message.Skipped {
				return true
			}
		}
	}
	return false
}

func (s situation) approachesNow() string {
	var names []string
	for _, o := range s.lastMeasured().outcomes {
		if o.Approach != "" && o.Status != message.Skipped {
			names = addNew(names, o.Approach)
		}
	}
	return strings.Join(names, ", ")
}

// noteTask writes what a directive for one task teaches. Orders that only stand
// were written when they were given.
func (s situation) noteTask(n *notebook, d message.TaskDirective) {
	for _, t := range s.now().suspects() {
		if t.SubtaskID != d.Task {
			continue
		}
		switch d.Directive {
		case message.ChangePath:
			for _, p := range d.BlockedPairs {
				s.noteDeadEnd(n, p)
			}
		case message.ChangeApproach, message.BreakSymmetry:
			s.noteWrong(n, d.Directive, t)
		case message.Refine:
			s.noteBetter(n, t.SubTaskOutcome)
		}
	}
}

// noteGoal writes what one directive for the whole goal teaches.
func (s situation) noteGoal(n *notebook, r ruling) {
	switch r.directive {
	case message.ChangePath:
		byTarget := map[string]bool{}
		for _, p := range s.pairsToBlock(r.directive) {
			for _, blocked := range r.blockedTargets {
				if blocked == p.Target && !byTarget[blocked] {
					byTarget[blocked] = true
					s.noteDeadEnd(n, p)
				}
			}
		}
	case message.ChangeApproach, message.BreakSymmetry:
		for _, t := range s.now().suspects() {
			for _, tool := range r.blockedTools {
				if tool == t.Approach {
					s.noteWrong(n, r.directive, t)
				}
			}
		}
	case message.Refine:
		for _, o := range s.now().outcomes {
			s.noteBetter(n, o)
		}
	}
}

func (s situation) noteDeadEnd(n *notebook, p message.Pair) {
	n.pair(message.ChangePath, matrix[message.ChangePath], p, categoryFact, label(p)+" led nowhere this time; the approach is not to blame")
}

// noteWrong speaks against an approach on the target it failed on. Where the
// evidence says that something was missing or not allowed, the approach is not
// to blame: the memory must not keep it from being tried once that has changed.
func (s situation) noteWrong(n *notebook, state message.Directive, t suspect) {
	if !blockable(t.Approach) {
		return
	}
	pair := pairOf(t.SubTaskOutcome)
	switch evidence(t) {
	case kindTransient:
		return
	case kindTool, kindPermission:
		n.pair(message.ChangePath, matrix[message.ChangePath], pair, categoryFact, label(pair)+" could not run: what it needs was missing or not allowed"+because(t))
		return
	}
	n.pair(state, matrix[message.ChangeApproach], pair, categoryConstraint, label(pair)+" does not work"+because(t))
}

// because is the first failed criterion of a task with its evidence.
func because(t suspect) string {
	for _, c := range t.criteria {
		if c.weight > 0 {
			return fmt.Sprintf(": %s (%s)", c.Criterion, short(c.Evidence))
		}
	}
	return ""
}

// noteBetter speaks for a pair that came out better than the run of its slot before.
func (s situation) noteBetter(n *notebook, o message.SubTaskOutcome) {
	runs := runsBySlot(s.rounds, s.params.Rho)[slotOf(o)]
	at := -1
	for i, r := range runs {
		if r.round == len(s.rounds) && r.task == o.SubtaskID {
			at = i
		}
	}
	if at < 1 || runs[at].score >= runs[at-1].score {
		return
	}
	n.pair(message.Refine, matrix[message.Refine], pairOf(o), categoryProcedure, label(pairOf(o))+" came out better than the attempt before")
}
