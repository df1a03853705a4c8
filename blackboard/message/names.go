package message

import (
	"fmt"
	"slices"
	"strings"
)

// Type names a kind of message, for example "SubTask".
type Type string

// ID is the UUIDv7 of one message.
type ID string

// GoalID names a goal on the board: snake_case, unique, assigned by the runtime.
type GoalID string

// TaskID names a task: a UUID assigned by the runtime, or a short name given by a person.
type TaskID string

// PlanID names one plan of a goal: a UUID assigned by the runtime.
type PlanID string

// CallID names one tool call of one step: a UUID assigned by the runtime.
type CallID string

// AgentID names one process that acts in a role: "<role>-<n>".
type AgentID string

// Fence is the number of a claim. Every claim of a task has a higher fence than
// the one before; a message under an older fence is late.
type Fence uint64

// Role names a contract: what activates it, what it reads, what it may say.
type Role string

// The roles, and the parties that are not roles but speak on the bus.
const (
	Board          Role = "board"
	Human          Role = "human"
	Supervisor     Role = "supervisor"
	Perceiver      Role = "perceiver"
	Planner        Role = "planner"
	PlanValidator  Role = "plan-validator"
	Executor       Role = "executor"
	AgentValidator Role = "agent-validator"
	MetaValidator  Role = "meta-validator"
	GGS            Role = "ggs"
	Memory         Role = "memory"
	Auditor        Role = "auditor"
	Coder          Role = "coder"
	CodeReviewer   Role = "code-reviewer"
	Crosscheck     Role = "crosscheck"
	All            Role = "all"
)

// Roles lists every role a process can take, in a fixed order.
func Roles() []Role {
	return []Role{Human, Supervisor, Perceiver, Planner, PlanValidator, Executor, AgentValidator, MetaValidator,
		GGS, Memory, Auditor, Coder, CodeReviewer, Crosscheck}
}

// ParseAgent splits an agent id into its role and checks both.
func ParseAgent(id AgentID) (Role, error) {
	s := string(id)
	i := strings.LastIndexByte(s, '-')
	if i < 1 || s[0] == '-' || strings.Trim(s[:i], "abcdefghijklmnopqrstuvwxyz-") != "" || s[i+1:] == "" || strings.Trim(s[i+1:], "0123456789") != "" {
		return "", fmt.Errorf("agent id %q is not of the form <role>-<n>, for example executor-1", s)
	}
	role := Role(s[:i])
	if !slices.Contains(Roles(), role) {
		return "", fmt.Errorf("agent id %q names the unknown role %q", s, role)
	}
	return role, nil
}
