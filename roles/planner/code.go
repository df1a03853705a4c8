package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop/code"
	"orch/roles/run/step"
	"orch/roles/think"
)

// SkipSpecCheckEnv is the variable that, when it says true, lets a spec_ref
// name a file that is not there.
const SkipSpecCheckEnv = "SKIP_SPEC_FILE_CHECK"

// RulePlanReview is the violation of a plan that its reviewer did not accept.
const RulePlanReview = "plan_review"

// specGap is the kind of anomaly of what a spec leaves out.
const specGap = "spec_gap"

// Whether a model looks at a plan before it is worked on.
const planReviewModel = "model"

// NoRepositoryError says that the planner of a coding goal can not see the project.
type NoRepositoryError struct{ Goal message.GoalID }

func (e *NoRepositoryError) Error() string {
	return fmt.Sprintf("the planner of the coding goal %s was given no repository", e.Goal)
}

// planCode takes a proposal for coders through the gates. A draft that misses
// one is written all the same, with what it misses, and the plan as a whole is
// refused.
func planCode(ctx context.Context, e *step.Env, g blackboard.Goal, in think.PlanInput, p think.Proposal, b Basis, m message.DispatchManifest) error {
	b.Code = true
	p = keepMerged(p, b)
	plan, err := assign(e, g, m.PlanID, p, b)
	if err != nil {
		return err
	}
	known := func(id message.TaskID) bool { return slices.Contains(plan.Kept, id) }
	gated, err := gates(ctx, e, plan.Tasks, known)
	if err != nil {
		return err
	}
	violations := Validate(p, b)
	if len(gated) > 0 && len(violations) == 0 {
		if err := writeGated(ctx, e, g.PlanCause.ID, plan.Tasks, gated, known, stillAsked(g)); err != nil {
			return err
		}
	}
	if violations = append(violations, code.Violations(gated, slotsOf(plan.Tasks))...); len(violations) > 0 {
		return reject(ctx, e, g, m.PlanID, violations)
	}
	for i := range plan.Tasks {
		plan.Tasks[i] = code.WithCriteria(plan.Tasks[i])
	}
	if e.Config.Code.PlanReview == planReviewModel {
		said, problems, err := reviewPlan(ctx, e, in, plan)
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			return reject(ctx, e, g, m.PlanID, problems)
		}
		m.PlanReview = said
	}
	if err := noteSpecGaps(ctx, e, g, p.SpecGaps); err != nil {
		return err
	}
	return dispatch(ctx, e, g, plan, Fingerprint(p, b), m)
}

// keepMerged lets every merged task count whose part of the goal is not done
// anew: what is on the integration branch is there, whatever a plan says.
func keepMerged(p think.Proposal, b Basis) think.Proposal {
	p.Keep = slices.Clone(p.Keep)
	for _, plan := range b.Plans {
		for _, t := range plan.Tasks {
			kept, ok := b.Keepable[t.ID]
			again := slices.ContainsFunc(p.Tasks, func(n think.ProposedTask) bool { return n.Slot == kept.Slot })
			if ok && !again && !slices.Contains(p.Keep, t.ID) {
				p.Keep = append(p.Keep, t.ID)
			}
		}
	}
	return p
}

// gates holds drafts against what every coding task must say.
func gates(ctx context.Context, e *step.Env, drafts []message.SubTask, known func(message.TaskID) bool) ([]message.TaskGated, error) {
	if e.Code == nil || e.Code.File == nil {
		return nil, &NoRepositoryError{e.Goal}
	}
	basis := code.Basis{Known: known}
	var failed error
	if !e.Code.SkipSpecCheck {
		there := map[string]bool{}
		basis.SpecExists = func(path string) bool {
			ok, asked := there[path]
			if !asked {
				_, found, err := e.Code.File(ctx, path)
				failed = errors.Join(failed, err)
				ok, there[path] = found, found
			}
			return ok
		}
	}
	gated := code.Gated(drafts, basis)
	if failed != nil {
		return nil, fmt.Errorf("look for the specs of the plan: %w", failed)
	}
	return gated, nil
}

// writeGated puts drafts on the board, with the gates they miss.
func writeGated(ctx context.Context, e *step.Env, cause message.ID, drafts []message.SubTask, gated []message.TaskGated, known func(message.TaskID) bool, holds func(*blackboard.State) error) error {
	there := func(id message.TaskID) bool {
		return known(id) || slices.ContainsFunc(drafts, func(t message.SubTask) bool { return t.ID == id })
	}
	for _, t := range drafts {
		// What does not exist, or would wait for itself, is in the gate's words.
		t.DependsOn = slices.DeleteFunc(slices.Clone(t.DependsOn), func(id message.TaskID) bool { return id == t.ID || !there(id) })
		if _, err := e.SayTo(ctx, message.Planner, message.Coder, cause, t, holds); err != nil {
			return err
		}
	}
	for _, missed := range gated {
		if _, err := e.SayIf(ctx, message.PlanValidator, cause, missed, holds); err != nil {
			return err
		}
	}
	return nil
}

