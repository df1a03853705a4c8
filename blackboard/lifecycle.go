package blackboard

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
)

// Transition is one way a message may touch a task. There is no other.
type Transition struct {
	Type          message.Type
	By            []message.Role // of those that may send the type, who makes this transition; nil: all of them
	From          []Status       // empty: there is no task before
	To            Status         // empty: the status stays
	Preconditions string
	Doc           string
}

// Transitions lists every transition, in the order of the lifecycle.
func Transitions() []Transition { return slices.Clone(transitions) }

// TransitionError: the task's status does not allow what the message wants.
type TransitionError struct {
	Task message.TaskID
	Type message.Type
	From Status
	To   Status // empty if the status was to stay
}

func (e *TransitionError) Error() string {
	if e.To == "" {
		return fmt.Sprintf("%s does not fit task %s, which is %s", e.Type, e.Task, e.From)
	}
	return fmt.Sprintf("%s can not take task %s from %s to %s", e.Type, e.Task, e.From, e.To)
}

var (
	notTerminal = []Status{Unclaimed, Claimed, ReadyForReview, Approved, Rejected, Blocked, IntegrationFailed}
	unfinished  = []Status{Unclaimed, Claimed, ReadyForReview, Rejected, Blocked, IntegrationFailed}
	started     = []Status{Unclaimed, Claimed, ReadyForReview, Approved, Merged, Rejected, Blocked, IntegrationFailed, Superseded, Abandoned}
	takeable    = []Status{Unclaimed, Rejected, IntegrationFailed}
)

func from(s ...Status) []Status { return s }

func roles(r ...message.Role) []message.Role { return r }

var transitions = slices.Concat(planTransitions, workTransitions, reviewTransitions, endTransitions)

const held = "the sender's agent holds the task under the message's fence"

var planTransitions = []Transition{
	{"SubTask", nil, nil, Draft, "the id is new; the plan is not committed, refused or void", "a plan is drafted task by task"},
	{"TaskAdded", nil, nil, Draft, "the id is new; dependencies exist and form no circle", "a person drafts a task"},
	{"TaskAdded", nil, nil, Unclaimed, "the id is new; dependencies exist and form no circle", "a person adds a task"},
	{"TaskAdded", nil, from(Draft), Unclaimed, "a person drafted it, outside a plan", "a person's draft is complete"},
	{"TaskGated", nil, from(Draft), "", "", "the planner is told which gates the draft misses"},
	{"DispatchManifest", nil, from(Draft), Unclaimed, "a draft of this plan; the plan answers the goal's open plan cause; dependencies exist and form no circle", "the plan is committed as a whole"},
	{"DispatchManifest", nil, from(Draft), Void, "the plan does not name it", "other drafts end with the commit"},
	{"DispatchManifest", nil, notTerminal, Superseded, "the plan does not keep it", "a replan replaces what it does not keep"},
	{"PlanRejected", nil, from(Draft), Void, "a draft of the refused plan that misses no gate", "the plan was refused by code"},
	{"DraftVoided", nil, from(Draft), Void, "names the draft's plan", "the step that planned died before the commit"},
	{"Rescoped", nil, notTerminal, Superseded, "a reason that names the root cause, and a line of alignment; hypothesis_exhaustion was logged if two coders were blocked", "others replace the task; what depended on it depends on them"},
	{"Rescoped", nil, from(Draft), Unclaimed, "named in superseded_by", "the replacements become claimable"},
	{"Triaged", nil, from(Draft), Unclaimed, "named in tasks; the discovery or ambiguity is not answered", "what was found becomes work"},
}

