package message

// Gate is one entry condition of a task that is not met.
type Gate struct {
	Gate string `json:"gate"`
	Why  string `json:"why"`
}

// TaskGated tells the planner which gates a draft misses.
type TaskGated struct {
	Task    TaskID `json:"task"`
	Missing []Gate `json:"missing"`
}

// ReviewRequested submits one exact commit for review.
type ReviewRequested struct {
	Task         TaskID `json:"task"`
	Iteration    int    `json:"iteration"`
	ReviewCommit string `json:"review_commit"`
	Notes        string `json:"notes"`
}

// ReviewClaimed gives a review to one reviewer.
type ReviewClaimed struct {
	Task               TaskID  `json:"task"`
	ReviewingBy        AgentID `json:"reviewing_by"`
	ReviewLeaseExpires Lease   `json:"review_lease_expires"`
	Fence              Fence   `json:"fence"`
}

// ReviewReleased gives a review back.
type ReviewReleased struct {
	Task   TaskID `json:"task"`
	Fence  Fence  `json:"fence"`
	Reason string `json:"reason"`
}

// Blocker is one defect that must be fixed, specific enough to act on.
type Blocker struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Defect  string `json:"defect"`
	Fix     string `json:"fix"`
	SpecRef string `json:"spec_ref,omitempty"`
}

// Validate refuses a rejection nobody could act on.
func (b Blocker) Validate() error {
	return need("file", b.File, "defect", b.Defect, "fix", b.Fix)
}

// Feedback says what became of one point of the review before.
type Feedback struct {
	What  string `json:"what"`
	State string `json:"state"` // RESOLVED, STILL_PRESENT or PARTIAL
}

// Review decisions.
const (
	Approved = "approved"
	Rejected = "rejected"
)

// ReviewVerdict binds: approved at an exact commit, or rejected with blockers.
type ReviewVerdict struct {
	Task          TaskID     `json:"task"`
	ReviewCommit  string     `json:"review_commit"`
	Decision      string     `json:"decision"` // approved or rejected
	Checks        []Verdict  `json:"checks"`
	Blockers      []Blocker  `json:"blockers"`
	Concerns      []string   `json:"concerns"`
	PriorFeedback []Feedback `json:"prior_feedback"`
	AnomalyLogged bool       `json:"anomaly_logged"`
}

// Crosschecked is a second opinion by another model.
type Crosschecked struct {
	Task     TaskID    `json:"task"`
	Agree    bool      `json:"agree"`
	Reason   string    `json:"reason"`
	Verdicts []Verdict `json:"verdicts"`
}

// PageChecked is what a real browser saw.
type PageChecked struct {
	Task        TaskID    `json:"task"`
	Agree       bool      `json:"agree"`
	Reason      string    `json:"reason"`
	Verdicts    []Verdict `json:"verdicts"`
	Screenshots []string  `json:"screenshots"`
}

// Blocked stops a task until somebody answers its questions.
type Blocked struct {
	Task             TaskID   `json:"task"`
	BlockedReason    string   `json:"blocked_reason"`
	BlockedQuestions []string `json:"blocked_questions"` // 1 to 3
	Attempted        []string `json:"attempted"`
	Kind             string   `json:"kind"` // spec, review_deadlock, iterations or environment
}

// Handoff gives a task on with what the next holder needs.
type Handoff struct {
	Task          TaskID   `json:"task"`
	Summary       string   `json:"summary"`
	NextAction    string   `json:"next_action"`
	Approach      string   `json:"approach,omitempty"`
	Blockers      []string `json:"blockers"`
	FilesModified []string `json:"files_modified"`
	NextSteps     []string `json:"next_steps"`
}

// MergeStarting is written, durably, before a ref moves.
type MergeStarting struct {
	Task TaskID `json:"task"`
	From string `json:"from"` // commit the branch is at
	To   string `json:"to"`   // commit it shall be at
	Ref  string `json:"ref"`
}

