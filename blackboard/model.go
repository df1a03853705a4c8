package blackboard

import (
	"encoding/json"
	"slices"
	"time"

	"orch/blackboard/message"
)

// Status is where a task stands in the one lifecycle all profiles share.
type Status string

// The statuses. Merged, Superseded, Abandoned and Void are terminal.
const (
	Draft             Status = "DRAFT"
	Unclaimed         Status = "UNCLAIMED"
	Claimed           Status = "CLAIMED"
	ReadyForReview    Status = "READY_FOR_REVIEW"
	Approved          Status = "APPROVED"
	Merged            Status = "MERGED"
	Rejected          Status = "REJECTED"
	Blocked           Status = "BLOCKED"
	IntegrationFailed Status = "INTEGRATION_FAILED"
	Superseded        Status = "SUPERSEDED"
	Abandoned         Status = "ABANDONED"
	Void              Status = "VOID"
)

// Terminal tells whether nothing can leave the status.
func (s Status) Terminal() bool {
	return s == Merged || s == Superseded || s == Abandoned || s == Void
}

// Ref names a message by id and position.
type Ref struct {
	ID  message.ID `json:"id"`
	Seq uint64     `json:"seq"`
	TS  time.Time  `json:"ts"`
}

// Task is a unit of work and all the board remembers of it.
type Task struct {
	message.SubTask
	Goal    message.GoalID `json:"goal"`          // empty for tasks made by hand outside a goal
	For     message.Role   `json:"for,omitempty"` // the role that may claim it; empty: any
	Status  Status         `json:"status"`
	Waiting bool           `json:"waiting,omitempty"` // for a dependency, or a lower sequence of its plan
	Changed Ref            `json:"changed,omitzero"`  // the message that caused the status
	Created Ref            `json:"created,omitzero"`
	Ordinal int            `json:"ordinal,omitempty"` // among the tasks the same message created
	Offered Ref            `json:"offered,omitzero"`  // the message that last made it claimable, claims given back aside
	Gates   []message.Gate `json:"gates,omitempty"`   // a draft misses

	Agent   message.AgentID `json:"agent,omitempty"` // the holder, or the last one
	Fence   message.Fence   `json:"fence"`           // of the last claim; 0 if never claimed
	Lease   message.Lease   `json:"lease,omitzero"`
	Claim   Ref             `json:"claim,omitzero"`     // the Claimed message
	From    Status          `json:"from,omitempty"`     // what it was claimed from, and goes back to
	Step    message.Process `json:"step,omitzero"`      // process that registered under the claim, zero before
	ByHand  bool            `json:"by_hand,omitempty"`  // claimed by nobody's step: no process holds it, only its lease
	Work    string          `json:"worktree,omitempty"` // workspace of the claim
	Base    string          `json:"base_commit,omitempty"`
	Expired int             `json:"expired"` // claims lost by lapse

	Attempt     int                       `json:"attempt"` // execution results so far
	Result      *message.ExecutionResult  `json:"result,omitempty"`
	ResultRef   Ref                       `json:"result_ref,omitzero"`
	Correction  *message.CorrectionSignal `json:"correction,omitempty"` // the last one
	Corrections int                       `json:"corrections"`
	Gaps        []message.Gap             `json:"gaps,omitempty"`
	FailedCalls []message.FailedCall      `json:"failed_calls,omitempty"`
	OpenCall    *message.ToolStarted      `json:"open_call,omitempty"`  // started, end unknown
	OpenFence   message.Fence             `json:"open_fence,omitempty"` // the claim the open call was made under
	FirstCall   Ref                       `json:"first_call,omitzero"`  // start of the first call of the attempt that goes on; zero before it
	CutOffs     int                       `json:"cut_offs,omitempty"`   // attempts that were cut off in a call
	Outcome     *message.SubTaskOutcome   `json:"outcome,omitempty"`
	OutcomeRef  Ref                       `json:"outcome_ref,omitzero"`

	BlockedReason string   `json:"blocked_reason,omitempty"`
	BlockedKind   string   `json:"blocked_kind,omitempty"` // retries_exhausted, spec, …
	HumanNotes    []string `json:"human_notes,omitempty"`
	Output        string   `json:"output,omitempty"`    // of a task finished by hand
	Cost          float64  `json:"cost,omitempty"`      // US dollars spent by steps on it
	Doubt         float64  `json:"doubt,omitempty"`     // US dollars: the most that they spent and is not known
	Anomalies     []string `json:"anomalies,omitempty"` // kinds logged about it
	Rescopes      int      `json:"rescopes,omitempty"`  // of what it replaces, and of what that replaced

	Review Review `json:"review,omitzero"` // of an exact commit, where there is one
}

