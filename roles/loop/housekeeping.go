package loop

import (
	"fmt"
	"iter"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
)

// Ledger is what housekeeping reads of the folded state; *blackboard.State is one.
type Ledger interface {
	Board
	Goals() []blackboard.Goal
	Agents() []blackboard.Agent
	Agent(message.AgentID) (blackboard.Agent, bool)
	Tasks(...blackboard.Status) iter.Seq[blackboard.Task]
	Sprint() *blackboard.Sprint
}

// Look tells whether exactly this process runs, has ended, or is one that can
// not be looked at. Who can not be looked at keeps what it holds until its lease
// has run out.
type Look func(message.Process) process.Liveness

// at takes no process for one that has ended.
func (l Look) at(p message.Process) process.Liveness {
	if p.PID == 0 {
		return process.Dead
	}
	return l(p)
}

// Housekeeping lists the messages a supervisor must append so that nothing
// waits for what will not come: dead steps are closed, their claims and drafts
// taken back, unanswered questions answered by time, caps and repeated
// failures shown to a person. look tells whether exactly this process still
// runs; awakeMS is the time this machine has been awake since Policy.Boot.
//
// Any supervisor may append them, in order; the board refuses what another one
// has said already. A dead step is closed after its claim was taken back: once it
// is closed nobody knows any more that the claim was its, and the lease would have
// to be waited for if who says this died in between.
func Housekeeping(s Ledger, p Policy, look Look, now time.Time, awakeMS int64) []message.Message {
	h := newKeeper(s, p, look, now, awakeMS)
	lost := h.lostSteps()
	h.lapsedClaims()
	h.abandonedReviews()
	for _, a := range lost {
		h.close(a)
	}
	h.orphanedDrafts()
	h.deadAgents()
	h.sprint()
	h.staleCheckpoint()
	for _, g := range s.OpenGoals() {
		h.goal(g)
	}
	return h.out
}

// Lapsed lists the claims that are to be taken back before somebody else claims:
// the part of Housekeeping that everybody does who takes a task.
func Lapsed(s Ledger, p Policy, look Look, now time.Time, awakeMS int64) []message.Message {
	h := newKeeper(s, p, look, now, awakeMS)
	h.lostSteps()
	h.lapsedClaims()
	return h.out
}

func newKeeper(s Ledger, p Policy, look Look, now time.Time, awakeMS int64) keeper {
	return keeper{s: s, p: p, look: look, now: now, awakeMS: awakeMS, working: map[message.AgentID]string{}, planning: map[message.GoalID]bool{}}
}

type keeper struct {
	s       Ledger
	p       Policy
	look    Look
	now     time.Time
	awakeMS int64

	working  map[message.AgentID]string // what the agents of living steps work on
	planning map[message.GoalID]bool    // goals with a living planner step
	out      []message.Message
}

func (h *keeper) say(goal message.GoalID, subject string, cause message.ID, body message.Body) *message.Message {
	h.out = append(h.out, message.Message{
		From: message.Supervisor, To: message.DefaultTo(body.Type()), Goal: goal, Subject: subject, Cause: cause, Body: body,
	})
	return &h.out[len(h.out)-1]
}

// lostSteps are the activations nobody sees through any more: neither the
// process that spawned the step nor the step itself runs.
func (h *keeper) lostSteps() (lost []blackboard.Activation) {
	for _, a := range h.s.LiveActivations() {
		if h.lost(a) {
			lost = append(lost, a)
			continue
		}
		h.working[a.Agent] = a.Subject
		if a.Role == message.Planner {
			h.planning[a.Goal] = true
		}
	}
	return lost
}

func (h *keeper) close(a blackboard.Activation) {
	h.say(a.Goal, a.Subject, a.Cause, Billed(a, message.StepEnded{
		Role: a.Role, Subject: a.Subject, Cause: a.Cause, Agent: a.Agent, Exit: -1, Class: message.EndLost,
		Detail: "neither the step nor its supervisor runs any more", DurationMS: max(0, h.now.Sub(a.Started.TS).Milliseconds()),
	}))
}

// lost tells whether nobody sees a step through any more. Where that can not be
// told, it is lost when the lease is over that it registered with, or that it
// would have got when it was started.
func (h *keeper) lost(a blackboard.Activation) bool {
	switch Attended(h.s, a, h.look) {
	case process.Living:
		return false
	case process.Dead:
		return true
	}
	if agent, ok := registeredFor(h.s, a); ok {
		return h.expired(agent.Lease)
	}
	return h.now.Sub(a.Started.TS).Milliseconds() >= h.p.LeaseMS
}

// Attended tells whether anybody still sees a step through: the process that
// spawned it, or the one that registered for this try.
func Attended(s Ledger, a blackboard.Activation, look Look) process.Liveness {
	holder, own := look.at(a.Holder), process.Dead
	if agent, ok := registeredFor(s, a); ok {
		own = look.at(agent.Process)
	}
	switch {
	case holder == process.Living || own == process.Living:
		return process.Living
	case holder == process.Dead && own == process.Dead:
		return process.Dead
	}
	return process.Unknown
}

// registeredFor is the agent of an activation, if it registered for this try.
func registeredFor(s Ledger, a blackboard.Activation) (blackboard.Agent, bool) {
	agent, ok := s.Agent(a.Agent)
	return agent, ok && agent.Since.Seq >= a.Started.Seq
}

