package playbook

import (
	"context"
	"testing"

	"orch/blackboard/message"
	"orch/prompts"
	"orch/roles/think"
)

func shipped(t *testing.T) *Library {
	t.Helper()
	lib, err := Load(prompts.Playbooks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func TestShippedPlaybooksLoad(t *testing.T) {
	want := []string{"find-files", "link-check", "repo-health", "tests-green", "todo-report"}
	got := shipped(t).Names()
	if len(got) != len(want) {
		t.Fatalf("shipped %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("shipped %v, want %v", got, want)
		}
	}
}

// TestGoalFolderIsNoTarget: orch's own folder is no part of the workspace, so a
// plan that declared it as a target would be refused.
func TestGoalFolderIsNoTarget(t *testing.T) {
	b, err := New(Options{Library: shipped(t), Orch: "/orch"})
	if err != nil {
		t.Fatal(err)
	}
	for intent, want := range map[string]int{"check the links": 0, "check the links and write them to links.md": 1} {
		p, err := b.Plan(context.Background(), think.PlanInput{Goal: "g", Workspace: t.TempDir(), Spec: message.TaskSpec{RawInput: intent}})
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range p.Tasks {
			if task.Slot == "report" && (len(task.Targets) != want || task.ReadOnly != (want == 0)) {
				t.Errorf("%q: targets %v, read only %v", intent, task.Targets, task.ReadOnly)
			}
		}
	}
}
