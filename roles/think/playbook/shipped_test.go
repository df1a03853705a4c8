package playbook

import (
	"context"
	"os"
	"os/exec"
	"slices"
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
	if got := shipped(t).Names(); !slices.Equal(got, []string{"repo-health", "tests-green"}) {
		t.Errorf("shipped %v", got)
	}
}

// TestGoalFolderIsNoTarget: orch's own folder is no part of the workspace, so a
// plan that declared it as a target would be refused.
func TestGoalFolderIsNoTarget(t *testing.T) {
	b, err := New(Options{Library: shipped(t), Orch: "/orch"})
	if err != nil {
		t.Fatal(err)
	}
	dir := project(t, map[string]string{"a.txt": "a"})
	gitInit(t, dir)
	for intent, want := range map[string]int{"check the health of this repository": 0, "check the health of this repository and write it to health.md": 1} {
		p, err := b.Plan(context.Background(), think.PlanInput{Goal: "g", Workspace: dir, Spec: message.TaskSpec{RawInput: intent}})
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

func gitInit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}
