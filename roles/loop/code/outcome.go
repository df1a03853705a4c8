package code

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Criteria that every coding task has beside its own.
const (
	criterionReview = "review"
	criterionMerged = "merged"
	mergedText      = "it is merged into the integration branch"
)

// Outcome is what a coding task came to, as the controller measures it. A
// merged task matched with the checks of its approval. Any other that was
// begun has failed: its criteria as the last review saw them, what that review
// blocked on, and whether it fits the integration branch. One that was never
// begun is skipped.
func Outcome(t blackboard.Task) message.SubTaskOutcome {
	o := message.SubTaskOutcome{
		SubtaskID: t.ID, ParentTaskID: t.ParentTaskID, Slot: t.Slot, Approach: t.Approach, Target: t.Target,
		Attempts: t.Attempt, GapTrajectory: t.Gaps, FailedCalls: t.FailedCalls,
	}
	if t.Status == blackboard.Merged {
		o.Status, o.Output = message.Matched, "merged as "+t.Review.MergedAs
		for _, v := range checksOf(t, "", "") {
			if v.Passed() {
				o.CriteriaVerdicts = append(o.CriteriaVerdicts, v)
			}
		}
		o.CriteriaVerdicts = append(o.CriteriaVerdicts, message.Verdict{CriterionID: criterionMerged, Criterion: mergedText,
			Mode: message.Verifiable, Required: true, Verdict: message.Pass, Evidence: o.Output, By: message.ByCode})
		return o
	}
	reason, class := whyNotMerged(t)
	o.FailureReason = &reason
	if t.Fence == 0 && t.Attempt == 0 && t.Status == blackboard.Unclaimed {
		o.Status = message.Skipped
		o.CriteriaVerdicts = checksOf(t, reason, "")
		return o
	}
	o.Status = message.Failed
	o.CriteriaVerdicts = append(checksOf(t, reason, class), complaints(t, reason, class)...)
	return o
}

// checksOf is one verdict for each criterion of the task: that of the last
// review, or a fail for the given reason.
func checksOf(t blackboard.Task, reason string, class message.FailureClass) []message.Verdict {
	var out []message.Verdict
	for _, c := range t.SuccessCriteria {
		v := message.Verdict{CriterionID: c.ID, Criterion: c.Criterion, Mode: c.Mode, Required: c.Required,
			Verdict: message.Fail, FailureClass: class, Evidence: reason, By: message.ByCode}
		if last := t.Review.Verdict; last != nil {
			if i := slices.IndexFunc(last.Checks, func(v message.Verdict) bool { return v.CriterionID == c.ID }); i >= 0 {
				v = last.Checks[i]
			}
		}
		out = append(out, v)
	}
	return out
}

// complaints are the verdicts on what no criterion of the task says.
func complaints(t blackboard.Task, reason string, class message.FailureClass) []message.Verdict {
	fail := func(id, criterion, evidence string) message.Verdict {
		return message.Verdict{CriterionID: id, Criterion: criterion, Mode: message.Verifiable, Required: true,
			Verdict: message.Fail, FailureClass: class, Evidence: evidence, By: message.ByCode}
	}
	if len(t.Review.Pending) > 0 {
		var names []string
		for _, b := range t.Review.Pending {
			names = append(names, b.Name())
		}
		return []message.Verdict{fail(criterionReview, "nothing blocks its approval", oneLine(strings.Join(names, "; "), 1000))}
	}
	return []message.Verdict{fail(criterionMerged, mergedText, reason)}
}

// whyNotMerged says what stopped a task, and whether the world or the work was
// in the way.
func whyNotMerged(t blackboard.Task) (string, message.FailureClass) {
	switch {
	case t.Status == blackboard.Unclaimed && t.Fence == 0:
		return "never started: a task it waits for failed", ""
	case t.BlockedKind == message.BlockedEnvironment:
		return "blocked: " + t.BlockedReason, message.Environmental
	case t.Review.IntegrationN > 0 && t.Review.Integration != nil && len(t.Review.Integration.Conflict) > 0:
		return fmt.Sprintf("it conflicts with the integration branch in %s", strings.Join(t.Review.Integration.Conflict, ", ")), message.Logical
	case t.Review.IntegrationN > 0 && t.Review.Integration != nil:
		return fmt.Sprintf("%s fails on the merged tree", t.Review.Integration.Command), message.Logical
	case t.BlockedReason != "":
		return "blocked: " + t.BlockedReason, message.Logical
	}
	return fmt.Sprintf("it ended as %s, not merged", t.Status), message.Logical
}
