package code

import (
	"orch/blackboard"
	"orch/blackboard/message"
)

// Names of a sprint's metrics. Rates are in [0, 1]; a rate of nothing is 0.
const (
	MetricPlanned      = "planned_tasks"
	MetricPlannedDone  = "planned_done"      // planned tasks that were merged, or approved outside the coding profile
	MetricStretchDone  = "stretch_done"      // of the stretch tasks
	MetricApprovalRate = "approval_rate"     // approvals of all verdicts
	MetricFirstPass    = "first_pass_rate"   // tasks approved at their first review, of all approvals
	MetricIntegration  = "integration_rate"  // merges of all attempts to integrate
	MetricBlocked      = "blocked"           // blocks
	MetricDrift        = "drift"             // rescopes, merged work out of scope and spec changes, a planned task
	MetricOutOfScope   = "out_of_scope_done" // merged tasks that were neither planned nor stretch
)

// Metrics are the figures of a sprint.
func Metrics(s blackboard.Sprint, task func(message.TaskID) (blackboard.Task, bool)) map[string]float64 {
	planned := float64(len(s.Scope.Planned))
	return map[string]float64{
		MetricPlanned:      planned,
		MetricPlannedDone:  float64(done(s.Scope.Planned, task)),
		MetricStretchDone:  float64(done(s.Scope.Stretch, task)),
		MetricApprovalRate: rate(s.Approved, s.Approved+s.Rejected),
		MetricFirstPass:    rate(s.FirstPass, s.Approved),
		MetricIntegration:  rate(s.Merged, s.Merged+s.Unmerged),
		MetricBlocked:      float64(s.Blocked),
		MetricOutOfScope:   float64(s.OutOfScope),
		MetricDrift:        float64(s.Rescoped+s.OutOfScope+s.SpecChanges) / max(planned, 1),
	}
}

func done(ids []message.TaskID, task func(message.TaskID) (blackboard.Task, bool)) int {
	n := 0
	for _, id := range ids {
		if t, ok := task(id); ok && (t.Status == blackboard.Merged || t.Status == blackboard.Approved && t.For != message.Coder) {
			n++
		}
	}
	return n
}

func rate(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}
