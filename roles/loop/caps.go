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
	Runs     bool     // an agent program may take a step, of which only totals are known
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

// ShareOf is what a run of an agent program is expected to take: the most that
// the role's last steps cost, or a guess that never takes more than a tenth of
// the goal's cap. It is 0 for a role that asks models: what a question to one may
// cost is known before it is sent.
func ShareOf(s Board, p Policy, a Activation) float64 {
	if t := p.thinks(s, a); !t.Paid || !t.Runs {
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

// affordable tells whether every cap leaves room for a step.
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

// short is the first cap that leaves no room for a step; nil if all do. What
// running steps have reserved is not free. Where nothing is paid for, only a cap
// that is used up counts.
func short(s Board, p Policy, a Activation) *message.BudgetReached {
	g, ok := s.Goal(a.Goal)
	if !ok {
		return nil
	}
	share, paid := ShareOf(s, p, a), p.thinks(s, a).Paid
	for _, c := range capsOn(s, p, g, a) {
		switch taken := c.used + c.reserved; {
		case c.limit <= 0:
		case c.used >= c.limit, paid && (taken >= c.limit || taken+share > c.limit):
			return c.reached()
		}
	}
	return nil
}

// limited is one cap and how far it is used, in US dollars.
type limited struct {
	name     string
	limit    float64
	used     float64 // by steps that have ended, what is in doubt included
	reserved float64 // by running steps, what they spent included
	underWay float64 // of that, by questions that are not answered: it may become less
}

func (c limited) reached() *message.BudgetReached {
	return &message.BudgetReached{Cap: c.name, Limit: c.limit, Used: c.used + c.reserved - c.underWay}
}

func capsOn(s Board, p Policy, g blackboard.Goal, a Activation) []limited {
	role := g.ByRole[a.Key.Role]
	all := []limited{
		{name: message.CapCost, limit: costCap(g, p), used: g.Cost + g.Doubt, reserved: g.Reserved, underWay: g.Advice.UnderWay()},
		{name: "cost of the role " + string(a.Key.Role), limit: p.Caps.Role[a.Key.Role], used: role.Cost + role.Doubt, reserved: role.Reserved},
		{name: "cost of the task " + a.Key.Subject, limit: p.Caps.Task},
	}
	onRole, onTask := &all[1], &all[2]
	t, isTask := s.Task(message.TaskID(a.Key.Subject))
	onTask.used = t.Cost + t.Doubt
	if !isTask {
		onTask.limit = 0 // about a goal
	}
	for _, live := range s.LiveActivations() {
		if live.Goal != g.ID {
			continue
		}
		underWay := live.Reserve + live.Asked.UnderWay()
		all[0].underWay += underWay
		if live.Role == a.Key.Role {
			onRole.underWay += underWay
		}
		if live.Subject == a.Key.Subject {
			onTask.reserved += live.Reserve + live.Asked.Total()
			onTask.underWay += underWay
		}
	}
	return all
}

func costCap(g blackboard.Goal, p Policy) float64 { return cmp.Or(g.Input.Budget.MaxCost, p.Caps.Goal) }

// Room is what the caps leave for one more question of a running step.
type Room struct {
	Capped bool                   // a cap bounds it; the rest counts only then
	USD    float64                // that may be reserved beyond what the step reserved; below 0 where a cap was lowered
	Cap    *message.BudgetReached // the narrowest
	Waits  bool                   // a question under way may leave more of it
	Share  float64                // see ShareOf
}

// RoomOf is the room of a running step. What it spent and reserved before is
// part of what is taken.
func RoomOf(s Board, p Policy, a Activation) (r Room) {
	g, ok := s.Goal(a.Goal)
	if !ok {
		return r
	}
	r.Share = ShareOf(s, p, a)
	for _, c := range capsOn(s, p, g, a) {
		left := c.limit - c.used - c.reserved
		if c.limit <= 0 || r.Capped && left >= r.USD {
			continue
		}
		r = Room{Capped: true, USD: left, Cap: c.reached(), Waits: c.underWay > 0, Share: r.Share}
	}
	return r
}
