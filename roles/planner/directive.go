package planner

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// directive sees that the change the controller ordered was made. It never
// asks whether the change is a good one.
func (v *violations) directive() {
	d := v.b.Directive
	if d == nil {
		return
	}
	if d.Policy == message.LikeForLike {
		for _, order := range d.TaskDirectives {
			if t, ok := v.proposed(order.Slot); ok {
				v.obeys(t, order)
			}
		}
		return
	}
	switch d.Directive {
	case message.BreakSymmetry:
		for _, t := range v.p.Tasks {
			v.disjoint(t, v.failedAnywhere())
		}
	case message.ChangeApproach, message.ChangePath:
		v.different(d.Directive)
	}
}

func (v *violations) proposed(slot string) (think.ProposedTask, bool) {
	i := slices.IndexFunc(v.p.Tasks, func(t think.ProposedTask) bool { return t.Slot == slot })
	if i < 0 {
		return think.ProposedTask{}, false
	}
	return v.p.Tasks[i], true
}

// obeys holds one task against the order for its slot.
func (v *violations) obeys(t think.ProposedTask, order message.TaskDirective) {
	tried := v.b.Tried[t.Slot]
	var last Tried
	if len(tried) > 0 {
		last = tried[len(tried)-1]
	}
	switch order.Directive {
	case message.Refine:
		stay := order.Keep
		if order.ReturnTo != nil {
			stay = order.ReturnTo
		}
		if stay != nil && t.Approach != stay.Tool {
			v.add(RuleDirective, t.Slot, "refine orders to stay with %q, the plan uses %q", stay.Tool, t.Approach)
		}
	case message.ChangePath:
		if len(tried) > 0 && t.Approach == last.Approach && t.Target == last.Target {
			v.add(RuleDirective, t.Slot, "change_path orders another target than %q for %q", t.Target, t.Approach)
		}
	case message.ChangeApproach:
		if len(tried) > 0 && t.Approach == last.Approach {
			v.add(RuleDirective, t.Slot, "change_approach orders another approach than %q", t.Approach)
		}
	case message.BreakSymmetry:
		v.disjoint(t, failedLogically(tried))
	}
}

func failedLogically(tried []Tried) []string {
	var approaches []string
	for _, x := range tried {
		if x.Logical {
			approaches = append(approaches, x.Approach)
		}
	}
	return approaches
}

func (v *violations) failedAnywhere() []string {
	var approaches []string
	for _, tried := range v.b.Tried {
		for _, x := range tried {
			approaches = append(approaches, x.Approach)
		}
	}
	return approaches
}

func (v *violations) disjoint(t think.ProposedTask, failed []string) {
	if slices.Contains(failed, t.Approach) {
		v.add(RuleSymmetry, t.Slot, "break_symmetry orders an approach that has not failed yet, %q has", t.Approach)
	}
}

// different refuses a plan that does with other words what the last one did.
func (v *violations) different(order message.Directive) {
	if len(v.b.Plans) == 0 {
		return
	}
	var before, now []string
	for _, t := range v.b.Plans[len(v.b.Plans)-1].Tasks {
		before = append(before, fmt.Sprintf("%q on %q", t.Approach, t.Target))
	}
	for _, t := range v.p.Tasks {
		now = append(now, fmt.Sprintf("%q on %q", t.Approach, t.Target))
	}
	for _, id := range v.p.Keep {
		kept := v.b.Keepable[id]
		now = append(now, fmt.Sprintf("%q on %q", kept.Approach, kept.Target))
	}
	slices.Sort(before)
	slices.Sort(now)
	if slices.Equal(before, now) {
		v.add(RuleDirective, "the plan", "%s orders a change, the plan repeats %s", order, strings.Join(now, ", "))
	}
}
