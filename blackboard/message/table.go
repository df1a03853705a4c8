package message

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Door is the way by which a message may reach the log. It says how far what it
// states can be believed: a process of orch speaks for itself, an agent only
// asks and claims.
type Door string

// The doors. A record of an older log has none.
const (
	DoorProcess Door = "process" // orch's own code: a supervisor, a step, a resident
	DoorAgent   Door = "agent"   // a command below a step, through the step's socket
	DoorPerson  Door = "person"  // a command that a person typed
	DoorBoard   Door = "board"   // the board itself, about what it refused or repaired
)

// DoorOf is the door of a role that speaks for itself.
func DoorOf(from Role) Door {
	switch from {
	case Human:
		return DoorPerson
	case Board:
		return DoorBoard
	}
	return DoorProcess
}

// Source is a door and the roles that may send a message through it.
type Source struct {
	Door  Door
	Roles []Role
}

// Part names a kind of record of the folded state.
type Part string

// The parts of the state that a message may change.
const (
	Activations Part = "activations"
	Agents      Part = "agents"
	Anomalies   Part = "anomalies"
	Approvals   Part = "approvals"
	TheBoard    Part = "board"
	Goals       Part = "goals"
	Plans       Part = "plans"
	Tasks       Part = "tasks"
)

// Entry is one row of the table: a type, who may send it through which door and
// to whom, and what it may change. A type that changes nothing is there to be
// read. What every message of a goal adds to the goal's times and costs is no
// change in this sense.
type Entry struct {
	Type    Type
	Sources []Source
	To      []Role
	Changes []Part
	decode  func(json.RawMessage) (Body, error)
}

