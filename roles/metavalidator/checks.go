package metavalidator

import (
	"context"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/step"
)

// runChecks decides the criteria of the goal that have a check, on what stands
// after a round in which not every task matched. The controller may end a goal
// that is close enough, and must not do so without them. What only a judge could
// decide has no verdict then, which is never a pass.
func runChecks(ctx context.Context, e *step.Env, g blackboard.Goal) ([]message.Verdict, error) {
	if err := whole(ctx, e); err != nil {
		return nil, err
	}
	var verdicts []message.Verdict
	for _, c := range g.Plan.TaskCriteria {
		if c.HasCheck() {
			v := e.Check(ctx, c)
			e.Log("%s %s: %s", v.Verdict, v.Criterion, v.Evidence)
			verdicts = append(verdicts, v)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err // stopped: what a cancelled check said is worth nothing
	}
	return verdicts, whole(ctx, e)
}
