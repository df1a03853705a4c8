package blackboard

import (
	"testing"

	"orch/blackboard/message"
)

// A role and what asks for its steps might one day see the board differently.
// Then the one must not be started and the other find nothing to do for ever.
func TestAStepThatFindsNothingToDoIsCounted(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	key := ActivationKey{Role: message.Planner, Subject: "g", Cause: "m3"}
	for n := 1; n <= 3; n++ {
		c.say(message.StepStarting{Role: key.Role, Subject: key.Subject, Cause: key.Cause, Agent: "planner-1", Try: n}, inGoal("g"))
		c.say(message.StepEnded{Role: key.Role, Subject: key.Subject, Cause: key.Cause, Agent: "planner-1", Class: message.EndMoved, Exit: 42}, inGoal("g"))
		if a, _ := c.s.Activation(key); a.Kills != n || a.Crashes != 0 {
			t.Errorf("after %d: %d kills, %d crashes", n, a.Kills, a.Crashes)
		}
	}
}
