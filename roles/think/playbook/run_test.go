package playbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/process"
	"orch/roles/think"
)

// shellTools really runs shell calls, in the workspace.
type shellTools struct {
	dir   string
	calls []string
}

func (s *shellTools) Do(ctx context.Context, tool string, input json.RawMessage) (think.ToolResult, error) {
	var in struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(input, &in); err != nil || tool != "shell" || in.Command == "" {
		return think.ToolResult{}, fmt.Errorf("unexpected call %s %s: %v", tool, input, err)
	}
	s.calls = append(s.calls, in.Command)
	exit, out := sh(ctx, s.dir, in.Command)
	return think.ToolResult{Exit: exit, Output: out}, nil
}

func sh(ctx context.Context, dir, command string) (exit int, output string) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = offline()
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return 127, err.Error()
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// judge runs the check of a criterion as the validators do, and cuts its
// evidence as they do.
func judge(t *testing.T, dir string, c think.CriterionSpec) (bool, string) {
	t.Helper()
	parsed, err := check.Decode(c.Check)
	if err != nil {
		t.Fatalf("check %s: %v", c.Check, err)
	}
	v := check.Run(context.Background(), parsed, check.Env{Workspace: dir, Process: process.Spec{Env: offline()}})
	return v.Pass, cutEvidence(v.Evidence)
}

func cutEvidence(s string) string {
	if len(s) <= 2<<10 {
		return s
	}
	return s[:1<<10] + "\n…\n" + s[len(s)-1<<10:]
}

// offline is an environment in which nothing is fetched.
func offline() []string {
	// As a step has it: a test that is run by make is no part of the projects' builds.
	return append(process.ScrubEnv(os.Environ()), "GOFLAGS=", "GOPROXY=off", "npm_config_offline=true", "PIP_NO_INDEX=1", "NO_UPDATE_NOTIFIER=1")
}

// result is what came of a goal.
type result struct {
	solved   bool
	rounds   []string // the approach of every failing or last task, by round
	output   map[string]string
	why      string
	commands []string
}

// carryOut runs a goal as the loop would, with the plainest controller there
// is: another approach for what failed.
func carryOut(t *testing.T, dir, intent string) result {
	t.Helper()
	b, err := New(Options{Library: shipped(t), Orch: "/nowhere/orch", Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".orch/goals/g/files"), 0o755); err != nil { // as a step finds it
		t.Fatal(err)
	}
	in := think.PlanInput{Goal: "g", Workspace: dir, Spec: message.TaskSpec{RawInput: intent, Intent: intent}}
	r := result{output: map[string]string{}}
	for round := 1; round <= 8; round++ {
		p, err := b.Plan(context.Background(), in)
		var none *think.NoPlanError
		if errors.As(err, &none) {
			r.why += "\n" + none.Why
			return r
		}
		if err != nil {
			t.Fatal(err)
		}
		in.Directive = &message.PlanDirective{Directive: message.ChangeApproach}
		fell := false
		for _, task := range p.Tasks {
			prev := think.PreviousTask{ID: message.TaskID(fmt.Sprint(round, task.Slot)), Slot: task.Slot, Approach: task.Approach, Target: task.Target, Action: task.Action, Status: message.Skipped}
			if !fell {
				r.rounds = append(r.rounds, task.Approach)
				prev.Status, prev.Reason = r.attempt(t, b, dir, task)
				if fell = prev.Status == message.Failed; fell {
					in.Directive.TaskDirectives = append(in.Directive.TaskDirectives, message.TaskDirective{Slot: task.Slot, Directive: message.ChangeApproach})
					r.why = prev.Reason
				}
			}
			in.Previous = append(in.Previous, prev)
		}
		if fell {
			continue
		}
		r.solved = true
		for _, c := range p.TaskCriteria {
			if ok, why := judge(t, dir, c); !ok {
				r.solved, r.why = false, why
			}
		}
		if r.solved {
			return r
		}
	}
	return r
}

func (r *result) attempt(t *testing.T, b *Backend, dir string, task think.ProposedTask) (status, reason string) {
	t.Helper()
	tools := &shellTools{dir: dir}
	done, err := b.Execute(context.Background(), think.ExecuteInput{Task: message.SubTask{Action: task.Action}, Attempt: 1, Workspace: dir}, tools)
	if err != nil {
		t.Fatal(err)
	}
	r.commands = append(r.commands, tools.calls...)
	r.output[task.Slot] = done.Output
	if done.Status != message.Completed {
		return message.Failed, done.Reason
	}
	for _, c := range task.Criteria {
		if ok, why := judge(t, dir, c); !ok {
			return message.Failed, why
		}
	}
	return message.Matched, ""
}

// project writes files below a new directory.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tree lists every file with its content, orch's own folder aside.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name == ".orch" {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			text, err := os.ReadFile(filepath.Join(dir, name))
			all[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// criteriaHold judges the criteria of a goal as the workspace is now.
func criteriaHold(t *testing.T, b *Backend, dir, intent string) bool {
	t.Helper()
	p, err := b.Plan(context.Background(), think.PlanInput{Goal: "g", Workspace: dir, Spec: message.TaskSpec{RawInput: intent}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.TaskCriteria {
		if ok, _ := judge(t, dir, c); !ok {
			return false
		}
	}
	return true
}
