package blackboard

import (
	"testing"

	"orch/blackboard/message"
)

func TestAGoalThatIsGivenUpIsEndedByTheController(t *testing.T) {
	c := coding(t, sub("open", "p", 1), sub("held", "p", 1), sub("done", "p", 1))
	c.submit("done", "coder-1", "one")
	c.approved("done")
	c.merge("done")
	c.claim("held", "coder-2")
	c.refused("reason", message.GiveUp{}, inGoal("g"), sentBy(message.Human))
	c.refused("may be sent by", message.GiveUp{Reason: "r"}, inGoal("g"), sentBy(message.Coder))
	word := c.say(message.GiveUp{Reason: "solved by hand"}, inGoal("g"))
	if got := c.goal("g"); got.Status != GoalOpen || got.GiveUp == nil {
		t.Fatalf("a person's word alone made it %s, %v", got.Status, got.GiveUp)
	}
	c.refused("given up already", message.GiveUp{Reason: "again"}, inGoal("g"))
	c.refused("says success", message.FinalResult{TaskID: "g", Directive: message.Success}, inGoal("g"), because(word.ID))
	c.refused("no round waits", message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}, inGoal("g"), because("else"))
	c.say(message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}, inGoal("g"), because(word.ID))
	for id, want := range map[message.TaskID]Status{"open": Abandoned, "held": Abandoned, "done": Merged} {
		if got := c.task(id).Status; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	c.refused("ENDED", message.GiveUp{Reason: "again"}, inGoal("g"))
}

func TestAnOpenRoundIsAnsweredByGivingUp(t *testing.T) {
	c := fannedIn(t)
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	word := c.say(message.GiveUp{Reason: "r"}, inGoal("g"))
	end := c.say(message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}, inGoal("g"), because(word.ID))
	if got := c.goal("g"); got.Status != GoalEnded || got.Rounds[0].Answer.ID != end.ID {
		t.Errorf("the goal is %s, its round is answered by %q", got.Status, got.Rounds[0].Answer.ID)
	}
}

func TestNothingIsMergedIntoAGoalThatIsGivenUp(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	c.submit("t", "coder-1", "one")
	c.approved("t")
	c.say(message.MergeStarting{Task: "t", From: "a", To: "b"})
	c.refused("has begun", message.GiveUp{Reason: "r"}, inGoal("g"))
	c.say(message.IntegrationFailed{Task: "t", Command: "git merge"})
	c.submit("t", "coder-1", "two")
	c.approved("t")
	c.say(message.GiveUp{Reason: "r"}, inGoal("g"))
	c.refused("was given up", message.MergeStarting{Task: "t", From: "a", To: "b"})
}

// The controller may end a goal while a merge is under way.
func TestAMergeThatFailsAfterTheGoalEndedLeavesNothingOpen(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	c.submit("t", "coder-1", "one")
	c.approved("t")
	word := c.say(message.GiveUp{Reason: "r"}, inGoal("g"))
	c.say(message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}, inGoal("g"), because(word.ID))
	if got := c.task("t").Status; got != Approved {
		t.Fatalf("before it: %s", got)
	}
	c.say(message.IntegrationFailed{Task: "t", Command: "git merge"})
	if got := c.task("t"); got.Status != Abandoned || got.Review.Integration == nil {
		t.Errorf("it is %s, its failure %v", got.Status, got.Review.Integration)
	}
}