// lapsedClaims takes tasks back from holders that are gone. A task is never
// taken from a living process, however old its lease. A claim by hand has no
// process: its lease alone counts.
func (h *keeper) lapsedClaims() {
	for t := range h.s.Tasks(blackboard.Claimed) {
		reason := h.whyLapsed(t)
		if reason == "" {
			continue
		}
		m := h.say(t.Goal, string(t.ID), t.Claim.ID, message.LeaseLapsed{Task: t.ID, Agent: t.Agent, Fence: t.Fence, Reason: reason})
		m.Fence = t.Fence
	}
}

func (h *keeper) whyLapsed(t blackboard.Task) string {
	switch {
	case t.ByHand && h.expired(t.Lease):
		return "the lease of a claim by hand ended"
	case t.ByHand || h.worksOn(t.Agent, t) || h.look.at(t.Step) == process.Living:
		return ""
	case t.Step.PID != 0 && h.look.at(t.Step) == process.Dead:
		return "the process that held it is gone"
	case h.expired(t.Lease):
		return "the lease ended and no process holds it"
	case t.Step.PID == 0 && h.wasStep(t.Agent, t):
		return "the step that held it is gone"
	}
	return ""
}

// worksOn tells whether a living step of the agent is about the task.
func (h *keeper) worksOn(agent message.AgentID, t blackboard.Task) bool {
	return h.working[agent] == string(t.ID)
}

// wasStep tells whether an agent's claim of a task came with an activation that
// was just found dead, so that its lease need not be waited for.
func (h *keeper) wasStep(agent message.AgentID, t blackboard.Task) bool {
	for _, a := range h.s.LiveActivations() {
		if a.Agent == agent && a.Subject == string(t.ID) {
			return !h.worksOn(agent, t)
		}
	}
	return false
}

// expired compares awake time within one boot. After a reboot only the wall
// clock is left.
func (h *keeper) expired(l message.Lease) bool {
	if l.Boot == h.p.Boot {
		return h.awakeMS >= l.AwakeMS
	}
	return !h.now.Before(l.ExpiresAt)
}

// orphanedDrafts ends drafts whose plan can no longer be committed. Those that
// miss a gate stay to be seen until the next plan is.
func (h *keeper) orphanedDrafts() {
	for t := range h.s.Tasks(blackboard.Draft) {
		if t.PlanID == "" || t.Goal == "" || h.planning[t.Goal] || len(t.Gates) > 0 {
			continue
		}
		h.say(t.Goal, string(t.ID), t.Created.ID, message.DraftVoided{Task: t.ID, PlanID: t.PlanID, Reason: "the step that planned it ended before the plan was complete"})
	}
}

func (h *keeper) deadAgents() {
	for _, a := range h.s.Agents() {
		if a.Process.PID == 0 || h.working[a.ID] != "" {
			continue
		}
		switch l := h.look.at(a.Process); {
		case l == process.Dead:
			h.say("", string(a.ID), "", message.Deregistered{Agent: a.ID, Reason: "its process is gone"})
		case l == process.Unknown && h.expired(a.Lease):
			h.say("", string(a.ID), "", message.Deregistered{Agent: a.ID, Reason: "nobody can see its process, and its lease has run out"})
		}
	}
}

func (h *keeper) goal(g blackboard.Goal) {
	if g.Status == blackboard.GoalSuspended {
		h.unattendedQuestion(g)
		h.staleSuspension(g)
		return
	}
	if g.Status != blackboard.GoalOpen || braked(h.s.Brakes()) {
		return
	}
	if h.deadline(g) {
		return
	}
	said := len(h.out)
	h.silentMemory(g)
	h.limits(g)
	if h.planReview(g) || h.overBudget(g) {
		return
	}
	moved := len(h.out) > said
	if !moved && h.outage(g) {
		return
	}
	h.stuck(g, moved)
}

// unattendedQuestion answers a clarification nobody is there to answer: an
// empty answer means proceed.
func (h *keeper) unattendedQuestion(g blackboard.Goal) {
	open := g.Clarify.Asked.ID != "" && g.Clarify.Answered.ID == ""
	if !h.p.Terminal && open && g.Suspended != nil && g.Suspended.Why == "clarification" {
		h.say(g.ID, string(g.ID), g.Clarify.Asked.ID, message.ClarificationAnswer{Round: g.Clarify.Round, Answers: []string{}})
	}
}

// silentMemory lets the planner go on without an answer.
func (h *keeper) silentMemory(g blackboard.Goal) {
	c := g.Calibration
	if c.Query == nil || c.Reply.ID != "" {
		return
	}
	waitedMS := max(0, h.now.Sub(c.Asked.TS).Milliseconds())
	switch {
	case h.p.MemoryOff:
		h.say(g.ID, string(g.ID), c.Asked.ID, message.MemoryTimeout{WaitedMS: waitedMS, Reason: "the memory is off"})
	case !h.p.MemoryResident:
		h.say(g.ID, string(g.ID), c.Asked.ID, message.MemoryTimeout{WaitedMS: waitedMS, Reason: "no memory resident is there"})
	case waitedMS >= h.p.MemoryWaitMS:
		h.say(g.ID, string(g.ID), c.Asked.ID, message.MemoryTimeout{WaitedMS: waitedMS, Reason: fmt.Sprintf("the memory did not answer within %d ms", h.p.MemoryWaitMS)})
	}
}

// overBudget suspends a goal when nothing runs and what is due can not be paid for.
func (h *keeper) overBudget(g blackboard.Goal) bool {
	if g.Running > 0 {
		return false
	}
	var reached *message.BudgetReached
	for _, c := range contracts {
		for a := range inOrder(wantedBy(h.s, g, c.Role, false)) {
			if reached = short(h.s, h.p, a); reached == nil {
				return false
			}
		}
	}
	if reached == nil {
		return false
	}
	h.say(g.ID, string(g.ID), "", *reached)
	return true
}
