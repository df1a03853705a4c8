package loop

import (
	"fmt"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
)

// limits blocks tasks whose coder used up what it gets: iterations, review
// cycles, crashes. The planner is asked next. A task that nobody ever held has
// used up nothing.
func (h *keeper) limits(g blackboard.Goal) {
	if g.Plan == nil || g.PlanCause.ID != "" {
		return
	}
	for t := range h.s.Begun(g) {
		if t.For != message.Coder || toPlanner(t) {
			continue
		}
		if kind := limitOf(t, h.p); kind != "" {
			h.block(g, t, kind, fmt.Sprintf("%s used up its %d iterations and %d review cycles", t.Agent, t.Review.Iterations, t.Review.Cycles))
			continue
		}
		if why := h.crashed(g, t); why != "" {
			h.block(g, t, message.BlockedEnvironment, why)
		}
	}
}

// crashed says why the coder's step on the task is not tried again; empty if it may be.
func (h *keeper) crashed(g blackboard.Goal, t blackboard.Task) string {
	a, known := h.s.Activation(taskActivation(message.Coder, g, t, t.Offered, "").Key)
	switch {
	case !known || a.Live():
		return ""
	case a.Crashes >= h.p.CrashLimit:
		return fmt.Sprintf("the coder's step failed %d times", a.Crashes)
	case a.Kills >= h.p.KillLimit:
		return fmt.Sprintf("the coder's step was ended from outside, or found nothing to do, %d times", a.Kills)
	case a.Class == message.EndDone:
		return "the coder's step ended well without submitting, blocking or handing on"
	}
	return ""
}

func (h *keeper) block(g blackboard.Goal, t blackboard.Task, kind, reason string) {
	h.say(g.ID, string(t.ID), t.Offered.ID, message.Blocked{
		Task: t.ID, BlockedReason: reason, BlockedQuestions: questionsOf(t, kind), Kind: kind,
		Attempted: []string{fmt.Sprintf("%d submissions, %d rejections", t.Attempt, t.Review.CyclesTotal)},
	})
}

// maxQuestions is what a Blocked may ask.
const maxQuestions = 3

// questionsOf are what code can ask about a task that reached a limit.
func questionsOf(t blackboard.Task, kind string) []string {
	switch kind {
	case message.BlockedEnvironment:
		return []string{"What of the machine, the setup or the agent keeps the coder's step from ending well? The step's log is in .orch/goals."}
	case message.BlockedIterations:
		return []string{"Is the task small enough for one coder, and can done_when be met as it is written?"}
	}
	var questions []string
	for _, b := range t.Review.Pending {
		if len(questions) < maxQuestions {
			questions = append(questions, "Must this be fixed, and how? "+b.Name())
		}
	}
	if len(questions) == 0 {
		questions = append(questions, "Which of the failed checks can not be met by the task as it is written?")
	}
	return questions
}

// abandonedReviews gives reviews back whose reviewer is gone.
func (h *keeper) abandonedReviews() {
	for t := range h.s.Tasks(blackboard.ReadyForReview) {
		r := t.Review
		if r.Reviewer == "" || h.worksOn(r.Reviewer, t) {
			continue
		}
		if a, ok := h.s.Agent(r.Reviewer); ok && h.look.at(a.Process) == process.Living {
			continue
		}
		if !h.wasStep(r.Reviewer, t) && !h.expired(r.Lease) {
			continue
		}
		h.say(t.Goal, string(t.ID), t.ResultRef.ID, message.ReviewReleased{Task: t.ID, Fence: r.Fence, Reason: "the reviewer is gone"})
	}
}

// planReview stops a goal, once for each plan, until a person has looked at it.
func (h *keeper) planReview(g blackboard.Goal) bool {
	if !awaitsReview(g, h.p) || g.PlanCause.ID != "" {
		return false
	}
	h.say(g.ID, string(g.ID), g.PlanRef.ID, message.CheckpointReached{
		Name:   blackboard.CheckpointPlanReview,
		Reason: fmt.Sprintf("the plan has %d tasks: look at them with orch task ls, then orch resume", len(g.Plan.SubtaskIDs)),
	})
	return true
}

// sprint stops at the sprint's completion and at its deadline, each once.
func (h *keeper) sprint() {
	s := h.s.Sprint()
	if !s.Open() || braked(h.s.Brakes()) {
		return
	}
	name, reason := "", ""
	switch {
	case h.sprintDone(s):
		name, reason = blackboard.CheckpointSprintComplete, fmt.Sprintf("all %d planned tasks have ended", len(s.Scope.Planned))
	case !s.Deadline.IsZero() && !h.now.Before(s.Deadline):
		name, reason = blackboard.CheckpointSprintDeadline, "the deadline "+s.Deadline.Format(time.RFC3339)+" has passed"
	}
	if name != "" && !slices.Contains(s.Reached, name) {
		h.say("", "", s.Opened.ID, message.CheckpointReached{Name: name, Reason: reason})
	}
}

func (h *keeper) sprintDone(s *blackboard.Sprint) bool {
	for _, id := range s.Scope.Planned {
		t, ok := h.s.Task(id)
		if !ok || !t.Ended() {
			return false
		}
	}
	return len(s.Scope.Planned) > 0
}

// staleCheckpoint tells a person again, and again, that the board waits.
func (h *keeper) staleCheckpoint() {
	b := h.s.Brakes()
	if b.Checkpoint == nil {
		return
	}
	h.escalate("", *b.Checkpoint, b.Level, b.Reason)
}

// staleSuspension does the same for a goal at a checkpoint of its own.
func (h *keeper) staleSuspension(g blackboard.Goal) {
	switch s := g.Suspended; {
	case s == nil:
	case slices.Contains([]string{blackboard.WhyCheckpoint, blackboard.WhyPlanReview, blackboard.WhyBreaker, blackboard.WhyCrash, blackboard.WhyUnjudged, blackboard.WhyOutage}, s.Why):
		h.escalate(g.ID, s.Since, s.Level, s.Detail)
	}
}

func (h *keeper) escalate(goal message.GoalID, since blackboard.Ref, told int, reason string) {
	waitedMS := h.now.Sub(since.TS).Milliseconds()
	level := 0
	for _, ms := range h.p.Code.EscalateMS {
		if waitedMS >= ms {
			level++
		}
	}
	if level > told {
		h.say(goal, string(goal), since.ID, message.Escalated{Checkpoint: since.ID, Level: level, WaitedMS: waitedMS, Reason: reason})
	}
}
