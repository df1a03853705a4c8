package codereviewer

import (
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/roles/act/weaken"
	"orch/roles/loop"
)

// outOfScope finds, among the paths a change touches, those outside what the
// person's words limit the goal to. Only a reviewer that accepts one by name
// lets it pass.
func outOfScope(g blackboard.Goal, paths []string) (found []weaken.Finding) {
	c := loop.ConstraintsOf(g)
	for _, p := range paths {
		if c.OutOfScope(p) {
			found = append(found, weaken.Finding{Kind: weaken.OutOfScope, File: p, Line: 1, Sure: true,
				What: fmt.Sprintf("it is outside the scope of the goal: %s", strings.Join(c.Scope, ", "))})
		}
	}
	return found
}
