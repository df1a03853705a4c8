package loop

import (
	"cmp"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// Caps bound what may be spent, in US dollars; 0 is no cap.
type Caps struct {
	Goal    float64 // unless the goal says otherwise
	Role    map[message.Role]float64
	Task    float64
	Reserve float64 // set aside for a paid step of a role that never cost anything yet
}

// CapsOf takes the caps from the configuration.
func CapsOf(b config.Budget) Caps {
	c := Caps{Goal: b.MaxCost, Task: b.Task, Reserve: b.Reserve, Role: map[message.Role]float64{}}
	for role, usd := range b.Role {
		c.Role[message.Role(role)] = usd
	}
	return c
}

// Thinks is what a role thinks with, as far as it decides when a step starts.
type Thinks struct {
	Accounts []string // that can serve it, the preferred one first; empty for code
	Paid     bool     // a step may cost something
}

func (p Policy) thinks(s Board, a Activation) Thinks {
	g, ok := s.Goal(a.Goal)
	if !ok || p.Thinks == nil {
		return Thinks{}
	}
	return p.Thinks(g, a.Key.Role)
}

// freeAgain is when the first of the role's accounts can be used; zero for now.
func freeAgain(s Board, p Policy, a Activation) time.Time {
	var first time.Time
	limits := s.Limits()
	for _, account := range p.thinks(s, a).Accounts {
		until, limited := limits[account]
		if !limited {
			return time.Time{}
		}
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// ReserveOf is what is set aside for a step: the most that the role's last
// steps cost, or a guess that never takes more than a tenth of the goal's cap.
func ReserveOf(s Board, p Policy, a Activation) float64 {
	if !p.thinks(s, a).Paid {
		return 0
	}
	if usd, ok := s.Usual(a.Key.Role); ok {
		return usd
	}
	g, _ := s.Goal(a.Goal)
	if limit := costCap(g, p); limit > 0 {
		return min(p.Caps.Reserve, limit/10)
	}
	return p.Caps.Reserve
}

// affordable tells whether every cap leaves room for what the step usually costs.
func affordable(s Board, p Policy, a Activation) bool {
	_, ok := s.Goal(a.Goal)
	return ok && short(s, p, a) == nil
}

// billed tells whether what led to a step is paid for as far as the caps need to
// know. What a step cost is said when it ends, after all else it says: where a
// cap is set, nothing paid may follow from a step before that.
func billed(s Board, p Policy, a Activation) bool {
	g, ok := s.Goal(a.Goal)
	capped := func(c limited) bool { return c.limit > 0 }
	if !ok || !p.thinks(s, a).Paid || !slices.ContainsFunc(capsOn(s, p, g, a), capped) {
		return true
	}
	for _, live := range s.LiveActivations() {
		same := Activation{Key: live.ActivationKey, Goal: live.Goal}
		if live.Goal == a.Goal && live.ActivationKey != a.Key && mayPrecede(same, a) && p.thinks(s, same).Paid {
			return false
		}
	}
	return true
}

// mayPrecede tells whether b may follow from what a, a step of the same goal,
// has said: it is about the same, or one of both is about the whole goal. Only a
// plan that is mended does not wait for the coders of other tasks.
func mayPrecede(a, b Activation) bool {
	whole := string(a.Goal)
	switch {
	case a.Key.Subject == b.Key.Subject || a.Key.Subject == whole:
		return true
	case b.Key.Subject != whole:
		return false
	}
	return b.Key.Role != message.Planner || a.Key.Role != message.Coder && a.Key.Role != message.CodeReviewer
}

// short is the first cap that leaves no room for a step; nil if all do. Where
// nothing is paid for, only a cap that is used up counts.
func short(s Board, p Policy, a Activation) *message.BudgetReached {
	g, ok := s.Goal(a.Goal)
	if !ok {
		return nil
	}
	reserve := ReserveOf(s, p, a)
	for _, c := range capsOn(s, p, g, a) {
		if c.limit > 0 && (c.used >= c.limit || c.used+c.reserved+reserve > c.limit) {
			return &message.BudgetReached{Cap: c.name, Limit: c.limit, Used: c.used}
		}
	}
	return nil
}

// limited is one cap and how far it is used, in US dollars.
type limited struct {
	name                  string
	limit, used, reserved float64
}

func capsOn(s Board, p Policy, g blackboard.Goal, a Activation) []limited {
	role := g.ByRole[a.Key.Role]
	return []limited{
		{message.CapCost, costCap(g, p), g.Cost, g.Reserved},
		{"cost of the role " + string(a.Key.Role), p.Caps.Role[a.Key.Role], role.Cost, role.Reserved},
		{"cost of the task " + a.Key.Subject, p.Caps.Task, taskCost(s, a), 0},
	}
}

func taskCost(s Board, a Activation) float64 {
	t, ok := s.Task(message.TaskID(a.Key.Subject))
	if !ok {
		return 0 // about a goal
	}
	return t.Cost
}

func costCap(g blackboard.Goal, p Policy) float64 { return cmp.Or(g.Input.Budget.MaxCost, p.Caps.Goal) }

// RoomOf is what a running step may spend before a cap is reached; 0 if none
// bounds it. What other running steps reserved is theirs.
func RoomOf(s Board, p Policy, a Activation) float64 {
	g, ok := s.Goal(a.Goal)
	if !ok {
		return 0
	}
	var own float64
	if live, known := s.Activation(a.Key); known && live.Live() {
		own = live.Reserve
	}
	room := 0.0
	for _, c := range capsOn(s, p, g, a) {
		if c.limit <= 0 {
			continue
		}
		left := max(c.limit-c.used-max(0, c.reserved-own), smallestUSD)
		if room == 0 || left < room {
			room = left
		}
	}
	return room
}

// smallestUSD stands for "nothing is left": a step that was started may ask once.
const smallestUSD = 1e-9
