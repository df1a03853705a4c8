package blackboard

import (
	"testing"
	"time"

	"orch/blackboard/message"
)

// A process renews its registration with another one: nothing but the lease is
// new, and what it said of itself stays.
func TestARegistrationIsRenewed(t *testing.T) {
	c := inStatus(t, message.Executor, Claimed)
	reg := message.Registered{Agent: "executor-1", Role: message.Executor, Process: message.Process{PID: 1},
		Lease: message.Lease{ExpiresAt: c.now.Add(time.Minute)}, Status: message.AgentWorking}
	c.say(reg)
	before, _ := c.s.Agent("executor-1")
	reg.Lease.ExpiresAt = c.now.Add(time.Hour)
	c.say(reg)
	after, ok := c.s.Agent("executor-1")
	if !ok || after.Since != before.Since || after.CurrentTask != before.CurrentTask || after.Status != message.AgentWorking || !after.Lease.ExpiresAt.Equal(reg.Lease.ExpiresAt) {
		t.Errorf("renewed %+v to %+v", before, after)
	}
	c.refused("is not one of", message.Registered{Agent: "executor-2", Role: message.Executor, Status: "DREAMING"})
	c.say(message.Registered{Agent: "executor-2", Role: message.Executor})
	if a, _ := c.s.Agent("executor-2"); a.Status != message.AgentStarting {
		t.Errorf("one that says nothing of itself is %s", a.Status)
	}
}
