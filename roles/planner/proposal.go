package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/step"
	"orch/roles/think"
)

// defaultPriority is what a task without a priority gets.
const defaultPriority = 100

// Plan is a proposal after code has validated it, with the runtime's ids.
type Plan struct {
	ID           message.PlanID
	Tasks        []message.SubTask
	Kept         []message.TaskID
	TaskCriteria []message.Criterion
}

// normalise fills in what a proposal may leave out: slots, priorities, modes.
// Ids are not part of a proposal, so a model's own never come this far.
func normalise(p think.Proposal) think.Proposal {
	p.Tasks = slices.Clone(p.Tasks)
	unnamed := map[string]int{}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Intent, t.Approach, t.Slot = strings.TrimSpace(t.Intent), strings.TrimSpace(t.Approach), strings.TrimSpace(t.Slot)
		t.SpecRef, t.DoneWhen, t.Scope = strings.TrimSpace(t.SpecRef), strings.TrimSpace(t.DoneWhen), strings.TrimSpace(t.Scope)
		if t.Slot == "" {
			t.Slot = loop.Slug(t.Intent)
			if unnamed[t.Slot]++; unnamed[t.Slot] > 1 {
				t.Slot = fmt.Sprintf("%s_%d", t.Slot, unnamed[t.Slot])
			}
		}
		if t.Priority == 0 {
			t.Priority = defaultPriority
		}
		t.Targets = slices.Clone(t.Targets)
		for k, target := range t.Targets {
			t.Targets[k] = path.Clean(strings.ReplaceAll(target, `\`, "/"))
		}
	}
	return p
}

// assign gives a valid proposal its ids.
func assign(e *step.Env, g blackboard.Goal, id message.PlanID, p think.Proposal, b Basis) (Plan, error) {
	strict := g.Input.Strict || e.Config.Strict
	plan := Plan{ID: id, Kept: p.Keep, TaskCriteria: stillNeeded(criteria(p.TaskCriteria, "goal", true, strict), g)}
	bySlot := map[string]message.TaskID{}
	for _, kept := range p.Keep {
		bySlot[b.Keepable[kept].Slot] = kept
	}
	for _, t := range p.Tasks {
		taskID, err := e.NewID()
		if err != nil {
			return plan, err
		}
		bySlot[t.Slot] = message.TaskID(taskID)
		plan.Tasks = append(plan.Tasks, message.SubTask{
			ID: message.TaskID(taskID), PlanID: id, ParentTaskID: g.ID, Intent: t.Intent, Context: t.Context,
			SuccessCriteria: criteria(t.Criteria, t.Slot, false, strict), Deadline: g.Spec.Constraints.Deadline,
			Sequence: t.Sequence, Approach: t.Approach, Target: t.Target, Action: t.Action, Tools: t.Tools, Targets: t.Targets,
			ReadOnly: t.ReadOnly, Priority: t.Priority, Slot: t.Slot,
			SpecRef: t.SpecRef, DoneWhen: t.DoneWhen, Scope: t.Scope, ExemptFromTests: t.ExemptFromTests,
		})
	}
	for i, t := range p.Tasks {
		for _, slot := range t.DependsOn {
			id, ok := bySlot[slot]
			if !ok {
				id = message.TaskID(slot) // only a plan that is refused has such
			}
			plan.Tasks[i].DependsOn = append(plan.Tasks[i].DependsOn, id)
		}
	}
	return plan, nil
}

// criteria gives proposed criteria their ids and defaults. Whatever code can
// decide is required, and so is every criterion of the goal, unless the
// proposal says otherwise; under strict all are.
func criteria(specs []think.CriterionSpec, scope string, ofGoal, strict bool) []message.Criterion {
	out := make([]message.Criterion, len(specs))
	for i, c := range specs {
		out[i] = message.Criterion{ID: fmt.Sprintf("%s.%d", scope, i+1), Criterion: strings.TrimSpace(c.Text), Mode: c.Mode, Check: c.Check}
		checked := out[i].HasCheck()
		if out[i].Mode == "" {
			out[i].Mode = message.Plausible
			if checked {
				out[i].Mode = message.Verifiable
			}
		}
		out[i].Required = ofGoal || checked
		if c.Required != nil {
			out[i].Required = *c.Required
		}
		out[i].Required = out[i].Required || strict
	}
	return out
}

// part is what of a task makes a plan the same as another.
type part struct{ approach, target, intent string }

// Fingerprint names a plan by its approaches, targets and normalised intents,
// kept tasks included, in any order.
func Fingerprint(p think.Proposal, b Basis) string {
	var parts []part
	for _, t := range p.Tasks {
		parts = append(parts, part{t.Approach, t.Target, t.Intent})
	}
	for _, id := range p.Keep {
		kept := b.Keepable[id]
		parts = append(parts, part{kept.Approach, kept.Target, kept.Intent})
	}
	lines := make([]string, len(parts))
	for i, p := range parts {
		lines[i] = fmt.Sprintf("%q %q %q", p.approach, p.target, strings.Join(strings.Fields(strings.ToLower(p.intent)), " "))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}
