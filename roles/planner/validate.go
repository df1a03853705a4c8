package planner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/think"
)

// MaxTasks bounds one plan.
const MaxTasks = 100

// MaxCodeTasks bounds one plan of the coding profile, whose tasks are small and
// wait for each other by name.
const MaxCodeTasks = 1000

// Tried is a pair a slot has failed with.
type Tried struct {
	Approach, Target string
	Logical          bool // at least one criterion failed because the approach was wrong
}

// Basis is what a proposal is held against.
type Basis struct {
	Constraints think.Constraints
	Directive   *message.PlanDirective // nil for the first plan
	Plans       []blackboard.Plan      // committed before; all of them fell short
	Tried       map[string][]Tried     // by slot, oldest first
	Keepable    map[message.TaskID]blackboard.PlanTask
	Code        bool // of the coding profile: what the gates ask is left to them
}

// Rules a proposal can break.
const (
	RuleEmpty         = "no_tasks"
	RuleTooMany       = "too_many_tasks"
	RuleIntent        = "no_intent"
	RuleApproach      = "no_approach"
	RuleSlot          = "duplicate_slot"
	RuleSequence      = "bad_sequence"
	RuleCriteria      = "no_criteria"
	RuleCriterion     = "criterion_not_falsifiable"
	RuleCheck         = "bad_check"
	RuleMustNot       = "must_not"
	RuleSamePlan      = "same_plan"
	RuleSymmetry      = "symmetry_not_broken"
	RuleDirective     = "directive_not_obeyed"
	RuleKeep          = "keep_not_approved"
	RuleDependency    = "unknown_dependency"
	RuleCycle         = "dependency_cycle"
	RuleTargetOutside = "target_outside_workspace"
	RuleScope         = "target_out_of_scope"
)

// Validate lists everything that forbids to dispatch a proposal. It is the plan
// validator: pure, and the last word, whatever proposed the plan.
func Validate(p think.Proposal, b Basis) []message.Violation {
	v := &violations{p: p, b: b}
	v.shape()
	v.criteriaOf("the goal", p.TaskCriteria)
	for _, t := range p.Tasks {
		v.task(t)
	}
	v.kept()
	v.dependencies()
	v.fingerprint()
	v.directive()
	return v.list
}

type violations struct {
	p    think.Proposal
	b    Basis
	list []message.Violation
}

func (v *violations) add(rule, what, because string, args ...any) {
	v.list = append(v.list, message.Violation{Rule: rule, What: what, Because: fmt.Sprintf(because, args...)})
}

func (v *violations) shape() {
	if len(v.p.Tasks) == 0 {
		v.add(RuleEmpty, "the plan", "it has no task that was not done before")
	}
	most := MaxTasks
	if v.b.Code {
		most = MaxCodeTasks
	}
	if n := len(v.p.Tasks); n > most {
		v.add(RuleTooMany, "the plan", "it has %d tasks, allowed are %d", n, most)
	}
	slots := map[string]bool{}
	for _, id := range v.p.Keep {
		slots[v.b.Keepable[id].Slot] = true
	}
	for _, t := range v.p.Tasks {
		if slots[t.Slot] {
			v.add(RuleSlot, t.Slot, "two tasks do the same part of the goal")
		}
		slots[t.Slot] = true
	}
}

func (v *violations) task(t think.ProposedTask) {
	if t.Intent == "" {
		v.add(RuleIntent, t.Slot, "the task does not say what it is for")
	}
	if t.Approach == "" {
		v.add(RuleApproach, t.Slot, "without an approach nothing could be blocked or learned")
	}
	if t.Sequence < 0 {
		v.add(RuleSequence, t.Slot, "sequence %d is negative", t.Sequence)
	}
	if !v.b.Code || len(t.Criteria) > 0 { // a coding task has its done_when
		v.criteriaOf(t.Slot, t.Criteria)
	}
	for _, target := range t.Targets {
		if why := outside(target); why != "" {
			v.add(RuleTargetOutside, t.Slot, "target %q %s", target, why)
		} else if v.b.Constraints.OutOfScope(target) && !t.ReadOnly && len(t.Action) == 0 {
			v.add(RuleScope, t.Slot, "target %q is outside the scope of the goal: %s", target, strings.Join(v.b.Constraints.Scope, ", "))
		}
	}
	if ban, forbidden := v.b.Constraints.Forbidden(t.Slot, t.Approach, t.Target); forbidden {
		v.add(RuleMustNot, t.Slot, "%s on %q is blocked by %s: %s", t.Approach, t.Target, ban.Source, ban.Because)
	}
}

// kept sees that only approved work is counted as done.
func (v *violations) kept() {
	for _, id := range v.p.Keep {
		if _, ok := v.b.Keepable[id]; !ok {
			v.add(RuleKeep, string(id), "only approved tasks of earlier plans can be kept")
		}
	}
}

// fingerprint refuses a plan that already fell short, unless the controller
// ordered to run the same again with other parameters.
func (v *violations) fingerprint() {
	if v.refines() {
		return
	}
	print := Fingerprint(v.p, v.b)
	for i, old := range v.b.Plans {
		if old.Fingerprint == print {
			v.add(RuleSamePlan, "the plan", "it is the same as plan %d, which fell short", i+1)
			return
		}
	}
}

// refines tells whether a task of the plan is one the controller ordered to refine.
func (v *violations) refines() bool {
	d := v.b.Directive
	if d == nil {
		return false
	}
	if d.Policy != message.LikeForLike {
		return d.Directive == message.Refine
	}
	return slices.ContainsFunc(d.TaskDirectives, func(t message.TaskDirective) bool {
		_, proposed := v.proposed(t.Slot)
		return t.Directive == message.Refine && proposed
	})
}

// dependencies sees that every dependency exists and none leads back.
func (v *violations) dependencies() {
	needs, sequence := map[string][]string{}, map[string]int{}
	for _, t := range v.p.Tasks {
		needs[t.Slot], sequence[t.Slot] = t.DependsOn, t.Sequence
	}
	for _, id := range v.p.Keep {
		if kept, ok := v.b.Keepable[id]; ok {
			needs[kept.Slot], sequence[kept.Slot] = nil, math.MinInt
		}
	}
	for _, t := range v.p.Tasks {
		for _, on := range t.DependsOn {
			if _, ok := needs[on]; !ok {
				if v.b.Code {
					continue
				}
				v.add(RuleDependency, t.Slot, "it depends on %q, which is not in the plan", on)
			} else if sequence[on] > t.Sequence {
				v.add(RuleDependency, t.Slot, "it depends on %q, which runs later", on)
			}
		}
	}
	if v.b.Code {
		return
	}
	var path []string
	done := map[string]bool{}
	var walk func(slot string) bool
	walk = func(slot string) bool {
		if slices.Contains(path, slot) {
			v.add(RuleCycle, slot, "it depends on itself through %v", append(path, slot))
			return false
		}
		if done[slot] {
			return true
		}
		done[slot] = true
		path = append(path, slot)
		defer func() { path = path[:len(path)-1] }()
		for _, next := range needs[slot] {
			if !walk(next) {
				return false
			}
		}
		return true
	}
	for _, t := range v.p.Tasks {
		if !walk(t.Slot) {
			return
		}
	}
}
