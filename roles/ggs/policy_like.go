package ggs

import (
	"fmt"
	"slices"

	"orch/blackboard/message"
)

// likeForLike orders a change for every failing task by comparing it with its
// own best on the same approach and target. The goal's loss is measured and
// recorded, but it only tells when to stop.
type likeForLike struct{}

func (likeForLike) name() string { return message.LikeForLike }

func (likeForLike) rule(s situation) ruling {
	p := s.params
	count := s.risesOfD()
	switch {
	case s.closeEnough(p.Delta):
		return s.success()
	case s.Omega >= p.Theta:
		return s.spent()
	case count >= p.Law2:
		return s.diverging(count)
	}
	r := ruling{worsening: count}
	switch {
	case s.now().measured():
		r.tasks = s.taskDirectives()
	case s.released():
		r.tasks = s.release()
	default:
		r.tasks = s.standing()
	}
	r.directive = drastic(r.tasks, action(p, s.Loss, s.gradL))
	r.blockedTools, r.blockedTargets = s.blockedForAll(r.tasks)
	r.why = s.likeReason(r)
	for _, t := range r.tasks {
		r.trace = append(r.trace, fmt.Sprintf("%s: %s (rule %s): %s", t.Slot, t.Directive, t.Rule, t.Because))
	}
	if s.D <= p.Delta {
		r.trace = append(r.trace, "success refused: "+s.refused())
	}
	return r
}

// risesOfD counts the measured rounds in a row in which D rose. A round without
// a plan is D = 1 by convention and compares with nothing.
func (s situation) risesOfD() int {
	d := s.before()
	if d == nil {
		return 0
	}
	if !s.now().measured() {
		return d.WorseningCount
	}
	for i := len(s.rounds) - 2; i >= 0; i-- {
		if !s.rounds[i].measured() {
			continue
		}
		if s.D > exact(s.rounds[i].answer.Loss.D) {
			return d.WorseningCount + 1
		}
		return 0
	}
	return 0
}

// released tells whether what is blocked has to go: the planner has nothing left
// to try, or could not make a plan twice in a row.
func (s situation) released() bool { return releases(s.rounds, len(s.rounds)-1) }

func releases(rounds []sensed, i int) bool {
	return rounds[i].exhausted || (rounds[i].planFails && i > 0 && rounds[i-1].planFails)
}

// carried are the approaches blocked for each slot by the directives so far.
// Every directive for a slot names all of them, so the last one counts.
func (s situation) carried() map[string][]string {
	out := map[string][]string{}
	for i, round := range s.rounds[:len(s.rounds)-1] {
		if releases(s.rounds, i) {
			clear(out)
		}
		for _, t := range round.answer.TaskDirectives {
			out[t.Slot] = t.BlockedApproaches
		}
	}
	return out
}

func (s situation) taskDirectives() []message.TaskDirective {
	bySlot := runsBySlot(s.rounds, s.params.Rho)
	carried := s.carried()
	var out []message.TaskDirective
	for _, t := range s.now().suspects() {
		slot := slotOf(t.SubTaskOutcome)
		runs := bySlot[slot]
		at := slices.IndexFunc(runs, func(r run) bool { return r.round == len(s.rounds) && r.task == t.SubtaskID })
		c := comparison{run: runs[at], slot: slot, earlier: runs[:at], blocked: carried[slot]}
		out = append(out, c.directive())
	}
	return out
}

// drastic is the directive for the goal: the most drastic one of its tasks.
func drastic(tasks []message.TaskDirective, otherwise message.Directive) message.Directive {
	order := []message.Directive{message.Refine, message.ChangePath, message.ChangeApproach, message.BreakSymmetry}
	worst := -1
	for _, t := range tasks {
		worst = max(worst, slices.Index(order, t.Directive))
	}
	if worst < 0 {
		return otherwise
	}
	return order[worst]
}

// blockedForAll are the goal's lists: only what is blocked for every failing
// slot, is refined by none, and is used by no task that did not fail. A tool is
// never taken from all tasks because one failed with it.
func (s situation) blockedForAll(tasks []message.TaskDirective) (tools, targets []string) {
	for i, t := range tasks {
		if i == 0 {
			tools, targets = slices.Clone(t.BlockedApproaches), targetsOf(t.BlockedPairs)
			continue
		}
		tools = both(tools, t.BlockedApproaches)
		targets = both(targets, targetsOf(t.BlockedPairs))
	}
	for _, t := range tasks {
		for _, p := range []*message.Pair{t.Keep, t.ReturnTo} {
			if p != nil {
				tools, targets = without(tools, p.Tool), without(targets, p.Target)
			}
		}
	}
	for _, o := range s.now().outcomes {
		if o.Status != message.Failed && !slices.ContainsFunc(tasks, func(t message.TaskDirective) bool { return t.Slot == slotOf(o) }) {
			tools, targets = without(tools, o.Approach), without(targets, o.Target)
		}
	}
	return tools, targets
}

func both(a, b []string) []string {
	return slices.DeleteFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

func (s situation) likeReason(r ruling) string {
	switch {
	case s.now().planFails && len(r.tasks) == 0:
		return "No plan passed the rules, and nothing has run yet: a plan of another kind is needed."
	case s.now().planFails && s.released():
		return "Nothing is left to try: what was blocked is released, and each task goes back to what came closest."
	case s.now().planFails:
		return "No plan passed the rules: the orders stand."
	case len(r.tasks) == 0:
		return "No task failed by itself; what never started has to run."
	case len(r.tasks) == 1:
		return fmt.Sprintf("%s: %s", r.tasks[0].Slot, r.tasks[0].Because)
	}
	return fmt.Sprintf("%d tasks failed, each gets its own order; the most drastic is %s.", len(r.tasks), r.directive)
}
