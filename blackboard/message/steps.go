package message

import (
	"encoding/json"
	"fmt"
	"time"
)

// Process identifies a running process so that a reused pid is not mistaken for it.
type Process struct {
	PID   int    `json:"pid"`
	Boot  string `json:"boot"`  // id of the boot it runs under
	Start int64  `json:"start"` // start time in clock ticks since boot
}

// Lease bounds a claim by awake time since boot, so that a machine that slept
// or a clock that jumped takes nothing from anyone.
type Lease struct {
	Boot      string    `json:"boot"`
	AwakeMS   int64     `json:"awake_ms"`   // awake time since boot at which it ends
	ExpiresAt time.Time `json:"expires_at"` // the same moment as wall time, for people and after a reboot
}

// Usage is what a model or agent consumed.
type Usage struct {
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	CachedTokens int64  `json:"cached_tokens"`
	ModelCalls   int    `json:"model_calls"`
	Model        string `json:"model,omitempty"`
}

// Spent is what one model took of a step.
type Spent struct {
	Model    string  `json:"model"`
	Usage    Usage   `json:"usage"`
	Cost     float64 `json:"cost"`               // US dollars
	Unpriced bool    `json:"unpriced,omitempty"` // what it cost is unknown: Cost holds only what is known
	Doubt    float64 `json:"doubt,omitempty"`    // US dollars: the most that is unknown, of questions that may have been billed and did not say so
}

// StepStarting claims one activation of a role on a subject for a cause. It is
// conditional, so nothing is started twice, and it reserves the step's budget.
type StepStarting struct {
	Role    Role    `json:"role"`
	Subject string  `json:"subject"`
	Cause   ID      `json:"cause"`
	Agent   AgentID `json:"agent"`
	Marker  string  `json:"marker"`  // value of ORCH_MARKER in the environment of all it starts
	Try     int     `json:"try"`     // from 1, counts crashes of the same activation
	Holder  Process `json:"holder"`  // the supervisor that will spawn it
	Reserve float64 `json:"reserve"` // US dollars
	Reason  string  `json:"reason"`  // why it was activated, for people
}

// Classes of a step's end.
const (
	EndDone        = "done"        // exit 0
	EndAgain       = "again"       // exit 42: stopped cleanly, start me again
	EndMoved       = "moved"       // exit 42: what it was started for is not asked any more
	EndCrash       = "crash"       // any other exit
	EndUnjudged    = "unjudged"    // exit 42: nobody who was asked gave a verdict that binds
	EndKilled      = "killed"      // a signal nobody here sent, to it or (exit 42) to its agent
	EndTimeout     = "timeout"     // wall or idle limit
	EndInterrupted = "interrupted" // stopped because the run stopped
	EndOutage      = "outage"      // exit 42: no provider it could ask answers, see Outage
	EndLost        = "lost"        // found dead by somebody else
)

// StepEnded closes an activation.
type StepEnded struct {
	Role       Role    `json:"role"`
	Subject    string  `json:"subject"`
	Cause      ID      `json:"cause"`
	Agent      AgentID `json:"agent"`
	Exit       int     `json:"exit"`
	Class      string  `json:"class"`
	Detail     string  `json:"detail,omitempty"`
	Usage      Usage   `json:"usage"`
	Cost       float64 `json:"cost"`
	DurationMS int64   `json:"duration_ms"`
	Survivors  int     `json:"survivors"`       // processes it left behind, killed
	Spent      []Spent `json:"spent,omitempty"` // by model
}

// Claimed gives a task to one agent under a new fence.
type Claimed struct {
	Task       TaskID  `json:"task"`
	Agent      AgentID `json:"agent"`
	Fence      Fence   `json:"fence"`
	Lease      Lease   `json:"lease"`
	Worktree   string  `json:"worktree,omitempty"`
	BaseCommit string  `json:"base_commit,omitempty"`
}

// Released gives a task back.
type Released struct {
	Task   TaskID  `json:"task"`
	Agent  AgentID `json:"agent"`
	Fence  Fence   `json:"fence"`
	Reason string  `json:"reason"`
}

