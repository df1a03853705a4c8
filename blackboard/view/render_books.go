package view

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"orch/blackboard"
)

// statuses in the order of the lifecycle.
var statuses = []blackboard.Status{
	blackboard.Draft, blackboard.Unclaimed, blackboard.Claimed, blackboard.ReadyForReview, blackboard.Rejected,
	blackboard.Blocked, blackboard.Approved, blackboard.IntegrationFailed, blackboard.Merged,
	blackboard.Superseded, blackboard.Abandoned, blackboard.Void,
}

// bookkeepingKey begins the last section of a view.
const bookkeepingKey = "bookkeeping"

// bookkeeping shows what changes all the time, one line a thing, so that it
// makes one hunk of a diff, at its end, and the others show decisions.
func (r *Renderer) bookkeeping(e *emitter, s State, shown []*taskBlock, names taskNames) {
	e.open(0, bookkeepingKey)
	seq, head := s.Head()
	e.flow(2, "log", func(f *flow) {
		f.num("seq", int64(seq))
		f.quoted("head", head)
	})
	e.flow(2, "tasks_by_status", func(f *flow) {
		counts := s.Counts("")
		for _, st := range statuses {
			f.optNum(string(st), int64(counts[st]))
		}
	})
	e.section(2, "goals", func() {
		for _, g := range s.Goals() {
			if g.Status != blackboard.GoalEnded {
				e.flow(4, string(g.ID), func(f *flow) { goalLine(f, g) })
			}
		}
	})
	e.section(2, "agents", func() {
		agents := s.Agents()
		slices.SortStableFunc(agents, func(a, b blackboard.Agent) int { return cmp.Compare(a.ID, b.ID) })
		for _, a := range agents {
			e.flow(4, string(a.ID), func(f *flow) { agentLine(f, a, names) })
		}
	})
	e.section(2, "tasks", func() {
		for _, b := range shown {
			if len(b.line) > 0 {
				e.key(4, b.name)
				e.b = append(append(e.b, b.line...), '\n')
			}
		}
	})
}

func goalLine(f *flow, g blackboard.Goal) {
	f.num("rounds", int64(len(g.Rounds)))
	f.num("steps", int64(g.Steps))
	f.num("active_ms", g.ActiveMS)
	f.float("cost_usd", g.Cost)
	if g.Reserved != 0 {
		f.float("reserved_usd", g.Reserved)
	}
	if g.Doubt != 0 {
		f.float("unknown_usd_at_most", g.Doubt)
	}
}

// agentLine shows what an agent last said, under a name that claims no more: a
// process that was killed said nothing.
func agentLine(f *flow, a blackboard.Agent, names taskNames) {
	f.str("last_said", a.Status)
	f.str("task", names.of(a.CurrentTask))
	f.str("terminal", a.Terminal)
	f.optNum("pid", int64(a.Process.PID))
	f.time("lease_until", a.Lease.ExpiresAt)
}

// taskLine shows who holds a task for how long, and how often it was tried. Of
// one that is done, or that nobody ever held, there is nothing.
func taskLine(t *blackboard.Task, stub bool) []byte {
	if stub || t.Fence == 0 {
		return nil
	}
	e := &emitter{}
	e.flowOf(func(f *flow) {
		f.time("changed", t.Changed.TS)
		f.optNum("attempts", int64(t.Attempt))
		f.optNum("corrections", int64(t.Corrections))
		f.optNum("iterations", int64(t.Review.Iterations))
		f.optNum("rejections", int64(t.Review.CyclesTotal))
		f.optNum("integration_failures", int64(t.Review.IntegrationN))
		f.optNum("claims_lapsed", int64(t.Expired))
		if t.OpenCall != nil {
			f.str("tool_running", t.OpenCall.Tool)
		}
		if t.Status == blackboard.Claimed {
			f.time("lease_until", t.Lease.ExpiresAt)
			f.str("worktree", t.Work)
		}
		if t.Review.Reviewer != "" {
			f.time("review_lease_until", t.Review.Lease.ExpiresAt)
		}
	})
	return e.b
}

// section is a mapping that f fills; one without entries is left out.
func (e *emitter) section(n int, k string, f func()) {
	at := len(e.b)
	e.open(n, k)
	empty := len(e.b)
	f()
	if len(e.b) == empty {
		e.b = e.b[:at]
	}
}

// flow is a mapping on one line.
type flow struct {
	b     []byte
	begun bool
}

// flow writes a mapping on the line of its key.
func (e *emitter) flow(n int, k string, fill func(*flow)) {
	e.key(n, k)
	e.flowOf(fill)
	e.b = append(e.b, '\n')
}

func (e *emitter) flowOf(fill func(*flow)) {
	f := &flow{b: append(e.b, " {"...)}
	fill(f)
	e.b = append(f.b, '}')
}

func (f *flow) key(k string) {
	if f.begun {
		f.b = append(f.b, ", "...)
	}
	f.begun = true
	f.b = append(append(f.b, k...), ": "...)
}

func (f *flow) num(k string, v int64) {
	f.key(k)
	f.b = strconv.AppendInt(f.b, v, 10)
}

func (f *flow) optNum(k string, v int64) {
	if v != 0 {
		f.num(k, v)
	}
}

func (f *flow) float(k string, v float64) {
	f.key(k)
	f.b = appendFloat(f.b, v)
}

func (f *flow) time(k string, t time.Time) {
	if !t.IsZero() {
		f.key(k)
		f.b = appendTime(f.b, t)
	}
}

func (f *flow) quoted(k, v string) {
	f.key(k)
	f.b = appendQuoted(f.b, v)
}

// str leaves an empty text out.
func (f *flow) str(k, v string) {
	switch {
	case v == "":
	case isPlain(v) && !slices.ContainsFunc([]byte(v), func(c byte) bool { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}' }):
		f.key(k)
		f.b = append(f.b, v...)
	default:
		f.quoted(k, v)
	}
}

// seqPrefix begins the line that says of which message a view is true.
const seqPrefix = "  log: {seq: "
