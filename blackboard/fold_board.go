package blackboard

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"orch/blackboard/message"
)

func boardEffects() []effect {
	return []effect{
		on((*tx).genesis),
		on((*tx).limitReached),
		on((*tx).paused), on((*tx).resumed), on((*tx).checkpointReached), on((*tx).aborted),
		on((*tx).budgetReached), on((*tx).circuitBreaker),
		on((*tx).approvalRequest), on((*tx).approvalGiven),
	}
}

func (x *tx) genesis(b message.Genesis) error {
	if b.Format < 1 {
		return x.refuse("format %d is none", b.Format)
	}
	if err := x.checkName("board", b.Board); err != nil {
		return err
	}
	x.boards.put(boardKey, &boardRecord{ID: b.Board, Format: b.Format})
	return nil
}

func (x *tx) board() *boardRecord { return x.boards.edit(boardKey) }

func (x *tx) limitReached(b message.LimitReached) error {
	if err := x.checkName("account", b.Account); err != nil {
		return err
	}
	r := x.board()
	r.Limits = maps.Clone(r.Limits)
	if r.Limits == nil {
		r.Limits = map[string]time.Time{}
	}
	r.Limits[b.Account] = b.Until
	return nil
}

// Why a goal is suspended, in Suspension.Why.
const (
	WhyClarification = "clarification"
	WhyApproval      = "approval"
	WhyPause         = "pause"
	WhyCheckpoint    = "checkpoint"
	WhyPlanReview    = "plan_review"
	WhyAbort         = "abort"
	WhyBudget        = "budget"
	WhyBreaker       = "circuit_breaker"
	WhyCrash         = "crash"
	WhyUnjudged      = "not_judged"
	WhyOutage        = "outage"
)

// CheckpointUnjudged is the name of the checkpoint of a goal in which nothing is
// left to do but judgements that nobody gave.
const CheckpointUnjudged = "not-judged"

// CheckpointOutage is the name of the checkpoint of a goal that waited long
// enough for a provider that does not answer.
const CheckpointOutage = "outage"

// crashCheckpoint is the name of the checkpoint of a step that failed too often.
const crashCheckpoint = "step-crashed"

func (x *tx) paused(b message.Paused) error {
	if x.m.Goal != "" {
		return x.suspendGoal(WhyPause, b.Reason, "orch resume")
	}
	r := x.board()
	ref := x.ref
	r.Brakes.Paused, r.Brakes.Reason = &ref, b.Reason
	return nil
}

func (x *tx) checkpointReached(b message.CheckpointReached) error {
	detail := b.Name
	if b.Reason != "" {
		detail += ": " + b.Reason
	}
	if x.m.Goal == "" {
		r := x.board()
		ref := x.ref
		r.Brakes.Checkpoint, r.Brakes.Reason, r.Brakes.Level = &ref, detail, 0
		x.reachedInSprint(b.Name)
		return nil
	}
	if b.Name == CheckpointPlanReview {
		return x.suspendGoal(WhyPlanReview, b.Reason, "orch resume")
	}
	if b.Name == CheckpointUnjudged {
		return x.suspendGoal(WhyUnjudged, b.Reason, "orch resume")
	}
	if b.Name == CheckpointOutage {
		return x.suspendGoal(WhyOutage, b.Reason, "orch run --continue "+string(x.m.Goal))
	}
	if b.Name == crashCheckpoint {
		return x.suspendGoal(WhyCrash, b.Reason, "orch goals retry "+string(x.m.Goal))
	}
	return x.suspendGoal(WhyCheckpoint, detail, "orch resume")
}

func (x *tx) aborted(b message.Aborted) error {
	return x.suspendScope(WhyAbort, b.Reason, "orch run --continue")
}

func (x *tx) budgetReached(b message.BudgetReached) error {
	if x.m.Goal == "" {
		return x.refuse("it names no goal")
	}
	command := "orch resume" // after a change of the configuration
	if b.Cap == message.CapCost {
		command = "orch resume --max-cost N"
	}
	why := fmt.Sprintf("the cap on %s is reached: $%.4g of $%.4g", b.Cap, b.Used, b.Limit)
	if b.Needs > 0 {
		why += fmt.Sprintf(" are spent, and the next question may cost $%.4g", b.Needs)
	}
	return x.suspendGoal(WhyBudget, why, command)
}

// maxTrips bounds what the board remembers of findings that stopped it. The
// auditor finds nothing twice, so that the oldest are never asked for.
const maxTrips = 1_000

func (x *tx) circuitBreaker(b message.CircuitBreaker) error {
	if err := x.checkName("finding", b.Finding); err != nil {
		return err
	}
	r := x.board()
	if slices.Contains(r.Trips, b.Finding) {
		return x.refuse("finding %s stopped the work before", b.Finding)
	}
	r.Trips = appended(r.Trips, b.Finding)
	r.Trips = r.Trips[max(0, len(r.Trips)-maxTrips):]
	detail := b.Report
	if detail == "" {
		detail = b.Finding
	}
	return x.suspendScope(WhyBreaker, detail, "orch resume")
}

