package step

import (
	"context"

	"orch/blackboard/message"
	"orch/roles/act/check"
)

// Check decides a criterion by running its check. A check that can not be run
// is a fail with class environmental, never a pass.
func (e *Env) Check(ctx context.Context, c message.Criterion) message.Verdict {
	v := Unjudged(c)
	v.By = message.ByCode
	parsed, err := check.Decode(c.Check)
	if err != nil {
		v.FailureClass, v.Evidence = message.Environmental, "the check can not be read: "+err.Error()
		return v
	}
	found := e.Checks(ctx, parsed)
	v.Evidence = Cut(found.Evidence, EvidenceBytes)
	if found.Pass {
		v.Verdict, v.FailureClass = message.Pass, ""
		if v.Evidence == "" {
			v.Evidence = "the check passed"
		}
		return v
	}
	v.FailureClass = message.FailureClass(found.Class)
	if v.FailureClass == "" {
		v.FailureClass = message.Logical
	}
	if found.Kind != check.KindNone {
		v.Kind = string(found.Kind)
	}
	return v
}

// Unjudged is the verdict of a criterion before anything spoke for it: a fail.
func Unjudged(c message.Criterion) message.Verdict {
	return message.Verdict{
		CriterionID: c.ID, Criterion: c.Criterion, Mode: c.Mode, Required: c.Required,
		Verdict: message.Fail, FailureClass: message.Logical, By: message.ByCode,
	}
}
