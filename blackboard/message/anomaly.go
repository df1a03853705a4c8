package message

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Anomaly reports something a role noticed; Details must have the fields its kind needs.
type Anomaly struct {
	Task    TaskID            `json:"task"`
	Kind    string            `json:"kind"`
	Details map[string]string `json:"details"`
}

// Kinds of anomalies on which something more than a record depends.
const (
	SystemAmbiguity      = "system_ambiguity"      // wakes the planner and waits for a person
	HypothesisExhaustion = "hypothesis_exhaustion" // must be logged before the rescope
	ClaimFailed          = "claim_failed"
	SpecHasChanged       = "spec_changed"
)

// anomalyKind is one row of the catalogue of anomalies.
type anomalyKind struct {
	fields []string // details it must carry
	by     []Role   // who may log it
}

// anomalyKinds is the catalogue of anomalies.
var anomalyKinds = sync.OnceValue(func() map[string]anomalyKind {
	// Whoever does the work and whoever looks at it have duties of their own; the
	// executor is to the agent-validator what the coder is to the code-reviewer.
	doers, reviewers := to(Coder, Executor), to(CodeReviewer, AgentValidator)
	// Everybody may say that orch itself is unclear, and what fits no kind.
	everybody := to(Planner, Coder, CodeReviewer, Executor, AgentValidator, MetaValidator, Supervisor)
	return map[string]anomalyKind{
		"retry_loop":          {[]string{"count", "error_pattern"}, slices.Concat(doers, reviewers)},
		"trade_off":           {[]string{"what", "why", "debt_created"}, doers},
		"spec_ambiguity":      {[]string{"spec_ref", "question"}, doers},
		"external_blocker":    {[]string{"blocker_service"}, doers},
		"assumption_violated": {[]string{"assumption", "reality"}, slices.Concat(doers, reviewers)},
		"scope_deviation":     {[]string{"what"}, reviewers},
		"workaround":          {[]string{"what"}, reviewers},
		"debt_created":        {[]string{"what"}, reviewers},
		SpecHasChanged:        {[]string{"what"}, append(to(Supervisor), reviewers...)},
		ClaimFailed:           {[]string{"what"}, to(Supervisor)},
		HypothesisExhaustion:  {[]string{"what"}, to(Planner)},
		"spec_gap":            {[]string{"what"}, to(Planner, MetaValidator)},
		SystemAmbiguity:       {[]string{"protocol_section", "question"}, everybody},
		"others":              {[]string{"what"}, everybody},
	}
})

// AnomalyKinds lists the kinds of anomalies in alphabetical order.
func AnomalyKinds() []string { return slices.Sorted(maps.Keys(anomalyKinds())) }

// AnomalyFields lists the details a kind of anomaly must carry.
func AnomalyFields(kind string) []string { return slices.Clone(anomalyKinds()[kind].fields) }

// AnomalyLoggers lists the roles that may log a kind of anomaly.
func AnomalyLoggers(kind string) []Role { return slices.Clone(anomalyKinds()[kind].by) }

// MayLog tells whether a role may log a kind of anomaly; the error says who may.
func MayLog(role Role, kind string) error {
	k, ok := anomalyKinds()[kind]
	if !ok {
		return fmt.Errorf("anomaly %q is not in the catalogue", kind)
	}
	if !slices.Contains(k.by, role) {
		return fmt.Errorf("%s may be logged by %v, not by %s", kind, k.by, role)
	}
	return nil
}

// Validate names the first missing detail.
func (a Anomaly) Validate() error {
	k, ok := anomalyKinds()[a.Kind]
	if !ok {
		return need("kind (one of the catalogue in docs/messages.md)", "")
	}
	for _, f := range k.fields {
		if err := need("details."+f, a.Details[f]); err != nil {
			return err
		}
	}
	return nil
}
