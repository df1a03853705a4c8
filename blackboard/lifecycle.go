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
	By            []message.Role
	From          []Status // empty: there is no task before
	To            Status   // empty: the status stays
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

// spawners claim, release and keep watch: a supervisor, a step started without
// one, or a person.
var spawners = roles(message.Supervisor, message.Perceiver, message.Planner, message.Executor, message.AgentValidator,
	message.MetaValidator, message.GGS, message.Memory, message.Auditor, message.Coder, message.CodeReviewer, message.Human)

var transitions = slices.Concat(planTransitions, workTransitions, reviewTransitions, endTransitions)

const held = "the sender's agent holds the task under the message's fence"

var planTransitions = []Transition{
	{"SubTask", roles(message.Planner), nil, Draft, "the id is new; the plan is not committed, refused or void", "a plan is drafted task by task"},
	{"TaskAdded", roles(message.Human), nil, Draft, "the id is new; dependencies exist and form no circle", "a person drafts a task"},
	{"TaskAdded", roles(message.Human), nil, Unclaimed, "the id is new; dependencies exist and form no circle", "a person adds a task"},
	{"TaskAdded", roles(message.Human), from(Draft), Unclaimed, "a person drafted it, outside a plan", "a person's draft is complete"},
	{"TaskGated", roles(message.PlanValidator), from(Draft), "", "", "the planner is told which gates the draft misses"},
	{"DispatchManifest", roles(message.Planner), from(Draft), Unclaimed, "a draft of this plan; the plan answers the goal's open plan cause; dependencies exist and form no circle", "the plan is committed as a whole"},
	{"DispatchManifest", roles(message.Planner), from(Draft), Void, "the plan does not name it", "other drafts end with the commit"},
	{"DispatchManifest", roles(message.Planner), notTerminal, Superseded, "the plan does not keep it", "a replan replaces what it does not keep"},
	{"PlanRejected", roles(message.PlanValidator), from(Draft), Void, "a draft of the refused plan that misses no gate", "the plan was refused by code"},
	{"DraftVoided", roles(message.Supervisor), from(Draft), Void, "names the draft's plan", "the step that planned died before the commit"},
	{"Rescoped", roles(message.Planner), notTerminal, Superseded, "a reason that names the root cause, and a line of alignment; hypothesis_exhaustion was logged if two coders were blocked", "others replace the task; what depended on it depends on them"},
	{"Rescoped", roles(message.Planner), from(Draft), Unclaimed, "named in superseded_by", "the replacements become claimable"},
	{"Triaged", roles(message.Planner), from(Draft), Unclaimed, "named in tasks; the discovery or ambiguity is not answered", "what was found becomes work"},
}

var workTransitions = []Transition{
	{"Claimed", spawners, takeable, Claimed, "the goal is open, no brake is on, dependencies and lower sequences are done, no claimed task may change the same files; the fence is one above the last", "an agent takes the task"},
	{"Claimed", spawners, from(Claimed), Claimed, "the same agent; the fence is one above the last", "the holder starts over under a new fence"},
	{"Released", spawners, from(Claimed), Unclaimed, "names the holder and its fence", "the holder gives the task back"},
	{"Released", spawners, from(Claimed), Rejected, "it was claimed from REJECTED", "the correction stays open"},
	{"Released", spawners, from(Claimed), IntegrationFailed, "it was claimed from INTEGRATION_FAILED", "the conflict stays open"},
	{"LeaseLapsed", spawners, from(Claimed), Unclaimed, "names the holder and its fence", "the holder is gone or past its limit"},
	{"LeaseLapsed", spawners, from(Claimed), Rejected, "it was claimed from REJECTED", "the correction stays open"},
	{"LeaseLapsed", spawners, from(Claimed), IntegrationFailed, "it was claimed from INTEGRATION_FAILED", "the conflict stays open"},
	{"LeaseExtended", spawners, from(Claimed), "", "names the holder and its fence", "there was progress"},
	{"LeaseExtended", spawners, from(ReadyForReview), "", "names the reviewer and its fence", "the review made progress"},
	{"ToolStarted", roles(message.Executor), from(Claimed), "", held + "; no call of this claim is open", "a tool is about to act"},
	{"ToolCall", roles(message.Executor), from(Claimed), "", held + "; it ends the open call, or was denied", "a tool acted"},
	{"ApprovalRequest", roles(message.Executor, message.Coder, message.CodeReviewer), from(Claimed, ReadyForReview, Rejected, Unclaimed), "", "the request's id is new", "a tool call needs a person's permission"},
	{"ExecutionResult", roles(message.Executor), from(Claimed), ReadyForReview, held + "; the attempt is one above the last; no call of this claim is open", "an attempt is over"},
	{"TaskFinished", roles(message.Human), from(Claimed), ReadyForReview, held, "a task worked by hand is done"},
	{"ReviewRequested", roles(message.Coder), from(Claimed), ReadyForReview, held + "; names the commit", "a commit is submitted"},
	{"Handoff", roles(message.Coder), from(Claimed), Unclaimed, held, "the task is passed on with what the next holder needs"},
	{"Blocked", roles(message.Coder), from(Claimed), Blocked, held + "; one to three questions", "the holder can not go on"},
	{"LateResult", roles(message.Executor, message.Coder, message.AgentValidator, message.CodeReviewer, message.MetaValidator), started, "", "an older claim, or the task left CLAIMED", "a result came after its claim was lost"},
}