// slotsOf names drafts by their slots.
func slotsOf(drafts []message.SubTask) func(message.TaskID) string {
	return func(id message.TaskID) string {
		if i := slices.IndexFunc(drafts, func(t message.SubTask) bool { return t.ID == id }); i >= 0 {
			return drafts[i].Slot
		}
		return string(id)
	}
}

// reviewPlan asks somebody else what is wrong with a plan that code accepts. If
// nobody who may say so gives an answer that can be used, the error is a
// *think.NotJudgedError.
func reviewPlan(ctx context.Context, e *step.Env, in think.PlanInput, p Plan) (said string, problems []message.Violation, err error) {
	if e.Code.PlanReviewer == nil {
		return "", nil, &step.NoBackendError{Role: "plan-reviewer"}
	}
	word, err := think.NewWord(e.Random)
	if err != nil {
		return "", nil, err
	}
	ask := think.PlanReviewInput{Word: word, Goal: in.Goal, Spec: in.Spec, Code: *in.Code, TaskCriteria: p.TaskCriteria, Tasks: p.Tasks,
		Kept: []think.PreviousTask{}, Values: in.Values}
	for _, t := range in.Previous {
		if slices.Contains(p.Kept, t.ID) {
			ask.Kept = append(ask.Kept, t)
		}
	}
	review, err := e.Code.PlanReviewer.ReviewPlan(ctx, ask)
	e.Spend(review.Usage)
	if _, unusable := errors.AsType[*think.UnusableError](err); unusable {
		return "", nil, &think.NotJudgedError{What: "the plan", Why: e.Unread(err)}
	}
	if err != nil {
		return "", nil, fmt.Errorf("have the plan reviewed: %w", err)
	}
	for _, x := range review.Problems {
		problems = append(problems, message.Violation{Rule: RulePlanReview, What: orElse(x.Slot, "the plan"), Because: strings.TrimSpace(x.Problem + "; " + x.Fix)})
	}
	if !review.Accepted && len(problems) == 0 {
		problems = append(problems, message.Violation{Rule: RulePlanReview, What: "the plan", Because: orElse(review.Reason, "it was not accepted, without a reason")})
	}
	return orElse(review.Reason, "accepted"), problems, nil
}

func orElse(s, instead string) string {
	if strings.TrimSpace(s) == "" {
		return instead
	}
	return s
}

// noteSpecGaps logs what the planner says the spec leaves out: once, since the
// same gap said again with every proposal would look like many.
func noteSpecGaps(ctx context.Context, e *step.Env, g blackboard.Goal, gaps []string) error {
	known := map[string]bool{"": true}
	err := e.Board.View(ctx, func(s *blackboard.State) error {
		for _, a := range s.Anomalies() {
			if a.Kind == specGap && a.Ref.Seq > g.InputRef.Seq {
				known[a.Details["what"]] = true
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look which gaps of the spec are known: %w", err)
	}
	for _, gap := range gaps {
		gap = step.Cut(strings.TrimSpace(gap), step.EvidenceBytes)
		if known[gap] {
			continue
		}
		known[gap] = true
		if _, err := e.Say(ctx, message.Anomaly{Kind: specGap, Details: map[string]string{"what": gap}}); err != nil {
			return err
		}
	}
	return nil
}

// specText is a spec as it is on the integration branch; empty without one.
func specText(ctx context.Context, e *step.Env, ref string) (string, error) {
	path := code.SpecPath(ref)
	if path == "" {
		return "", nil
	}
	if e.Code == nil || e.Code.File == nil {
		return "", &NoRepositoryError{e.Goal}
	}
	raw, _, err := e.Code.File(ctx, path)
	if err != nil {
		return "", fmt.Errorf("read the spec: %w", err)
	}
	return string(raw), nil
}

// raised lists what was found on the way and nobody has answered.
func raised(g blackboard.Goal, task func(message.TaskID) (blackboard.Task, bool)) []think.Raised {
	open := []think.Raised{}
	for _, r := range g.Raised {
		if r.Answer.ID == "" {
			open = append(open, raisedOf(r, task))
		}
	}
	return open
}

func raisedOf(r blackboard.Raised, task func(message.TaskID) (blackboard.Task, bool)) think.Raised {
	t, _ := task(r.Task)
	return think.Raised{Kind: r.Kind, What: r.What, Advice: r.Advice, Severity: r.Severity, Urgency: r.Urgency, By: string(r.Agent), Slot: t.Slot}
}
