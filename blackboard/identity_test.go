package blackboard

import (
	"errors"
	"strings"
	"testing"

	"orch/blackboard/message"
)

func TestNewIdentity(t *testing.T) {
	for _, agent := range []message.AgentID{"", "executor", "Executor-1", "executor-", "-1", "executor-1x", "nobody-1", "executor-1\n"} {
		_, err := NewIdentity(agent)
		var wrong *IdentityError
		if !errors.As(err, &wrong) || wrong.Hint() == "" {
			t.Errorf("agent %q: %v", agent, err)
		}
	}
	id, err := NewIdentity("code-reviewer-12")
	if err != nil || len(id.Speaks) != 1 || id.Speaks[0] != message.CodeReviewer {
		t.Errorf("code-reviewer-12 is %+v, %v", id, err)
	}
}

func TestAddress(t *testing.T) {
	planner := Identity{Agent: "planner-1", Speaks: []message.Role{message.Planner, message.PlanValidator}}
	rejected := message.PlanRejected{}
	note := message.HumanNote{}
	tests := []struct {
		name     string
		in       message.Message
		from, to message.Role
		why      string
	}{
		{"defaults", message.Message{Body: message.SubTask{}}, message.Planner, message.Executor, ""},
		{"the role that may", message.Message{Body: rejected}, message.PlanValidator, message.Planner, ""},
		{"another addressee of the table", message.Message{Body: rejected, To: message.GGS}, message.PlanValidator, message.GGS, ""},
		{"as stated", message.Message{Body: message.SubTask{}, From: message.Planner, To: message.Coder, Agent: "planner-1"}, message.Planner, message.Coder, ""},
		{"outside the table", message.Message{Body: note}, "", "", "may be sent by"},
		{"wrong addressee", message.Message{Body: message.SubTask{}, To: message.Human}, "", "", "goes to"},
		{"another role", message.Message{Body: note, From: message.Human}, "", "", "speaks as"},
		{"another agent", message.Message{Body: message.SubTask{}, Agent: "planner-2"}, "", "", "signed by planner-2"},
		{"the controller's word", message.Message{Body: message.FinalResult{}, From: message.GGS}, "", "", "speaks as"},
	}
	for _, test := range tests {
		m := test.in
		err := planner.address(&m)
		var boundary *BoundaryError
		switch {
		case test.why == "" && (err != nil || m.From != test.from || m.To != test.to || m.Agent != "planner-1"):
			t.Errorf("%s: %s → %s by %s, %v", test.name, m.From, m.To, m.Agent, err)
		case test.why != "" && (!errors.As(err, &boundary) || !strings.Contains(boundary.Violation.Why, test.why)):
			t.Errorf("%s: %v, want %q", test.name, err, test.why)
		}
	}
	if err := planner.address(&message.Message{}); err == nil {
		t.Error("a message without a body has an address")
	}
}