// Review is where the review of a task's commit stands, and what became of it.
type Review struct {
	Commit      string                 `json:"commit"`
	Notes       string                 `json:"notes,omitempty"`
	Reviewer    message.AgentID        `json:"reviewer,omitempty"` // holder of the review, or empty
	Fence       message.Fence          `json:"fence"`              // of the last review claim
	Lease       message.Lease          `json:"lease,omitzero"`
	Cycles      int                    `json:"cycles"`              // rejections of the present holder's work
	CyclesTotal int                    `json:"cycles_total"`        // never reset
	Approvals   int                    `json:"approvals,omitempty"` // so far
	Iterations  int                    `json:"iterations"`          // of the present holder: submissions and handoffs
	Pending     []message.Blocker      `json:"pending,omitempty"`   // blockers of the present holder's work not yet seen resolved
	Verdict     *message.ReviewVerdict `json:"verdict,omitempty"`
	// Recalled is the claim that ended because what was submitted before it is judged again.
	Recalled message.Fence `json:"recalled,omitempty"`
	// Accepted are the findings that a person lets stand, each for the content it was seen in.
	Accepted     []message.AcceptedFinding `json:"accepted,omitempty"`
	JudgedBy     message.AgentID           `json:"judged_by,omitempty"`   // who gave the verdict
	FailedBy     []message.AgentID         `json:"failed_by,omitempty"`   // who got blocked on it, by the task and not by the environment
	Environment  int                       `json:"environment,omitempty"` // blocks by the environment since a person last unblocked it
	Questions    []string                  `json:"questions,omitempty"`   // of the last block
	Attempted    []string                  `json:"attempted,omitempty"`   // before the last block
	Answers      []string                  `json:"answers,omitempty"`     // to blocks, oldest first
	Handoff      *message.Handoff          `json:"handoff,omitempty"`
	Merge        *message.MergeStarting    `json:"merge,omitempty"` // started, end unknown
	MergedAs     string                    `json:"merged_as,omitempty"`
	IntegrationN int                       `json:"integration_failures,omitempty"`

	Integration *message.IntegrationFailed `json:"integration,omitempty"` // the last failure
}

// OpenFindings are the findings of code that keep what is submitted from being
// approved, and that nobody has accepted.
func (r Review) OpenFindings() (open []message.Blocker) {
	for _, b := range r.Pending {
		if b.Finding != "" && !r.accepts(b) {
			open = append(open, b)
		}
	}
	return open
}

// accepts tells whether a person lets the finding that blocks stand.
func (r Review) accepts(b message.Blocker) bool {
	return b.Finding != "" && slices.ContainsFunc(r.Accepted, message.AcceptedFinding{Finding: b.Finding, Content: b.Content}.Same)
}

// Judged is the verdict on the commit that is submitted now; nil without one.
func (r Review) Judged() *message.ReviewVerdict {
	if r.Verdict == nil || r.Verdict.ReviewCommit != r.Commit {
		return nil
	}
	return r.Verdict
}

// GoalStatus is what the log says of a goal; whether a process works on it is derived elsewhere.
type GoalStatus string

// Goal statuses.
const (
	GoalOpen      GoalStatus = "OPEN"
	GoalSuspended GoalStatus = "SUSPENDED"
	GoalEnded     GoalStatus = "ENDED"
)

// Suspension says what a goal waits for and which command resolves it.
type Suspension struct {
	Why     string `json:"why"` // clarification, checkpoint, approval, budget, plan, abort, crash
	Detail  string `json:"detail"`
	Command string `json:"command"` // for example: orch answer
	Since   Ref    `json:"since"`
	Level   int    `json:"level,omitempty"` // of the last escalation
}

