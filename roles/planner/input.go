package planner

import (
	"cmp"
	"context"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/step"
	"orch/roles/think"
)

// input is all a backend may read to plan.
func input(ctx context.Context, e *step.Env, g blackboard.Goal) (think.PlanInput, error) {
	in := think.PlanInput{
		Goal: g.ID, Spec: *g.Spec, Playbook: g.Input.Playbook, Workspace: e.Workspace,
		Strict: g.Input.Strict || e.Config.Strict, Constraint: loop.ConstraintsOf(g), Directive: loop.LastDirective(g),
		Values: e.Values,
	}
	var err error
	if in.Facts, in.Lessons, err = told(e, g); err != nil {
		return in, err
	}
	in.Constraint.SetAside = nil // it was about the plan before
	if n := len(g.PlanRejected); n > 0 {
		in.Violations = g.PlanRejected[n-1].Violations
	}
	err = e.Board.View(ctx, func(s *blackboard.State) error {
		in.Previous = previous(g, s.Task)
		if loop.IsCode(g) {
			in.Code = &think.CodePlan{SpecRef: g.Input.Spec, Raised: raised(g, s.Task)}
		}
		return nil
	})
	if err == nil && in.Code != nil {
		in.Code.Spec, err = specText(ctx, e, g.Input.Spec)
	}
	return in, err
}

// previous is what became of the tasks of earlier plans, oldest plan first.
func previous(g blackboard.Goal, task func(message.TaskID) (blackboard.Task, bool)) []think.PreviousTask {
	outcomes := map[message.TaskID]message.SubTaskOutcome{}
	for _, r := range g.Rounds {
		if r.Request != nil {
			for _, o := range r.Request.Outcomes {
				outcomes[o.SubtaskID] = o
			}
		}
	}
	var all []think.PreviousTask
	for _, p := range g.Plans {
		for _, t := range p.Tasks {
			if t.Kept {
				continue // it is in the list with the plan that made it
			}
			prev := think.PreviousTask{ID: t.ID, Slot: t.Slot, Approach: t.Approach, Target: t.Target, Plan: p.ID, Status: message.Skipped}
			now, known := task(t.ID)
			if known {
				prev.Action = now.Action
			}
			o, judged := outcomes[t.ID]
			if known && now.Outcome != nil {
				o, judged = *now.Outcome, true
			}
			if judged {
				prev.Status, prev.Reason = o.Status, why(o)
			}
			if prev.Status == message.Matched && known && !keepable(now) {
				prev.Status, prev.Reason = message.Skipped, "it was left out of a later plan"
			}
			all = append(all, prev)
		}
	}
	return all
}

// keepable tells whether a task of an earlier plan may count in the next one.
func keepable(t blackboard.Task) bool {
	return t.Status == blackboard.Approved || t.Status == blackboard.Merged
}

// why is the evidence a task failed on: what the next plan has to answer.
func why(o message.SubTaskOutcome) string {
	for _, v := range o.CriteriaVerdicts {
		if !v.Passed() && v.Evidence != "" {
			return v.Evidence
		}
	}
	if o.FailureReason != nil {
		return *o.FailureReason
	}
	return ""
}

// basisOf collects what the validator holds a plan against.
func basisOf(ctx context.Context, e *step.Env, g blackboard.Goal, in think.PlanInput) (Basis, error) {
	b := Basis{
		Constraints: in.Constraint, Directive: in.Directive, Plans: g.Plans,
		Tried: map[string][]Tried{}, Keepable: map[message.TaskID]blackboard.PlanTask{},
	}
	for _, r := range g.Rounds {
		if r.Request != nil {
			b.note(*r.Request)
		}
	}
	err := e.Board.View(ctx, func(s *blackboard.State) error {
		for _, p := range g.Plans {
			for _, t := range p.Tasks {
				if now, ok := s.Task(t.ID); ok && keepable(now) {
					b.Keepable[t.ID] = t
				}
			}
		}
		return nil
	})
	return b, err
}

// note remembers the pair each failing task ran and whether it failed
// logically. When all tasks matched and the goal still fell short, nothing
// tells which is to blame: all are, for what the goal's criteria say.
func (b *Basis) note(r message.ReplanRequest) {
	for _, o := range r.Outcomes {
		verdicts := o.CriteriaVerdicts
		switch {
		case o.Status == message.Matched && len(r.FailedSubtasks) == 0:
			verdicts = r.TaskVerdicts
		case o.Status != message.Failed:
			continue
		}
		t := Tried{Approach: o.Approach, Target: o.Target}
		for _, v := range verdicts {
			t.Logical = t.Logical || !v.Passed() && cmp.Or(v.FailureClass, message.Logical) == message.Logical
		}
		b.Tried[o.Slot] = append(b.Tried[o.Slot], t)
	}
}