// LeaseExtended prolongs a claim; sent only while there is progress.
type LeaseExtended struct {
	Task     TaskID  `json:"task"`
	Agent    AgentID `json:"agent"`
	Fence    Fence   `json:"fence"`
	Lease    Lease   `json:"lease"`
	Progress string  `json:"progress,omitempty"`
}

// LeaseLapsed takes a task from a holder that is gone or past its limit.
type LeaseLapsed struct {
	Task   TaskID  `json:"task"`
	Agent  AgentID `json:"agent"`
	Fence  Fence   `json:"fence"`
	Reason string  `json:"reason"`
}

// DraftVoided ends a draft whose plan was never committed because its step died.
type DraftVoided struct {
	Task   TaskID `json:"task"`
	PlanID PlanID `json:"plan_id"`
	Reason string `json:"reason"`
}

// LateResult keeps a result that came after its claim was lost. It changes no status.
type LateResult struct {
	Task   TaskID `json:"task"`
	Fence  Fence  `json:"fence"` // the lost claim
	Hash   string `json:"hash"`  // SHA-256 of the artefact in the goal's folder
	Status string `json:"status"`
	Output string `json:"output"`
}

// Agent states.
const (
	AgentStarting  = "STARTING"
	AgentIdle      = "IDLE"
	AgentWorking   = "WORKING"
	AgentReviewing = "REVIEWING"
	AgentWaiting   = "WAITING"
	AgentHandoff   = "HANDOFF"
)

// Registered makes an agent known before it does any work.
type Registered struct {
	Agent    AgentID `json:"agent"`
	Role     Role    `json:"role"`
	Terminal string  `json:"terminal"`
	Process  Process `json:"process"`
	Lease    Lease   `json:"lease"`            // renewed by the same process with another Registered
	Status   string  `json:"status,omitempty"` // one of the agent states; STARTING if empty
}

// AgentStatus moves an agent between its states.
type AgentStatus struct {
	Agent       AgentID `json:"agent"`
	Status      string  `json:"status"`
	CurrentTask TaskID  `json:"current_task,omitempty"`
}

// Deregistered ends an agent.
type Deregistered struct {
	Agent  AgentID `json:"agent"`
	Reason string  `json:"reason"`
}

// BoundaryViolation records an append that the contract of its sender forbids.
type BoundaryViolation struct {
	By      AgentID `json:"by"`
	From    Role    `json:"from"`
	Refused Type    `json:"type"`
	Subject string  `json:"subject"`
	Why     string  `json:"why"`
}

// JournalRepaired says what recovery, or a person's restore, moved out of the log, and where.
type JournalRepaired struct {
	FromSeq uint64   `json:"from_seq"` // first seq that was torn off
	Bytes   int64    `json:"bytes"`
	Kept    string   `json:"kept"` // file or folder under archive/
	Why     string   `json:"why"`
	LostTo  uint64   `json:"lost_to,omitempty"` // last message that was there once and that a person gave up
	From    string   `json:"from,omitempty"`    // the copy that a person restored from
	Files   []string `json:"files,omitempty"`   // SHA-256 of files that messages name and a person gave up
}

// LogRotated opens a new segment and names the checkpoint that stands for the earlier ones.
type LogRotated struct {
	Segment    string `json:"segment"`    // file under archive/ that holds the earlier messages
	Checkpoint string `json:"checkpoint"` // SHA-256 of the checkpoint, its name under archive/
	UpToSeq    uint64 `json:"up_to_seq"`
}

// LimitReached says that an account is used up until a time.
type LimitReached struct {
	Account string    `json:"account"`
	Until   time.Time `json:"until"`
	Reason  string    `json:"reason"`
}

