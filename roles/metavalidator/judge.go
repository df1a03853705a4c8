package metavalidator

import (
	"context"
	"fmt"
	"slices"
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
		e.Log("merging failed, the outputs stand side by side: %v", e.Unread(err))
		return join(outcomes), plain + "; they could not be merged and stand side by side"
	}
	e.Spend(merged.Usage)
	return merged.Output, merged.Summary
}

func join(outcomes []message.SubTaskOutcome) string {
	var parts []string
	for _, o := range outcomes {
		if text := strings.TrimSpace(o.Output); text != "" {
			parts = append(parts, fmt.Sprintf("## %s\n\n%s", o.Slot, text))
		}
	}
	return strings.Join(parts, "\n\n")
}

// judged is what a judge is shown: what the tasks produced and, of a coding
// goal, what was merged of it.
func judged(ctx context.Context, e *step.Env, g blackboard.Goal, merged string) (string, error) {
	asked := slices.ContainsFunc(g.Plan.TaskCriteria, func(c message.Criterion) bool { return !c.HasCheck() })
	if e.Change == nil || !asked {
		return merged, nil
	}
	diff, err := e.Change(ctx)
	if err != nil {
		return "", fmt.Errorf("see what was merged: %w", err)
	}
	return merged + "\n\n## What was merged\n\n" + step.Cut(diff, step.AllBytes), nil
}

// judgeGoal judges the goal's criteria one by one. When all of them pass and
// some on a model's word alone, those are judged again, independently: a
// disagreement is a fail, since accepting a wrong result is worse than one
// more round.
func judgeGoal(ctx context.Context, e *step.Env, g blackboard.Goal, merged string) []message.Verdict {
	var verdicts []message.Verdict
	passed := true
	for _, c := range g.Plan.TaskCriteria {
		v := judgeOne(ctx, e, g, c, merged, false)
		verdicts = append(verdicts, v)
		passed = passed && v.Passed()
	}
	if !passed {
		return verdicts
	}
	for i, c := range g.Plan.TaskCriteria {
		if verdicts[i].By != message.ByModel {
			continue
		}
		again := judgeOne(ctx, e, g, c, merged, true)
		again.Second = true
		if !again.Passed() {
			again.Evidence = step.Cut("a second, independent judgement disagrees: "+again.Evidence, step.EvidenceBytes)
			verdicts[i] = again
			continue
		}
		verdicts[i].Second = true
	}
	return verdicts
}

func judgeOne(ctx context.Context, e *step.Env, g blackboard.Goal, c message.Criterion, merged string, second bool) message.Verdict {
	if c.HasCheck() {
		return e.Check(ctx, c)
	}
	v := step.Unjudged(c)
	if e.Judge == nil {
		v.FailureClass, v.Evidence = message.Environmental, "it has no check, and no judge is configured"
		return v
	}
	said, err := e.Judge.Judge(ctx, think.JudgeInput{
		Criterion: c, Intent: g.Spec.Intent + "\n\nIn the person's words: " + g.Spec.RawInput, Output: merged, Sceptical: true, Second: second, Values: e.Values,
	})
	if err != nil {
		v.FailureClass, v.Evidence = message.Environmental, step.Cut("it could not be judged: "+e.Unread(err).Error(), step.EvidenceBytes)
		return v
	}
	e.Spend(said.Usage)
	return step.Judged(c, said)
}