// From lists the roles that may send the type through any door.
func (e Entry) From() []Role {
	var all []Role
	for _, s := range e.Sources {
		for _, r := range s.Roles {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}

// Through lists the roles that may send the type through one door.
func (e Entry) Through(door Door) []Role {
	for _, s := range e.Sources {
		if s.Door == door {
			return s.Roles
		}
	}
	return nil
}

// Catalogue lists every type in a fixed order. The rows are copies.
func Catalogue() []Entry { return slices.Clone(catalogue()) }

// Lookup finds the row of a type.
func Lookup(t Type) (Entry, bool) {
	e, ok := byType()[t]
	return e, ok
}

// Route tells whether from may send a message of type t through a door to to;
// the error says what is allowed. An empty door stands for that of a record
// which was written before there were doors: any that the role may use.
func Route(t Type, door Door, from, to Role) error {
	e, ok := Lookup(t)
	if !ok {
		return fmt.Errorf("%w %q", ErrUnknownType, t)
	}
	switch {
	case !e.sentBy(from, ""):
		return fmt.Errorf("%s may be sent by %v, not by %s", t, e.From(), from)
	case !e.sentBy(from, door):
		return fmt.Errorf("%s may not be sent by %s through the door %q", t, from, door)
	case !slices.Contains(e.To, to):
		return fmt.Errorf("%s goes to %v, not to %s", t, e.To, to)
	}
	return nil
}

// sentBy tells whether a role may send the type through a door; an empty one is
// any. It is asked for every line of a log and makes nothing.
func (e *Entry) sentBy(from Role, door Door) bool {
	for i := range e.Sources {
		if s := &e.Sources[i]; (door == "" || s.Door == door) && slices.Contains(s.Roles, from) {
			return true
		}
	}
	return false
}

// DefaultTo is the first addressee of a type.
func DefaultTo(t Type) Role {
	if e, ok := Lookup(t); ok {
		return e.To[0]
	}
	return ""
}

// Emits lists the types that a process of a role may send, under all its names,
// in the order of the table.
func Emits(role Role) []Type {
	var all []Type
	for _, e := range catalogue() {
		if slices.ContainsFunc(Names(role), func(r Role) bool { return slices.Contains(e.From(), r) }) {
			all = append(all, e.Type)
		}
	}
	return all
}

// Names lists the names under which a process of a role speaks, its own first.
func Names(role Role) []Role {
	if role == Planner {
		return []Role{Planner, PlanValidator} // the code beside the model
	}
	return []Role{role}
}

func row[T Body](to []Role, changes []Part, sources ...Source) Entry {
	var zero T
	return Entry{Type: zero.Type(), Sources: sources, To: to, Changes: changes, decode: decodeInto[T]}
}

func process(r ...Role) Source { return Source{DoorProcess, r} }
func agent(r ...Role) Source   { return Source{DoorAgent, r} }
func person() Source           { return Source{DoorPerson, []Role{Human}} }
func board() Source            { return Source{DoorBoard, []Role{Board}} }

// to names roles: those a type is for, or those that may log an anomaly.
func to(r ...Role) []Role { return r }

func changes(p ...Part) []Part { return p }

// thinkers are the roles that may ask a model.
var thinkers = []Role{Perceiver, Planner, Executor, AgentValidator, MetaValidator, GGS, Memory, Coder, CodeReviewer}

// catalogue is the one table of who may say what: routing, the names of roles,
// what a socket takes, the auditor's check and docs/messages.md are read from it.
var catalogue = sync.OnceValue(func() []Entry {
	registering := process(append([]Role{Supervisor, Auditor}, thinkers...)...)
	return []Entry{
		row[Genesis](to(All), changes(TheBoard), board()),
		row[UserInput](to(Perceiver), changes(Goals), person()),
		row[ClarificationQuestion](to(Human), changes(Goals), process(Perceiver)),
		row[ClarificationAnswer](to(Perceiver), changes(Goals), person(), process(Supervisor)),
		row[TaskSpec](to(Planner), changes(Goals), process(Perceiver)),
		row[MemoryQuery](to(Memory), changes(Goals), process(Planner)),
		row[MemoryAnswer](to(Planner), changes(Goals), process(Memory)),
		row[MemoryTimeout](to(Planner), changes(Goals), process(Supervisor)),
		row[SubTask](to(Executor, Coder), changes(Tasks, Plans), process(Planner)),
		row[DispatchManifest](to(MetaValidator), changes(Tasks, Goals, Plans), process(Planner)),
		row[PlanRejected](to(Planner, GGS), changes(Tasks, Goals, Plans), process(PlanValidator)),
		row[StepStarting](to(All), changes(Activations), process(Supervisor)),
		row[CostReserved](to(All), changes(Activations), process(thinkers...)),
		row[StepEnded](to(All), changes(Activations, Agents), process(Supervisor)),
		row[Claimed](to(All), changes(Tasks), process(Supervisor), person()),
		row[Released](to(All), changes(Tasks), process(Supervisor), person()),
		row[LeaseExtended](to(All), changes(Tasks), process(Executor, Coder, CodeReviewer)),
		row[LeaseLapsed](to(All), changes(Tasks), process(Supervisor)),
		row[DraftVoided](to(All), changes(Tasks, Plans), process(Supervisor)),
		row[StateBefore](to(AgentValidator), changes(Tasks), process(Executor)),
		row[ToolStarted](to(AgentValidator), changes(Tasks), process(Executor)),
		row[ToolCall](to(AgentValidator), changes(Tasks), process(Executor)),
		row[ExecutionResult](to(AgentValidator), changes(Tasks), process(Executor)),
		row[CorrectionSignal](to(Executor), changes(Tasks), process(AgentValidator)),
		row[SubTaskOutcome](to(MetaValidator), changes(Tasks), process(AgentValidator)),
		row[ReplanRequest](to(GGS), changes(Goals), process(MetaValidator)),
		row[OutcomeSummary](to(GGS), changes(Goals), process(MetaValidator)),
		row[PlanDirective](to(Planner), changes(Goals), process(GGS)),
		row[GiveUp](to(GGS), changes(Goals), person(), process(Supervisor)),
		row[FinalResult](to(Human), changes(Goals, Tasks, Approvals), process(GGS)),
		row[Megram](to(Memory), changes(Goals), process(GGS, Memory)),
		row[MemoryFact](to(Memory), nil, person()),
		row[MemoryForget](to(Memory), nil, person()),
		row[NegativeFeedback](to(Memory), changes(Goals), process(GGS, Planner)),
		row[MemoryRebuilt](to(All), nil, process(Memory)),
		row[DreamRequest](to(Memory), changes(TheBoard), person(), process(Supervisor)),
		row[DreamReport](to(Human), changes(TheBoard), process(Memory)),
		row[LateResult](to(All), changes(Tasks), process(Executor, Coder, AgentValidator, CodeReviewer, MetaValidator)),
		row[BoundaryViolation](to(Auditor), nil, board()),
		row[JournalRepaired](to(All), nil, board()),
		row[LogRotated](to(All), nil, board()),
		row[LimitReached](to(All), changes(TheBoard), process(append([]Role{Supervisor}, thinkers...)...)),
		row[Outage](to(All), changes(Activations), process(Supervisor)),
		row[BudgetReached](to(Human), changes(Goals), process(Supervisor)),
		row[CircuitBreaker](to(Human), changes(TheBoard), process(Supervisor)),
		row[Paused](to(All), changes(TheBoard, Goals), person(), process(Supervisor)),
		row[Resumed](to(All), changes(TheBoard, Goals), person(), process(Supervisor)),
		row[CheckpointReached](to(All), changes(TheBoard, Goals), person(), process(Supervisor, Executor, Coder)),
		row[Aborted](to(All), changes(TheBoard, Goals), person(), process(Supervisor)),
		row[ApprovalRequest](to(Human), changes(Approvals, Goals), process(Executor, Coder, CodeReviewer)),
		row[ApprovalGiven](to(All), changes(Approvals, Goals), person()),
		row[Unblocked](to(All), changes(Tasks, Goals), person(), process(Planner)),
		row[HumanEdit](to(All), changes(Tasks), person()),
		row[HumanEditRefused](to(Human), nil, board()),
		row[HumanNote](to(All), changes(Tasks, Goals), person()),
		row[TaskAdded](to(All), changes(Tasks), person()),
		row[TaskFinished](to(All), changes(Tasks), person()),
		row[Registered](to(All), changes(Agents), registering),
		row[AgentStatus](to(All), changes(Agents), registering),
		row[Deregistered](to(All), changes(Agents), registering),
		row[TaskGated](to(Planner), changes(Tasks), process(PlanValidator)),
		row[ReviewRequested](to(CodeReviewer), changes(Tasks), process(Coder), agent(Coder)),
		row[ReviewClaimed](to(All), changes(Tasks), process(Supervisor)),
		row[ReviewReleased](to(All), changes(Tasks), process(Supervisor)),
		row[ReviewVerdict](to(Coder), changes(Tasks), process(CodeReviewer)),
		row[FindingsAccepted](to(All), changes(Tasks), person()),
		row[Blocked](to(Planner), changes(Tasks, Goals), process(Coder, CodeReviewer, Supervisor), agent(Coder)),
		row[Handoff](to(Coder), changes(Tasks), process(Coder), agent(Coder)),
		row[MergeStarting](to(All), changes(Tasks), process(Supervisor)),
		row[Merged](to(All), changes(Tasks), process(Supervisor)),
		row[IntegrationFailed](to(All), changes(Tasks), process(Supervisor)),
		row[Rescoped](to(All), changes(Tasks, Goals), process(Planner)),
		row[Abandoned](to(All), changes(Tasks), process(Planner)),
		row[Anomaly](to(Auditor, Planner), changes(Anomalies, Tasks, Goals),
			process(Planner, Coder, CodeReviewer, AgentValidator, MetaValidator, Supervisor), agent(Executor, Coder, CodeReviewer)),
		row[Discovery](to(Planner), changes(Anomalies, Goals), agent(Coder)),
		row[Triaged](to(All), changes(Tasks, Anomalies), process(Planner)),
		row[SprintOpened](to(All), changes(TheBoard), person()),
		row[SprintClosed](to(All), changes(TheBoard), person()),
		row[Escalated](to(Human), changes(TheBoard), process(Supervisor)),
	}
})

var byType = sync.OnceValue(func() map[Type]Entry {
	all := catalogue()
	m := make(map[Type]Entry, len(all))
	for _, e := range all {
		m[e.Type] = e
	}
	return m
})
