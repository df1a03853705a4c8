package playbook

import (
	"testing"

	"orch/prompts"
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
