package auditor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"orch/blackboard/message"
)

// Kind names one detection.
type Kind string

// The detections. docs/audit.md defines each.
const (
	BoundaryViolation Kind = "boundary_violation"
	MalformedMessage  Kind = "malformed_message"
	SettingsChanged   Kind = "settings_changed"
	LogFlood          Kind = "log_flood"
	DuplicateTask     Kind = "duplicate_task_id"
	FanInIncomplete   Kind = "fan_in_incomplete"
	ExcessiveRetries  Kind = "excessive_retries"
	NoImprovement     Kind = "replanning_without_improvement"
	GGSThrashing      Kind = "ggs_thrashing"
	OverclaimedResult Kind = "overclaimed_result"
	PassNoEvidence    Kind = "pass_without_evidence"
	RubberStamping    Kind = "rubber_stamping"
	RoleDrift         Kind = "role_drift"
	SpendDrift        Kind = "spend_drift"
	LeaseLoss         Kind = "lease_loss"
	Stall             Kind = "stall"
	OrphanedRejection Kind = "orphaned_rejection"
	ForgottenPause    Kind = "forgotten_pause"
	StaleDraft        Kind = "stale_draft"
	BrokenChain       Kind = "broken_chain"
	LogRewritten      Kind = "log_rewritten"
	LogRestored       Kind = "log_restored"
	AuditLogDamaged   Kind = "audit_log_damaged"
	GoalAbandoned     Kind = "goal_abandoned"
	RepeatedRefusals  Kind = "repeated_refusals"

	RetryCluster        Kind = "retry_cluster"
	DebtAccumulation    Kind = "debt_accumulation"
	AssumptionCascade   Kind = "assumption_cascade"
	WorkaroundPattern   Kind = "workaround_pattern"
	SpecGapCluster      Kind = "spec_gap_cluster"
	ServiceOutage       Kind = "external_service_outage"
	UncomparedAnomalies Kind = "anomalies_not_compared"
)

// Kinds lists every detection in a fixed order.
func Kinds() []Kind {
	return []Kind{BoundaryViolation, MalformedMessage, SettingsChanged, LogFlood, DuplicateTask, FanInIncomplete, ExcessiveRetries,
		NoImprovement, GGSThrashing, OverclaimedResult, PassNoEvidence, RubberStamping, RoleDrift, SpendDrift, LeaseLoss, Stall,
		OrphanedRejection, ForgottenPause, StaleDraft, BrokenChain, LogRewritten, LogRestored, AuditLogDamaged, GoalAbandoned, RepeatedRefusals, RetryCluster, DebtAccumulation,
		AssumptionCascade, WorkaroundPattern, SpecGapCluster, ServiceOutage, UncomparedAnomalies}
}

// Severity says what a finding calls for.
type Severity string

// The severities: the first three grade detections; the others say what a
// circuit-breaker pattern puts in question.
const (
	Info         Severity = "INFO"     // worth knowing
	Warning      Severity = "WARNING"  // somebody should look
	Critical     Severity = "CRITICAL" // what the log shows can not be relied on
	Spec         Severity = "SPEC"
	Scope        Severity = "SCOPE"
	Architecture Severity = "ARCHITECTURE"
	External     Severity = "EXTERNAL"
)

// Finding is one thing that went wrong, with the messages that prove it. Equal
// evidence gives an equal finding, whenever and however often it is looked for.
type Finding struct {
	ID       string          `json:"id"` // 16 hex digits, from kind and evidence
	Kind     Kind            `json:"kind"`
	Severity Severity        `json:"severity"`
	Goal     message.GoalID  `json:"goal"`    // empty: the board
	Subject  string          `json:"subject"` // task, plan, agent, file
	Role     message.Role    `json:"role"`    // whose doing it is, as far as the log tells
	Agent    message.AgentID `json:"agent"`
	Message  string          `json:"message"`  // what happened, in one sentence
	Seqs     []uint64        `json:"seqs"`     // the messages that prove it, ascending; the first and last of very many
	Evidence int             `json:"evidence"` // how many there are
	FirstTS  time.Time       `json:"first_ts"`
	LastTS   time.Time       `json:"last_ts"`
	Trips    bool            `json:"trips"` // a circuit-breaker pattern: the supervisor stops
}

// maxSeqs bounds the evidence that a finding lists.
const maxSeqs = 40

// seal sorts and bounds the evidence and gives the finding its id.
func (f Finding) seal() Finding {
	seqs := slices.Clone(f.Seqs)
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00%s\x00%d", f.Kind, f.Goal, f.Subject, seqs)
	if len(seqs) == 0 {
		fmt.Fprintf(sum, "\x00%s", f.Message) // what it is about is no message: a file
	}
	f.ID = hex.EncodeToString(sum.Sum(nil))[:16]
	f.Evidence = len(seqs)
	if len(seqs) > maxSeqs {
		seqs = append(seqs[:maxSeqs/2:maxSeqs/2], seqs[len(seqs)-maxSeqs/2:]...)
	}
	f.Seqs = seqs
	if f.Seqs == nil {
		f.Seqs = []uint64{}
	}
	return f
}

// Window limits what a report is about. The zero Window is everything.
type Window struct {
	Since time.Time      `json:"since"` // zero: from the beginning
	Until time.Time      `json:"until"` // zero: to the end; exclusive
	Goal  message.GoalID `json:"goal"`  // empty: every goal and the board
}

// Has tells whether something at a time and of a goal is in the window.
func (w Window) Has(ts time.Time, goal message.GoalID) bool {
	return (w.Goal == "" || w.Goal == goal) && (w.Since.IsZero() || !ts.Before(w.Since)) && (w.Until.IsZero() || ts.Before(w.Until))
}

// Filter keeps the findings whose last evidence is in the window, and of a
// goal's window also those about the board as a whole.
func (w Window) Filter(list []Finding) []Finding {
	out := []Finding{}
	for _, f := range list {
		goal := f.Goal
		if goal == "" {
			goal = w.Goal
		}
		if w.Has(f.LastTS, goal) {
			out = append(out, f)
		}
	}
	return out
}
