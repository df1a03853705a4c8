package codereviewer

import (
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

func TestAChangeOutOfScopeRejectsUnlessItIsAccepted(t *testing.T) {
	scope := "only src/ and README.md"
	g := blackboard.Goal{Spec: &message.TaskSpec{Constraints: message.Constraints{Scope: &scope}}}
	found := outOfScope(g, []string{"src/a.go", "README.md", "go.mod"})
	if len(found) != 1 || found[0].File != "go.mod" || !found[0].Sure || found[0].Blocker("spec.md").Validate() != nil {
		t.Errorf("found %+v", found)
	}
	if found := outOfScope(blackboard.Goal{Spec: &message.TaskSpec{}}, []string{"go.mod"}); len(found) != 0 {
		t.Errorf("without a scope: %+v", found)
	}
}
