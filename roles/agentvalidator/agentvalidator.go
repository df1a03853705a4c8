// Package agentvalidator closes the gap between an attempt and its task's
// criteria: it judges them one by one, corrects while there is budget, and has
// the fast loop's last word.
//
// It promises that each criterion gets a verdict of its own with its own
// evidence, that a check is decided by running it and by nothing else, that
// what a judge passes quotes what orch recorded and is judged twice, that
// matched means every criterion passed and one of them proves that something
// was done, that a criterion nobody could judge is neither passed nor failed,
// and that evidence for the world being in the way is never read as a wrong
// approach, nor the other way round.
//
// It never weighs a result as a whole, never overrides a fail, never executes
// anything but checks, and never plans.
package agentvalidator

import (
	"context"
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/step"
)

// Run reviews one attempt.
func Run(ctx context.Context, e *step.Env) error {
	t, g, err := e.ReadTask(ctx)
	if err != nil {
		return err
	}
	if t.Status != blackboard.ReadyForReview || t.Result == nil || t.ResultRef.ID != e.Key.Cause {
		return step.ErrMoved
	}
	verdicts, advice, err := judgeAll(ctx, e, t, g)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // stopped: what a cancelled check said is worth nothing
	}
	for _, v := range verdicts {
		e.Log("%s %s: %s", v.Verdict, v.Criterion, v.Evidence)
	}
	_, err = e.SayIf(ctx, message.AgentValidator, e.Key.Cause, decide(t, g, verdicts, advice, e.Config.Limits.Corrections), stillReady(t))
	return err
}

func stillReady(t blackboard.Task) func(*blackboard.State) error {
	return func(s *blackboard.State) error {
		now, ok := s.Task(t.ID)
		if !ok || now.Status != blackboard.ReadyForReview || now.ResultRef.ID != t.ResultRef.ID {
			return step.ErrMoved
		}
		return nil
	}
}

// maxCutOffs bounds the attempts of one task that are not counted because they
// were cut off, or waited for a person's word on a call in doubt: something ends
// them each time, and it may be the task.
const maxCutOffs = 20

// decide turns verdicts into the one message of this review. All passed is
// matched, anything else is failed: by counting, not by weighing.
func decide(t blackboard.Task, g blackboard.Goal, verdicts []message.Verdict, advice map[string]string, corrections int) message.Body {
	failed := firstFailed(verdicts)
	if failed == nil && len(verdicts) > 0 {
		return outcome(t, verdicts, message.Matched, "")
	}
	switch {
	case failed == nil:
		return outcome(t, verdicts, message.Failed, "no criterion says when it is done")
	case t.Result.Infeasible != "":
		return outcome(t, verdicts, message.Failed, "infeasible: "+t.Result.Infeasible)
	case t.Corrections-min(t.CutOffs, maxCutOffs) >= corrections: // an attempt that was cut off says nothing of the work
		return outcome(t, verdicts, message.Failed, fmt.Sprintf("%s: %s", failed.Criterion, failed.Evidence))
	}
	what := advice[failed.CriterionID]
	if what == "" {
		what = "meet the criterion: " + failed.Criterion
	}
	return message.CorrectionSignal{
		SubtaskID: t.ID, AttemptNumber: t.Attempt, FailedCriterion: failed.Criterion, FailureClass: failed.FailureClass,
		WhatWasWrong: failed.Evidence, WhatToDo: what, Verdicts: verdicts,
	}
}

// firstFailed prefers a required criterion: it can not be waived.
func firstFailed(verdicts []message.Verdict) *message.Verdict {
	var first *message.Verdict
	for i, v := range verdicts {
		if v.Passed() {
			continue
		}
		if v.Required {
			return &verdicts[i]
		}
		if first == nil {
			first = &verdicts[i]
		}
	}
	return first
}

// outcome is the fast loop's last word, with the whole trajectory.
func outcome(t blackboard.Task, verdicts []message.Verdict, status, reason string) message.SubTaskOutcome {
	o := message.SubTaskOutcome{
		SubtaskID: t.ID, ParentTaskID: t.ParentTaskID, Slot: t.Slot, Approach: t.Approach, Target: t.Target, Status: status,
		Output: step.Cut(produced(*t.Result, verdicts, status), step.OutputBytes), Attempts: t.Attempt, CriteriaVerdicts: verdicts,
		GapTrajectory: t.Gaps, FailedCalls: t.FailedCalls,
	}
	if status != message.Failed {
		return o
	}
	o.FailureReason = &reason
	gap := message.Gap{Attempt: t.Attempt}
	for _, v := range verdicts {
		if !v.Passed() {
			gap.FailedCriteria = append(gap.FailedCriteria, message.FailedCriterion{CriterionID: v.CriterionID, Criterion: v.Criterion, FailureClass: v.FailureClass})
		}
	}
	if n := len(t.Gaps); n == 0 || t.Gaps[n-1].Attempt != t.Attempt {
		o.GapTrajectory = append(append([]message.Gap{}, t.Gaps...), gap)
	}
	return o
}

// produced is what a task hands on. When an attempt calls itself failed and
// meets its criteria all the same, what was judged comes first: its own words
// alone would read as if the task had failed.
func produced(r message.ExecutionResult, verdicts []message.Verdict, status string) string {
	if status != message.Matched || r.Status == message.Completed {
		return r.Output
	}
	var b strings.Builder
	b.WriteString("Judged after the attempt, every criterion is met:\n\n")
	for _, v := range verdicts {
		fmt.Fprintf(&b, "- %s: %s\n", v.Criterion, v.Evidence)
	}
	fmt.Fprintf(&b, "\nThe attempt itself had failed (%s)", r.Reason)
	if out := strings.TrimSpace(r.Output); out != "" {
		fmt.Fprintf(&b, " and said:\n\n%s", out)
	}
	return b.String()
}
