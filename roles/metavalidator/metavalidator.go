// Package metavalidator measures how far a finished plan is from its goal: it
// gates on every task having matched, merges what they produced, and judges the
// goal's criteria one by one. Where a task failed it runs the goal's checks on
// what stands: whether the goal may end without that task is not for the tasks
// that matched to say.
//
// It promises that no model is asked while any task failed, that the goal's
// own checks are run all the same in every round, that ambiguous
// evidence is a fail, that a pass resting on a model's word quotes what orch
// recorded and is judged a second time, that a criterion nobody could judge is
// neither passed nor failed, and that what it found goes to the controller with
// all the evidence.
//
// It never ends a goal, orders a change, computes a loss, or talks to the
// planner.
package metavalidator

import (
	"context"
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/loop/code"
	"orch/roles/run/step"
)

// Run closes one round of a goal.
func Run(ctx context.Context, e *step.Env) error {
	g, err := e.ReadGoal(ctx)
	if err != nil {
		return err
	}
	var tasks []blackboard.Task
	complete := false
	err = e.Board.View(ctx, func(s *blackboard.State) error {
		tasks = s.PlanTasks(g)
		complete, _ = s.FanIn(g)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the plan's tasks: %w", err)
	}
	if g.Plan == nil || g.PlanRef.ID != e.Key.Cause || !complete {
		return step.ErrMoved
	}
	began := e.Clock.Now()
	r := roundOf(g, tasks, loop.ActiveMS(g, began))
	if len(r.failed)+r.skipped > 0 { // the gate: no model is asked
		if r.verdicts, err = runChecks(ctx, e, g); err != nil {
			return err
		}
		r.elapsedMS += e.Clock.Now().Sub(began).Milliseconds()
		return send(ctx, e, g, r.replan(""))
	}
	merged, summary := merge(ctx, e, g, r.outcomes)
	if err := whole(ctx, e); err != nil {
		return err
	}
	verdicts, err := judgeGoal(ctx, e, g, tasks, merged)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // stopped: what a cancelled check said is worth nothing
	}
	if err := whole(ctx, e); err != nil {
		return err // what was judged is not what is there now
	}
	kept, err := keep(e, g, merged)
	if err != nil {
		return err
	}
	r.verdicts = verdicts
	r.elapsedMS += e.Clock.Now().Sub(began).Milliseconds()
	for _, v := range verdicts {
		e.Log("%s %s: %s", v.Verdict, v.Criterion, v.Evidence)
		if !v.Passed() {
			return send(ctx, e, g, r.replan(kept))
		}
	}
	return send(ctx, e, g, message.OutcomeSummary{
		TaskID: g.ID, PlanID: g.Plan.PlanID, Summary: summary, MergedOutput: kept, TaskVerdicts: verdicts,
		Outcomes: r.outcomes, ElapsedMS: r.elapsedMS, Cost: g.Cost,
	})
}

// whole is an error if what was merged is not there, or not what is judged:
// then nothing can be said about the goal.
func whole(ctx context.Context, e *step.Env) error {
	if e.Whole == nil {
		return nil
	}
	return e.Whole(ctx)
}

// send appends the round's one message if the plan is still the current one.
func send(ctx context.Context, e *step.Env, g blackboard.Goal, body message.Body) error {
	_, err := e.SayIf(ctx, message.MetaValidator, e.Key.Cause, body, func(s *blackboard.State) error {
		now, ok := s.Goal(g.ID)
		if !ok || now.Status == blackboard.GoalEnded || now.PlanRef.ID != g.PlanRef.ID {
			return step.ErrMoved
		}
		return nil
	})
	return err
}

// keep cuts a merged output that no message should carry whole.
func keep(e *step.Env, g blackboard.Goal, merged string) (string, error) {
	if len(merged) <= step.MergedBytes {
		return merged, nil
	}
	sha, err := e.Board.PutBlob(g.ID, []byte(merged))
	if err != nil {
		return "", err
	}
	return step.Cut(merged, step.MergedBytes) + "\n[the whole output: blobs/" + sha + "]", nil
}

