package loop

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Code is what activation and housekeeping of the coding profile depend on.
type Code struct {
	Coders        int    // at once; 0 for no bound of their own
	Reviewers     int    // at once; 0 for no bound of their own
	MaxIterations int    // of one coder on one task; 0 for no limit
	ReviewCycles  int    // rejections of one coder's work on one task; 0 for no limit
	PlanReview    string // none, human or model
	EscalateMS    []int64
}

// Whether a person looks at a plan before it is worked on.
const planReviewHuman = "human"

// secondFailure is the failure to integrate from which on the planner is asked
// and not another coder.
const secondFailure = 2

// codeAct is the coder's or the reviewer's part of one task. The cause is what
// the iteration answers: claims that are given back do not change it, so that
// crashes of one iteration are counted together.
func codeAct(s Board, g blackboard.Goal, t blackboard.Task) (Activation, bool) {
	switch t.Status {
	case blackboard.ReadyForReview:
		return taskActivation(message.CodeReviewer, g, t, t.ResultRef, fmt.Sprintf("commit %.12s is ready for review", t.Review.Commit)), true
	case blackboard.Unclaimed, blackboard.Rejected, blackboard.IntegrationFailed:
		if s.CanClaim(t) != nil || toPlanner(t) {
			return Activation{}, false
		}
		a := taskActivation(message.Coder, g, t, t.Offered, whyCode(t))
		a.fresh = ownCoder(t) == ""
		return a, true
	}
	return Activation{}, false
}

// toPlanner tells whether a task that did not fit the integration branch is
// the planner's: a coder gets one try at it.
func toPlanner(t blackboard.Task) bool {
	return t.Status == blackboard.IntegrationFailed && t.Review.IntegrationN >= secondFailure
}

func whyCode(t blackboard.Task) string {
	switch {
	case t.Status == blackboard.IntegrationFailed:
		return "it does not fit the integration branch"
	case t.Status == blackboard.Rejected:
		return fmt.Sprintf("rejected %d times", t.Review.Cycles)
	case t.Review.Handoff != nil && t.Review.Iterations > 0:
		return "handed on: " + t.Review.Handoff.NextAction
	case len(t.Review.FailedBy) > 0:
		return fmt.Sprintf("unblocked after %s", t.Review.FailedBy[len(t.Review.FailedBy)-1])
	}
	return "claimable"
}

// ownCoder is the coder whose worktree holds the task's work, or empty: its
// next iteration is theirs, another coder would begin anew.
func ownCoder(t blackboard.Task) message.AgentID {
	role, err := message.ParseAgent(t.Agent)
	if err != nil || role != message.Coder || slices.Contains(t.Review.FailedBy, t.Agent) {
		return ""
	}
	return t.Agent
}

// GoesOn tells whether a claim by the agent goes on with the work that is in
// the task's worktree: the coder's own, or any coder's where the work is done
// and only has to be made to fit.
func GoesOn(t blackboard.Task, agent message.AgentID) bool {
	if t.Work == "" {
		return false
	}
	return ownCoder(t) == agent || t.Status == blackboard.IntegrationFailed
}

// AgentFor is the agent an activation would be started as; ok is false while
// it has to wait for one. The lowest free number is taken, except that
//
//   - a task with work in a coder's worktree waits for that coder, unless it
//     failed to integrate: any coder may fix that;
//   - a task that blocked a coder goes to one it has not blocked;
//   - no more coders and reviewers run at once than the policy says.
func AgentFor(s Board, p Policy, a Activation) (agent message.AgentID, ok bool) {
	return agentFor(s, p, a, nil)
}

// agentFor also looks at agents that are as good as taken.
func agentFor(s Board, p Policy, a Activation, taken []message.AgentID) (message.AgentID, bool) {
	role := a.Key.Role
	free := func(id message.AgentID) bool { return !slices.Contains(taken, id) && s.AgentFree(id) }
	var t blackboard.Task
	switch role {
	case message.Coder:
		if full(s, role, p.most(role), taken) {
			return "", false
		}
		t, _ = s.Task(message.TaskID(a.Key.Subject))
		own := ownCoder(t)
		switch {
		case own != "" && free(own):
			return own, true
		case own != "" && t.Status != blackboard.IntegrationFailed:
			return "", false
		}
	case message.CodeReviewer:
		if full(s, role, p.most(role), taken) {
			return "", false
		}
	}
	for n := 1; ; n++ {
		id := message.AgentID(fmt.Sprintf("%s-%d", role, n))
		if free(id) && !slices.Contains(t.Review.FailedBy, id) {
			return id, true
		}
	}
}

// most is how many agents of a role may be at work at once; 0 for no bound.
func (p Policy) most(role message.Role) int {
	switch role {
	case message.Coder:
		return p.Code.Coders
	case message.CodeReviewer:
		return p.Code.Reviewers
	}
	return 0
}

