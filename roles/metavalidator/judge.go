package metavalidator

import (
	"context"
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/step"
	"orch/roles/think"
)

// merge joins what the tasks produced. Without a backend, or when it fails,
// the outputs stand side by side: nothing is lost, and the summary says so.
func merge(ctx context.Context, e *step.Env, g blackboard.Goal, outcomes []message.SubTaskOutcome) (output, summary string) {
	plain := fmt.Sprintf("%d of %d tasks matched", len(outcomes), len(outcomes))
	if e.Merger == nil {
		return join(outcomes), plain
	}
	merged, err := e.Merger.Merge(ctx, think.MergeInput{Spec: *g.Spec, Outcomes: outcomes, Values: e.Values})
	if err != nil {
		e.Log("the outputs could not be put into one, they stand side by side: %v", e.Unread(err))
		return join(outcomes), plain + "; " + sideBySide
	}
	e.Spend(merged.Usage)
	return merged.Output, merged.Summary
}

// sideBySide says that no answer was made of several. It says nothing of merges,
// which a coding goal has as well.
const sideBySide = "what each task reported is shown as it is, because it could not be put into one text"

func join(outcomes []message.SubTaskOutcome) string {
	var parts []string
	for _, o := range outcomes {
		if text := strings.TrimSpace(o.Output); text != "" {
			parts = append(parts, fmt.Sprintf("## %s\n\n%s", o.Slot, text))
		}
	}
	return strings.Join(parts, "\n\n")
}

// judgeGoal judges the goal's criteria one by one: by their checks, and what
// has none by what orch recorded of the plan's tasks and, of a coding goal, of
// what was merged.
func judgeGoal(ctx context.Context, e *step.Env, g blackboard.Goal, tasks []blackboard.Task, merged string) ([]message.Verdict, error) {
	w := &step.Weighing{Criteria: g.Plan.TaskCriteria, Advice: map[string]string{}, Ask: think.JudgeInput{
		Intent: g.Spec.Intent + "\n\nIn the person's words: " + g.Spec.RawInput, Output: merged, Sceptical: true,
	}}
	asked := false
	for _, c := range w.Criteria {
		v := step.Unjudged(c)
		if c.HasCheck() {
			v = e.Check(ctx, c)
		}
		w.Verdicts, asked = append(w.Verdicts, v), asked || !c.HasCheck()
	}
	if err := ctx.Err(); err != nil {
		return nil, err // stopped: what a cancelled check said is worth nothing
	}
	before, err := e.BeforeGoal(g)
	if err != nil {
		return nil, err
	}
	if before == nil && !asked {
		return w.Verdicts, nil
	}
	if w.Evidence, err = evidence(ctx, e, tasks, before); err != nil {
		return nil, err
	}
	w.Evidence.Checked(w.Criteria, w.Verdicts, before)
	w.Unproven, w.WasRed = before != nil && step.PlannedByModel(g), before.WasRed
	if err := w.Weigh(ctx, e); err != nil {
		return nil, err
	}
	return w.Verdicts, w.Confirm(ctx, e)
}

// evidence is what a judge of the goal is shown.
func evidence(ctx context.Context, e *step.Env, tasks []blackboard.Task, before *step.Before) (*step.Evidence, error) {
	if e.Change == nil {
		return e.Evidence(ctx, tasks, before)
	}
	diff, err := e.Change(ctx)
	if err != nil {
		return nil, fmt.Errorf("see what was merged: %w", err)
	}
	v, err := e.Evidence(ctx, nil, nil)
	if err == nil {
		v.Read("the diff of what was merged", diff, diffBytes)
	}
	return v, err
}

// diffBytes bounds the diff that a judge is shown.
const diffBytes = 120 << 10
