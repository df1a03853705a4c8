package choose

import (
	"fmt"
	"slices"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// Error says what is wrong with a choice, and what mends it.
type Error struct{ What, Do string }

func (e *Error) Error() string { return e.What }

// Hint names what a person can do.
func (e *Error) Hint() string { return e.Do }

// CheckOthers refuses a second opinion by a model that may give the first: the
// crosscheck must not think with what the code reviewer or one of its fallbacks
// thinks with. A crosscheck's own fallbacks that do are left out of its chain,
// see Chain.
func CheckOthers(cfg config.Config, in message.UserInput) error {
	if !asksAnother(cfg, message.Crosscheck) {
		return nil
	}
	second := chainOf(cfg, in, message.Crosscheck)
	if len(second) > 0 && among(chainOf(cfg, in, message.CodeReviewer), second[0]) {
		return &Error{What: fmt.Sprintf("the crosscheck thinks with %s, as the code-reviewer it checks", second[0].Title()),
			Do: "give models.crosscheck another model in .orch/config.yaml"}
	}
	return nil
}

// PlanReviewer is the entry of whoever looks at the plans of a coding goal.
const PlanReviewer message.Role = "plan-reviewer"

// asksAnother tells whether a second opinion has to be another model's: a
// crosscheck without a model of its own is the reviewer's second look.
func asksAnother(cfg config.Config, role message.Role) bool {
	_, own := cfg.Models[string(role)]
	return own || role != message.Crosscheck
}

// CheckPlanReviewer refuses a plan review by nobody, or by a model that may have
// made the plan. A plan reviewer's own fallbacks that may are left out of its
// chain, see Chain.
func CheckPlanReviewer(cfg config.Config, in message.UserInput) error {
	if cfg.Code.PlanReview != "model" {
		return nil
	}
	const do = "give models.plan-reviewer a model of its own in .orch/config.yaml, or set code.plan_review to none or human"
	first, second := chainOf(cfg, in, message.Planner), chainOf(cfg, in, PlanReviewer)
	switch {
	case len(second) == 0:
		return &Error{What: "code.plan_review is model, and nothing is configured to be the plan-reviewer", Do: do}
	case among(first, second[0]):
		return &Error{What: fmt.Sprintf("the plan-reviewer thinks with %s, as the planner it checks", second[0].Title()), Do: do}
	}
	return nil
}

// among tells whether an entry thinks with what one of a chain thinks with.
func among(chain []Entry, e Entry) bool {
	return slices.ContainsFunc(chain, func(other Entry) bool { return same(other, e) })
}

func same(a, b Entry) bool {
	return a.Backend == b.Backend && a.Model.Name == b.Model.Name && a.BaseURL() == b.BaseURL() &&
		a.Options[OptionPreset] == b.Options[OptionPreset] && a.Options[OptionCommand] == b.Options[OptionCommand]
}

// Unbounded lists the entries of the roles on which no cap can be kept.
func Unbounded(cfg config.Config, in message.UserInput, all []message.Role) []Entry {
	var out []Entry
	seen := map[string]bool{}
	for _, role := range all {
		for _, e := range Chain(cfg, in, role) {
			if !seen[e.Name] && !Bounded(cfg, e) {
				out = append(out, e)
			}
			seen[e.Name] = true
		}
	}
	return out
}
