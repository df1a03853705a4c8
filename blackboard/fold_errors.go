package blackboard

import (
	"fmt"
	"unicode/utf8"

	"orch/blackboard/message"
)

// RefusedError says why the board's state does not allow a message.
type RefusedError struct {
	Type message.Type
	Why  string
	Do   string // what a person can do, or empty
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s refused: %s", e.Type, e.Why) }

// Hint says what a person can do.
func (e *RefusedError) Hint() string { return e.Do }

// GoalOpenError: the same words are a goal that has not ended.
type GoalOpenError struct{ Goal message.GoalID }

func (e *GoalOpenError) Error() string {
	return fmt.Sprintf("goal %s asks for the same and has not ended", e.Goal)
}

// Hint says what a person can do.
func (e *GoalOpenError) Hint() string { return "`orch run --continue` goes on with it" }

// GoalNotOpenError: the goal ended or is suspended.
type GoalNotOpenError struct {
	Goal    message.GoalID
	Status  GoalStatus
	Why     string
	Command string // what resolves a suspension
}

func (e *GoalNotOpenError) Error() string {
	if e.Why == "" {
		return fmt.Sprintf("goal %s is %s", e.Goal, e.Status)
	}
	return fmt.Sprintf("goal %s is %s (%s)", e.Goal, e.Status, e.Why)
}

// Hint says what a person can do.
func (e *GoalNotOpenError) Hint() string {
	if e.Command == "" {
		return ""
	}
	return "`" + e.Command + "`"
}

// LateError: the sender no longer holds the task. Its result belongs in a LateResult.
type LateError struct {
	Task   message.TaskID
	Agent  message.AgentID // of the message
	Fence  message.Fence   // of the message
	Status Status
	Holder message.AgentID // the present or last one
	Now    message.Fence   // of the last claim
}

func (e *LateError) Error() string {
	return fmt.Sprintf("%s (claim %d) no longer holds task %s: it is %s, last claimed by %s (claim %d)",
		e.Agent, e.Fence, e.Task, e.Status, e.Holder, e.Now)
}

// ActivationTakenError: the activation runs already, or is done.
type ActivationTakenError struct {
	Key   ActivationKey
	Agent message.AgentID
	Done  bool
}

func (e *ActivationTakenError) Error() string {
	state := "is at it"
	if e.Done {
		state = "has done it"
	}
	return fmt.Sprintf("%s on %s is taken: %s %s", e.Key.Role, e.Key.Subject, e.Agent, state)
}

// AgentLiveError: another process goes by the agent's id.
type AgentLiveError struct {
	Agent   message.AgentID
	Process message.Process
}

func (e *AgentLiveError) Error() string {
	return fmt.Sprintf("agent %s is registered by process %d, whose lease has not ended", e.Agent, e.Process.PID)
}

// refuse makes the error for what the state does not allow.
func (x *tx) refuse(format string, args ...any) error {
	return &RefusedError{Type: x.m.Type(), Why: fmt.Sprintf(format, args...)}
}

const maxNameBytes = 256

// checkName refuses names that would not survive being a key, or being printed.
func (x *tx) checkName(what, name string) error {
	switch {
	case name == "":
		return x.refuse("%s is missing", what)
	case len(name) > maxNameBytes:
		return x.refuse("%s is longer than %d bytes", what, maxNameBytes)
	case !utf8.ValidString(name):
		return x.refuse("%s is not UTF-8", what)
	}
	for _, r := range name {
		if r < ' ' || r == 0x7f {
			return x.refuse("%s %q has a control character", what, name)
		}
	}
	return nil
}
