package blackboard

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"orch/blackboard/message"
)

// State is the folded board. It is not safe for concurrent use. Getters return
// copies; what their pointers and slices lead to must not be written to.
// A State opened over a checkpoint decodes only what is asked for.
type State struct {
	seq    uint64
	hash   string
	faults *faults

	activations table[Activation]
	agents      table[Agent]
	anomalies   table[AnomalyRecord]
	approvals   table[Approval]
	boards      table[boardRecord]
	goals       table[Goal]
	meters      table[meter]
	plans       table[planTally]
	tallies     table[tally]
	tasks       table[Task]
}

// NewState is the board before its first message.
func NewState() *State { return openState(nil, 0, "") }

// openState is the board a checkpoint stands for; b may be nil for an empty one.
func openState(b base, seq uint64, hash string) *State {
	s := &State{seq: seq, hash: hash, faults: &faults{}}
	s.activations = newTable(s, b, "activation", indexActivation, "activation.agent", "activation.goal", "activation.live")
	s.agents = newTable(s, b, "agent", indexAgent, "agent.all")
	s.anomalies = newTable(s, b, "anomaly", indexAnomaly, "anomaly.all")
	s.approvals = newTable(s, b, "approval", indexApproval, "approval.all", "approval.open")
	s.boards = newTable(s, b, "board", noIndex[boardRecord])
	s.goals = newTable(s, b, "goal", indexGoal, "goal.all", "goal.open", "goal.status")
	s.meters = newTable(s, b, "meter", noIndex[meter])
	s.plans = newTable(s, b, "plan", noIndex[planTally])
	s.tallies = newTable(s, b, "tally", noIndex[tally])
	s.tasks = newTable(s, b, "task", indexTask, "task.all", "task.claim", "task.dependent", "task.goal", "task.held", "task.holder", "task.id", "task.plan")
	s.tasks.still = stillIndexedTask
	s.goals.still = func(old, now *Goal) bool { return old.Status == now.Status }
	return s
}

func newTable[T any](s *State, b base, kind string, index func(string, *T) []entry, names ...string) table[T] {
	return table[T]{kind: kind, names: names, index: index, base: b, faults: s.faults}
}

func noIndex[T any](string, *T) []entry { return nil }

// anyTable is what the tables have in common, whatever they hold.
type anyTable interface {
	records() iter.Seq2[record, error]
	entries() iter.Seq[entry]
	size() int
}

// tables lists them in ascending order of kind.
func (s *State) tables() []anyTable {
	return []anyTable{&s.activations, &s.agents, &s.anomalies, &s.approvals, &s.boards, &s.goals, &s.meters, &s.plans, &s.tallies, &s.tasks}
}