// Outage says that no provider answers that a step could ask. It is said before
// the step's end, which counts as nothing: no attempt, no crash, no verdict.
type Outage struct {
	Role     Role      `json:"role"`
	Subject  string    `json:"subject"`
	Cause    ID        `json:"cause"`
	Accounts []string  `json:"accounts"` // that failed
	Reason   string    `json:"reason"`   // what orch's own client saw, or an agent's typed error says
	Since    time.Time `json:"since"`    // end of the first of the tries in a row that failed
	Try      int       `json:"try"`      // tries in a row of the runs that waited, from 1
	Until    time.Time `json:"until"`    // when the step is started again
}

// CapCost is the cap on what a goal costs, in BudgetReached.Cap.
const CapCost = "cost"

// BudgetReached suspends a goal whose cap is used up.
type BudgetReached struct {
	Cap   string  `json:"cap"` // cost, cost of a role, or cost of a task
	Limit float64 `json:"limit"`
	Used  float64 `json:"used"`
	Needs float64 `json:"needs,omitempty"` // the least that the next question may cost, where one did not fit
}

// CircuitBreaker suspends because of a finding of the auditor, once per finding.
type CircuitBreaker struct {
	Finding  string   `json:"finding"` // its id
	Severity string   `json:"severity"`
	Evidence []uint64 `json:"evidence"`         // seqs
	Report   string   `json:"report,omitempty"` // what was found and where to read on, for people
}

// Paused stops new steps from being spawned.
type Paused struct {
	Reason string `json:"reason"`
}

// Resumed ends a pause, a checkpoint, or a goal's wait at a cap.
type Resumed struct {
	Reason  string  `json:"reason"`
	MaxCost float64 `json:"max_cost,omitempty"` // the goal's new cap in US dollars; 0 leaves it
}

// CheckpointReached lets running steps finish and then waits for a person.
type CheckpointReached struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Aborted stops everything now, cleanly.
type Aborted struct {
	Reason string `json:"reason"`
}

// ApprovalRequest asks a person for a permission a tool call needed.
type ApprovalRequest struct {
	Request string          `json:"request"` // short id, for orch allow and orch deny
	Task    TaskID          `json:"task"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Reason  string          `json:"reason"`
	Rule    json.RawMessage `json:"rule"` // what allowing would add
}

// ApprovalGiven answers an ApprovalRequest.
type ApprovalGiven struct {
	Request string          `json:"request"`
	Allowed bool            `json:"allowed"`
	Rule    json.RawMessage `json:"rule,omitempty"`
	Always  bool            `json:"always"` // the rule is kept beyond the goal
}

// Unblocked makes a BLOCKED task claimable again, or retries what stopped a goal.
type Unblocked struct {
	Task   TaskID `json:"task,omitempty"` // empty: the whole goal
	Reason string `json:"reason"`
}

// Edit is one field a person changed.
type Edit struct {
	Task  TaskID          `json:"task,omitempty"`
	Field string          `json:"field"` // human_notes, priority, status, intent, …
	Old   json.RawMessage `json:"old"`
	New   json.RawMessage `json:"new"`
}

// HumanEdit is the difference a person made to the view, or with orch edit.
type HumanEdit struct {
	BaseSeq uint64 `json:"base_seq"` // the seq the edited view stated
	Edits   []Edit `json:"edits"`
}

// HumanEditRefused says why an edit of the view was not taken in, and where it is kept.
type HumanEditRefused struct {
	BaseSeq uint64 `json:"base_seq"`
	Kept    string `json:"kept"`
	Why     string `json:"why"`
}

// HumanNote is a person's word to a role or about a task.
type HumanNote struct {
	For     string `json:"for"`
	Message string `json:"message"`
}

// TaskAdded makes tasks by hand or by a script; they are claimable at once
// unless Draft is set. One message may carry many.
type TaskAdded struct {
	Tasks []SubTask `json:"tasks"`
	Draft bool      `json:"draft"`
}

// Validate refuses an empty or unusable batch.
func (t TaskAdded) Validate() error {
	if len(t.Tasks) == 0 {
		return fmt.Errorf("no tasks")
	}
	return validateAll(t.Tasks)
}

// TaskFinished ends a task that is worked by hand: the agent that holds it says it is done.
type TaskFinished struct {
	Task   TaskID `json:"task"`
	Output string `json:"output"`
}
