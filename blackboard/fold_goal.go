package blackboard

import (
	"slices"
	"strings"

	"orch/blackboard/message"
)

func goalEffects() []effect {
	return []effect{
		on((*tx).userInput),
		on((*tx).clarificationQuestion), on((*tx).clarificationAnswer),
		on((*tx).taskSpec),
		on((*tx).memoryQuery), on((*tx).memoryAnswer), on((*tx).memoryTimeout),
	}
}

// goalOf returns a goal to change, which must not have ended.
func (x *tx) goalOf(id message.GoalID) (*Goal, error) {
	g := x.goals.edit(string(id))
	if g == nil {
		return nil, x.refuse("there is no goal %q", id)
	}
	if g.Status == GoalEnded {
		return nil, &GoalNotOpenError{Goal: id, Status: GoalEnded}
	}
	return g, nil
}

// liveGoal is the goal the message names; it must not have ended.
func (x *tx) liveGoal() (*Goal, error) {
	if x.m.Goal == "" {
		return nil, x.refuse("it names no goal")
	}
	return x.goalOf(x.m.Goal)
}

var profiles = []string{"task", "code", "mission"}

func (x *tx) userInput(b message.UserInput) error {
	if err := x.checkName("goal", string(x.m.Goal)); err != nil {
		return err
	}
	switch {
	case x.goals.peek(string(x.m.Goal)) != nil:
		return x.refuse("there is a goal %s already", x.m.Goal)
	case !slices.Contains(profiles, b.Profile):
		return x.refuse("profile %q is not task, code or mission", b.Profile)
	case !finite(b.Budget.MaxCost) || b.Budget.MaxCost < 0 || b.Budget.TimeMS < 0 || b.Budget.MaxReplans < 0:
		return x.refuse("a budget can not be negative")
	}
	for _, key := range x.s.goals.scan("goal.open", "") {
		if g := x.goals.peek(key); g != nil && strings.TrimSpace(g.Input.Text) == strings.TrimSpace(b.Text) {
			return &GoalOpenError{Goal: g.ID}
		}
	}
	x.goals.put(string(x.m.Goal), &Goal{ID: x.m.Goal, Input: b, InputRef: x.ref, Status: GoalOpen})
	x.meters.put(string(x.m.Goal), &meter{})
	return nil
}

const maxClarifications = 2

func (x *tx) clarificationQuestion(b message.ClarificationQuestion) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	switch {
	case g.Spec != nil:
		return x.refuse("the goal is perceived already")
	case g.Clarify.Asked.Seq != 0 && g.Clarify.Answered.Seq == 0:
		return x.refuse("round %d is not answered", g.Clarify.Round)
	case b.Round != g.Clarify.Round+1 || b.Round > maxClarifications:
		return x.refuse("round %d after %d; there are at most %d", b.Round, g.Clarify.Round, maxClarifications)
	case len(b.Questions) == 0:
		return x.refuse("it asks nothing")
	}
	g.Clarify = Clarification{Round: b.Round, Questions: b.Questions, Asked: x.ref}
	x.suspend(g, WhyClarification, strings.Join(b.Questions, " "), "orch answer")
	return nil
}

func (x *tx) clarificationAnswer(b message.ClarificationAnswer) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	switch {
	case g.Clarify.Asked.Seq == 0 || g.Clarify.Answered.Seq != 0:
		return x.refuse("no question is open")
	case b.Round != g.Clarify.Round:
		return x.refuse("it answers round %d, open is round %d", b.Round, g.Clarify.Round)
	case len(b.Answers) > len(g.Clarify.Questions):
		return x.refuse("%d answers to %d questions", len(b.Answers), len(g.Clarify.Questions))
	}
	g.Clarify.Answers, g.Clarify.Answered = b.Answers, x.ref
	if g.Suspended != nil && g.Suspended.Why == WhyClarification {
		x.reopen(g)
	}
	return nil
}

func (x *tx) taskSpec(b message.TaskSpec) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	switch {
	case g.Spec != nil:
		return x.refuse("the goal is perceived already")
	case g.Clarify.Asked.Seq != 0 && g.Clarify.Answered.Seq == 0:
		return x.refuse("round %d of questions is not answered", g.Clarify.Round)
	case b.TaskID != g.ID:
		return x.refuse("task_id is %q, want %q", b.TaskID, g.ID)
	case b.RawInput != g.Input.Text:
		return x.refuse("raw_input is not what the person wrote, byte for byte")
	}
	g.Spec, g.SpecRef = &b, x.ref
	if b.Declarative {
		g.Bill = x.openBill()
	}
	x.beginRound(g)
	return nil
}

// beginRound makes the message what the next plan, and the memory's part in
// it, answer. A fact to remember needs no plan.
func (x *tx) beginRound(g *Goal) {
	if g.Spec.Declarative {
		return
	}
	g.PlanCause, g.RoundCause = x.ref, x.ref
	g.PlanRejected = nil
}

func (x *tx) memoryQuery(b message.MemoryQuery) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	switch {
	case g.PlanCause.Seq == 0:
		return x.refuse("no plan is asked for")
	case g.Calibration.Cause == g.RoundCause.ID:
		return x.refuse("the memory was asked in this round")
	}
	g.Calibration = Calibration{Cause: g.RoundCause.ID, Query: &b, Asked: x.ref}
	return nil
}

func (x *tx) memoryAnswer(b message.MemoryAnswer) error { return x.memoryReply(&b) }

func (x *tx) memoryTimeout(message.MemoryTimeout) error { return x.memoryReply(nil) }

func (x *tx) memoryReply(b *message.MemoryAnswer) error {
	g, err := x.liveGoal()
	if err != nil {
		return err
	}
	switch {
	case g.Calibration.Asked.Seq == 0 || g.Calibration.Reply.Seq != 0:
		return x.refuse("no query waits for an answer")
	case x.m.Cause != "" && x.m.Cause != g.Calibration.Asked.ID:
		return x.refuse("it answers %s, open is %s", x.m.Cause, g.Calibration.Asked.ID)
	}
	g.Calibration.Answer, g.Calibration.Reply = b, x.ref
	return nil
}