// records yields everything the state remembers, in ascending order of kind
// and key: what a checkpoint has to hold.
func (s *State) records() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for _, t := range s.tables() {
			for r, err := range t.records() {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// entries yields the entries of all indexes, ascending within each. After
// it, Err tells whether the base below could be read.
func (s *State) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, t := range s.tables() {
			for e := range t.entries() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// changed is the number of records that differ from the checkpoint below.
func (s *State) changed() int {
	n := 0
	for _, t := range s.tables() {
		n += t.size()
	}
	return n
}

// snapshot is the state as it is now, for a reader elsewhere; it costs the
// same whatever the size of the board, and later messages do not change it.
func (s *State) snapshot() *State {
	f := &faults{err: s.faults.err}
	return &State{
		seq: s.seq, hash: s.hash, faults: f,
		activations: s.activations.copy(f), agents: s.agents.copy(f), anomalies: s.anomalies.copy(f),
		approvals: s.approvals.copy(f), boards: s.boards.copy(f), goals: s.goals.copy(f), meters: s.meters.copy(f),
		plans: s.plans.copy(f), tallies: s.tallies.copy(f), tasks: s.tasks.copy(f),
	}
}

// Err is the first error of reading the checkpoint below the state. What a
// getter returned is only to be trusted while it is nil; Apply refuses
// everything once it is not, and the board has to be folded from the log.
func (s *State) Err() error { return s.faults.err }

// Head is the position and the hash of the last message folded.
func (s *State) Head() (seq uint64, hash string) { return s.seq, s.hash }

// SetHead names the hash of the line that holds the last message folded.
func (s *State) SetHead(hash string) { s.hash = hash }

// boardRecord is what belongs to no goal, task or agent.
type boardRecord struct {
	ID     string               `json:"id"`
	Format int                  `json:"format"`
	Brakes Brakes               `json:"brakes"`
	Limits map[string]time.Time `json:"limits,omitempty"`
	Rules  []string             `json:"rules,omitempty"`
}

const boardKey = "board"

func (s *State) board() boardRecord {
	if b := s.boards.get(boardKey); b != nil {
		return *b
	}
	return boardRecord{}
}

// BoardID is the UUID of the board; empty before its first message.
func (s *State) BoardID() string { return s.board().ID }

// Brakes are a person's brakes on the whole board.
func (s *State) Brakes() Brakes { return s.board().Brakes }

// Limits says until when which account is used up.
func (s *State) Limits() map[string]time.Time {
	out := map[string]time.Time{}
	for k, v := range s.board().Limits {
		out[k] = v
	}
	return out
}

// Rules are the permission rules a person gave: those kept for good, then
// those for the goal. Each is JSON.
func (s *State) Rules(goal message.GoalID) []string {
	out := slices.Clone(s.board().Rules)
	if g, ok := s.Goal(goal); ok {
		out = append(out, g.Rules...)
	}
	return out
}

// meter is the part of a goal that nearly every message changes.
type meter struct {
	ActiveMS   int64     `json:"active_ms"`
	LastActive time.Time `json:"last_active"`
	Running    int       `json:"running"`
	Cost       float64   `json:"cost"`
	Reserved   float64   `json:"reserved"`
	Steps      int       `json:"steps"`
}

// Goal returns a goal.
func (s *State) Goal(id message.GoalID) (Goal, bool) {
	g := s.goals.get(string(id))
	if g == nil {
		return Goal{}, false
	}
	out := *g
	if m := s.meters.get(string(id)); m != nil {
		out.ActiveMS, out.LastActive, out.Running = m.ActiveMS, m.LastActive, m.Running
		out.Cost, out.Reserved, out.Steps = m.Cost, m.Reserved, m.Steps
	}
	return out, true
}

// Goals lists every goal in the order they were started.
func (s *State) Goals() []Goal { return s.goalsIn("goal.all") }

// OpenGoals lists the goals that have not ended, in the order they were started.
func (s *State) OpenGoals() []Goal { return s.goalsIn("goal.open") }

func (s *State) goalsIn(index string) []Goal {
	var out []Goal
	for _, key := range s.goals.scan(index, "") {
		if g, ok := s.Goal(message.GoalID(key)); ok {
			out = append(out, g)
		}
	}
	return out
}

// goalStatus finds a goal's status without decoding the goal.
func (s *State) goalStatus(id message.GoalID) GoalStatus {
	for key := range s.goals.scan("goal.status", string(id)+sep) {
		return GoalStatus(key[len(id)+len(sep):])
	}
	return ""
}

// UniqueGoalID is the first of slug, slug_2, slug_3 … that no goal has.
func (s *State) UniqueGoalID(slug string) message.GoalID {
	id := message.GoalID(cmp.Or(slug, "goal"))
	first := id
	for n := 2; s.goalStatus(id) != ""; n++ {
		id = first + message.GoalID("_"+strconv.Itoa(n))
	}
	return id
}

// Agent returns a registered agent.
func (s *State) Agent(id message.AgentID) (Agent, bool) {
	if a := s.agents.get(string(id)); a != nil {
		return *a, true
	}
	return Agent{}, false
}

// Agents lists the registered agents by id.
func (s *State) Agents() []Agent {
	var out []Agent
	for _, key := range s.agents.scan("agent.all", "") {
		if a := s.agents.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// NextAgent is the lowest <role>-<n> that is not registered, has no step that
// lives, and holds no task.
func (s *State) NextAgent(role message.Role) message.AgentID {
	for n := 1; ; n++ {
		id := message.AgentID(fmt.Sprintf("%s-%d", role, n))
		if s.agents.get(string(id)) == nil && s.liveOf(id) == nil && !any2(s.tasks.scan("task.holder", string(id)+sep)) {
			return id
		}
	}
}

// liveOf is the activation an agent is at work on, or nil.
func (s *State) liveOf(id message.AgentID) *Activation {
	for _, key := range s.activations.scan("activation.agent", string(id)+sep) {
		return s.activations.get(key)
	}
	return nil
}

func any2(seq iter.Seq2[string, string]) bool {
	for range seq {
		return true
	}
	return false
}

func (k ActivationKey) key() string {
	return strings.Join([]string{string(k.Role), k.Subject, string(k.Cause)}, sep)
}

// Activation returns what is known of an activation.
func (s *State) Activation(k ActivationKey) (Activation, bool) {
	if a := s.activations.get(k.key()); a != nil {
		return *a, true
	}
	return Activation{}, false
}

// LiveActivations lists the steps that were started and have not ended, oldest first.
func (s *State) LiveActivations() []Activation {
	return s.activationsIn("activation.live", "")
}

// ActivationsOf lists the activations of a goal, oldest first. Those of a goal
// that ended are forgotten.
func (s *State) ActivationsOf(goal message.GoalID) []Activation {
	return s.activationsIn("activation.goal", string(goal)+sep)
}

func (s *State) activationsIn(index, prefix string) []Activation {
	var out []Activation
	for _, key := range s.activations.scan(index, prefix) {
		if a := s.activations.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// Approvals lists the permissions that were asked for, in order; Given is zero
// in those that wait for an answer.
func (s *State) Approvals() []Approval {
	var out []Approval
	for _, key := range s.approvals.scan("approval.all", "") {
		if a := s.approvals.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// Anomalies lists what roles reported, oldest first.
func (s *State) Anomalies() []AnomalyRecord {
	var out []AnomalyRecord
	for _, key := range s.anomalies.scan("anomaly.all", "") {
		if a := s.anomalies.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}