var workTransitions = []Transition{
	{"Claimed", nil, takeable, Claimed, "the goal is open, no brake is on, dependencies and lower sequences are done, no claimed task may change the same files; the fence is one above the last", "an agent takes the task"},
	{"Claimed", nil, from(Claimed), Claimed, "the same agent; the fence is one above the last", "the holder starts over under a new fence"},
	{"Released", nil, from(Claimed), Unclaimed, "names the holder and its fence", "the holder gives the task back"},
	{"Released", nil, from(Claimed), Rejected, "it was claimed from REJECTED", "the correction stays open"},
	{"Released", nil, from(Claimed), IntegrationFailed, "it was claimed from INTEGRATION_FAILED", "the conflict stays open"},
	{"LeaseLapsed", nil, from(Claimed), Unclaimed, "names the holder and its fence", "the holder is gone or past its limit"},
	{"LeaseLapsed", nil, from(Claimed), Rejected, "it was claimed from REJECTED", "the correction stays open"},
	{"LeaseLapsed", nil, from(Claimed), IntegrationFailed, "it was claimed from INTEGRATION_FAILED", "the conflict stays open"},
	{"LeaseExtended", nil, from(Claimed), "", "names the holder and its fence", "there was progress"},
	{"LeaseExtended", nil, from(ReadyForReview), "", "names the reviewer and its fence", "the review made progress"},
	{"StateBefore", nil, from(Claimed), "", held, "what was there, and which checks held, before anything was done"},
	{"ToolStarted", nil, from(Claimed), "", held + "; no call of this claim is open", "a tool is about to act"},
	{"ToolCall", nil, from(Claimed), "", held + "; it ends the open call, or was denied", "a tool acted"},
	{"ApprovalRequest", nil, from(Claimed, ReadyForReview, Rejected, Unclaimed), "", "the request's id is new", "a tool call needs a person's permission"},
	{"ExecutionResult", nil, from(Claimed), ReadyForReview, held + "; the attempt is one above the last; no call of this claim is open", "an attempt is over"},
	{"TaskFinished", nil, from(Claimed), ReadyForReview, held, "a task worked by hand is done"},
	{"ReviewRequested", nil, from(Claimed), ReadyForReview, held + "; names the commit", "a commit is submitted"},
	{"Handoff", nil, from(Claimed), Unclaimed, held, "the task is passed on with what the next holder needs"},
	{"Blocked", roles(message.Coder), from(Claimed), Blocked, held + "; one to three questions", "the holder can not go on"},
	{"LateResult", nil, started, "", "an older claim, or the task left CLAIMED", "a result came after its claim was lost"},
}

var reviewTransitions = []Transition{
	{"CorrectionSignal", nil, from(ReadyForReview), Rejected, "another agent than the executor; names the last attempt", "one criterion failed and may be corrected"},
	{"SubTaskOutcome", nil, from(ReadyForReview), Approved, "another agent than the executor; matched, with a passing verdict for every criterion", "every criterion passed"},
	{"SubTaskOutcome", nil, from(ReadyForReview), Blocked, "another agent than the executor; failed", "the fast loop gave up: retries_exhausted"},
	{"ReviewClaimed", nil, from(ReadyForReview), "", "another agent than the coder; no live review; the fence is one above the last", "a reviewer takes the review"},
	{"ReviewReleased", nil, from(ReadyForReview), "", "names the review's fence", "the review is given back"},
	{"ReviewVerdict", nil, from(ReadyForReview), Approved, "another agent than the coder; the submitted commit; every criterion has a passing check, nothing blocks, every earlier blocker is RESOLVED", "the commit is approved"},
	{"ReviewVerdict", nil, from(ReadyForReview), Rejected, "another agent than the coder; the submitted commit; at least one blocker or failed check; says what became of every earlier blocker, unless a check failed", "the commit is sent back"},
	{"FindingsAccepted", nil, from(Rejected, Blocked, Claimed), ReadyForReview, "names the submitted commit and findings that block it; no other blocker is left", "a person lets what code found stand: the same commit is judged again"},
	{"FindingsAccepted", nil, from(Rejected, Blocked, Claimed, ReadyForReview), "", "names the submitted commit and findings that block it", "a person lets what code found stand"},
	{"Blocked", roles(message.CodeReviewer), from(ReadyForReview, Rejected), Blocked, "one to three questions", "the review can not come to an end"},
	{"Blocked", roles(message.Supervisor), from(Unclaimed, Rejected, ReadyForReview, IntegrationFailed), Blocked, "a coder's task; one to three questions", "a limit is reached: iterations, review cycles, crashes"},
	{"MergeStarting", nil, from(Approved), "", "a coder's task", "a ref is about to move"},
	{"Merged", nil, from(Approved), Merged, "ends the merge that was started", "the ref moved"},
	{"IntegrationFailed", nil, from(Approved), IntegrationFailed, "a coder's task", "the approved commit does not fit"},
	{"IntegrationFailed", nil, from(Approved), Abandoned, "a coder's task; its goal has ended", "the approved commit does not fit, and nobody will mend it"},
}

