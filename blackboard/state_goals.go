package blackboard

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"orch/blackboard/message"
)

// boardRecord is what belongs to no goal, task or agent.
type boardRecord struct {
	ID     string                     `json:"id"`
	Format int                        `json:"format"`
	Brakes Brakes                     `json:"brakes"`
	Limits map[string]time.Time       `json:"limits,omitempty"`
	Rules  []string                   `json:"rules,omitempty"`
	Trips  []string                   `json:"trips,omitempty"` // findings that stopped work, oldest first
	Usual  map[message.Role][]float64 `json:"usual,omitempty"` // cost of each role's last steps that cost anything, oldest first
	Dreams Dreams                     `json:"dreams,omitzero"`
	Sprint *Sprint                    `json:"sprint,omitempty"` // the open or the last one
	Merged string                     `json:"merged,omitempty"` // commit of the last merge
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

// Sprint is the open sprint, or the last one; nil before the first. It must
// not be written through.
func (s *State) Sprint() *Sprint { return s.board().Sprint }

// LastMerged is the commit of the last merge on the board; empty before the first.
func (s *State) LastMerged() string { return s.board().Merged }

// Tripped tells whether a finding of the auditor has stopped work before.
func (s *State) Tripped(finding string) bool { return slices.Contains(s.board().Trips, finding) }

// Limits says until when which account is used up.
func (s *State) Limits() map[string]time.Time {
	out := map[string]time.Time{}
	for k, v := range s.board().Limits {
		out[k] = v
	}
	return out
}

// usualSteps is how many of a role's last steps say what one usually costs.
const usualSteps = 8

// Usual is the most that one of a role's last steps cost, in US dollars. ok is
// false as long as none cost anything.
func (s *State) Usual(role message.Role) (usd float64, ok bool) {
	last := s.board().Usual[role]
	if len(last) == 0 {
		return 0, false
	}
	return slices.Max(last), true
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
	ActiveMS   int64                  `json:"active_ms"`
	LastActive time.Time              `json:"last_active"`
	Measured   time.Time              `json:"measured"`    // end of the last step that said how long it ran
	MeasuredMS int64                  `json:"measured_ms"` // the active time then
	Running    int                    `json:"running"`
	Cost       float64                `json:"cost"`
	Reserved   float64                `json:"reserved"`
	Doubt      float64                `json:"doubt,omitempty"`
	Advice     *Asked                 `json:"advice,omitempty"`
	Unpriced   int                    `json:"unpriced,omitempty"`
	ByRole     map[message.Role]Spend `json:"by_role,omitempty"`
	Steps      int                    `json:"steps"`
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
		out.Doubt, out.Advice = m.Doubt, m.Advice
		out.Unpriced, out.ByRole = m.Unpriced, m.ByRole
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
