package loop

import (
	"slices"

	"orch/blackboard/message"
)

// Tier says how well a role must be able to reason. Higher is better.
type Tier int

// The tiers. Arithmetic roles never ask a model.
const (
	Arithmetic Tier = 0
	Tier1      Tier = 1
	Tier2      Tier = 2
)

// Contract is what one role is, in data. What it may say, and under which
// names, is message.Emits and message.Names.
type Contract struct {
	Role       message.Role
	Activation string // when it is activated, for people
	Tier       Tier
	Resident   bool // stays up and follows the log
	Holds      bool // works on a task it has claimed
}

// contracts is in the order in which due activations are started: what a goal
// waits for as a whole comes before its tasks, and reviews before new work.
var contracts = []Contract{
	{
		Role: message.Perceiver, Tier: Tier1,
		Activation: "a UserInput has no TaskSpec, or a ClarificationAnswer came",
	},
	{
		Role: message.Planner, Tier: Tier2,
		Activation: "a TaskSpec has no plan, or a PlanDirective or PlanRejected is unanswered: first the memory is asked, then the plan is made; in profile code also a blocked task, a second integration failure, an immediate discovery, a system_ambiguity",
	},
	{
		Role: message.MetaValidator, Tier: Tier2,
		Activation: "fan-in is complete: no task of the plan is claimable, running or in review",
	},
	{
		Role: message.AgentValidator, Tier: Tier1,
		Activation: "a task is READY_FOR_REVIEW",
	},
	{
		Role: message.CodeReviewer, Tier: Tier2,
		Activation: "a coder's task is READY_FOR_REVIEW and nobody reviews it",
	},
	{
		Role: message.Executor, Tier: Tier1, Holds: true,
		Activation: "a task is claimable",
	},
	{
		Role: message.Coder, Tier: Tier1, Holds: true,
		Activation: "a coder's task is claimable",
	},
	{
		Role: message.GGS, Tier: Arithmetic, Resident: true,
		Activation: "a ReplanRequest, an OutcomeSummary or a third PlanRejected is unanswered and the step that said it has ended, or a GiveUp is",
	},
	{
		Role: message.Memory, Tier: Tier1, Resident: true,
		Activation: "a Megram, MemoryQuery or DreamRequest came",
	},
	{
		Role: message.Auditor, Tier: Arithmetic, Resident: true,
		Activation: "every message",
	},
}

// Contracts lists the roles of the loop in the order in which they are started.
func Contracts() []Contract { return slices.Clone(contracts) }

// ContractOf finds a role's contract.
func ContractOf(role message.Role) (Contract, bool) {
	i := slices.IndexFunc(contracts, func(c Contract) bool { return c.Role == role })
	if i < 0 {
		return Contract{}, false
	}
	return contracts[i], true
}

// Holds tells whether the role works on a task it has claimed.
func Holds(role message.Role) bool {
	c, _ := ContractOf(role)
	return c.Holds
}
