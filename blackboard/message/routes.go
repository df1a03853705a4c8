package message

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Entry is one row of the catalogue: a type and who may send it to whom.
type Entry struct {
	Type   Type
	From   []Role
	To     []Role
	decode func(json.RawMessage) (Body, error)
}

// Catalogue lists every type in a fixed order. The rows are copies.
func Catalogue() []Entry { return slices.Clone(catalogue) }

// Route tells whether from may send a message of type t to to; the error says what is allowed.
func Route(t Type, from, to Role) error {
	e, ok := byType[t]
	if !ok {
		return fmt.Errorf("%w %q", ErrUnknownType, t)
	}
	if !slices.Contains(e.From, from) {
		return fmt.Errorf("%s may be sent by %v, not by %s", t, e.From, from)
	}
	if !slices.Contains(e.To, to) {
		return fmt.Errorf("%s goes to %v, not to %s", t, e.To, to)
	}
	return nil
}

// DefaultTo is the first addressee of a type.
func DefaultTo(t Type) Role {
	if e, ok := byType[t]; ok {
		return e.To[0]
	}
	return ""
}

func row[T Body](from []Role, to ...Role) Entry {
	var zero T
	return Entry{Type: zero.Type(), From: from, To: to, decode: decodeInto[T]}
}

func by(roles ...Role) []Role { return roles }

// spawners may claim for others: the supervisor, or a step that was started
// without one and acts as its own.
var spawners = by(Supervisor, Perceiver, Planner, Executor, AgentValidator, MetaValidator, GGS, Memory, Auditor, Coder, CodeReviewer, Human)

var catalogue = []Entry{
	row[Genesis](by(Board), All),
	row[UserInput](by(Human), Perceiver),
	row[ClarificationQuestion](by(Perceiver), Human),
	row[ClarificationAnswer](by(Human, Supervisor), Perceiver),
	row[TaskSpec](by(Perceiver), Planner),
	row[MemoryQuery](by(Planner), Memory),
	row[MemoryAnswer](by(Memory), Planner),
	row[MemoryTimeout](by(Supervisor), Planner),
	row[SubTask](by(Planner), Executor, Coder),
	row[DispatchManifest](by(Planner), MetaValidator),
	row[PlanRejected](by(PlanValidator), Planner, GGS),
	row[StepStarting](spawners, All),
	row[StepEnded](spawners, All),
	row[Claimed](spawners, All),
	row[Released](spawners, All),
	row[LeaseExtended](spawners, All),
	row[LeaseLapsed](spawners, All),
	row[DraftVoided](by(Supervisor), All),
	row[ToolStarted](by(Executor), AgentValidator),
	row[ToolCall](by(Executor), AgentValidator),
	row[ExecutionResult](by(Executor), AgentValidator),
	row[CorrectionSignal](by(AgentValidator), Executor),
	row[SubTaskOutcome](by(AgentValidator), MetaValidator),
	row[ReplanRequest](by(MetaValidator), GGS),
	row[OutcomeSummary](by(MetaValidator), GGS),
	row[PlanDirective](by(GGS), Planner),
	row[GiveUp](by(Human), GGS),
	row[FinalResult](by(GGS), Human),
	row[Megram](by(GGS, Memory), Memory),
	row[MemoryFact](by(Human), Memory),
	row[MemoryForget](by(Human), Memory),
	row[NegativeFeedback](by(Planner, GGS), Memory),
	row[MemoryForget](by(Human), Memory),
	row[MemoryRebuilt](by(Memory), All),
	row[DreamRequest](by(Human, Supervisor), Memory),
	row[DreamReport](by(Memory), Human),
	row[LateResult](by(Executor, Coder, AgentValidator, CodeReviewer, MetaValidator), All),
	row[BoundaryViolation](by(Board), Auditor),
	row[JournalRepaired](by(Board), All),
	row[LogRotated](by(Board), All),
	row[LimitReached](spawners, All),
	row[BudgetReached](by(Supervisor), Human),
	row[CircuitBreaker](by(Supervisor), Human),
	row[Paused](by(Human, Supervisor), All),
	row[Resumed](by(Human, Supervisor), All),
	row[CheckpointReached](by(Human, Supervisor, Executor, Coder), All),
	row[Aborted](by(Human, Supervisor), All),
	row[ApprovalRequest](by(Executor, Coder, CodeReviewer), Human),
	row[ApprovalGiven](by(Human), All),
	row[Unblocked](by(Human, Planner), All),
	row[HumanEdit](by(Human), All),
	row[HumanEditRefused](by(Board), Human),
	row[HumanNote](by(Human), All),
	row[TaskAdded](by(Human), All),
	row[TaskFinished](by(Human), All),
	row[Registered](spawners, All),
	row[AgentStatus](spawners, All),
	row[Deregistered](spawners, All),
	row[TaskGated](by(PlanValidator), Planner),
	row[ReviewRequested](by(Coder), CodeReviewer),
	row[ReviewClaimed](by(Supervisor, CodeReviewer), All),
	row[ReviewReleased](by(Supervisor, CodeReviewer), All),
	row[ReviewVerdict](by(CodeReviewer, Validator), Coder),
	row[Crosschecked](by(Crosscheck), Validator),
	row[PageChecked](by(UIQA), Validator),
	row[Blocked](by(Coder, CodeReviewer, Supervisor), Planner),
	row[Handoff](by(Coder), Coder),
	row[MergeStarting](by(Supervisor), All),
	row[Merged](by(Supervisor), All),
	row[IntegrationFailed](by(Supervisor), All),
	row[Rescoped](by(Planner), All),
	row[Abandoned](by(Planner), All),
	row[Anomaly](by(Planner, Coder, CodeReviewer, Executor, AgentValidator, MetaValidator, Supervisor), Auditor, Planner),
	row[Discovery](by(Coder), Planner),
	row[Triaged](by(Planner), All),
	row[SpecChanged](by(Supervisor), All),
	row[SprintOpened](by(Human, Supervisor), All),
	row[SprintClosed](by(Human, Supervisor), All),
	row[Escalated](by(Supervisor), Human),
	row[DecisionVerb](by(Orchestrator), Supervisor),
	row[Ghost](by(Orchestrator), Supervisor),
	row[IssueFound](by(Validator, UIQA, Curator), All),
	row[IssueMerged](by(Validator, UIQA, Curator), All),
	row[ContractPatched](by(Architect, Planner), All),
}

var byType = func() map[Type]Entry {
	m := make(map[Type]Entry, len(catalogue))
	for _, e := range catalogue {
		m[e.Type] = e
	}
	return m
}()