var endTransitions = []Transition{
	{"Unblocked", roles(message.Human), from(Blocked), Unclaimed, "", "a person answered; the fast loop's corrections start anew"},
	{"Unblocked", roles(message.Planner), from(Blocked), Unclaimed, "a coder's task; fewer than two coders were blocked on it; an answer", "the planner answered; another coder takes it"},
	{"HumanEdit", nil, from(Blocked), Abandoned, "the edit's old value is the present one", "a person gives the task up"},
	{"HumanEdit", nil, slices.Concat(from(Draft), notTerminal), "", "the edit's old value is the present one", "a person changes a field"},
	{"HumanNote", nil, slices.Concat(from(Draft), notTerminal), "", "", "a person says something about the task"},
	{"Abandoned", nil, unfinished, Abandoned, "a reason", "the planner gives the task up"},
	{"FinalResult", nil, unfinished, Abandoned, "answers the open round, or a GiveUp", "the goal ended; APPROVED stays"},
	{"FinalResult", nil, from(Draft), Void, "answers the open round, or a GiveUp", "the goal ended"},
}

// legal tells whether the table has the transition.
func legal(typ message.Type, by message.Role, from, to Status) bool {
	return slices.ContainsFunc(transitions, func(t Transition) bool {
		return t.Type == typ && t.To == to && (t.By == nil || slices.Contains(t.By, by)) &&
			(from == "" && len(t.From) == 0 || slices.Contains(t.From, from))
	})
}

// LifecycleMarkdown renders the table for docs/lifecycle.md.
func LifecycleMarkdown() string {
	var b strings.Builder
	b.WriteString(lifecycleHead)
	for _, t := range transitions {
		before, after := "—", "(stays)"
		if len(t.From) > 0 {
			before = joined(t.From)
		}
		if t.To != "" {
			after = string(t.To)
		}
		by := t.By
		if e, ok := message.Lookup(t.Type); ok && by == nil {
			by = e.From()
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", before, after, t.Type, joined(by), t.Preconditions, t.Doc)
	}
	b.WriteString(lifecycleTail)
	return b.String()
}

func joined[T ~string](list []T) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = string(s)
	}
	return strings.Join(parts, ", ")
}

const lifecycleHead = `# Task lifecycle

Generated from the table in ` + "`blackboard/lifecycle.go`" + `; a test keeps it current.

` + "```" + `
DRAFT → UNCLAIMED → CLAIMED → READY_FOR_REVIEW → APPROVED → MERGED
                      ↑ │ ↘          │    ↘          │
                      │ │  BLOCKED   REJECTED   INTEGRATION_FAILED
                      └─┴──────────────┴─────────────┘ (claimed again)
` + "```" + `

MERGED, SUPERSEDED, ABANDONED and VOID are terminal: no row leaves them.
Nothing else moves a task, and nothing else is said about one: what is not in
the table is refused with the reason.

| from | to | message | by | when | meaning |
|---|---|---|---|---|---|
`

const lifecycleTail = `
## Claimable

A task can be claimed when it is UNCLAIMED, REJECTED or INTEGRATION_FAILED, and

- its goal, if it has one, is OPEN, and the board is neither paused nor at a checkpoint;
- every task it depends on is done: APPROVED, or MERGED if a coder works on it;
- every task of a lower sequence of its plan is done. One that is BLOCKED or
  ABANDONED keeps the later ones from ever starting: they count as skipped;
- no claimed task may change the same files. Tasks that only read, and coders,
  who have workspaces of their own, never stand in each other's way; a task of
  a goal that declares no targets may change everything; a task made by hand
  outside a goal that declares none is the person's own affair.
`
