package loop

import (
	"cmp"
	"fmt"
	"iter"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// Board is what activation reads of the folded state; *blackboard.State is one.
type Board interface {
	Goal(message.GoalID) (blackboard.Goal, bool)
	OpenGoals() []blackboard.Goal
	PlanTasksIn(blackboard.Goal, ...blackboard.Status) iter.Seq[blackboard.Task]
	Begun(blackboard.Goal) iter.Seq[blackboard.Task]
	Fresh(blackboard.Goal, ...message.Role) iter.Seq[blackboard.Task]
	InReview(blackboard.Goal, ...message.Role) iter.Seq[blackboard.Task]
	InPlan(blackboard.Goal, message.TaskID) bool
	Task(message.TaskID) (blackboard.Task, bool)
	CanClaim(blackboard.Task) error
	FanIn(blackboard.Goal) (complete bool, why string)
	Activation(blackboard.ActivationKey) (blackboard.Activation, bool)
	Brakes() blackboard.Brakes
	Limits() map[string]time.Time
	Usual(message.Role) (usd float64, ok bool)
	LiveActivations() []blackboard.Activation
	AgentFree(message.AgentID) bool
}

// Activation is a step that should be started.
type Activation struct {
	Key       blackboard.ActivationKey
	Goal      message.GoalID
	Reason    string          // why, for people
	NotBefore time.Time       // backoff after a failed try; zero for at once
	Agent     message.AgentID // who would do it; empty outside the coding profile

	priority int
	age      uint64 // seq of what caused it
	fresh    bool   // of a coder: nobody's work goes on with it
}

// Policy is what activation and housekeeping depend on beside the board.
type Policy struct {
	CrashLimit    int   // tries of one activation that failed by their own fault
	KillLimit     int   // tries of one activation that were ended from outside
	AgainMS       int64 // wait after a step that stopped cleanly to be started again
	BackoffMS     int64 // wait after the first crash; doubles with each
	BackoffMaxMS  int64
	Began         time.Time // of this run; zero for a step that nobody supervises
	OutageMS      int64     // how long a run waits for providers that fail
	OutagePauseMS int64     // before the first try again; doubles with each
	LeaseMS       int64     // how long a process that can not be looked at keeps a step it has not registered for

	MemoryResident bool  // a memory resident is there to answer
	MemoryWaitMS   int64 // how long its answer is waited for
	MemoryOff      bool  // nobody is to answer
	Terminal       bool  // somebody is there to answer questions
	Boot           string
	Goal           message.GoalID // whose activations are started here; empty for those of all

	Caps   Caps
	Thinks func(blackboard.Goal, message.Role) Thinks // what a role thinks with; nil for code alone
	Code   Code
}

// PolicyOf takes from the configuration what it says and leaves the rest at its default.
func PolicyOf(c config.Config) Policy {
	return Policy{
		CrashLimit: c.Limits.Crashes, KillLimit: c.Limits.Kills,
		LeaseMS: c.Limits.LeaseMS, AgainMS: 2_000, BackoffMS: 5_000, BackoffMaxMS: 5 * 60_000,
		OutageMS: c.Limits.OutageMS, OutagePauseMS: c.Limits.OutagePauseMS,
		MemoryWaitMS: c.Limits.MemoryWaitMS, MemoryOff: c.Memory.Off, Caps: CapsOf(c.Budget),
		Code: Code{
			Coders: cmp.Or(c.Code.Coders, c.Limits.Jobs), Reviewers: cmp.Or(c.Code.Reviewers, c.Limits.Jobs),
			MaxIterations: c.Code.MaxIterations, ReviewCycles: c.Code.ReviewCycles, PlanReview: c.Code.PlanReview,
			EscalateMS: []int64{c.Code.EscalateFirstMS, c.Code.EscalateAgainMS, c.Code.EscalateLastMS},
		},
	}
}

// Due lists what should be started now or at its NotBefore, in the order in
// which it should be: by role, then priority, then age. An activation that is
// running, done, or failed too often is not in it. Of many tasks it looks only
// at those that somebody is left for.
func Due(s Board, p Policy, now time.Time) []Activation {
	var due []Activation
	var taken []message.AgentID
	for _, c := range contracts {
		for a := range wanted(s, p, c.Role) {
			notBefore, ok := startable(s, p, a.Key)
			if !ok || !affordable(s, p, a) || !billed(s, p, a) || !mayStart(s, p, a, now) {
				continue
			}
			a.NotBefore = later(notBefore, freeAgain(s, p, a))
			if c.Role == message.Coder || c.Role == message.CodeReviewer {
				if a.Agent, ok = agentFor(s, p, a, taken); !ok {
					if full(s, c.Role, p.most(c.Role), taken) {
						break
					}
					continue
				}
				if !a.NotBefore.After(now) { // who has to wait keeps nobody from starting
					taken = append(taken, a.Agent)
				}
			}
			due = append(due, a)
		}
	}
	return due
}

// IsDue tells whether exactly this activation may be started now.
func IsDue(s Board, p Policy, now time.Time, key blackboard.ActivationKey) bool {
	a, ok := Find(s, key.Role, key.Subject)
	if !ok || a.Key != key || !affordable(s, p, a) || !billed(s, p, a) || !mayStart(s, p, a, now) {
		return false
	}
	notBefore, ok := startable(s, p, key)
	return ok && !now.Before(later(notBefore, freeAgain(s, p, a)))
}

// Find returns the activation that the board's state asks for on a subject,
// whether or not it is running or was tried before.
func Find(s Board, role message.Role, subject string) (Activation, bool) {
	goal := message.GoalID(subject)
	t, isTask := s.Task(message.TaskID(subject))
	if isTask && t.Goal != "" {
		goal = t.Goal
	}
	g, ok := s.Goal(goal)
	if !ok || braked(s.Brakes()) || g.Status != blackboard.GoalOpen {
		return Activation{}, false
	}
	if a, ok := goalWants(s, g); ok && a.Key.Role == role && a.Key.Subject == subject {
		return a, true
	}
	if !isTask || !worksOnPlan(g) || !s.InPlan(g, t.ID) {
		return Activation{}, false
	}
	if a, ok := taskWants(s, g, t); ok && a.Key.Role == role {
		return a, true
	}
	return Activation{}, false
}

func perceive(g blackboard.Goal) (Activation, bool) {
	if g.Spec != nil {
		return Activation{}, false
	}
	cause, why := g.InputRef, "a new goal"
	if g.Clarify.Asked.ID != "" {
		if g.Clarify.Answered.ID == "" {
			return Activation{}, false
		}
		cause, why = g.Clarify.Answered, "an answer came"
	}
	return goalActivation(message.Perceiver, g, cause, why), true
}

func plan(g blackboard.Goal) (Activation, bool) {
	switch {
	case g.PlanCause.ID == "":
		return Activation{}, false
	case g.Calibration.Cause != g.RoundCause.ID:
		return goalActivation(message.Planner, g, g.RoundCause, "the memory has not been asked for this round"), true
	case g.Calibration.Reply.ID == "":
		return Activation{}, false
	case g.PlanCause.ID != g.RoundCause.ID:
		why := fmt.Sprintf("plan %d of this round was refused", len(g.PlanRejected))
		return goalActivation(message.Planner, g, g.PlanCause, why), true
	}
	why := "the goal has no plan"
	if len(g.Rounds) > 0 {
		if d := g.Rounds[len(g.Rounds)-1].Directive; d != nil {
			why = fmt.Sprintf("the controller ordered %s", d.Directive)
		}
	}
	return goalActivation(message.Planner, g, g.Calibration.Reply, why), true
}

// act is the executor's or the reviewer's part of one task. The cause is what
// the attempt answers and stays the same when a claim is lost, so that crashes
// of one attempt are counted together.
func act(s Board, g blackboard.Goal, t blackboard.Task) (Activation, bool) {
	switch t.Status {
	case blackboard.ReadyForReview:
		return taskActivation(message.AgentValidator, g, t, t.ResultRef, fmt.Sprintf("attempt %d is ready for review", t.Attempt)), true
	case blackboard.Unclaimed, blackboard.Rejected, blackboard.IntegrationFailed:
		if s.CanClaim(t) != nil {
			return Activation{}, false
		}
		cause, why := t.Created, "claimable"
		if t.Attempt > 0 {
			cause = t.ResultRef
		}
		if t.Status == blackboard.Rejected && t.Correction != nil {
			why = "to be corrected: " + t.Correction.FailedCriterion
		}
		return taskActivation(message.Executor, g, t, cause, why), true
	}
	return Activation{}, false
}

func validate(s Board, g blackboard.Goal) (Activation, bool) {
	if complete, _ := s.FanIn(g); !complete {
		return Activation{}, false
	}
	for _, r := range g.Rounds {
		if roundPlan(r) == g.Plan.PlanID {
			return Activation{}, false
		}
	}
	return goalActivation(message.MetaValidator, g, g.PlanRef, "every task of the plan is done, failed or can not start"), true
}

// roundPlan is the plan a round is about; empty for a round without one.
func roundPlan(r blackboard.Round) message.PlanID {
	switch {
	case r.Request != nil:
		return r.Request.PlanID
	case r.Summary != nil:
		return r.Summary.PlanID
	}
	return ""
}

func goalActivation(role message.Role, g blackboard.Goal, cause blackboard.Ref, why string) Activation {
	key := blackboard.ActivationKey{Role: role, Subject: string(g.ID), Cause: cause.ID}
	return Activation{Key: key, Goal: g.ID, Reason: why, age: cause.Seq}
}

func taskActivation(role message.Role, g blackboard.Goal, t blackboard.Task, cause blackboard.Ref, why string) Activation {
	key := blackboard.ActivationKey{Role: role, Subject: string(t.ID), Cause: cause.ID}
	return Activation{Key: key, Goal: g.ID, Reason: why, priority: t.Priority, age: t.Created.Seq}
}

// startable tells whether an activation may be tried (again), and from when.
// One that nobody judged is asked again when a person says so, not before: the
// same judges would be asked the same.
func startable(s Board, p Policy, key blackboard.ActivationKey) (notBefore time.Time, ok bool) {
	a, known := s.Activation(key)
	if !known {
		return time.Time{}, true
	}
	if a.Live() || a.Class == message.EndDone || a.Class == message.EndUnjudged || exhausted(a, p) {
		return time.Time{}, false
	}
	if a.Outage != nil && a.Class == message.EndOutage {
		return p.nextTry(*a.Outage)
	}
	return a.Ended.TS.Add(time.Duration(waitMS(a, p)) * time.Millisecond), true
}

// exhausted tells whether the activation failed too often for another try.
func exhausted(a blackboard.Activation, p Policy) bool {
	return a.Crashes >= p.CrashLimit || a.Kills >= p.KillLimit
}

func waitMS(a blackboard.Activation, p Policy) int64 {
	switch a.Class {
	case message.EndAgain, message.EndMoved:
		return p.AgainMS
	case message.EndCrash, message.EndTimeout:
		return p.backoffMS(a.Crashes)
	case message.EndKilled:
		if a.Kills > p.CrashLimit { // whoever ends it may be there to stay
			return p.backoffMS(a.Kills - p.CrashLimit)
		}
	}
	return 0 // ended from outside: nothing is wrong with it
}

// backoffMS is the wait after the nth end in a row.
func (p Policy) backoffMS(n int) int64 { return doubled(p.BackoffMS, p.BackoffMaxMS, n) }

// doubled is the nth of waits that double from the first up to the longest.
func doubled(firstMS, mostMS int64, n int) int64 {
	wait := min(firstMS, mostMS)
	for range n - 1 {
		if wait *= 2; wait >= mostMS {
			return mostMS
		}
	}
	return wait
}
