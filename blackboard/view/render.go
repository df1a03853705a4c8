package view

import (
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
	// Tasks yields in an order that depends on nothing but the state, and so do
	// TaskRows and TaskRowsOf, which decode no task.
	Tasks(...blackboard.Status) iter.Seq[blackboard.Task]
	TaskRows(blackboard.Status) iter.Seq[blackboard.TaskRow]
	TaskRowsOf(message.GoalID, blackboard.Status) iter.Seq[blackboard.TaskRow]
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

// Format is the form of the view. In the first one tasks stood under their ids,
// and what changes all the time stood among what was decided.
const Format = 2

const preamble = `# The board, as the log has it at the seq below. Delete this file and it comes back.
# Of an open task you may edit: human_notes, priority, and status from BLOCKED to ABANDONED.
# Saving makes a message of it. Other changes are refused, comments are not kept;
# see also: orch task edit TASK. What changes all the time is under bookkeeping, at the end.
`

// Render returns the view of s, the same bytes as the function Render.
func (r *Renderer) Render(s State) []byte {
	r.round++
	shown, left := r.pick(s)
	names := nameTasks(shown)
	e := &emitter{b: make([]byte, 0, r.size+r.size/8+4096)}
	e.b = append(e.b, preamble...)
	e.num(0, "format", Format)
	e.str(0, "board", s.BoardID())
	r.brakes(e, s.Brakes())
	r.goals(e, s, names)
	sprint(e, s.Sprint(), names)
	r.approvals(e, s.Approvals(), names)
	r.anomalies(e, s.Anomalies(), names)
	r.limits(e, s.Limits())
	r.tasksSection(e, shown, left)
	r.bookkeeping(e, s, shown, names)
	r.size = len(e.b)
	return seal(e.b)
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

func (r *Renderer) approvals(e *emitter, approvals []blackboard.Approval, names taskNames) {
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
			e.optStr(n, "task", names.of(a.Task))
			e.str(n, "tool", a.Tool)
			r.text(e, n, "input", string(a.Input))
			r.text(e, n, "reason", a.Reason)
			e.time(n, "asked", a.Asked.TS)
			e.str(n, "command", "orch allow "+a.Request+", or orch deny "+a.Request)
		})
	}
}

func (r *Renderer) anomalies(e *emitter, all []blackboard.AnomalyRecord, names taskNames) {
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
			e.optStr(n, "task", names.of(a.Task))
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
