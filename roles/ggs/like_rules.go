package ggs

import (
	"fmt"
	"slices"

	"orch/blackboard/message"
)

// The rules of like-for-like by number and name, as directives carry them.
const (
	RuleTransient = "1 transient"
	RuleTool      = "1 tool"
	RuleStay      = "2 stay"
	RuleGoBack    = "3 go back"
	RuleApproach  = "4 approach"
	RulePath      = "5 path"
	RuleRelease   = "6 release"
)

// The hints a directive for a task may carry.
const (
	HintWait       = "wait"             // the world was in the way: try the same thing later
	HintParameters = "other parameters" // keep the pair, change its parameters
)

// comparison is a failing run of a slot beside the earlier runs of that slot.
type comparison struct {
	run
	slot    string
	earlier []run
	blocked []string // approaches blocked for this slot so far
}

// directive is the first rule that fits.
func (c comparison) directive() message.TaskDirective {
	switch c.kind {
	case kindTransient:
		return c.refine(RuleTransient, HintWait, "a call failed for a reason that passes (timeout, refused, busy); the same again, later")
	case kindTool, kindPermission:
		return c.change(message.ChangeApproach, RuleTool, "what the approach needs is not there or not allowed; another path would need it too", c.pair.Tool)
	}
	known := records(c.earlier)
	mine, seen := recordOf(known, c.pair)
	if c.passes > 0 && (!seen || c.score < mine.best) && !c.hopeless() {
		return c.refine(RuleStay, HintParameters, c.progress(seen))
	}
	if back, ok := c.better(known); ok {
		d := c.order(message.Refine, RuleGoBack, fmt.Sprintf("%s came out worse than %s, which passed something and has not stalled", label(c.pair), label(back.pair)))
		d.ReturnTo, d.Hint = &back.pair, HintParameters
		return release(d, back.pair)
	}
	if c.logical {
		return c.wrongApproach()
	}
	d := c.order(message.ChangePath, RulePath, fmt.Sprintf("%s is not a wrong approach, but it is in the way here", label(c.pair)))
	if c.passes == 0 && c.pair.Target != "" {
		d.BlockedPairs = []message.Pair{c.pair}
	}
	return d
}

// better finds the earlier pair to go back to: the one that came closest, the
// latest on a tie.
func (c comparison) better(known []record) (record, bool) {
	var found record
	ok := false
	for _, k := range known {
		if k.pair == c.pair || !k.passed || k.stalled || k.best >= c.score || k.pair.Tool == "" {
			continue
		}
		if !ok || k.best < found.best || (k.best == found.best && k.last > found.last) {
			found, ok = k, true
		}
	}
	return found, ok
}

// wrongApproach is rule 4: block the approach, and when nothing about the
// verdicts changed, every approach that failed logically.
func (c comparison) wrongApproach() message.TaskDirective {
	n := len(c.earlier)
	if n == 0 || c.earlier[n-1].verdicts != c.verdicts {
		return c.change(message.ChangeApproach, RuleApproach, fmt.Sprintf("%s is the wrong approach", label(c.pair)), c.pair.Tool)
	}
	tools := []string{c.pair.Tool}
	for _, r := range c.earlier {
		if r.logical {
			tools = addNew(tools, r.pair.Tool)
		}
	}
	return c.change(message.BreakSymmetry, RuleApproach,
		fmt.Sprintf("%s is the wrong approach, and nothing changed since the last round: whatever failed by its logic is out", label(c.pair)), tools...)
}

func (c comparison) progress(seen bool) string {
	if seen {
		return fmt.Sprintf("%s is better than ever: %d of %d criteria pass", label(c.pair), c.passes, c.passes+c.fails)
	}
	return fmt.Sprintf("%s passes %d of %d criteria the first time: worth another try with other parameters", label(c.pair), c.passes, c.passes+c.fails)
}

// order is a directive for the task with what is blocked so far.
func (c comparison) order(d message.Directive, rule, because string) message.TaskDirective {
	return message.TaskDirective{Task: c.task, Slot: c.slot, Directive: d, BlockedApproaches: slices.Clone(c.blocked), Rule: rule, Because: because}
}

func (c comparison) refine(rule, hint, because string) message.TaskDirective {
	d := c.order(message.Refine, rule, because)
	d.Hint = hint
	if c.pair.Tool != "" {
		d.Keep = &c.pair
	}
	return release(d, c.pair)
}

// change blocks approaches for this task. What must not be blocked as a whole is
// blocked on this target only.
func (c comparison) change(dir message.Directive, rule, because string, approaches ...string) message.TaskDirective {
	d := c.order(dir, rule, because)
	for _, a := range approaches {
		if blockable(a) {
			d.BlockedApproaches = addNew(d.BlockedApproaches, a)
		}
	}
	if !blockable(c.pair.Tool) && c.pair.Target != "" {
		d.BlockedPairs = []message.Pair{c.pair}
	}
	return d
}

// release takes a pair the task is told to refine out of what is blocked for it.
func release(d message.TaskDirective, keep message.Pair) message.TaskDirective {
	d.BlockedApproaches = without(d.BlockedApproaches, keep.Tool)
	return d
}

// standing repeats the orders of the round before: no plan was made under them.
func (s situation) standing() []message.TaskDirective {
	if d := s.before(); d != nil {
		return slices.Clone(d.TaskDirectives)
	}
	return nil
}

// release sends every task that had orders back to the pair that came closest,
// the one tried least on a tie, with nothing blocked. It is a refinement because
// those are exempt from the rule against plans that were tried before.
func (s situation) release() []message.TaskDirective {
	bySlot := runsBySlot(s.rounds, s.params.Rho)
	out := s.standing()
	for i, t := range out {
		d := message.TaskDirective{Task: t.Task, Slot: t.Slot, Directive: message.Refine, Hint: HintParameters, Rule: RuleRelease,
			Because: "nothing is left to try: the blocks are released"}
		known := slices.DeleteFunc(records(bySlot[t.Slot]), func(r record) bool { return r.pair.Tool == "" })
		if len(known) > 0 {
			back := slices.MinFunc(known, closest).pair
			d.ReturnTo = &back
			d.Because += ", back to " + label(back)
		}
		out[i] = d
	}
	return out
}

func closest(a, b record) int {
	switch {
	case a.best < b.best:
		return -1
	case a.best > b.best:
		return 1
	}
	return a.runs - b.runs
}

// label names a pair for people.
func label(p message.Pair) string {
	switch {
	case p.Tool == "" && p.Target == "":
		return "the attempt"
	case p.Target == "":
		return p.Tool
	case p.Tool == "":
		return p.Target
	}
	return p.Tool + " on " + p.Target
}
