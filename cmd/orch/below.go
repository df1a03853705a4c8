package main

import (
	"os"
	"slices"
	"strings"
	"sync"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/run/socket"
)

// above are the processes that this one descends from.
var above = sync.OnceValue(process.Ancestors)

// notBelow refuses to say anything on a board from a command that one of the
// board's own steps started, or that a supervisor runs under a guard, whoever it
// says it is: such a command asks its step. On another board, such as one that a
// test suite makes, it is nobody's command.
//
// It keeps an agent from being taken for a person by way of orch itself. Who can
// write the log's file needs no orch to write to it.
func notBelow(id blackboard.Identity) func(*blackboard.State) error {
	marker, _, _ := strings.Cut(os.Getenv(process.MarkerEnv), "/")
	return func(st *blackboard.State) error {
		for _, a := range st.Agents() {
			if slices.ContainsFunc(above(), func(p process.Ancestor) bool { return isCommandOf(a, p) }) {
				return &notPersonError{a.ID}
			}
		}
		if marker == "" {
			return nil
		}
		for _, act := range st.LiveActivations() { // where parents are not told, and orphans have none
			if act.Marker == marker && act.Agent != id.Agent {
				return &notPersonError{act.Agent}
			}
		}
		return nil
	}
}

// isCommandOf tells whether an ancestor of this process is the agent, and this
// process one of its commands. Steps and hooks of a supervisor are not.
func isCommandOf(a blackboard.Agent, p process.Ancestor) bool {
	same := a.Process.PID == p.PID && a.Process.Boot == p.BootID && uint64(a.Process.Start) == p.StartTicks
	return same && (p.Guarded || a.Role != message.Supervisor)
}

// notPersonError refuses a command below a step.
type notPersonError struct{ Agent message.AgentID }

func (e *notPersonError) Error() string {
	return "a command that " + string(e.Agent) + " started may not write to the board"
}

// Usage makes it a mistake of the caller.
func (e *notPersonError) Usage() bool { return true }

// Hint says what it may do.
func (e *notPersonError) Hint() string {
	return "it asks its step, with orch submit or orch note; what a person says a person types"
}

// withoutSocket is an environment for what speaks to no step, although orch
// itself may have been started below one.
func withoutSocket(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv, socket.Env+"=") || strings.HasPrefix(kv, socket.TokenEnv+"=")
	})
}