// full tells whether as many agents of a role are at work as may be.
func full(s Board, role message.Role, limit int, taken []message.AgentID) bool {
	if limit == 0 {
		return false
	}
	n := 0
	for _, a := range s.LiveActivations() {
		if a.Role == role {
			n++
		}
	}
	for _, id := range taken {
		if r, err := message.ParseAgent(id); err == nil && r == role {
			n++
		}
	}
	return n >= limit
}

// mayStart tells whether nothing but the policy keeps an activation of the
// coding profile, or the judging of any goal, from starting.
func mayStart(s Board, p Policy, a Activation, now time.Time) bool {
	if a.Key.Role == message.MetaValidator {
		return !atWork(s, a.Goal)
	}
	t, ok := s.Task(message.TaskID(a.Key.Subject))
	if !ok {
		return true
	}
	switch a.Key.Role {
	case message.Coder:
		g, _ := s.Goal(a.Goal)
		return limitOf(t, p) == "" && !awaitsReview(g, p)
	case message.CodeReviewer:
		return t.Review.Reviewer == "" || !t.Review.Lease.ExpiresAt.After(now)
	}
	return true
}

// atWork tells whether a step of a goal has not ended. What it cost is known when
// it has, and what a coder did to the person's checkout is looked at then, so a
// goal is not judged before.
func atWork(s Board, goal message.GoalID) bool {
	return slices.ContainsFunc(s.LiveActivations(), func(a blackboard.Activation) bool { return a.Goal == goal })
}

// limitOf is the kind of block of a task that used up what one coder gets on
// it; empty while it has not.
func limitOf(t blackboard.Task, p Policy) string {
	switch {
	case t.Status == blackboard.Rejected && p.Code.ReviewCycles > 0 && t.Review.Cycles >= p.Code.ReviewCycles:
		return message.BlockedDeadlock
	case p.Code.MaxIterations > 0 && t.Review.Iterations >= p.Code.MaxIterations:
		return message.BlockedIterations
	}
	return ""
}

// awaitsReview tells whether a person has still to look at the goal's plan.
func awaitsReview(g blackboard.Goal, p Policy) bool {
	return p.Code.PlanReview == planReviewHuman && IsCode(g) && g.Plan != nil && g.Reviewed != g.PlanRef.ID
}

// IsCode tells whether a goal is worked on by coders.
func IsCode(g blackboard.Goal) bool { return g.Input.Profile == "code" }

// MergeDue lists the tasks whose approved commit is to be merged: one whose
// merge was begun and not ended first, then the oldest approval. There is one
// integration branch, so they are merged one after the other.
//
// A task is not merged before the steps of its coder and reviewers have ended:
// whoever sees a step through looks, before it says that the step has ended, at
// what the step did to the branch, and can name it. Steps on other tasks are
// not waited for; while there is work there is always one. Whatever becomes of
// a step, its end comes as a StepEnded.
func MergeDue(s Ledger) []blackboard.Task {
	var due []blackboard.Task
	for t, steps := range approved(s) {
		if len(steps) == 0 || t.Review.Merge != nil {
			due = append(due, t)
		}
	}
	begun := func(t blackboard.Task) int {
		if t.Review.Merge != nil {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(due, func(a, b blackboard.Task) int {
		return cmp.Or(cmp.Compare(begun(a), begun(b)), cmp.Compare(a.OutcomeRef.Seq, b.OutcomeRef.Seq))
	})
	return due
}

// MergeHeldBy lists the steps that must end before tasks that are approved can be merged.
func MergeHeldBy(s Ledger) (steps []blackboard.Activation) {
	for t, of := range approved(s) {
		if t.Review.Merge == nil {
			steps = append(steps, of...)
		}
	}
	return steps
}

// approved yields the approved tasks of coders that may be merged as far as
// brakes and goals go, with the steps of coders and reviewers on each that have
// not ended.
func approved(s Ledger) iter.Seq2[blackboard.Task, []blackboard.Activation] {
	return func(yield func(blackboard.Task, []blackboard.Activation) bool) {
		if braked(s.Brakes()) {
			return
		}
		steps := map[string][]blackboard.Activation{}
		for _, a := range s.LiveActivations() {
			if a.Role == message.Coder || a.Role == message.CodeReviewer {
				steps[a.Subject] = append(steps[a.Subject], a)
			}
		}
		for t := range s.Tasks(blackboard.Approved) {
			if t.For != message.Coder {
				continue
			}
			if g, ok := s.Goal(t.Goal); t.Goal != "" && (!ok || g.Status != blackboard.GoalOpen) {
				continue
			}
			if !yield(t, steps[string(t.ID)]) {
				return
			}
		}
	}
}
