package ggs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"orch/blackboard/message"
)

// Params are the numbers of the controller. docs/controller.md says what each does.
type Params struct {
	Alpha, Beta, Lambda float64 // weights of D, P and Ω in the loss
	W1, W2, W3          float64 // weights of replans, active time and cost in Ω
	Epsilon             float64 // |∇L| below this is a plateau
	Delta               float64 // D at or below this is close enough
	Rho                 float64 // P above this means the approach is wrong
	Theta               float64 // Ω at or above this abandons
	MaxReplans          int     // replans that count as the whole of W1
	TimeBudgetMS        int64   // active time that counts as the whole of W2
	CostCap             float64 // US dollars that count as the whole of W3; 0 means no cap
	Law2                int     // worsening rounds in a row that abandon
}

// The active time a goal may take by default.
const (
	taskBudgetMS    = 5 * 60_000 // a playbook
	modelBudgetMS   = 3_600_000
	agentBudgetMS   = 4 * 3_600_000
	codeBudgetMS    = 4 * 3_600_000
	missionBudgetMS = 24 * 3_600_000
)

// Slowest is what takes the longest of all that thinks and acts for a goal: a
// few rounds of it are to fit into the time a goal may take.
type Slowest int

// From the quickest to the slowest.
const (
	Playbooks Slowest = iota
	Models
	Agents
)

// Defaults are the numbers a policy uses unless told otherwise, for the profile task.
func Defaults(policy string) Params {
	p := Params{
		Alpha: 0.6, Beta: 0.3, Lambda: 0.4, W1: 0.6, W2: 0.4,
		Epsilon: 0.1, Delta: 0.3, Rho: 0.5, Theta: 0.8,
		MaxReplans: 3, TimeBudgetMS: taskBudgetMS, Law2: 2,
	}
	if policy == message.LikeForLike {
		p.MaxReplans = 6
	}
	return p
}

// TimeBudgetMS is the active time a goal may take by default: what its backends
// need, or its profile if that is more.
func TimeBudgetMS(profile string, with Slowest) int64 {
	byProfile := map[string]int64{"code": codeBudgetMS, "mission": missionBudgetMS}[profile]
	byBackend := map[Slowest]int64{Models: modelBudgetMS, Agents: agentBudgetMS}[with]
	return max(taskBudgetMS, byProfile, byBackend)
}

// WithBudget applies what a goal's own budget says; its zeros change nothing.
func (p Params) WithBudget(b message.Budget) Params {
	if b.MaxReplans > 0 {
		p.MaxReplans = b.MaxReplans
	}
	if b.TimeMS > 0 {
		p.TimeBudgetMS = b.TimeMS
	}
	if b.MaxCost > 0 {
		p.CostCap = b.MaxCost
	}
	return p
}

// Overrides replace single parameters; nil keeps the policy's own.
type Overrides struct {
	Alpha        *float64 `json:"alpha,omitempty"`
	Beta         *float64 `json:"beta,omitempty"`
	Lambda       *float64 `json:"lambda,omitempty"`
	W1           *float64 `json:"w1,omitempty"`
	W2           *float64 `json:"w2,omitempty"`
	W3           *float64 `json:"w3,omitempty"`
	Epsilon      *float64 `json:"epsilon,omitempty"`
	Delta        *float64 `json:"delta,omitempty"`
	Rho          *float64 `json:"rho,omitempty"`
	Theta        *float64 `json:"theta,omitempty"`
	MaxReplans   *int     `json:"max_replans,omitempty"`
	TimeBudgetMS *int64   `json:"time_budget_ms,omitempty"`
	CostCap      *float64 `json:"cost_cap,omitempty"`
	Law2         *int     `json:"law2,omitempty"`
}

// With returns the parameters with the overrides in place.
func (p Params) With(o Overrides) Params {
	set(&p.Alpha, o.Alpha)
	set(&p.Beta, o.Beta)
	set(&p.Lambda, o.Lambda)
	set(&p.W1, o.W1)
	set(&p.W2, o.W2)
	set(&p.W3, o.W3)
	set(&p.Epsilon, o.Epsilon)
	set(&p.Delta, o.Delta)
	set(&p.Rho, o.Rho)
	set(&p.Theta, o.Theta)
	set(&p.MaxReplans, o.MaxReplans)
	set(&p.TimeBudgetMS, o.TimeBudgetMS)
	set(&p.CostCap, o.CostCap)
	set(&p.Law2, o.Law2)
	return p
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// ParamError names a parameter outside its range.
type ParamError struct {
	Name    string
	Value   float64
	Allowed string
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("controller parameter %s is %g, allowed: %s", e.Name, e.Value, e.Allowed)
}

// Hint names where the parameters are described.
func (e *ParamError) Hint() string {
	return "orch config prints every parameter with its default and range"
}

// minW1 keeps the promise that every goal ends: Ω has to grow with replans alone.
const minW1 = 0.01

// Validate refuses numbers under which a goal might never end, or that mean nothing.
func (p Params) Validate() error {
	for _, f := range []struct {
		name      string
		v, lo, hi float64
	}{
		{"alpha", p.Alpha, 0, 10}, {"beta", p.Beta, 0, 10}, {"lambda", p.Lambda, 0, 10},
		{"w1", p.W1, minW1, 10}, {"w2", p.W2, 0, 10}, {"w3", p.W3, 0, 10},
		{"epsilon", p.Epsilon, 0, 1}, {"delta", p.Delta, 0, 1}, {"rho", p.Rho, 0, 1}, {"theta", p.Theta, 0.01, 1},
		{"max_replans", float64(p.MaxReplans), 1, 1000},
		{"time_budget_ms", float64(p.TimeBudgetMS), 1, 30 * 24 * 3_600_000},
		{"cost_cap", p.CostCap, 0, 1_000_000},
		{"law2", float64(p.Law2), 1, 100},
	} {
		if math.IsNaN(f.v) || f.v < f.lo || f.v > f.hi {
			return &ParamError{Name: f.name, Value: f.v, Allowed: fmt.Sprintf("%g to %g", f.lo, f.hi)}
		}
	}
	return nil
}

// Bound is the failing round at which a goal is abandoned at the latest, however
// fast its rounds are and whatever they bring. The parameters have to be valid.
func (p Params) Bound() int {
	n := 1
	for omega(p, n, 0, 0) < exact(p.Theta) {
		n++
	}
	return n
}

// PolicyError names a policy that does not exist.
type PolicyError struct{ Name string }

func (e *PolicyError) Error() string {
	return fmt.Sprintf("unknown policy %q, allowed: %s", e.Name, strings.Join(message.Policies(), ", "))
}

// Hint names where the policies are described.
func (e *PolicyError) Hint() string { return "docs/controller.md says what each policy does" }

func policyFor(name string) (policy, error) {
	i := slices.IndexFunc(policies, func(p policy) bool { return p.name() == name })
	if i < 0 {
		return nil, &PolicyError{Name: name}
	}
	return policies[i], nil
}
