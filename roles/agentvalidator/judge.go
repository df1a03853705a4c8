package agentvalidator

import (
	"cmp"
	"context"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/run/step"
	"orch/roles/think"
)

// judgeAll judges every criterion by itself. advice says what would satisfy a
// failed one, by criterion id.
func judgeAll(ctx context.Context, e *step.Env, t blackboard.Task) (verdicts []message.Verdict, advice map[string]string) {
	advice = map[string]string{}
	for _, c := range t.SuccessCriteria {
		v := message.Verdict{}
		switch {
		case t.Result.MustNot != "":
			v, advice[c.ID] = uncounted(c, t)
		case c.HasCheck():
			v = e.Check(ctx, c)
		default:
			v, advice[c.ID] = weigh(ctx, e, t, c)
		}
		verdicts = append(verdicts, promote(v, *t.Result))
	}
	return verdicts, advice
}

// weigh asks a judge about one criterion that no check can decide. It sees
// that criterion only.
func weigh(ctx context.Context, e *step.Env, t blackboard.Task, c message.Criterion) (v message.Verdict, advice string) {
	v = step.Unjudged(c)
	if t.Result.Status == message.Failed {
		v.FailureClass = cmp.Or(t.Result.Class, message.Logical)
		v.Evidence = cmp.Or(t.Result.Reason, t.Result.Infeasible, "the attempt failed before this could be judged")
		return v, ""
	}
	if e.Judge == nil {
		v.FailureClass, v.Evidence = message.Environmental, "it has no check, and no judge is configured"
		return v, ""
	}
	said, err := e.Judge.Judge(ctx, think.JudgeInput{Criterion: c, Intent: t.Intent, Output: t.Result.Output, ToolCalls: t.Result.ToolCalls, Values: e.Values})
	if err != nil {
		v.FailureClass, v.Evidence = message.Environmental, step.Cut("it could not be judged: "+e.Unread(err).Error(), step.EvidenceBytes)
		return v, ""
	}
	e.Spend(said.Usage)
	return step.Judged(c, said), said.WhatToDo
}

// uncounted fails a criterion because of how the attempt went about it. What it
// left in the workspace is judged with the next attempt that keeps to its plan.
func uncounted(c message.Criterion, t blackboard.Task) (v message.Verdict, advice string) {
	v = step.Unjudged(c)
	v.FailureClass, v.Evidence = message.Logical, "nothing of this attempt counts: "+t.Result.MustNot
	return v, "keep to the task's approach, " + cmp.Or(t.Approach, "and to nothing that is forbidden")
}

// promote reads unmistakable evidence of the world being in the way as
// environmental, whatever was said. It never demotes.
func promote(v message.Verdict, r message.ExecutionResult) message.Verdict {
	if v.Passed() || v.FailureClass == message.Environmental {
		return v
	}
	if r.Status == message.Failed && r.Class == message.Environmental {
		v.FailureClass = message.Environmental
	}
	if v.By == message.ByModel {
		if class, kind := check.Classify(1, v.Evidence); class == check.Environmental {
			v.FailureClass, v.Kind = message.Environmental, string(kind)
		}
	}
	return v
}
