package choose

import (
	"fmt"
	"slices"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// atLeast says for a role that judges whose work it judges: a judge never thinks
// at a lower tier than anybody who may have done that work.
var atLeast = map[message.Role]message.Role{message.MetaValidator: message.Planner}

// tier is how well an entry thinks; one that says nothing counts as 1.
func (e Entry) tier() int { return max(1, e.Tier) }

// highest is the link of a chain that thinks best, and whether there is one:
// any of them may be the one that takes over.
func highest(chain []Entry) (best Entry, ok bool) {
	for i, e := range chain {
		if i == 0 || e.tier() > best.tier() {
			best = e
		}
	}
	return best, len(chain) > 0
}

// secondOf says for a role that gives a second opinion whose the first one is:
// no model that may have given the first gives the second.
var secondOf = map[message.Role]message.Role{message.Crosscheck: message.CodeReviewer, PlanReviewer: message.Planner}

// fit leaves out of a judge's chain the fallbacks that may not judge: those that
// think at a lower tier than what they would judge, and of a second opinion
// those that may have given the first, or that think at a lower tier than the
// one they stand in for. The step waits for its own model instead.
func fit(cfg config.Config, in message.UserInput, role message.Role, chain []Entry) []Entry {
	if first, ok := secondOf[role]; ok && asksAnother(cfg, role) && len(chain) > 0 {
		given, own := chainOf(cfg, in, first), chain[0].tier()
		return slices.DeleteFunc(chain, func(e Entry) bool { return e.tier() < own || among(given, e) })
	}
	judges, ok := atLeast[role]
	if !ok {
		return chain
	}
	judged, ok := highest(chainOf(cfg, in, judges))
	if !ok {
		return chain
	}
	return slices.DeleteFunc(chain, func(e Entry) bool { return e.tier() < judged.tier() })
}

// TierError says that a role would judge what a better thinker made.
type TierError struct {
	Role   message.Role
	Has    Entry
	Judged message.Role
	By     Entry // of those that may do the work, the one that thinks best
}

func (e *TierError) Error() string {
	return fmt.Sprintf("the %s thinks at tier %d, below the %s's tier %d (models.%s, models.%s)", e.Role, e.Has.tier(), e.Judged, e.By.tier(), e.Has.Name, e.By.Name)
}

// Hint names what to change.
func (e *TierError) Hint() string {
	return fmt.Sprintf("set models.%s.tier in .orch/config.yaml to at least %d, with a model that deserves it", e.Role, e.By.tier())
}

// CheckTiers refuses an assignment in which a role is weaker than the one it
// judges, with any of its fallbacks. Roles that are code are exempt. A judge's
// own fallbacks that are too weak are left out of its chain, see Chain.
func CheckTiers(cfg config.Config, in message.UserInput) error {
	for role, judged := range atLeast {
		chain := chainOf(cfg, in, role)
		best, ok := highest(chainOf(cfg, in, judged))
		if ok && len(chain) > 0 && chain[0].tier() < best.tier() {
			return &TierError{role, chain[0], judged, best}
		}
	}
	return nil
}
