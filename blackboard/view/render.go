package view

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// DefaultMaxTasks is how many open tasks a view shows unless told otherwise.
const DefaultMaxTasks = 500

// Bounds of what else a view shows. What is left out is counted.
const (
	maxEndedGoals = 20
	maxAnomalies  = 50
	maxTextRunes  = 240 // of outputs and evidence, which can be a megabyte
)

// State is what a view shows of a board. *blackboard.State has it.
type State interface {
	Head() (seq uint64, hash string)
	BoardID() string
	Goals() []blackboard.Goal
	Task(message.TaskID) (blackboard.Task, bool)
	// Tasks and TasksOf yield in an order that depends on nothing but the state.
	Tasks(...blackboard.Status) iter.Seq[blackboard.Task]
	TasksOf(message.GoalID, ...blackboard.Status) iter.Seq[blackboard.Task]
	Counts(message.GoalID) map[blackboard.Status]int
	Agents() []blackboard.Agent
	Approvals() []blackboard.Approval
	Brakes() blackboard.Brakes
	Sprint() *blackboard.Sprint
	Anomalies() []blackboard.AnomalyRecord
	Limits() map[string]time.Time
	// Err is not nil if reading failed; then what was returned is not to be trusted.
	Err() error
}

// Options choose how much a view shows.
type Options struct {
	MaxTasks int  // open tasks; 0 means DefaultMaxTasks
	Full     bool // every task and every goal, texts unclipped
}

// Render returns the view of a state.
func Render(s State, o Options) []byte { return NewRenderer(o).Render(s) }

// Renderer renders one state after the other and copies the blocks of tasks
// that did not change. It is not safe for concurrent use.
type Renderer struct {
	o     Options
	tasks map[message.TaskID]*taskBlock
	kept  kept // from another process
	round uint64
	size  int // of the last view, to allocate once
}

// NewRenderer returns a Renderer that has nothing to copy yet.
func NewRenderer(o Options) *Renderer {
	if o.MaxTasks <= 0 {
		o.MaxTasks = DefaultMaxTasks
	}
	return &Renderer{o: o, tasks: map[message.TaskID]*taskBlock{}}
}

const preamble = `# The board, as the log has it at the seq below. Delete this file and it comes back.
# Of a task you may edit: human_notes, priority, and status from BLOCKED to ABANDONED.
# Saving makes a message of it. Other changes are refused, comments are not kept;
# see also: orch task edit TASK
`

// Render returns the view of s, the same bytes as the function Render.
func (r *Renderer) Render(s State) []byte {
	r.round++
	e := &emitter{b: make([]byte, 0, r.size+r.size/8+4096)}
	e.b = append(e.b, preamble...)
	seq, head := s.Head()
	e.num(0, "format", 1)
	e.str(0, "board", s.BoardID())
	e.unum(0, "seq", seq)
	e.b = append(appendQuoted(append(e.b, "head: "...), head), '\n')
	r.brakes(e, s.Brakes())
	r.goals(e, s)
	sprint(e, s.Sprint())
	r.agents(e, s.Agents())
	r.approvals(e, s.Approvals())
	r.anomalies(e, s.Anomalies())
	r.limits(e, s.Limits())
	e.counts(0, "counts", s.Counts(""))
	r.allTasks(e, s)
	r.size = len(e.b)
	return seal(e.b)
}

// statuses in the order of the lifecycle.
var statuses = []blackboard.Status{
	blackboard.Draft, blackboard.Unclaimed, blackboard.Claimed, blackboard.ReadyForReview, blackboard.Rejected,
	blackboard.Blocked, blackboard.Approved, blackboard.IntegrationFailed, blackboard.Merged,
	blackboard.Superseded, blackboard.Abandoned, blackboard.Void,
}

func (e *emitter) counts(n int, key string, counts map[blackboard.Status]int) {
	at := len(e.b)
	e.open(n, key)
	empty := len(e.b)
	for _, st := range statuses {
		e.optNum(n+2, string(st), int64(counts[st]))
	}
	if len(e.b) == empty {
		e.b = e.b[:at]
		e.raw(n, key, "{}")
	}
}

