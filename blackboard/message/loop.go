package message

import (
	"encoding/json"
	"errors"
	"fmt"
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

// MemoryQuery asks what is known about an intent and the candidate pairs of this round.
type MemoryQuery struct {
	Space      string   `json:"space"`  // intent:<slug>
	Entity     string   `json:"entity"` // env:local
	Tags       []string `json:"tags"`
	Candidates []Pair   `json:"candidates"`
}

// SOPRecord is a standing rule the memory has learned or was told.
type SOPRecord struct {
	ID       string  `json:"id"`
	Space    string  `json:"space"`
	Entity   string  `json:"entity"`
	Lesson   string  `json:"lesson"`
	Category string  `json:"category"` // fact, procedure or constraint
	F        float64 `json:"f"`
	Sigma    float64 `json:"sigma"`
}

// Potential is the decayed weight of what is known about one pair.
type Potential struct {
	Pair      Pair    `json:"pair"`
	Attention float64 `json:"attention"`
	Decision  float64 `json:"decision"`
	Action    string  `json:"action"` // Exploit, Avoid, Caution or Ignore
}

// MemoryAnswer is what the memory knows, as data; the planner makes constraints of it.
type MemoryAnswer struct {
	SOPs       []SOPRecord `json:"sops"`
	Potentials []Potential `json:"potentials"`
	Recalled   []string    `json:"recalled"`
}

// MemoryTimeout tells the planner to go on without a memory answer, and why.
type MemoryTimeout struct {
	WaitedMS int64  `json:"waited_ms"`
	Reason   string `json:"reason"`
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
	DispatchedAt time.Time   `json:"dispatched_at"`
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

// ToolStarted is written, durably, before a tool acts.
type ToolStarted struct {
	Call       CallID          `json:"call"`
	Tool       string          `json:"tool"`
	Input      json.RawMessage `json:"input"`
	Approach   string          `json:"approach"`
	Target     string          `json:"target"`
	Idempotent bool            `json:"idempotent"`
}

// ToolCall is what a tool did.
type ToolCall struct {
	Call       CallID          `json:"call"`
	Tool       string          `json:"tool"`
	Input      json.RawMessage `json:"input"`
	Approach   string          `json:"approach"`
	Target     string          `json:"target"`
	Exit       int             `json:"exit"`
	Head       string          `json:"head"`
	Tail       string          `json:"tail"`             // at most 120 characters
	Blob       string          `json:"blob,omitempty"`   // SHA-256 of the whole output in the goal's folder
	Denied     string          `json:"denied,omitempty"` // why the gate refused it
	Class      FailureClass    `json:"class,omitempty"`
	Kind       string          `json:"kind,omitempty"` // transient, tool, permission
	DurationMS int64           `json:"duration_ms"`
}

// Status of an execution or an outcome.
const (
	Completed = "completed"
	Failed    = "failed"
	Matched   = "matched"
	Skipped   = "skipped"
)

// ExecutionResult is what one attempt produced. It makes the task ready for review.
type ExecutionResult struct {
	SubtaskID  TaskID       `json:"subtask_id"`
	Attempt    int          `json:"attempt"`
	Status     string       `json:"status"` // completed or failed
	Output     string       `json:"output"`
	ToolCalls  []string     `json:"tool_calls"` // "tool:command → last 120 characters"
	Calls      []CallID     `json:"calls"`
	Infeasible string       `json:"infeasible,omitempty"`
	Class      FailureClass `json:"class,omitempty"` // of an attempt that failed before any criterion could be judged
	Reason     string       `json:"reason,omitempty"`
}

// Validate refuses a status that is neither completed nor failed.
func (r ExecutionResult) Validate() error {
	if r.Status != Completed && r.Status != Failed {
		return fmt.Errorf("status %q is not completed or failed", r.Status)
	}
	return nil
}

// CorrectionSignal sends a task back to the executor: one criterion, what was wrong, what to do.
type CorrectionSignal struct {
	SubtaskID       TaskID       `json:"subtask_id"`
	AttemptNumber   int          `json:"attempt_number"`
	FailedCriterion string       `json:"failed_criterion"`
	FailureClass    FailureClass `json:"failure_class"`
	WhatWasWrong    string       `json:"what_was_wrong"`
	WhatToDo        string       `json:"what_to_do"`
	Verdicts        []Verdict    `json:"verdicts"`
}

// FailedCriterion is one entry of a gap trajectory.
type FailedCriterion struct {
	CriterionID  string       `json:"criterion_id"`
	Criterion    string       `json:"criterion"`
	FailureClass FailureClass `json:"failure_class"`
}

// Gap is what was still wrong after one attempt.
type Gap struct {
	Attempt        int               `json:"attempt"`
	FailedCriteria []FailedCriterion `json:"failed_criteria"`
}

// FailedCall is the evidence of a tool call that failed during a task.
type FailedCall struct {
	Pair  Pair         `json:"pair"`
	Class FailureClass `json:"class"`
	Kind  string       `json:"kind"` // transient, tool, permission or empty
}

// SubTaskOutcome is the fast loop's last word on a task.
type SubTaskOutcome struct {
	SubtaskID        TaskID       `json:"subtask_id"`
	ParentTaskID     GoalID       `json:"parent_task_id"`
	Slot             string       `json:"slot"`
	Approach         string       `json:"approach"`
	Target           string       `json:"target"`
	Status           string       `json:"status"` // matched, failed or skipped
	Output           string       `json:"output"`
	FailureReason    *string      `json:"failure_reason"`
	Attempts         int          `json:"attempts"`
	CriteriaVerdicts []Verdict    `json:"criteria_verdicts"`
	GapTrajectory    []Gap        `json:"gap_trajectory"`
	FailedCalls      []FailedCall `json:"failed_calls"`
}

// Validate enforces the aggregation rule: matched if and only if every criterion passed.
func (o SubTaskOutcome) Validate() error {
	if o.Status != Matched && o.Status != Failed && o.Status != Skipped {
		return fmt.Errorf("status %q is not matched, failed or skipped", o.Status)
	}
	for _, v := range o.CriteriaVerdicts {
		if o.Status == Matched && !v.Passed() {
			return fmt.Errorf("status matched with failed criterion %s", v.CriterionID)
		}
	}
	if o.Status == Matched && len(o.CriteriaVerdicts) == 0 {
		return errors.New("status matched without a verdict")
	}
	return validateAll(o.CriteriaVerdicts)
}

// ReplanRequest tells the controller that a round fell short, with all it needs to measure.
type ReplanRequest struct {
	TaskID          GoalID           `json:"task_id"`
	PlanID          PlanID           `json:"plan_id"`
	GapSummary      string           `json:"gap_summary"`
	FailedSubtasks  []TaskID         `json:"failed_subtasks"`
	CorrectionCount int              `json:"correction_count"`
	ElapsedMS       int64            `json:"elapsed_ms"` // active time
	Cost            float64          `json:"cost"`       // US dollars so far
	Outcomes        []SubTaskOutcome `json:"outcomes"`
	TaskVerdicts    []Verdict        `json:"task_verdicts"`
	MergedOutput    string           `json:"merged_output"`
	Recommendation  string           `json:"recommendation"` // replan or abandon; advisory
}

// OutcomeSummary tells the controller that everything matched.
type OutcomeSummary struct {
	TaskID       GoalID           `json:"task_id"`
	PlanID       PlanID           `json:"plan_id"`
	Summary      string           `json:"summary"`
	MergedOutput string           `json:"merged_output"`
	TaskVerdicts []Verdict        `json:"task_verdicts"`
	Outcomes     []SubTaskOutcome `json:"outcomes"`
	ElapsedMS    int64            `json:"elapsed_ms"`
	Cost         float64          `json:"cost"`
}

// Validate refuses a summary over anything that did not match.
func (o OutcomeSummary) Validate() error {
	for _, s := range o.Outcomes {
		if s.Status != Matched {
			return fmt.Errorf("outcome of %s is %s, want matched", s.SubtaskID, s.Status)
		}
	}
	for _, v := range o.TaskVerdicts {
		if !v.Passed() {
			return fmt.Errorf("task criterion %s failed", v.CriterionID)
		}
	}
	return nil
}

// Loss is the measured error of a round; every part is in [0, 1] but L.
type Loss struct {
	D     float64 `json:"D"`
	P     float64 `json:"P"`
	Omega float64 `json:"Omega"`
	L     float64 `json:"L"`
}

// Directive names what kind of change the controller orders.
type Directive string

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

// MegramContent is what was learned, not a trace.
type MegramContent struct {
	Lesson   string   `json:"lesson"`
	Tags     []string `json:"tags"`
	Category string   `json:"category"` // fact, procedure or constraint
}

// Megram is one atomic memory.
type Megram struct {
	ID        string        `json:"id"`
	Level     string        `json:"level"` // M, K, C or T
	CreatedAt time.Time     `json:"created_at"`
	Space     string        `json:"space"`
	Entity    string        `json:"entity"`
	Content   MegramContent `json:"content"`
	State     Directive     `json:"state"`
	F         float64       `json:"f"`
	Sigma     float64       `json:"sigma"`
	K         float64       `json:"k"`       // decay per day
	Ordinal   int           `json:"ordinal"` // unique together with the cause
}

// MemoryFact is a fact a person declares.
type MemoryFact struct {
	Text string   `json:"text"`
	Tags []string `json:"tags"`
}

// NegativeFeedback says that a standing rule did not hold.
type NegativeFeedback struct {
	RuleID  string `json:"rule_id"`
	Content string `json:"content"`
}

// DreamRequest asks for a consolidation pass.
type DreamRequest struct {
	Phases []string `json:"phases"`
}

// DreamReport says what a consolidation pass did, entry by entry.
type DreamReport struct {
	Created      []string `json:"created"`
	Demoted      []string `json:"demoted"`
	Deleted      []string `json:"deleted"`
	Consolidated []string `json:"consolidated"`
}