// suspendScope suspends the message's goal, or without one every open goal.
func (x *tx) suspendScope(why, detail, command string) error {
	if x.m.Goal != "" {
		return x.suspendGoal(why, detail, command)
	}
	for _, key := range x.s.goals.scan("goal.open", "") {
		x.suspend(x.goals.edit(key), why, detail, command)
	}
	return nil
}

func (x *tx) suspendGoal(why, detail, command string) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	x.suspend(g, why, detail, command)
	return nil
}

func (x *tx) suspend(g *Goal, why, detail, command string) {
	if g != nil {
		g.Status = GoalSuspended
		g.Suspended = &Suspension{Why: why, Detail: detail, Command: command, Since: x.ref}
	}
}

// reopen lifts a suspension, unless a person still owes the goal an answer.
func (x *tx) reopen(g *Goal) {
	if g.Clarify.Asked.Seq != 0 && g.Clarify.Answered.Seq == 0 {
		x.suspend(g, WhyClarification, "questions are open", "orch answer")
		return
	}
	if id, ok := x.openApproval(g.ID); ok {
		x.suspend(g, WhyApproval, "a permission is asked for", "orch allow "+id)
		return
	}
	g.Status, g.Suspended = GoalOpen, nil
}

// openApproval finds a permission the goal waits for.
func (x *tx) openApproval(goal message.GoalID) (string, bool) {
	for _, key := range x.approvals.keys {
		if a := x.approvals.rows[key]; a != nil && a.Goal == goal && a.Given.Seq == 0 {
			return key, true
		}
	}
	for _, key := range x.s.approvals.scan("approval.open", string(goal)+sep) {
		if _, changed := x.approvals.rows[key]; !changed {
			return key, true
		}
	}
	return "", false
}

func (x *tx) resumed(b message.Resumed) error {
	if !finite(b.MaxCost) || b.MaxCost < 0 || b.MaxCost > 0 && x.m.Goal == "" {
		return x.refuse("a new cap of %v for goal %q", b.MaxCost, x.m.Goal)
	}
	if x.m.Goal != "" {
		g, err := x.liveGoal()
		if err != nil {
			return err
		}
		if b.MaxCost > 0 {
			g.Input.Budget.MaxCost = b.MaxCost // what the person said at first is in the log
		}
		x.lookedAt(g)
		x.reopen(g)
		if g.Status != GoalOpen {
			return &RefusedError{Type: x.m.Type(), Why: "the goal waits for an answer", Do: "`" + g.Suspended.Command + "`"}
		}
		x.hear("", b.Reason)
		return nil
	}
	x.hear("", b.Reason)
	x.board().Brakes = Brakes{}
	for _, key := range x.s.goals.scan("goal.open", "") {
		if g := x.goals.edit(key); g != nil && g.Status == GoalSuspended {
			x.lookedAt(g)
			x.reopen(g)
		}
	}
	return nil
}

// lookedAt takes a resumption as the person's answer to what the goal waits
// for: the plan that was to be reviewed is agreed with, and what nobody judged
// is to be judged again.
func (x *tx) lookedAt(g *Goal) {
	switch {
	case g.Suspended == nil:
	case g.Suspended.Why == WhyPlanReview:
		g.Reviewed = g.PlanRef.ID
	case g.Suspended.Why == WhyUnjudged, g.Suspended.Why == WhyOutage:
		x.tryAgain(g)
	}
}

func (x *tx) approvalRequest(b message.ApprovalRequest) error {
	if err := x.checkName("request", b.Request); err != nil {
		return err
	}
	if x.approvals.peek(b.Request) != nil {
		return x.refuse("request %s was made before", b.Request)
	}
	if b.Task != "" {
		if _, err := x.touch(b.Task); err != nil {
			return err
		}
	}
	x.approvals.put(b.Request, &Approval{ApprovalRequest: b, Goal: x.goal, Asked: x.ref})
	if x.goal == "" {
		return nil
	}
	g, err := x.goalOf(x.goal)
	if err != nil {
		return err
	}
	x.suspend(g, WhyApproval, b.Reason, "orch allow "+b.Request)
	return nil
}

func (x *tx) approvalGiven(b message.ApprovalGiven) error {
	a := x.approvals.edit(b.Request)
	if a == nil {
		return x.refuse("there is no request %q", b.Request)
	}
	if a.Given.Seq != 0 {
		return x.refuse("request %s was answered before", b.Request)
	}
	a.Given, a.Allowed = x.ref, b.Allowed
	rule := string(b.Rule)
	if rule == "" || rule == "null" {
		rule = string(a.Rule)
	}
	keep := b.Allowed && rule != "" && rule != "null"
	if keep && (b.Always || a.Goal == "") {
		r := x.board()
		r.Rules = appended(r.Rules, rule)
	}
	if a.Goal == "" {
		return nil
	}
	x.goal = a.Goal
	g, err := x.goalOf(a.Goal)
	if err != nil {
		return err
	}
	if keep && !b.Always {
		g.Rules = appended(g.Rules, rule)
	}
	if g.Suspended != nil && g.Suspended.Why == WhyApproval {
		x.reopen(g)
	}
	return nil
}
