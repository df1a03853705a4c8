package think

import (
	"context"
	"encoding/json"
	"slices"

	"orch/blackboard/message"
)

// Planner proposes plans.
type Planner interface {
	// Candidates lists the pairs a plan for the input could use, for the memory query.
	Candidates(context.Context, PlanInput) ([]message.Pair, error)
	// Plan proposes tasks. It returns *NoPlanError when nothing allowed is left.
	Plan(context.Context, PlanInput) (Proposal, error)
}

// NoPlanError says that no plan can be made under the constraints, slot by slot.
type NoPlanError struct {
	Slots []string
	Why   string
}

func (e *NoPlanError) Error() string { return "no approach is left: " + e.Why }

// PlanInput is all a planner may read.
type PlanInput struct {
	Goal       message.GoalID         `json:"goal"`
	Spec       message.TaskSpec       `json:"spec"`
	Playbook   string                 `json:"playbook"` // asked for by name
	Workspace  string                 `json:"workspace"`
	Strict     bool                   `json:"strict"`
	Constraint Constraints            `json:"constraint"`
	Directive  *message.PlanDirective `json:"directive"`       // nil for the first plan
	Previous   []PreviousTask         `json:"previous"`        // tasks of earlier plans, oldest first
	Violations []message.Violation    `json:"violations"`      // why the last proposal of this round was refused
	Facts      []string               `json:"facts,omitempty"` // what the person told the memory, word for word
	Lessons    []string               `json:"lessons"`         // standing rules of the memory, in words
	Values     string                 `json:"values"`
	Code       *CodePlan              `json:"code,omitempty"` // of the coding profile; nil for other goals
}

// PreviousTask is what became of a task of an earlier plan.
type PreviousTask struct {
	ID       message.TaskID  `json:"id"`
	Slot     string          `json:"slot"`
	Approach string          `json:"approach"`
	Target   string          `json:"target"`
	Status   string          `json:"status"` // matched, failed or skipped
	Reason   string          `json:"reason"`
	Plan     message.PlanID  `json:"plan"`
	Action   json.RawMessage `json:"action,omitempty"` // what it ran, as SubTask.Action says; may be empty
}

// Constraints are what a plan must not and should do.
type Constraints struct {
	MustNot []Ban          `json:"must_not"`
	Prefer  []message.Pair `json:"prefer"`  // memory says exploit
	Caution []message.Pair `json:"caution"` // nothing speaks clearly for or against them: other ways first
	// AskFirst are those of them the memory is of two minds about, because they
	// worked and failed: what has effects needs a yes.
	AskFirst []message.Pair `json:"ask_first,omitempty"`
	// SetAside are the slots in which the memory's bans do not bind, because
	// they would leave nothing to try.
	SetAside []string
	// Scope are the paths of the project that may change; none for all.
	Scope []string `json:"scope,omitempty"`
}

// Ban forbids an approach or an (approach, target) pair, for one slot or for all.
type Ban struct {
	Slot     string `json:"slot"`     // empty: every slot
	Approach string `json:"approach"` // empty: any approach
	Target   string `json:"target"`   // empty: any target
	Source   string `json:"source"`   // memory or directive
	Because  string `json:"because"`
}

// Forbids tells whether the ban covers an approach on a target in a slot.
func (b Ban) Forbids(slot, approach, target string) bool {
	if b.Approach == "" && b.Target == "" {
		return false
	}
	return (b.Slot == "" || b.Slot == slot) && (b.Approach == "" || b.Approach == approach) && (b.Target == "" || b.Target == target)
}

// Sources of a ban.
const (
	FromMemory    = "memory"
	FromDirective = "directive"
)

// ForSlot are the bans that hold in a slot, without those about other slots.
func (c Constraints) ForSlot(slot string) []Ban {
	return slices.DeleteFunc(slices.Clone(c.Binding(slot)), func(b Ban) bool { return b.Slot != "" && b.Slot != slot })
}

// Binding are the bans that hold in a slot.
func (c Constraints) Binding(slot string) []Ban {
	if !slices.Contains(c.SetAside, slot) {
		return c.MustNot
	}
	return slices.DeleteFunc(slices.Clone(c.MustNot), func(b Ban) bool { return b.Source == FromMemory })
}

// Forbidden returns the first ban that covers an approach on a target in a slot.
func (c Constraints) Forbidden(slot, approach, target string) (Ban, bool) {
	for _, b := range c.Binding(slot) {
		if b.Forbids(slot, approach, target) {
			return b, true
		}
	}
	return Ban{}, false
}

// CriterionSpec is a proposed criterion; the runtime assigns its id.
type CriterionSpec struct {
	Text     string          `json:"criterion" yaml:"criterion"`
	Mode     message.Mode    `json:"mode,omitempty" yaml:"mode"`         // verifiable when it has a check
	Required *bool           `json:"required,omitempty" yaml:"required"` // default: see docs/playbooks.md
	Check    json.RawMessage `json:"check,omitempty" yaml:"-"`
}

// ProposedTask is one task of a proposal. Slots name the parts of a goal and
// stay the same over replans.
type ProposedTask struct {
	Slot      string
	Intent    string
	Criteria  []CriterionSpec
	Context   string
	Sequence  int
	Approach  string
	Target    string
	Action    json.RawMessage
	Tools     []string
	Targets   []string
	ReadOnly  bool
	DependsOn []string // slots
	Priority  int

	SpecRef         string // these four are of the coding profile
	DoneWhen        string
	Scope           string
	ExemptFromTests bool
}

// Proposal is a plan before code has checked it.
type Proposal struct {
	TaskCriteria []CriterionSpec
	Tasks        []ProposedTask
	Keep         []message.TaskID // approved tasks of earlier plans that still count
	Source       string           // playbook name@hash, or the model
	SpecGaps     []string         // what the spec leaves out, seen while planning
	Usage        message.Usage
}
