package blackboard

import (
	"cmp"
	"math"
	"slices"

	"orch/blackboard/message"
)

// planTally is what the board counts of one plan, so that nobody has to look
// at its tasks to know which of them may start.
type planTally struct {
	Goal   message.GoalID `json:"goal"`
	ID     message.PlanID `json:"id"`
	State  planState      `json:"state,omitempty"`
	Drafts int            `json:"drafts"`
	Levels []level        `json:"levels,omitempty"` // ascending by sequence
}

type planState string

// A plan takes drafts until it is committed or dropped.
const (
	planCommitted planState = "committed"
	planDropped   planState = "dropped"
)

// level counts the tasks of one sequence that are part of the plan.
type level struct {
	Sequence int `json:"sequence"`
	Total    int `json:"total"`
	Done     int `json:"done"`
}

// frontier is the highest sequence whose tasks may start.
func (p *planTally) frontier() int {
	if p != nil {
		for _, l := range p.Levels {
			if l.Done < l.Total {
				return l.Sequence
			}
		}
	}
	return math.MaxInt
}

// count adds n times the task to the plan. SUPERSEDED tasks are no longer part
// of it; ABANDONED ones are, and are never done.
func (p *planTally) count(t *Task, n int) {
	switch t.Status {
	case Draft:
		p.Drafts += n
		return
	case Superseded, Void:
		return
	}
	i, found := slices.BinarySearchFunc(p.Levels, t.Sequence, func(l level, seq int) int { return cmp.Compare(l.Sequence, seq) })
	p.Levels = slices.Clone(p.Levels)
	if !found {
		p.Levels = slices.Insert(p.Levels, i, level{Sequence: t.Sequence})
	}
	p.Levels[i].Total += n
	if t.done() {
		p.Levels[i].Done += n
	}
	if p.Levels[i].Total == 0 {
		p.Levels = slices.Delete(p.Levels, i, i+1)
	}
}

// settle brings the counts in line with the tasks the message changed, and
// finds out which tasks have begun or ceased to wait.
func (x *tx) settle() {
	touched := slices.Clone(x.tasks.keys)
	again := slices.Clone(touched)
	var plans []string
	for _, key := range touched {
		old, now := x.s.tasks.get(key), x.tasks.rows[key]
		if old != nil && old.Status == now.Status {
			continue
		}
		x.recount(old, now)
		if now.PlanID != "" {
			if pk := planKey(now.Goal, now.PlanID); !slices.Contains(plans, pk) {
				plans = append(plans, pk)
			}
		}
		if (old != nil && old.done()) != now.done() {
			for _, dep := range x.s.tasks.scan("task.dependent", key+sep) {
				again = append(again, dep)
			}
		}
	}
	for _, pk := range plans {
		again = append(again, x.regated(pk)...)
	}
	for _, key := range again {
		t := x.tasks.peek(key)
		if t == nil {
			continue // the base could not be read; prepare refuses
		}
		if waits := claimableStatus(t.Status) && x.waits(t); waits != t.Waiting {
			x.tasks.edit(key).Waiting = waits
		}
	}
}

func (x *tx) recount(old, now *Task) {
	keys := []string{wholeBoard}
	if now.Goal != "" {
		keys = append(keys, tallyKey(now.Goal))
	}
	for _, key := range keys {
		t := x.tallies.edit(key)
		if t == nil {
			t = &tally{}
			x.tallies.put(key, t)
		}
		if old != nil {
			t.add(old.Status, -1)
		}
		t.add(now.Status, 1)
	}
	if now.PlanID == "" {
		return
	}
	p := x.plan(now.Goal, now.PlanID)
	if old != nil {
		p.count(old, -1)
	}
	p.count(now, 1)
}

// plan returns the staged tally of a plan, and makes one if there is none.
func (x *tx) plan(goal message.GoalID, id message.PlanID) *planTally {
	key := planKey(goal, id)
	p := x.plans.edit(key)
	if p == nil {
		p = &planTally{Goal: goal, ID: id}
		x.plans.put(key, p)
	}
	return p
}

// regated lists the tasks of a plan that a moved frontier lets start, or holds back.
func (x *tx) regated(pk string) []string {
	before, now := x.s.plans.get(pk).frontier(), x.plans.peek(pk)
	low, high := min(before, now.frontier()), max(before, now.frontier())
	var out []string
	for _, l := range now.Levels {
		if l.Sequence <= low || l.Sequence > high {
			continue
		}
		for _, key := range x.s.tasks.scan("task.plan", pk+sep+seqKey(l.Sequence)) {
			out = append(out, key)
		}
	}
	return out
}

// waits tells whether a task's dependencies or lower sequences are not done.
func (x *tx) waits(t *Task) bool {
	if t.PlanID != "" && t.Sequence > x.plans.peek(planKey(t.Goal, t.PlanID)).frontier() {
		return true
	}
	for _, id := range t.DependsOn {
		if dep := x.tasks.peek(string(id)); dep == nil || !dep.done() {
			return true
		}
	}
	return false
}