// text writes what may be long, clipped unless the view is full.
func (r *Renderer) text(e *emitter, n int, key, value string) {
	if !r.o.Full {
		value = clip(value, maxTextRunes)
	}
	e.optStr(n, key, value)
}

// clip cuts s after max runes and says so.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	count := 0
	for i := range s {
		if count == max {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

func (r *Renderer) brakes(e *emitter, b blackboard.Brakes) {
	if b.Paused == nil && b.Checkpoint == nil {
		e.raw(0, "brakes", "{}")
		return
	}
	e.open(0, "brakes")
	for _, brake := range []struct {
		name string
		at   *blackboard.Ref
	}{{"paused", b.Paused}, {"checkpoint", b.Checkpoint}} {
		if brake.at != nil {
			e.open(2, brake.name)
			e.ref(4, *brake.at)
		}
	}
	e.optStr(2, "reason", b.Reason)
	e.str(2, "command", "orch resume")
}

// ref says where in the log something is.
func (e *emitter) ref(n int, ref blackboard.Ref) {
	e.unum(n, "seq", ref.Seq)
	e.time(n, "at", ref.TS)
}

// agents shows what agents last said, under a name that claims no more: a
// process that was killed said nothing.
func (r *Renderer) agents(e *emitter, agents []blackboard.Agent) {
	if len(agents) == 0 {
		e.raw(0, "agents", "{}")
		return
	}
	slices.SortStableFunc(agents, func(a, b blackboard.Agent) int { return cmp.Compare(a.ID, b.ID) })
	e.open(0, "agents")
	for _, a := range agents {
		e.open(2, string(a.ID))
		e.str(4, "role", string(a.Role))
		e.str(4, "last_said", a.Status)
		e.optStr(4, "task", string(a.CurrentTask))
		e.optStr(4, "terminal", a.Terminal)
		e.optNum(4, "pid", int64(a.Process.PID))
		e.time(4, "lease_until", a.Lease.ExpiresAt)
	}
}

func (r *Renderer) approvals(e *emitter, approvals []blackboard.Approval) {
	open := slices.DeleteFunc(slices.Clone(approvals), func(a blackboard.Approval) bool { return a.Given.Seq != 0 })
	if len(open) == 0 {
		e.raw(0, "approvals_waiting", "[]")
		return
	}
	e.open(0, "approvals_waiting")
	for _, a := range open {
		e.item(2, func(n int) {
			e.str(n, "request", a.Request)
			e.optStr(n, "goal", string(a.Goal))
			e.optStr(n, "task", string(a.Task))
			e.str(n, "tool", a.Tool)
			r.text(e, n, "input", string(a.Input))
			r.text(e, n, "reason", a.Reason)
			e.time(n, "asked", a.Asked.TS)
			e.str(n, "command", "orch allow "+a.Request+", or orch deny "+a.Request)
		})
	}
}

func (r *Renderer) anomalies(e *emitter, all []blackboard.AnomalyRecord) {
	if len(all) == 0 {
		e.raw(0, "anomalies", "[]")
		return
	}
	shown := all
	if !r.o.Full && len(all) > maxAnomalies {
		shown = all[len(all)-maxAnomalies:]
	}
	e.open(0, "anomalies")
	for _, a := range shown {
		e.item(2, func(n int) {
			e.str(n, "kind", a.Kind)
			e.optStr(n, "task", string(a.Task))
			e.optStr(n, "agent", string(a.Agent))
			e.ref(n, a.Ref)
			if len(a.Details) > 0 {
				e.open(n, "details")
				for _, key := range slices.Sorted(maps.Keys(a.Details)) {
					r.text(e, n+2, key, a.Details[key])
				}
			}
		})
	}
	e.optNum(0, "anomalies_not_shown", int64(len(all)-len(shown)))
}

func (r *Renderer) limits(e *emitter, limits map[string]time.Time) {
	if len(limits) == 0 {
		e.raw(0, "accounts_used_up", "{}")
		return
	}
	e.open(0, "accounts_used_up")
	for _, account := range slices.Sorted(maps.Keys(limits)) {
		e.time(2, account, limits[account])
	}
}
