package message

import (
	"encoding/json"
	"errors"
	"time"
)

// Genesis is the first line of every log: which format it has and which board it is.
type Genesis struct {
	Format int    `json:"format"` // version of the log format; a newer one is refused
	Board  string `json:"board"`  // UUID of the board
}

// Budget bounds a goal. Zero means the default from the configuration.
type Budget struct {
	TimeMS     int64   `json:"time_ms"`     // active time, milliseconds
	MaxReplans int     `json:"max_replans"` // used in Omega
	MaxCost    float64 `json:"max_cost"`    // US dollars
}

// UserInput starts a goal: what a person asked for, verbatim.
type UserInput struct {
	Text       string   `json:"text"`
	Profile    string   `json:"profile"` // task, code or mission
	Spec       string   `json:"spec,omitempty"`
	Budget     Budget   `json:"budget"`
	Strict     bool     `json:"strict"`               // every criterion is required
	Controller string   `json:"controller,omitempty"` // policy: like-for-like, v0.8 or v0.7
	Playbook   string   `json:"playbook,omitempty"`   // take this playbook without matching
	Allow      []string `json:"allow"`                // permissions the person gave at the start
	Yes        bool     `json:"yes"`                  // every permission is given
	Found      *Found   `json:"found,omitempty"`      // what was found to think with where nothing is configured
}

// Found is a model or agent that nobody configured. It names the variable that
// holds a key, never the key.
type Found struct {
	Backend string            `json:"backend"`
	Name    string            `json:"name,omitempty"`
	Options map[string]string `json:"options,omitempty"`
}

// Validate refuses an empty goal.
func (u UserInput) Validate() error { return need("text", u.Text, "profile", u.Profile) }

// ClarificationQuestion asks the person, batched, at most two rounds a goal.
type ClarificationQuestion struct {
	Round     int      `json:"round"` // 1 or 2
	Questions []string `json:"questions"`
}

// ClarificationAnswer answers a round of questions; no answers means proceed.
type ClarificationAnswer struct {
	Round   int      `json:"round"`
	Answers []string `json:"answers"`
}

// Constraints limit where and until when a goal may act.
type Constraints struct {
	Scope    *string    `json:"scope"`
	Deadline *time.Time `json:"deadline"`
}

// TaskSpec is the perceived goal. It carries no success criteria: the planner derives them.
type TaskSpec struct {
	TaskID      GoalID      `json:"task_id"`
	Intent      string      `json:"intent"` // one faithful sentence; may still be fuzzy
	Constraints Constraints `json:"constraints"`
	RawInput    string      `json:"raw_input"` // the person's words, byte for byte
	Tags        []string    `json:"tags"`
	Declarative bool        `json:"declarative"` // a fact to remember, not work to do
}

// Validate refuses a spec that lost the person's words.
func (s TaskSpec) Validate() error {
	return need("task_id", string(s.TaskID), "intent", s.Intent, "raw_input", s.RawInput)
}

// Pair is an approach together with the target it acts on.
type Pair struct {
	Tool   string `json:"tool"`   // the approach: a playbook approach, shell:<program>, or an agent's label
	Target string `json:"target"` // normalised input
}

// SubTask creates one task as DRAFT. The manifest of its plan makes it claimable.
type SubTask struct {
	ID              TaskID          `json:"id"`
	PlanID          PlanID          `json:"plan_id"`
	ParentTaskID    GoalID          `json:"parent_task_id"`
	Intent          string          `json:"intent"`
	SuccessCriteria []Criterion     `json:"success_criteria"`
	Context         string          `json:"context"`
	Deadline        *time.Time      `json:"deadline"`
	Sequence        int             `json:"sequence"`         // equal runs in parallel; lower ones first
	Approach        string          `json:"approach"`         // label of how; what the controller blocks
	Target          string          `json:"target"`           // normalised main target of the approach
	Action          json.RawMessage `json:"action,omitempty"` // what the approach runs, for backends that are code
	Tools           []string        `json:"tools"`
	Targets         []string        `json:"targets"` // paths it may change
	ReadOnly        bool            `json:"read_only"`
	DependsOn       []TaskID        `json:"depends_on"`
	SpecRef         string          `json:"spec_ref,omitempty"`
	DoneWhen        string          `json:"done_when,omitempty"`
	Scope           string          `json:"scope,omitempty"`
	ExemptFromTests bool            `json:"exempt_from_tests"`
	Priority        int             `json:"priority"` // lower is more urgent; 100 by default
	Slot            string          `json:"slot"`     // which part of the goal it does; stable over replans
	Supersedes      TaskID          `json:"supersedes,omitempty"`
	Reopens         TaskID          `json:"reopens,omitempty"`
}

// Validate refuses tasks nobody could judge.
func (s SubTask) Validate() error {
	if err := need("id", string(s.ID), "intent", s.Intent); err != nil {
		return err
	}
	return validateAll(s.SuccessCriteria)
}

// DispatchManifest commits a plan: its drafts become claimable, what it does
// not keep of the plan before is superseded.
type DispatchManifest struct {
	PlanID       PlanID      `json:"plan_id"`
	TaskID       GoalID      `json:"task_id"`
	SubtaskIDs   []TaskID    `json:"subtask_ids"`
	Kept         []TaskID    `json:"kept"` // approved tasks of earlier plans that count in this one
	TaskSpec     TaskSpec    `json:"task_spec"`
	TaskCriteria []Criterion `json:"task_criteria"`
	Fingerprint  string      `json:"fingerprint"`
	Backend      string      `json:"backend"`            // what made the plan
	Playbook     string      `json:"playbook,omitempty"` // name@hash of the playbook it came from
	Memory       string      `json:"memory"`             // what of the memory was used, in one sentence
	// MemorySetAside are the slots for which the memory advised against all there
	// was: its advice, which is experience and no order, does not bind in them.
	MemorySetAside []string  `json:"memory_set_aside,omitempty"`
	PlanReview     string    `json:"plan_review,omitempty"` // why a second model accepted it, where one was asked
	DispatchedAt   time.Time `json:"dispatched_at"`
}

// Validate refuses an empty plan.
func (d DispatchManifest) Validate() error {
	if len(d.SubtaskIDs)+len(d.Kept) == 0 {
		return errors.New("a plan needs at least one task")
	}
	if err := need("plan_id", string(d.PlanID), "task_id", string(d.TaskID), "fingerprint", d.Fingerprint); err != nil {
		return err
	}
	return validateAll(d.TaskCriteria)
}

// Violation is one rule a plan breaks.
type Violation struct {
	Rule    string `json:"rule"`
	What    string `json:"what"`
	Because string `json:"because"`
}

// PlanRejected says why code refused a plan. The third one of a round is a plan failure.
type PlanRejected struct {
	PlanID     PlanID      `json:"plan_id"`
	Attempt    int         `json:"attempt"` // 1 to 3
	Violations []Violation `json:"violations"`
}
