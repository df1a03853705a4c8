package blackboard

import (
	"errors"
	"fmt"
	"slices"

	"orch/blackboard/message"
)

// Identity says who a process is, and as what it may speak.
//
// It keeps honest processes from mistakes, and what a step starts from speaking
// in its name. It is no security boundary: whoever can write the log's file can
// write anything.
type Identity struct {
	Agent  message.AgentID // "<role>-<n>"
	Speaks []message.Role  // the roles it may use as From; the first that may send a type is the default
}

// NewIdentity checks an agent id. Without speaks, the agent speaks under the
// names of its role.
func NewIdentity(agent message.AgentID, speaks ...message.Role) (Identity, error) {
	role, err := message.ParseAgent(agent)
	if err != nil {
		return Identity{}, &IdentityError{Agent: agent, Err: err}
	}
	if len(speaks) == 0 {
		speaks = message.Names(role)
	}
	return Identity{Agent: agent, Speaks: speaks}, nil
}

// IdentityError: a process does not say who it is, or says it wrongly.
type IdentityError struct {
	Agent message.AgentID
	Err   error
}

func (e *IdentityError) Error() string { return fmt.Sprintf("who speaks: %v", e.Err) }
func (e *IdentityError) Unwrap() error { return e.Err }

// Hint says what a person can do.
func (e *IdentityError) Hint() string {
	return "set ORCH_AGENT_ID to <role>-<n>, or pass --as, for example --as executor-1"
}

// BoundaryError: a message that its sender may not send. The log has a
// BoundaryViolation about it.
type BoundaryError struct {
	Violation message.BoundaryViolation
}

func (e *BoundaryError) Error() string {
	v := e.Violation
	return fmt.Sprintf("%s refused to %s: %s", v.Refused, v.By, v.Why)
}

// Hint says what a person can do.
func (e *BoundaryError) Hint() string {
	return "each role may say only what its contract lists; see docs/messages.md"
}

func (id Identity) check() error {
	if id.Agent == "" {
		return &IdentityError{Err: errors.New("this process has no agent id")}
	}
	if _, err := message.ParseAgent(id.Agent); err != nil {
		return &IdentityError{Agent: id.Agent, Err: err}
	}
	return nil
}

// address fills in From, To, Agent and Door, and refuses what the identity or
// the table does not allow. A message is said at the door of who says it; only
// the agent's door is asked for, by a step that passes on what a command below
// it wants to say.
func (id Identity) address(m *message.Message) error {
	if m.Body == nil {
		return errors.New("a message needs a body")
	}
	t := m.Type()
	if m.Agent == "" {
		m.Agent = id.Agent
	}
	if m.To == "" {
		m.To = message.DefaultTo(t)
	}
	if m.From == "" {
		m.From = id.speaker(t, m.Door, m.To)
	}
	if m.Door != message.DoorAgent {
		m.Door = message.DoorOf(m.From)
	}
	var why string
	if m.Agent != id.Agent {
		why = fmt.Sprintf("it is signed by %s", m.Agent)
	} else if !slices.Contains(id.Speaks, m.From) {
		why = fmt.Sprintf("%s speaks as %v, not as %s", id.Agent, id.Speaks, m.From)
	} else if err := message.Route(t, m.Door, m.From, m.To); err != nil {
		why = err.Error()
	}
	if why == "" {
		return nil
	}
	return &BoundaryError{message.BoundaryViolation{
		By: id.Agent, From: m.From, Refused: t, Subject: m.Subject, Why: why,
	}}
}

// speaker is the first role of the identity that may send t to to, through a
// door if one is asked for; or its first role if none may.
func (id Identity) speaker(t message.Type, door message.Door, to message.Role) message.Role {
	for _, role := range id.Speaks {
		if message.Route(t, door, role, to) == nil {
			return role
		}
	}
	if len(id.Speaks) > 0 {
		return id.Speaks[0]
	}
	return ""
}
