package agentvalidator

import (
	"cmp"
	"context"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/step"
	"orch/roles/think"
)

// judgeAll judges every criterion by itself. advice says what would satisfy a
// failed one, by criterion id.
func judgeAll(ctx context.Context, e *step.Env, t blackboard.Task, g blackboard.Goal) (verdicts []message.Verdict, advice map[string]string, err error) {
	w := &step.Weighing{Criteria: t.SuccessCriteria, Advice: map[string]string{},
		Ask: think.JudgeInput{Intent: t.Intent, Output: t.Result.Output}}
	for _, c := range t.SuccessCriteria {
		v := step.Unjudged(c)
		switch {
		case t.Result.MustNot != "":
			v, w.Advice[c.ID] = uncounted(c, t)
		case c.HasCheck():
			v = e.Check(ctx, c)
		case t.Result.Status == message.Failed:
			v.FailureClass = cmp.Or(t.Result.Class, message.Logical)
			v.Evidence = cmp.Or(t.Result.Reason, t.Result.Infeasible, "the attempt failed before this could be judged")
		}
		w.Verdicts = append(w.Verdicts, v)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err // stopped: what a cancelled check said is worth nothing
	}
	if t.Result.MustNot == "" {
		err = weigh(ctx, e, t, g, w)
	}
	for i, v := range w.Verdicts {
		w.Verdicts[i] = promote(v, *t.Result)
	}
	return w.Verdicts, w.Advice, err
}

// weigh asks judges about what no check decides, and about what no check proves.
func weigh(ctx context.Context, e *step.Env, t blackboard.Task, g blackboard.Goal, w *step.Weighing) error {
	before, err := e.BeforeTask(t)
	if err != nil {
		return err
	}
	unchecked := slices.ContainsFunc(t.SuccessCriteria, func(c message.Criterion) bool { return !c.HasCheck() })
	if before == nil && !unchecked {
		return nil
	}
	if w.Evidence, err = e.Evidence(ctx, []blackboard.Task{t}, before); err != nil {
		return err
	}
	w.Evidence.Checked(w.Criteria, w.Verdicts, before)
	w.Unproven = before != nil && step.PlannedByModel(g)
	w.WasRed = func(c message.Criterion) bool { return before.WasRed(c) || failedBefore(t, c) }
	if t.Result.Status != message.Failed {
		if err := w.Weigh(ctx, e); err != nil {
			return err
		}
	}
	return w.Confirm(ctx, e)
}

// failedBefore tells whether a criterion failed after an earlier attempt.
func failedBefore(t blackboard.Task, c message.Criterion) bool {
	return slices.ContainsFunc(t.Gaps, func(g message.Gap) bool {
		return slices.ContainsFunc(g.FailedCriteria, func(f message.FailedCriterion) bool { return f.CriterionID == c.ID })
	})
}

// uncounted fails a criterion because of how the attempt went about it. What it
// left in the workspace is judged with the next attempt that keeps to its plan.
func uncounted(c message.Criterion, t blackboard.Task) (v message.Verdict, advice string) {
	v = step.Unjudged(c)
	v.FailureClass, v.Evidence = message.Logical, "nothing of this attempt counts: "+t.Result.MustNot
	return v, "keep to the task's approach, " + cmp.Or(t.Approach, "and to nothing that is forbidden")
}

// promote reads unmistakable evidence of the world being in the way as
// environmental, whatever was said. It never demotes. What a judge writes is no
// evidence: the commands and checks that orch ran have their class and kind.
func promote(v message.Verdict, r message.ExecutionResult) message.Verdict {
	if v.Passed() || v.FailureClass == message.Environmental {
		return v
	}
	if r.Status == message.Failed && r.Class == message.Environmental {
		v.FailureClass = message.Environmental
	}
	return v
}
