package playbook

import (
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// past is what earlier plans of the goal tell, by slot.
type past struct {
	bySlot     map[string][]think.PreviousTask // oldest first
	directives map[string]message.TaskDirective
	goal       message.Directive // for slots the controller does not name
}

func newPast(in think.PlanInput) past {
	p := past{bySlot: map[string][]think.PreviousTask{}, directives: map[string]message.TaskDirective{}}
	slotOf := map[message.TaskID]string{}
	for _, t := range in.Previous {
		p.bySlot[t.Slot] = append(p.bySlot[t.Slot], t)
		slotOf[t.ID] = t.Slot
	}
	if in.Directive == nil {
		return p
	}
	p.goal = in.Directive.Directive
	for _, d := range in.Directive.TaskDirectives {
		slot := d.Slot
		if slot == "" {
			slot = slotOf[d.Task]
		}
		p.directives[slot] = d
	}
	return p
}

func (p past) last(slot string) (think.PreviousTask, bool) {
	list := p.bySlot[slot]
	if len(list) == 0 {
		return think.PreviousTask{}, false
	}
	return list[len(list)-1], true
}

func (p past) directive(slot string) (message.TaskDirective, bool) {
	d, ok := p.directives[slot]
	return d, ok
}

// evidence is everything earlier failures of the slot said, newest first.
func (p past) evidence(slot string) string {
	var text strings.Builder
	list := p.bySlot[slot]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Status == message.Failed {
			text.WriteString(list[i].Reason + "\n")
		}
	}
	return text.String()
}

// ran counts how often the pair was run in the slot and did not do.
func (p past) ran(slot string, pair message.Pair) int {
	n := 0
	for _, t := range p.bySlot[slot] {
		if t.Status != message.Skipped && t.Approach == pair.Tool && t.Target == pair.Target {
			n++
		}
	}
	return n
}

// failed tells whether the approach failed in the slot; in any slot, if slot is empty.
func (p past) failed(slot, approach string) bool {
	for name, list := range p.bySlot {
		if slot != "" && name != slot {
			continue
		}
		for _, t := range list {
			if t.Status == message.Failed && t.Approach == approach {
				return true
			}
		}
	}
	return false
}
