// Package planner owns the path from a goal to its result: it asks the memory,
// has a backend propose tasks, and lets code decide whether the proposal may run.
// For a coding goal it also owns the answers to what comes up while the plan is
// worked on: blocked tasks, work that does not fit, discoveries.
//
// It promises that the memory is asked before every plan, that ids are the
// runtime's, that no plan with a violation is dispatched, and that a refused
// proposal says why. A plan becomes work all at once, by its manifest: a crash
// before that leaves drafts, which become void. A draft for a coder passes every
// gate before it is worked on, also one that replaces another task; and where
// nothing is to be planned or answered, nobody is asked.
//
// It never executes, judges, or chooses the kind of change after a failed
// round: that is the controller's, and the validator here sees that it is obeyed.
package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/step"
	"orch/roles/think"
)

// RuleNoApproachLeft is the violation of a plan that could not even be
// proposed; the controller releases what it blocked when it sees it.
const RuleNoApproachLeft = "no_approach_left"

// RuleUnusable is the violation of a proposal that could not be read.
const RuleUnusable = "unusable_answer"

// Run does one activation: the question to the memory, one plan, or the answer
// to one thing that woke the planner of a coding goal.
func Run(ctx context.Context, e *step.Env) error {
	if e.Planner == nil {
		return &step.NoBackendError{Role: message.Planner}
	}
	g, err := e.ReadGoal(ctx)
	if err != nil {
		return err
	}
	switch {
	case g.Status != blackboard.GoalOpen || g.Spec == nil:
		return step.ErrMoved
	case g.PlanCause.ID == "":
		return answerWake(ctx, e, g)
	case g.Calibration.Cause != g.RoundCause.ID:
		return ask(ctx, e, g)
	case g.Calibration.Reply.ID == "":
		return step.ErrMoved
	}
	return plan(ctx, e, g)
}

// ask queries the memory about the intent and every pair a plan could use.
func ask(ctx context.Context, e *step.Env, g blackboard.Goal) error {
	in, err := input(ctx, e, g)
	if err != nil {
		return err
	}
	candidates, err := e.Planner.Candidates(ctx, in)
	if err != nil {
		return fmt.Errorf("list candidates: %w", err)
	}
	_, err = e.SayAs(ctx, message.Planner, g.RoundCause.ID, message.MemoryQuery{
		Space: loop.IntentSpace(g.Spec.Intent), Entity: loop.LocalEntity, Tags: g.Spec.Tags, Candidates: candidates,
	})
	return err
}

func plan(ctx context.Context, e *step.Env, g blackboard.Goal) error {
	in, err := input(ctx, e, g)
	if err != nil {
		return err
	}
	id, err := e.NewID()
	if err != nil {
		return err
	}
	proposal, err := propose(ctx, e, &in)
	memory := memoryNote(g, in.Constraint.SetAside, e.Config.Memory.Off)
	e.Log("%s", memory)
	var none *think.NoPlanError
	var unusable *think.UnusableError
	switch {
	case errors.As(err, &none):
		return reject(ctx, e, g, message.PlanID(id), exhaustion(none))
	case errors.As(err, &unusable):
		e.Spend(proposal.Usage)
		because := step.Cut(e.Unread(err).Error(), step.EvidenceBytes)
		return reject(ctx, e, g, message.PlanID(id), []message.Violation{{Rule: RuleUnusable, What: "the plan", Because: because}})
	case err != nil:
		return fmt.Errorf("propose a plan: %w", err)
	}
	e.Spend(proposal.Usage)
	proposal = normalise(proposal)
	basis, err := basisOf(ctx, e, g, in)
	if err != nil {
		return err
	}
	m := message.DispatchManifest{
		PlanID: message.PlanID(id), TaskID: g.ID, TaskSpec: *g.Spec, Backend: e.PlannedBy, Playbook: proposal.Source, Memory: memory,
		MemorySetAside: in.Constraint.SetAside,
	}
	if in.Code != nil {
		return planCode(ctx, e, g, in, proposal, basis, m)
	}
	if violations := Validate(proposal, basis); len(violations) > 0 {
		return reject(ctx, e, g, m.PlanID, violations)
	}
	p, err := assign(e, g, m.PlanID, proposal, basis)
	if err != nil {
		return err
	}
	return dispatch(ctx, e, g, p, Fingerprint(proposal, basis), m)
}

