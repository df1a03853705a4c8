package playbook

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
)

// maxWaitMS bounds the wait before a call is made again.
const maxWaitMS = 30_000

// order is what the controller wants of one slot.
type order struct {
	kind     message.Directive
	slotOnly bool // ordered for this slot, not for the goal
	task     message.TaskDirective
	last     message.Pair // what the slot ran last
	ran      bool
}

func (s *situation) order(slot string) order {
	o := order{kind: s.past.goal}
	if d, ok := s.past.directive(slot); ok {
		o.kind, o.slotOnly, o.task = d.Directive, true, d
	}
	if last, ok := s.past.last(slot); ok {
		o.last, o.ran = message.Pair{Tool: last.Approach, Target: last.Target}, last.Status != message.Skipped
	}
	return o
}

// choices are the options a slot may take now, best first, and why the others
// may not be taken.
func (s *situation) choices(t Subtask) ([]option, []string) {
	o := s.order(t.Slot)
	list := s.options(t)
	reasons := list.excluded
	if len(list.possible) == 0 && len(reasons) == 0 {
		reasons = append(reasons, "none of its approaches has a target here")
	}
	if o.ran && o.kind == message.Refine {
		if same, ok := s.refine(t.Slot, o, list.possible); ok {
			return []option{same}, nil
		}
	}
	var free []option
	for _, c := range list.applicable {
		if why := s.refusal(t.Slot, o, c); why != "" {
			reasons = append(reasons, fmt.Sprintf("%s on %s: %s", c.approach.Name, c.target, why))
			continue
		}
		free = append(free, c)
	}
	if o.ran && o.kind == message.ChangePath {
		slices.SortStableFunc(free, func(a, b option) int {
			return boolOrder(a.approach.Name == o.last.Tool, b.approach.Name == o.last.Tool)
		})
	}
	return free, reasons
}

// refine is the same pair again with the next variant, or the pair to return to.
func (s *situation) refine(slot string, o order, possible []option) (option, bool) {
	want := o.last
	if o.task.Keep != nil {
		want = *o.task.Keep
	}
	if o.task.ReturnTo != nil {
		want = *o.task.ReturnTo
	}
	for _, c := range possible {
		if c.pair() != want || s.banned(slot, o, c) != "" {
			continue
		}
		n := s.past.ran(slot, want)
		c.start = n
		c.why = "the controller says to stay with it"
		if strings.Contains(o.task.Hint, "wait") {
			c.waitMS = min(maxWaitMS, int64(1000)<<min(n, 10))
		}
		return c, true
	}
	return option{}, false
}

// refusal says why an option may not be taken under the order; empty if it may.
func (s *situation) refusal(slot string, o order, c option) string {
	if why := s.banned(slot, o, c); why != "" {
		return why
	}
	if !o.ran {
		return ""
	}
	switch {
	case o.kind == message.ChangeApproach && c.approach.Name == o.last.Tool:
		return "another approach is ordered"
	case o.kind == message.BreakSymmetry && o.slotOnly && s.past.failed(slot, c.approach.Name),
		o.kind == message.BreakSymmetry && !o.slotOnly && s.past.failed("", c.approach.Name),
		o.kind == message.BreakSymmetry && c.approach.Name == o.last.Tool:
		return "an approach that has not failed is ordered"
	}
	if s.past.ran(slot, c.pair()) > 0 {
		return "it was tried already"
	}
	return ""
}

// banned says why constraints or the directive forbid an option.
func (s *situation) banned(slot string, o order, c option) string {
	if ban, ok := s.in.Constraint.Forbidden(slot, c.approach.Name, c.target); ok {
		return fmt.Sprintf("forbidden by %s: %s", ban.Source, ban.Because)
	}
	if slices.Contains(o.task.BlockedApproaches, c.approach.Name) || slices.Contains(o.task.BlockedPairs, c.pair()) {
		return "blocked by the controller"
	}
	return ""
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
