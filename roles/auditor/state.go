package auditor

import (
	"encoding/binary"
	"slices"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// state is everything an auditor remembers. All of it is bounded, or is gone
// when the goal it belongs to has ended.
type state struct {
	Head   journal.Head             `json:"head"`
	LastTS time.Time                `json:"last_ts"`
	Due    time.Time                `json:"due"` // when the next deadline may have passed
	Goals  map[message.GoalID]*goal `json:"goals"`
	Ended  ring                     `json:"ended"`  // goals that have ended
	Seen   ring                     `json:"seen"`   // ids of tasks
	Brake  mark                     `json:"brake"`  // a brake on the whole board
	Lifted time.Time                `json:"lifted"` // when the last one was lifted

	Supervisors map[message.AgentID]uint64 `json:"supervisors"`
	Live        map[string]span            `json:"live"` // steps that run, by activation
	Crashes     map[string][]evidence      `json:"crashes"`

	Rates    map[string]*series        `json:"rates"`
	Spending map[string]*spending      `json:"spending"`
	Clusters map[Kind][]cluster        `json:"clusters"`
	Doors    bool                      `json:"doors,omitempty"` // a record with a door was seen: all later ones have one
	Talk     map[message.AgentID]*talk `json:"talk"`            // messages of the last minute
	Refused  map[string][]evidence     `json:"refused"`         // of no goal, by role and subject

	Found   []Finding    `json:"found"`
	Told    told         `json:"told"`
	More    map[Kind]int `json:"more"`
	Figures Figures      `json:"figures"`
}

func newState() state {
	return state{
		Goals: map[message.GoalID]*goal{}, Supervisors: map[message.AgentID]uint64{}, Live: map[string]span{}, Crashes: map[string][]evidence{},
		Rates: map[string]*series{}, Spending: map[string]*spending{}, Clusters: map[Kind][]cluster{}, Talk: map[message.AgentID]*talk{}, Refused: map[string][]evidence{},
		Told: told{}, More: map[Kind]int{}, Figures: newFigures(),
		Ended: newRing(4096), Seen: newRing(16384),
	}
}

func (s *state) restore() {
	s.Ended.index()
	s.Seen.index()
}

// Bounds of what is remembered at once. What is beyond is not looked at; an
// honest board stays far below.
const (
	maxGoals    = 2_000
	maxTasks    = 20_000 // of one goal
	maxLive     = 10_000
	maxCrashing = 10_000
	maxTalkers  = 4_096
)

// goal is what is remembered of one that has not ended.
type goal struct {
	Text    string    `json:"text"`              // what was asked for
	Fact    bool      `json:"fact,omitempty"`    // to remember: there is no work that could be measured
	Dropped bool      `json:"dropped,omitempty"` // by a person
	First   evidence  `json:"first"`
	Last    evidence  `json:"last"`  // the latest message of it
	Quiet   uint64    `json:"quiet"` // the message before the silence that was reported
	Brake   mark      `json:"brake"`
	Lifted  time.Time `json:"lifted"`
	Told    told      `json:"told"`

	Tasks    map[message.TaskID]*task    `json:"tasks"`
	Approved map[message.TaskID]evidence `json:"approved"` // who matched, and the message that says so
	Plan     plan                        `json:"plan"`
	Round    *round                      `json:"round"`

	Rounds  int        `json:"rounds"`
	Best    float64    `json:"best"`  // lowest D so far
	Worse   []evidence `json:"worse"` // directives since then
	Breaks  []evidence `json:"breaks"`
	BreakD  float64    `json:"break_d"`
	Running int        `json:"running"` // live steps
	Noticed int        `json:"noticed"` // anomalies compared

	Refused map[string][]evidence `json:"refused"` // by role and subject
}

func newGoal(e evidence) *goal {
	return &goal{First: e, Last: e, Told: told{}, Tasks: map[message.TaskID]*task{}, Approved: map[message.TaskID]evidence{}, Refused: map[string][]evidence{}}
}

// mark is a brake or a suspension, and the message that set it.
type mark struct {
	evidence
	What  string `json:"what"`
	By    string `json:"by"`    // pause, checkpoint, or why else it waits
	Brake bool   `json:"brake"` // somebody must lift it, and may forget to
	Told  bool   `json:"told"`
}

func (k mark) set() bool { return k.Seq != 0 }

// Where a task stands, as far as the auditor cares.
const (
	drafted  = "draft"
	open     = "open"
	held     = "held"
	reviewed = "review"
	rejected = "rejected"
	blocked  = "blocked" // until a person unblocks it
	settled  = "settled"
)

type task struct {
	Made     evidence        `json:"made"`
	Plan     message.PlanID  `json:"plan"`
	By       message.Role    `json:"by"`
	Status   string          `json:"status"`
	Since    evidence        `json:"since"` // what brought it there
	From     string          `json:"from"`  // where a held task was taken from
	Rejected evidence        `json:"rejected"`
	Holder   message.AgentID `json:"holder"`
	Fence    message.Fence   `json:"fence"`
	Worker   message.AgentID `json:"worker"` // who made the last attempt
	Attempts []evidence      `json:"attempts"`
	Told     bool            `json:"told"` // that it waits too long
}

func (t *task) move(status string, e evidence) {
	t.Status, t.Since, t.Told = status, e, false
}

type plan struct {
	ID    message.PlanID   `json:"id"`
	Made  evidence         `json:"made"`
	Tasks []message.TaskID `json:"tasks"`
}

// round is the last thing that was measured of a goal.
type round struct {
	At     evidence  `json:"at"`
	Passed int       `json:"passed"`
	Failed []failure `json:"failed"`
}

type failure struct {
	Criterion string `json:"criterion"`
	Required  bool   `json:"required"`
}

// ring remembers the latest so many names, with the message each came with.
type ring struct {
	Size int    `json:"size"`
	Data []byte `json:"data"` // pairs of 8 bytes: hash, seq; oldest overwritten first
	Next int    `json:"next"`
	by   map[uint64]uint64
}

const ringEntry = 16

func newRing(size int) ring { return ring{Size: size, by: map[uint64]uint64{}} }

func (r *ring) index() {
	r.by = make(map[uint64]uint64, len(r.Data)/ringEntry)
	for at := 0; at+ringEntry <= len(r.Data); at += ringEntry {
		r.by[binary.LittleEndian.Uint64(r.Data[at:])] = binary.LittleEndian.Uint64(r.Data[at+8:])
	}
}

func (r *ring) has(name string) (seq uint64, ok bool) {
	seq, ok = r.by[fnv(name)]
	return seq, ok
}

func (r *ring) add(name string, seq uint64) {
	h := fnv(name)
	if _, there := r.by[h]; there {
		return
	}
	if len(r.Data) < r.Size*ringEntry {
		r.Data = slices.Grow(r.Data, ringEntry)[:len(r.Data)+ringEntry]
	} else {
		delete(r.by, binary.LittleEndian.Uint64(r.Data[r.Next*ringEntry:]))
	}
	at := r.Next * ringEntry
	binary.LittleEndian.PutUint64(r.Data[at:], h)
	binary.LittleEndian.PutUint64(r.Data[at+8:], seq)
	r.by[h] = seq
	r.Next = (r.Next + 1) % r.Size
}

// fnv is FNV-1a: names are ids the runtime made, and no table depends on it.
func fnv(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
