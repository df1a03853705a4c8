package blackboard

import (
	"slices"
	"testing"

	"orch/blackboard/message"
)

func TestFeedbackOfARoundIsWrittenOnce(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("a", "p", 1))
	c.failed("a")
	round := c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g")).ID
	c.say(message.Megram{ID: "a", Ordinal: 1}, inGoal("g"), because(round))
	c.say(message.NegativeFeedback{RuleID: "c1", Ordinal: 1}, inGoal("g"), because(round), sentBy(message.GGS))
	c.refused("written before", message.NegativeFeedback{RuleID: "c1", Ordinal: 1}, inGoal("g"), because(round), sentBy(message.GGS))
	if got := c.goal("g").Rounds[0].Megrams; !slices.Equal(got, []string{"Megram:1", "NegativeFeedback:1"}) {
		t.Errorf("written %v", got)
	}
}

func TestDreamsAreDueAfterAnEndAndAskedForUntilReported(t *testing.T) {
	c := newScript(t)
	c.say(message.UserInput{Text: "x", Profile: "task"}, inGoal("g"))
	spec := c.say(message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x", Declarative: true}, inGoal("g"))
	if c.s.Dreams().Due() {
		t.Error("due before any goal ended")
	}
	c.say(message.FinalResult{TaskID: "g", Directive: message.Accept}, inGoal("g"), because(spec.ID))
	if !c.s.Dreams().Due() {
		t.Error("not due after a goal ended")
	}
	first := c.say(message.DreamRequest{Phases: []string{message.DreamForget}})
	second := c.say(message.DreamRequest{})
	c.refused("none of contradict", message.DreamRequest{Phases: []string{"sleep"}})
	c.say(message.DreamReport{Phase: message.DreamForget}, because(first.ID))
	if d := c.s.Dreams(); !d.Due() || len(d.Asked) != 2 {
		t.Errorf("a part of a pass ends it: %+v", d)
	}
	c.say(message.DreamReport{Last: true}, because(first.ID))
	d := c.s.Dreams()
	if d.Due() || len(d.Asked) != 1 || d.Asked[0].Ref.ID != second.ID {
		t.Errorf("dreams %+v", d)
	}
	c.refused("no request waits", message.DreamReport{Last: true}, because(first.ID))
	c.say(message.DreamReport{Last: true}) // by the clock, asked for by nobody
	if again := reopened(t, c.s).Dreams(); len(again.Asked) != 1 {
		t.Errorf("after a checkpoint %+v", again)
	}
}

func TestRequestsForDreamsAreBounded(t *testing.T) {
	c := newScript(t)
	for range maxDreamsAsked + 5 {
		c.say(message.DreamRequest{})
	}
	if n := len(c.s.Dreams().Asked); n != maxDreamsAsked {
		t.Errorf("%d are remembered", n)
	}
}
