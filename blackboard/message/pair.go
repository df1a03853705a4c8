package message

import (
	"fmt"
	"slices"
	"strings"
)

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

// Validate refuses a gate nobody could act on.
func (g TaskGated) Validate() error {
	if len(g.Missing) == 0 {
		return fmt.Errorf("it misses no gate")
	}
	for _, m := range g.Missing {
		if err := need("gate", m.Gate, "why", m.Why); err != nil {
			return err
		}
	}
	return nil
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
	// Finding is the ID of what code found, if that is what blocks; it stands until
	// it is gone or somebody accepts it by name.
	Finding string `json:"finding,omitempty"`
	Content string `json:"content,omitempty"` // digest of what the finding was seen in, before and after
}

// Validate refuses a rejection nobody could act on.
func (b Blocker) Validate() error {
	if err := need("file", b.File, "defect", b.Defect, "fix", b.Fix); err != nil {
		return err
	}
	if b.Line < 1 {
		return fmt.Errorf("line of the blocker in %s is %d, want 1 or more", b.File, b.Line)
	}
	return nil
}

// Name is what later reviews call the blocker by.
func (b Blocker) Name() string { return fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.Defect) }

// What became of a blocker of an earlier review.
const (
	Resolved     = "RESOLVED"
	StillPresent = "STILL_PRESENT"
	Partial      = "PARTIAL"
)

// Feedback says what became of one point of the reviews before.
type Feedback struct {
	What  string `json:"what"`  // the blocker's name: file:line: defect
	State string `json:"state"` // RESOLVED, STILL_PRESENT or PARTIAL
}

// Validate refuses a state that says nothing.
func (f Feedback) Validate() error {
	if f.State != Resolved && f.State != StillPresent && f.State != Partial {
		return fmt.Errorf("state %q of %q is not RESOLVED, STILL_PRESENT or PARTIAL", f.State, f.What)
	}
	return need("what", f.What)
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
	// AcceptedFindings are findings of code that stand because the reviewer, or a person before it, accepted them by name.
	AcceptedFindings []AcceptedFinding `json:"accepted_findings,omitempty"`
	// Accepted are the same in older logs, as file:line: what.
	Accepted []string `json:"accepted,omitempty"`
	// Noted are those of an approval that only had to be looked at.
	Noted         []string `json:"noted,omitempty"`
	AnomalyLogged bool     `json:"anomaly_logged"`
}

// AcceptedFinding is a finding of code that somebody accepted by name. It holds
// for the content it was seen in, and for no other.
type AcceptedFinding struct {
	Finding string `json:"finding"`          // its ID
	Content string `json:"content"`          // digest of what it was seen in, before and after
	What    string `json:"what"`             // file:line: what
	Reason  string `json:"reason,omitempty"` // why it may stand; a reviewer has to give one
	By      Role   `json:"by,omitempty"`     // human, or code-reviewer
}

// Same tells whether both are about one finding in one content.
func (f AcceptedFinding) Same(o AcceptedFinding) bool {
	return f.Finding == o.Finding && f.Content == o.Content
}

// FindingsAccepted lets findings of code in a submission stand. Nobody but a
// person says it; a reviewer accepts in its verdict.
type FindingsAccepted struct {
	Task         TaskID            `json:"task"`
	ReviewCommit string            `json:"review_commit"` // the submission they were found in
	Findings     []AcceptedFinding `json:"findings"`
}

// Validate refuses an acceptance that names nothing.
func (f FindingsAccepted) Validate() error {
	if len(f.Findings) == 0 {
		return fmt.Errorf("it accepts nothing")
	}
	for _, a := range f.Findings {
		if err := need("finding", a.Finding, "content", a.Content); err != nil {
			return err
		}
	}
	return need("review_commit", f.ReviewCommit)
}

// Blocked stops a task until somebody answers its questions.
type Blocked struct {
	Task             TaskID   `json:"task"`
	BlockedReason    string   `json:"blocked_reason"`
	BlockedQuestions []string `json:"blocked_questions"` // 1 to 3
	Attempted        []string `json:"attempted"`
	Kind             string   `json:"kind"` // spec, review_deadlock, iterations or environment
}

// Kinds of a block.
const (
	BlockedSpec        = "spec"
	BlockedDeadlock    = "review_deadlock"
	BlockedIterations  = "iterations"
	BlockedEnvironment = "environment"
)

// Validate refuses a block nobody could resolve.
func (b Blocked) Validate() error {
	if err := need("blocked_reason", b.BlockedReason); err != nil {
		return err
	}
	if n := len(b.BlockedQuestions); n < 1 || n > 3 {
		return fmt.Errorf("blocked_questions has %d questions, want 1 to 3", n)
	}
	for _, q := range b.BlockedQuestions {
		if strings.TrimSpace(q) == "" {
			return fmt.Errorf("blocked_questions has an empty question")
		}
	}
	switch b.Kind {
	case BlockedSpec, BlockedDeadlock, BlockedIterations, BlockedEnvironment:
		return nil
	}
	return fmt.Errorf("kind %q is not spec, review_deadlock, iterations or environment", b.Kind)
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
	// Refused is said by code: why what was in the worktree is not taken. The next
	// iteration begins in a new one.
	Refused string `json:"refused,omitempty"`
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

// Validate refuses a rescope that leaves no trail.
func (r Rescoped) Validate() error {
	return need("rescope_reason", r.RescopeReason, "alignment", r.Alignment)
}

// Abandoned ends one task for good.
type Abandoned struct {
	Task      TaskID `json:"task"`
	Reason    string `json:"reason"`
	Alignment string `json:"alignment"`
}

// Discovery is work found on the way.
type Discovery struct {
	Description    string `json:"description"`
	Severity       string `json:"severity"`
	Urgency        string `json:"urgency"` // deferred or immediate
	Recommendation string `json:"recommendation"`
}

// How soon a discovery matters.
const (
	Deferred  = "deferred"
	Immediate = "immediate"
)

// Validate names what is missing.
func (d Discovery) Validate() error {
	if err := need("description", d.Description, "severity", d.Severity); err != nil {
		return err
	}
	if !slices.Contains([]string{"low", "medium", "high", "critical"}, d.Severity) {
		return fmt.Errorf("severity %q is not low, medium, high or critical", d.Severity)
	}
	if d.Urgency != Deferred && d.Urgency != Immediate {
		return fmt.Errorf("urgency %q is not deferred or immediate", d.Urgency)
	}
	return nil
}

// Triaged is the planner's answer to a discovery or a system_ambiguity: the
// tasks it makes of it, or none and why.
type Triaged struct {
	Of        ID       `json:"of"`    // the Discovery or Anomaly
	Tasks     []TaskID `json:"tasks"` // drafts of the current plan that become claimable
	Reason    string   `json:"reason"`
	Alignment string   `json:"alignment"`
}

// Validate refuses an answer without its question or its reason.
func (t Triaged) Validate() error { return need("of", string(t.Of), "reason", t.Reason) }

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

// Escalated says that a checkpoint waits for a person longer than it should.
type Escalated struct {
	Checkpoint ID     `json:"checkpoint"` // the message that set it
	Level      int    `json:"level"`      // 1 to 3
	WaitedMS   int64  `json:"waited_ms"`
	Reason     string `json:"reason"`
}
