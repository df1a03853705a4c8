// Package blackboard owns the board: what the log of a project adds up to, and
// the only way to add to it.
//
// A State is the fold of a log. Apply is pure, total and deterministic: it
// changes the state by one legal message, or refuses with the reason and leaves
// it as it was. One table, in lifecycle.go, says which message may do what to a
// task. A Board is a State that follows a log on disk, shared with any number of
// processes.
//
// It promises that what it acknowledged is never lost, that a task has at most
// one holder, that fences only grow and that nothing leaves a terminal status;
// and that opening it costs what is new, not its history or its size. It knows
// nothing of models, prompts or tools, starts no processes, and never decides
// what should happen next.
package blackboard

import "iter"

// State is the folded board. It is not safe for concurrent use. Getters return
// copies; what their pointers and slices lead to must not be written to.
// A State opened over a checkpoint decodes only what is asked for.
type State struct {
	seq    uint64
	hash   string
	below  uint64              // seq of the checkpoint it was opened over
	heads  [recentHeads]string // of the last messages, by seq modulo their number
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

	planned members // what was worked out lately, not what is remembered
}

// NewState is the board before its first message.
func NewState() *State { return openState(nil, 0, "") }

// openState is the board a checkpoint stands for; b may be nil for an empty one.
func openState(b base, seq uint64, hash string) *State {
	s := &State{seq: seq, below: seq, faults: &faults{}}
	s.SetHead(hash)
	s.activations = newTable(s, b, "activation", indexActivation, "activation.agent", "activation.goal", "activation.live")
	s.agents = newTable(s, b, "agent", indexAgent, "agent.all")
	s.anomalies = newTable(s, b, "anomaly", indexAnomaly, "anomaly.all")
	s.approvals = newTable(s, b, "approval", indexApproval, "approval.all", "approval.open")
	s.boards = newTable(s, b, "board", noIndex[boardRecord])
	s.goals = newTable(s, b, "goal", indexGoal, "goal.all", "goal.open", "goal.status")
	s.meters = newTable(s, b, "meter", noIndex[meter])
	s.plans = newTable(s, b, "plan", noIndex[planTally])
	s.tallies = newTable(s, b, "tally", noIndex[tally])
	s.tasks = newTable(s, b, "task", indexTask, "task.all", "task.begun", "task.claim", "task.dependent", "task.goal", "task.held", "task.holder", "task.id", "task.merging", "task.plan", "task.review")
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
		seq: s.seq, hash: s.hash, below: s.below, heads: s.heads, faults: f,
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
