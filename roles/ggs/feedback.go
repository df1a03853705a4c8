package ggs

import (
	"slices"

	"orch/blackboard/message"
)

// feedback speaks against the rules of the memory that the failed plan had
// followed: a pair that a rule recommends was the wrong approach.
func (s situation) feedback(h History, r ruling) []message.NegativeFeedback {
	var out []message.NegativeFeedback
	for _, t := range s.now().suspects() {
		if k := evidence(t); k != "" || !t.blamed(r) {
			continue
		}
		pair := pairOf(t.SubTaskOutcome)
		for _, rule := range h.Rules {
			if rule.Sigma <= 0 || rule.Space != toolSpace+pair.Tool || rule.Entity != pathEntity+pair.Target {
				continue
			}
			if !slices.ContainsFunc(out, func(f message.NegativeFeedback) bool { return f.RuleID == rule.ID }) {
				out = append(out, message.NegativeFeedback{RuleID: rule.ID, Content: label(pair) + " was followed and failed" + because(t), Ordinal: len(out) + 1})
			}
		}
	}
	return out
}

// blamed tells whether the ruling takes the task's approach for a wrong one.
func (t suspect) blamed(r ruling) bool {
	if r.directive == message.Abandon {
		return t.logical()
	}
	if len(r.tasks) == 0 {
		return slices.Contains(r.blockedTools, t.Approach)
	}
	return slices.ContainsFunc(r.tasks, func(d message.TaskDirective) bool {
		return d.Task == t.SubtaskID && (d.Directive == message.ChangeApproach || d.Directive == message.BreakSymmetry)
	})
}