// propose asks the backend for a plan. What the memory advises against is
// experience, and worlds change: where it leaves nothing to try, a second
// proposal is asked for that may go against it in the slots that need it.
func propose(ctx context.Context, e *step.Env, in *think.PlanInput) (think.Proposal, error) {
	proposal, err := e.Planner.Plan(ctx, *in)
	var none *think.NoPlanError
	if !errors.As(err, &none) || len(none.Slots) == 0 || !slices.ContainsFunc(in.Constraint.MustNot, fromMemory) {
		return proposal, err
	}
	again := *in
	again.Constraint.SetAside = none.Slots
	proposal, second := e.Planner.Plan(ctx, again)
	if second != nil {
		return proposal, err // the memory was not the reason
	}
	*in = again
	return proposal, nil
}

func fromMemory(b think.Ban) bool { return b.Source == think.FromMemory }

func exhaustion(none *think.NoPlanError) []message.Violation {
	if len(none.Slots) == 0 {
		return []message.Violation{{Rule: RuleNoApproachLeft, What: "the goal", Because: none.Why}}
	}
	var all []message.Violation
	for _, slot := range none.Slots {
		all = append(all, message.Violation{Rule: RuleNoApproachLeft, What: slot, Because: none.Why})
	}
	return all
}

// reject says why code refused the proposal. The planner is activated again
// with that; after the third refusal the controller is.
func reject(ctx context.Context, e *step.Env, g blackboard.Goal, id message.PlanID, violations []message.Violation) error {
	for _, v := range violations {
		e.Log("plan refused: %s: %s: %s", v.Rule, v.What, v.Because)
	}
	_, err := e.SayIf(ctx, message.PlanValidator, g.PlanCause.ID, message.PlanRejected{
		PlanID: id, Attempt: len(g.PlanRejected) + 1, Violations: violations,
	}, stillAsked(g))
	return err
}

// dispatch writes the drafts and then the manifest that makes them work.
func dispatch(ctx context.Context, e *step.Env, g blackboard.Goal, p Plan, fingerprint string, m message.DispatchManifest) error {
	for _, t := range p.Tasks {
		if _, err := e.SayTo(ctx, message.Planner, doerOf(g), g.PlanCause.ID, t, stillAsked(g)); err != nil {
			return err
		}
		m.SubtaskIDs = append(m.SubtaskIDs, t.ID)
	}
	m.Kept, m.TaskCriteria, m.Fingerprint = p.Kept, p.TaskCriteria, fingerprint
	m.DispatchedAt = e.Clock.Now().UTC()
	_, err := e.SayIf(ctx, message.Planner, g.PlanCause.ID, m, stillAsked(g))
	return err
}

// doerOf is who works on the goal's tasks.
func doerOf(g blackboard.Goal) message.Role {
	if loop.IsCode(g) {
		return message.Coder
	}
	return message.Executor
}

// stillAsked holds while the goal waits for exactly this plan.
func stillAsked(g blackboard.Goal) func(*blackboard.State) error {
	return func(s *blackboard.State) error {
		now, ok := s.Goal(g.ID)
		if !ok || now.Status == blackboard.GoalEnded || now.PlanCause.ID != g.PlanCause.ID {
			return step.ErrMoved
		}
		return nil
	}
}

// memoryNote says in one sentence what of the memory the plan rests on.
func memoryNote(g blackboard.Goal, setAside []string, off bool) string {
	a := g.Calibration.Answer
	if off {
		return "the memory is off: planned without it"
	}
	if a == nil {
		return "the memory gave no answer: planned without it, and with what a person told it"
	}
	if len(setAside) > 0 {
		return fmt.Sprintf("the memory advises against all there is for %s: planned against its advice", strings.Join(setAside, ", "))
	}
	c := loop.ConstraintsOf(blackboard.Goal{Calibration: g.Calibration})
	var known []string
	for _, k := range []struct {
		what string
		n    int
	}{{"avoids", len(c.MustNot)}, {"prefers", len(c.Prefer)}, {"careful with", len(c.Caution)}, {"rules", len(a.SOPs)}} {
		if k.n > 0 {
			known = append(known, fmt.Sprintf("%s %d", k.what, k.n))
		}
	}
	return strings.Join(known, ", ")
}