// round is what the tasks of a plan came to.
type round struct {
	goal      message.GoalID
	plan      message.PlanID
	outcomes  []message.SubTaskOutcome
	failed    []message.TaskID
	skipped   int
	corrected int
	verdicts  []message.Verdict
	elapsedMS int64
	cost      float64
}

// roundOf collects one outcome per task, in plan order. A task that never
// started is skipped; one that was stopped without a verdict has failed.
func roundOf(g blackboard.Goal, tasks []blackboard.Task, elapsedMS int64) round {
	r := round{goal: g.ID, plan: g.Plan.PlanID, elapsedMS: elapsedMS, cost: g.Cost}
	for _, t := range tasks {
		o := outcomeOf(t)
		r.outcomes = append(r.outcomes, o)
		r.corrected += t.Corrections + t.Review.CyclesTotal
		switch o.Status {
		case message.Failed:
			r.failed = append(r.failed, t.ID)
		case message.Skipped:
			r.skipped++
		}
	}
	r.outcomes = fit(r.outcomes)
	return r
}

func outcomeOf(t blackboard.Task) message.SubTaskOutcome {
	if t.For == message.Coder {
		return code.Outcome(t)
	}
	matched := t.Status == blackboard.Approved || t.Status == blackboard.Merged
	if t.Outcome != nil && matched == (t.Outcome.Status == message.Matched) && t.Status != blackboard.Unclaimed {
		return *t.Outcome
	}
	o := message.SubTaskOutcome{
		SubtaskID: t.ID, ParentTaskID: t.ParentTaskID, Slot: t.Slot, Approach: t.Approach, Target: t.Target,
		Status: message.Skipped, Attempts: t.Attempt, GapTrajectory: t.Gaps, FailedCalls: t.FailedCalls,
	}
	reason, class := "never started: a task it waits for failed", message.FailureClass("")
	if t.Attempt > 0 || t.Fence > 0 || t.Status != blackboard.Unclaimed {
		o.Status, class = message.Failed, message.Environmental
		reason = "stopped before its criteria were judged"
		if t.BlockedReason != "" {
			reason += ": " + t.BlockedReason
		}
	}
	o.FailureReason = &reason
	for _, c := range t.SuccessCriteria {
		v := step.Unjudged(c)
		v.FailureClass, v.Evidence = class, reason
		o.CriteriaVerdicts = append(o.CriteriaVerdicts, v)
	}
	return o
}

// replan is the request to the controller.
func (r round) replan(merged string) message.ReplanRequest {
	return message.ReplanRequest{
		TaskID: r.goal, PlanID: r.plan, GapSummary: r.gaps(), FailedSubtasks: r.failed, CorrectionCount: r.corrected,
		ElapsedMS: r.elapsedMS, Cost: r.cost, Outcomes: r.outcomes, TaskVerdicts: r.verdicts, MergedOutput: merged,
		Recommendation: r.recommendation(),
	}
}

// recommendation is advice only: the controller decides.
func (r round) recommendation() string {
	for _, o := range r.outcomes {
		if o.Status == message.Failed && (o.FailureReason == nil || !strings.HasPrefix(*o.FailureReason, "infeasible")) {
			return "replan"
		}
	}
	if len(r.failed) == 0 {
		return "replan"
	}
	return "abandon"
}

// gaps says in a few lines what is missing, for people and for the planner.
func (r round) gaps() string {
	var lines []string
	if len(r.failed)+r.skipped > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d tasks failed, %d never started", len(r.failed), len(r.outcomes), r.skipped))
	}
	for _, o := range r.outcomes {
		if o.Status == message.Failed && o.FailureReason != nil {
			lines = append(lines, fmt.Sprintf("%s (%s): %s", o.Slot, o.Approach, *o.FailureReason))
		}
	}
	for _, v := range r.verdicts {
		if !v.Passed() {
			lines = append(lines, fmt.Sprintf("the goal: %s: %s", v.Criterion, v.Evidence))
		}
	}
	return step.Cut(strings.Join(lines, "\n"), 8*step.EvidenceBytes)
}
