package planner

import (
	"testing"

	"orch/roles/think"
)

func TestAPlanKeepsToTheScopeOfTheGoal(t *testing.T) {
	for name, c := range map[string]struct {
		task    think.ProposedTask
		refused bool
	}{
		"inside":        {think.ProposedTask{Targets: []string{"src/a.go", "src/*.md"}}, false},
		"outside":       {think.ProposedTask{Targets: []string{"src/a.go", "go.mod"}}, true},
		"only read":     {think.ProposedTask{Targets: []string{"go.mod"}, ReadOnly: true}, false},
		"of a playbook": {think.ProposedTask{Targets: []string{"go.mod"}, Action: []byte(`{}`)}, false},
	} {
		refused := false
		for _, v := range Validate(think.Proposal{Tasks: []think.ProposedTask{c.task}}, Basis{Constraints: think.Constraints{Scope: []string{"src"}}}) {
			refused = refused || v.Rule == RuleScope
		}
		if refused != c.refused {
			t.Errorf("%s: refused %t", name, refused)
		}
	}
}