var reviewTransitions = []Transition{
	{"CorrectionSignal", roles(message.AgentValidator), from(ReadyForReview), Rejected, "another agent than the executor; names the last attempt", "one criterion failed and may be corrected"},
	{"SubTaskOutcome", roles(message.AgentValidator), from(ReadyForReview), Approved, "another agent than the executor; matched, with a passing verdict for every criterion", "every criterion passed"},
	{"SubTaskOutcome", roles(message.AgentValidator), from(ReadyForReview), Blocked, "another agent than the executor; failed", "the fast loop gave up: retries_exhausted"},
	{"ReviewClaimed", roles(message.Supervisor, message.CodeReviewer), from(ReadyForReview), "", "another agent than the coder; no live review; the fence is one above the last", "a reviewer takes the review"},
	{"ReviewReleased", roles(message.Supervisor, message.CodeReviewer), from(ReadyForReview), "", "names the review's fence", "the review is given back"},
	{"Crosschecked", roles(message.Crosscheck), from(ReadyForReview), "", "", "a second opinion"},
	{"PageChecked", roles(message.UIQA), from(ReadyForReview), "", "", "what a browser saw"},
	{"ReviewVerdict", roles(message.CodeReviewer, message.Validator), from(ReadyForReview), Approved, "another agent than the coder; the submitted commit; every criterion has a passing check, nothing blocks, every earlier blocker is RESOLVED", "the commit is approved"},
	{"ReviewVerdict", roles(message.CodeReviewer, message.Validator), from(ReadyForReview), Rejected, "another agent than the coder; the submitted commit; at least one blocker or failed check; says what became of every earlier blocker, unless a check failed", "the commit is sent back"},
	{"Blocked", roles(message.CodeReviewer), from(ReadyForReview, Rejected), Blocked, "one to three questions", "the review can not come to an end"},
	{"Blocked", roles(message.Supervisor), from(Unclaimed, Rejected, ReadyForReview, IntegrationFailed), Blocked, "a coder's task; one to three questions", "a limit is reached: iterations, review cycles, crashes"},
	{"MergeStarting", roles(message.Supervisor), from(Approved), "", "a coder's task", "a ref is about to move"},
	{"Merged", roles(message.Supervisor), from(Approved), Merged, "ends the merge that was started", "the ref moved"},
	{"IntegrationFailed", roles(message.Supervisor), from(Approved), IntegrationFailed, "a coder's task", "the approved commit does not fit"},
	{"IntegrationFailed", roles(message.Supervisor), from(Approved), Abandoned, "a coder's task; its goal has ended", "the approved commit does not fit, and nobody will mend it"},
}

var endTransitions = []Transition{
	{"Unblocked", roles(message.Human), from(Blocked), Unclaimed, "", "a person answered; the fast loop's corrections start anew"},
	{"Unblocked", roles(message.Planner), from(Blocked), Unclaimed, "a coder's task; fewer than two coders were blocked on it; an answer", "the planner answered; another coder takes it"},
	{"HumanEdit", roles(message.Human), from(Blocked), Abandoned, "the edit's old value is the present one", "a person gives the task up"},
	{"HumanEdit", roles(message.Human), slices.Concat(from(Draft), notTerminal), "", "the edit's old value is the present one", "a person changes a field"},
	{"HumanNote", roles(message.Human), slices.Concat(from(Draft), notTerminal), "", "", "a person says something about the task"},
	{"Abandoned", roles(message.Planner), unfinished, Abandoned, "a reason", "the planner gives the task up"},
	{"FinalResult", roles(message.GGS), unfinished, Abandoned, "answers the open round, or a person's GiveUp", "the goal ended; APPROVED stays"},
	{"FinalResult", roles(message.GGS), from(Draft), Void, "answers the open round, or a person's GiveUp", "the goal ended"},
}

// legal tells whether the table has the transition.
func legal(typ message.Type, by message.Role, from, to Status) bool {
	return slices.ContainsFunc(transitions, func(t Transition) bool {
		return t.Type == typ && t.To == to && slices.Contains(t.By, by) &&
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
		by := joined(t.By)
		if len(t.By) == len(spawners) {
			by = "supervisor, a step, human"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", before, after, t.Type, by, t.Preconditions, t.Doc)
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