// Merged says that the ref moved.
type Merged struct {
	Task         TaskID   `json:"task"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	Tree         string   `json:"tree"`
	DriftCommits []string `json:"drift_commits"`
}

// IntegrationFailed says that an approved commit does not fit the integration branch.
type IntegrationFailed struct {
	Task     TaskID   `json:"task"`
	Conflict []string `json:"conflict"` // paths
	Command  string   `json:"command"`
	Output   string   `json:"output"` // SHA-256 of the output in the goal's folder
}

// Rescoped replaces a task by others, for a stated root cause.
type Rescoped struct {
	Task          TaskID   `json:"task"`
	SupersededBy  []TaskID `json:"superseded_by"`
	RescopeReason string   `json:"rescope_reason"`
	Alignment     string   `json:"alignment"`
}

// Abandoned ends one task for good.
type Abandoned struct {
	Task      TaskID `json:"task"`
	Reason    string `json:"reason"`
	Alignment string `json:"alignment"`
}

// Anomaly reports something a role noticed; Details must have the fields its kind needs.
type Anomaly struct {
	Task    TaskID            `json:"task"`
	Kind    string            `json:"kind"`
	Details map[string]string `json:"details"`
}

// anomalyFields are the details each kind of anomaly must carry.
var anomalyFields = map[string][]string{
	"retry_loop":            {"count", "error_pattern"},
	"trade_off":             {"what", "why", "debt_created"},
	"external_blocker":      {"blocker_service"},
	"assumption_violated":   {"assumption", "reality"},
	"system_ambiguity":      {"protocol_section", "question"},
	"spec_ambiguity":        {"spec_ref", "question"},
	"spec_gap":              {"what"},
	"hypothesis_exhaustion": {"what"},
	"scope_deviation":       {"what"},
	"workaround":            {"what"},
	"debt_created":          {"what"},
	"spec_changed":          {"what"},
	"claim_failed":          {"what"},
	"others":                {"what"},
}

// Validate names the first missing detail.
func (a Anomaly) Validate() error {
	fields, ok := anomalyFields[a.Kind]
	if !ok {
		return need("kind (one of the catalogue in docs/messages.md)", "")
	}
	for _, f := range fields {
		if err := need("details."+f, a.Details[f]); err != nil {
			return err
		}
	}
	return nil
}

// Discovery is work found on the way.
type Discovery struct {
	Description    string `json:"description"`
	Severity       string `json:"severity"`
	Urgency        string `json:"urgency"` // deferred or immediate
	Recommendation string `json:"recommendation"`
}

// SpecChanged says that a spec differs from what tasks were made for.
type SpecChanged struct {
	Spec     string   `json:"spec"`
	FromHash string   `json:"from_hash"`
	ToHash   string   `json:"to_hash"`
	Tasks    []TaskID `json:"tasks"`
}

// SprintScope is what a sprint means to do.
type SprintScope struct {
	Planned []TaskID `json:"planned"`
	Stretch []TaskID `json:"stretch"`
}

// SprintOpened starts a sprint.
type SprintOpened struct {
	Scope    SprintScope `json:"scope"`
	Deadline string      `json:"deadline,omitempty"`
}

// SprintClosed ends a sprint with its figures.
type SprintClosed struct {
	Metrics       map[string]float64 `json:"metrics"`
	Retrospective string             `json:"retrospective"`
}

// DecisionVerb is what the mission's orchestrator chose for a round.
type DecisionVerb struct {
	Verb string   `json:"verb"`
	Args []string `json:"args"`
	By   string   `json:"by"` // rule or model
}

// Ghost is an answer of the orchestrator that was no legal verb.
type Ghost struct {
	Raw          string `json:"raw"`
	TakenInstead string `json:"taken_instead"`
}

// IssueFound is a defect seen outside the feature at hand.
type IssueFound struct {
	Title        string `json:"title"`
	Severity     string `json:"severity"` // critical, major, minor or nit
	FoundDuring  string `json:"found_during"`
	Evidence     string `json:"evidence"`
	Repro        string `json:"repro"`
	SuggestedFix string `json:"suggested_fix"`
	CodePointer  string `json:"code_pointer"`
}

// IssueMerged joins issues that are the same.
type IssueMerged struct {
	Into string   `json:"into"`
	From []string `json:"from"`
}

// ContractPatched says that the validation contract changed.
type ContractPatched struct {
	Summary  string   `json:"summary"`
	Hash     string   `json:"hash"`
	Affected []TaskID `json:"affected"`
}
