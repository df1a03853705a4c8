package message

import (
	"errors"
	"fmt"
	"time"
)

// Loss is the measured error of a round; every part is in [0, 1] but L.
type Loss struct {
	D     float64 `json:"D"`
	P     float64 `json:"P"`
	Omega float64 `json:"Omega"`
	L     float64 `json:"L"`
}

// Directive names what kind of change the controller orders.
type Directive string

// The policies of the controller by name: which rules choose the change after a failed round.
const (
	LikeForLike = "like-for-like"
	V08         = "v0.8"
	V07         = "v0.7"
)

// Policies lists the names of the policies, the default first.
func Policies() []string { return []string{LikeForLike, V08, V07} }

// The macro-states. Accept, success and abandon end a goal.
const (
	Init           Directive = "init"
	Refine         Directive = "refine"
	ChangePath     Directive = "change_path"
	ChangeApproach Directive = "change_approach"
	BreakSymmetry  Directive = "break_symmetry"
	Accept         Directive = "accept"
	Success        Directive = "success"
	Abandon        Directive = "abandon"
)

// TaskDirective is what the controller orders for one failing slot of the goal.
type TaskDirective struct {
	Task              TaskID    `json:"task"`
	Slot              string    `json:"slot"`
	Directive         Directive `json:"directive"`
	Keep              *Pair     `json:"keep,omitempty"`
	ReturnTo          *Pair     `json:"return_to,omitempty"`
	BlockedApproaches []string  `json:"blocked_approaches"`
	BlockedPairs      []Pair    `json:"blocked_pairs"`
	Hint              string    `json:"hint,omitempty"` // wait, parameters, …
	Rule              string    `json:"rule"`           // number and name of the rule that fired
	Because           string    `json:"because"`
}

// PlanDirective tells the planner what kind of change to make.
type PlanDirective struct {
	TaskID          GoalID          `json:"task_id"`
	Policy          string          `json:"policy"`
	Round           int             `json:"round"` // from 1
	Loss            Loss            `json:"loss"`
	PrevDirective   Directive       `json:"prev_directive"`
	Directive       Directive       `json:"directive"`
	BlockedTools    []string        `json:"blocked_tools"`
	BlockedTargets  []string        `json:"blocked_targets"`
	FailedCriterion string          `json:"failed_criterion"`
	FailureClass    FailureClass    `json:"failure_class,omitempty"`
	BudgetPressure  float64         `json:"budget_pressure"`
	GradL           float64         `json:"grad_l"`
	MacroState      Directive       `json:"macro_state"` // what v0.8's table says, whatever the policy
	WorseningCount  int             `json:"worsening_count"`
	Rationale       string          `json:"rationale"`
	TaskDirectives  []TaskDirective `json:"task_directives"`
}

// Validate refuses a directive that would end the goal or change nothing.
func (p PlanDirective) Validate() error {
	switch p.Directive {
	case Refine, ChangePath, ChangeApproach, BreakSymmetry:
		return nil
	}
	return fmt.Errorf("directive %q is not refine, change_path, change_approach or break_symmetry", p.Directive)
}

// GiveUp is a person's word that a goal is not to be worked on any more, or the
// supervisor's that the moment has passed by which the person wanted it done. The
// controller answers it with a FinalResult.
type GiveUp struct {
	Reason   string     `json:"reason"`
	Deadline *time.Time `json:"deadline,omitempty"` // that has passed; none where a person gave it up
}

// Validate refuses a goal given up without a reason.
func (g GiveUp) Validate() error { return need("reason", g.Reason) }

// FinalResult ends a goal. Only the controller sends it.
type FinalResult struct {
	TaskID        GoalID    `json:"task_id"`
	Policy        string    `json:"policy"`
	Summary       string    `json:"summary"`
	Output        string    `json:"output"`
	Loss          Loss      `json:"loss"`
	GradL         float64   `json:"grad_l"`
	Replans       int       `json:"replans"`
	PrevDirective Directive `json:"prev_directive"`
	Directive     Directive `json:"directive"` // accept, success or abandon
	MacroState    Directive `json:"macro_state"`
	Rationale     string    `json:"rationale"`
	UnmetCriteria []Verdict `json:"unmet_criteria"`
	Accomplished  []string  `json:"accomplished"`
	NextMoves     []string  `json:"next_moves"`
	Cost          float64   `json:"cost"`
	ElapsedMS     int64     `json:"elapsed_ms"`
	InDoubt       []string  `json:"in_doubt,omitempty"` // calls that were cut off, and of which nobody knows whether they took effect
	Spent         []Spent   `json:"spent,omitempty"`    // on asking a model for the next moves
}

// Validate refuses a result that claims more than its verdicts show.
func (f FinalResult) Validate() error {
	switch f.Directive {
	case Accept, Success, Abandon:
	default:
		return fmt.Errorf("directive %q is not accept, success or abandon", f.Directive)
	}
	if f.Directive == Accept && (f.Loss.D != 0 || len(f.UnmetCriteria) > 0) {
		return errors.New("accept with unmet criteria")
	}
	if f.Directive == Abandon && len(f.NextMoves) == 0 {
		return errors.New("abandon without a next move")
	}
	return nil
}