// Clarification is the open or last round of questions.
type Clarification struct {
	Round     int      `json:"round"`
	Questions []string `json:"questions"`
	Answers   []string `json:"answers"`
	Asked     Ref      `json:"asked"`
	Answered  Ref      `json:"answered"` // zero while open
}

// Calibration is the planner's exchange with the memory for one plan cause.
type Calibration struct {
	Cause  message.ID            `json:"cause"` // the plan cause it belongs to
	Query  *message.MemoryQuery  `json:"query,omitempty"`
	Asked  Ref                   `json:"asked"`
	Answer *message.MemoryAnswer `json:"answer,omitempty"` // nil after a timeout
	Reply  Ref                   `json:"reply"`            // zero while open
}

// PlanTask is what a plan did for one slot.
type PlanTask struct {
	ID       message.TaskID `json:"id"`
	Slot     string         `json:"slot"`
	Approach string         `json:"approach"`
	Target   string         `json:"target"`
	Intent   string         `json:"intent"`
	Kept     bool           `json:"kept"`
}

// Plan is one committed plan of a goal.
type Plan struct {
	ID          message.PlanID `json:"id"`
	Fingerprint string         `json:"fingerprint"`
	Ref         Ref            `json:"ref"`
	Tasks       []PlanTask     `json:"tasks"`
}

// Round is one request to the controller and its answer.
type Round struct {
	Ref         Ref                     `json:"ref"` // the request
	Request     *message.ReplanRequest  `json:"request,omitempty"`
	Summary     *message.OutcomeSummary `json:"summary,omitempty"`
	PlanFailure *message.PlanRejected   `json:"plan_failure,omitempty"`
	Bill        Bill                    `json:"bill,omitzero"`
	Answer      Ref                     `json:"answer"` // zero while unanswered
	Directive   *message.PlanDirective  `json:"directive,omitempty"`
	Megrams     []string                `json:"megrams,omitempty"` // "type:ordinal" of what was already written to the memory for it
}

// Bill is what a goal had cost and taken when the step that asked the controller
// had ended: its own part is not known before. Zero where no step asked.
type Bill struct {
	Step     ActivationKey `json:"step,omitzero"`       // the one that asked, as long as it goes on
	Cost     float64       `json:"cost,omitempty"`      // US dollars
	ActiveMS int64         `json:"active_ms,omitempty"` // see Goal
}

// Open tells whether the step that asked has not ended.
func (b Bill) Open() bool { return b.Step != ActivationKey{} }

// Goal is what one run is to achieve and all the board remembers of it.
type Goal struct {
	ID        message.GoalID    `json:"id"`
	Input     message.UserInput `json:"input"`
	InputRef  Ref               `json:"input_ref"`
	Status    GoalStatus        `json:"status"`
	Suspended *Suspension       `json:"suspended,omitempty"`

	Spec    *message.TaskSpec `json:"spec,omitempty"`
	SpecRef Ref               `json:"spec_ref"`
	Clarify Clarification     `json:"clarify"`

	PlanCause    Ref                       `json:"plan_cause"`  // TaskSpec, PlanDirective or PlanRejected without a plan; zero when none waits
	RoundCause   Ref                       `json:"round_cause"` // TaskSpec or PlanDirective the calibration of this round belongs to
	Calibration  Calibration               `json:"calibration"`
	PlanRejected []message.PlanRejected    `json:"plan_rejected,omitempty"` // of this round
	Plan         *message.DispatchManifest `json:"plan,omitempty"`          // the current one
	PlanRef      Ref                       `json:"plan_ref"`
	Plans        []Plan                    `json:"plans,omitempty"` // oldest first
	Rounds       []Round                   `json:"rounds,omitempty"`
	GiveUp       *message.GiveUp           `json:"give_up,omitempty"` // a person's word to end it, or that its deadline has passed
	GiveUpRef    Ref                       `json:"give_up_ref,omitzero"`
	Final        *message.FinalResult      `json:"final,omitempty"`
	FinalRef     Ref                       `json:"final_ref"`
	Megrams      []string                  `json:"megrams,omitempty"` // "type:ordinal" written about a fact that needed no plan
	Bill         Bill                      `json:"bill,omitzero"`     // of such a fact

	Reviewed  message.ID  `json:"reviewed,omitempty"`          // manifest of the plan that a person looked at
	Alignment []Alignment `json:"alignment_history,omitempty"` // one line a rescope, oldest first
	Raised    []Raised    `json:"raised,omitempty"`            // discoveries and ambiguities, oldest first
	Said      []Said      `json:"said,omitempty"`              // a person's words for the roles, oldest first

	ActiveMS   int64                  `json:"active_ms"`         // time in which at least one step ran
	LastActive time.Time              `json:"last_active"`       // end of the time counted so far
	Running    int                    `json:"running"`           // steps started and not ended
	Cost       float64                `json:"cost"`              // US dollars spent
	Reserved   float64                `json:"reserved"`          // by running steps: what they spent so far, and what they may
	Doubt      float64                `json:"doubt,omitempty"`   // US dollars: the most that was spent and is not known
	Advice     *Asked                 `json:"advice,omitempty"`  // what the controller reserved for a question about it
	Unpriced   int                    `json:"unpriced"`          // steps that cost an amount nobody knows
	ByRole     map[message.Role]Spend `json:"by_role,omitempty"` // of the roles that spent or reserved anything
	Steps      int                    `json:"steps"`             // started so far
	Rules      []string               `json:"rules,omitempty"`   // permission rules given for this goal, as JSON
	Doubts     []Doubt                `json:"doubts,omitempty"`  // calls whose end nobody knows, oldest first
}

