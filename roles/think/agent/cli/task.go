package cli

import (
	"encoding/json"

	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/think"
	"orch/roles/think/model"
)

// Access is how much an agent may change by itself.
type Access string

// Levels of access.
const (
	Read      Access = "read"      // look only
	Workspace Access = "workspace" // change the directory it works in, under the agent's own limits
	Full      Access = "full"      // no limits of the agent's own; for an agent that is confined from outside
)

// Task is one run of an agent: one prompt, one final answer.
type Task struct {
	Prompt string
	Dir    string         // where it works; absolute
	Env    []string       // added to the agent's environment
	Access Access         // empty: Workspace
	Schema *model.Schema  // wanted shape of the final answer; nil for prose
	Marker process.Marker // whose work it is

	Writable []string // directories it may write beside Dir, where something confines it

	// Role, System and Input are for programs that read the request as JSON.
	Role   string
	System string
	Input  json.RawMessage

	// OnEvent is told of everything the stream shows, from one goroutine.
	OnEvent func(Event)
	// Permit answers a question for permission that an agent puts; nil refuses
	// everything but what Access allows.
	Permit func(Permission) bool
	// Tools serves file and terminal requests of an agent; nil: not offered.
	Tools think.Tools
}

// Permission is what an agent asks leave for.
type Permission struct {
	Tool  string // its name or kind
	Title string
	Kind  string // read, edit, delete, move, search, execute, think, fetch or other
	Paths []string
	Input json.RawMessage
}

// EventKind says what an Event is about.
type EventKind string

// Kinds of events.
const (
	Began    EventKind = "began"    // the agent is up; Session, Model and Version are known as far as it tells
	Said     EventKind = "said"     // a piece of its text
	Thought  EventKind = "thought"  // a piece of its reasoning
	Called   EventKind = "called"   // it called a tool
	Returned EventKind = "returned" // a tool call ended
	Refused  EventKind = "refused"  // a tool call was refused
	Done     EventKind = "done"     // the terminal event came
)

// Event is one thing an agent's stream shows.
type Event struct {
	Kind EventKind
	Text string
	Tool *ToolUse
}

// ToolUse is a call of one of the agent's own tools, as its stream shows it.
type ToolUse struct {
	ID     string
	Name   string
	Input  json.RawMessage
	Output string
	Failed bool
}

// Denial is a tool call the agent was refused. The agent may have gone on and
// claim success all the same.
type Denial struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input,omitempty"`
	Reason string          `json:"reason,omitempty"`
}

// Result is what came of a run. With an error it is filled as far as known.
type Result struct {
	Text    string
	Usage   message.Usage
	Cost    *float64 // US dollars, where the agent states it
	Session string
	Version string
	Denials []Denial
	Tools   []ToolUse // at most MaxTools, the first and the last
	Calls   int       // of tools, all

	Argv       []string // what was run, the prompt left out
	Exit       int
	DurationMS int64
	Confined   string // by which layers; empty: not at all
	Leftovers  int    // processes that outlived the agent and were ended
	Survivors  int    // processes that could not be ended; 0 unless the system refused
	Unknown    int    // lines and events nobody understood
}

// Bounds of what a run keeps.
const (
	MaxTools      = 200
	MaxDenials    = 100
	MaxTextBytes  = 8 << 20
	MaxLineBytes  = 8 << 20
	MaxInputBytes = 16 << 10 // of a tool call's input
)