// Doubt is a call that can not be made again without harm, and whose process
// died before its end was said: nobody knows whether it took effect.
type Doubt struct {
	Task message.TaskID  `json:"task"`
	Call message.CallID  `json:"call"`
	Tool string          `json:"tool"`
	In   json.RawMessage `json:"input"` // as the log has it
}

// Spend is what one role took of a goal's money, in US dollars.
type Spend struct {
	Cost     float64 `json:"cost"`
	Reserved float64 `json:"reserved"` // by running steps
	Doubt    float64 `json:"doubt,omitempty"`
}

// Approval is a permission somebody asked for.
type Approval struct {
	message.ApprovalRequest
	Goal    message.GoalID `json:"goal"`
	Asked   Ref            `json:"asked"`
	Given   Ref            `json:"given"` // zero while open
	Allowed bool           `json:"allowed"`
}

// Brakes are a person's brakes as the log has them.
type Brakes struct {
	Paused     *Ref   `json:"paused,omitempty"`
	Checkpoint *Ref   `json:"checkpoint,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Level      int    `json:"level,omitempty"` // of the checkpoint's last escalation
}

// AnomalyRecord is one anomaly with where it was said.
type AnomalyRecord struct {
	message.Anomaly
	Agent message.AgentID `json:"agent"`
	Ref   Ref             `json:"ref"`
}

// Alignment says how one change of the plan keeps the goal's direction.
type Alignment struct {
	Task message.TaskID `json:"task,omitempty"` // that was replaced, given up or made
	Line string         `json:"line"`
	Ref  Ref            `json:"ref"`
}

// Raised is something a role wants the planner to know: a discovery, or a
// system_ambiguity.
type Raised struct {
	Ref      Ref             `json:"ref"`
	Kind     string          `json:"kind"` // discovery or system_ambiguity
	Agent    message.AgentID `json:"agent"`
	Task     message.TaskID  `json:"task,omitempty"`
	What     string          `json:"what"`
	Advice   string          `json:"advice,omitempty"`
	Severity string          `json:"severity,omitempty"`
	Urgency  string          `json:"urgency"`
	Answer   Ref             `json:"answer,omitzero"` // zero while the planner has not answered
}

// Said is what a person said to a role about the goals that were open then.
type Said struct {
	For  string `json:"for,omitempty"` // a role; empty: all of them
	Text string `json:"text"`
	Ref  Ref    `json:"ref"`
}

// SaidTo are a person's words for a role, oldest first.
func (g Goal) SaidTo(role message.Role) (words []string) {
	for _, s := range g.Said {
		if s.For == "" || s.For == string(role) {
			words = append(words, s.Text)
		}
	}
	return words
}

// RaisedDiscovery is the kind of what a Discovery raises.
const RaisedDiscovery = "discovery"
