//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Twelve tasks, four coders, two reviewers, and most of what goes wrong.
func TestTwelveTasksAndWhatGoesWrong(t *testing.T) {
	t.Parallel()
	p := newPair(t, "code: {test_command: sh check.sh, coders: 4, reviewers: 2}\nlimits: {jobs: 6, crashes: 2}\n")
	p.coderOption("timeout_ms", "20000")
	p.file("CHANGES", "latest: none\n")
	p.commit("begin a list of changes")
	p.plan("sh check.sh && sh lib/stuck-smaller.sh && grep left CHANGES && grep right CHANGES",
		task("base"), task("then", "base"), task("later", "then"), task("plain"), task("other"), task("twice"), task("stuck"),
		task("left"), task("right"), task("weaken"), task("dies"), task("endless"))
	p.goesWrong()
	r, died := p.runKillingA("coder", "dies", filepath.Join("half.txt"))
	if r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	if !died {
		t.Error("no coder died")
	}
	p.sawAll(r)
	p.clean()
}

// goesWrong tells the roles what to do beside the plain work.
func (p *pair) goesWrong() {
	const submit = "orch submit >/dev/null\n"
	for _, side := range []string{"left", "right"} {
		p.script("coder/"+side+".sh", "echo 'latest: "+side+"' > CHANGES\n"+work)
		p.script("coder/"+side+".fix.sh", "git merge -q \"$INTEGRATION\" >/dev/null 2>&1 || true\nprintf 'latest: left\\nlatest: right\\n' > CHANGES\ngit add -A\ngit commit -qm 'Name both'\n"+submit)
	}
	p.script("coder/twice.sh", "mkdir -p lib tests\necho \"echo twice # $ITERATION\" > lib/twice.sh\necho 'sh lib/twice.sh' > tests/twice.sh\ngit add -A\ngit commit -qm \"Try $ITERATION\"\n"+submit)
	p.script("code-reviewer/twice.sh", "grep -q '# 3' lib/twice.sh && echo approve || echo reject lib/twice.sh 1 it is not the third try\n")
	p.script("coder/stuck.sh", `orch note blocked --reason "spec.md does not say which words lib/stuck.sh prints" --question "Which words does lib/stuck.sh print?" --attempted "read spec.md" >/dev/null`+"\n")
	p.says("planner/stuck.blocked.sh", `{"answer":"unblock","reason":"lib/stuck.sh prints its name, as every program of spec.md does"}`)
	p.rescopes("stuck.hypothesis_exhaustion", "stuck-smaller")
	p.script("coder/weaken.1.sh", "git rm -q tests/start.sh\n"+work)
	p.script("coder/weaken.2.sh", "git checkout -q HEAD~1 -- tests/start.sh\ngit commit -qm 'Bring the test back'\n"+submit)
	p.script("coder/dies.sh", "if [ ! -f half.txt ]; then echo half > half.txt; sleep 300; fi\nrm half.txt\n"+work)
	p.script("coder/endless.sh", "while :; do sleep 0.2; done\n")
	p.rescopes("endless.blocked", "endless-calm")
}

// rescopes lets the planner answer a wake by a smaller task.
func (p *pair) rescopes(wake, slot string) {
	p.t.Helper()
	raw, err := json.Marshal(map[string]any{"answer": "rescope", "tasks": []draftTask{task(slot)},
		"reason":    "root cause: the task did not say what its program prints; " + slot + " does",
		"alignment": "the goal still gets its program, under the name " + slot})
	if err != nil {
		p.t.Fatal(err)
	}
	p.says("planner/"+wake+".sh", string(raw))
}

// coderOption adds an option to the coder's entry of the configuration.
func (p *pair) coderOption(key, value string) {
	p.t.Helper()
	path := filepath.Join(p.root, ".orch", "config.yaml")
	raw, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "  coder:") {
			lines[i] = strings.Replace(l, "linger_ms:", key+": \""+value+"\", linger_ms:", 1)
		}
	}
	write(p.t, path, strings.Join(lines, "\n"))
}

// runKillingA runs the goal, and kills the step of a role on a slot once a file
// is in a worktree.
func (p *pair) runKillingA(role, slot, when string) (r ran, killed bool) {
	p.t.Helper()
	cmd := orchCommand(p.root, "run", "--profile", "code", "--spec", "spec.md", "print names")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-ended:
			tick.Stop()
			return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, killed
		case <-tick.C:
		}
		if killed || len(p.worktreesWith(when)) == 0 {
			continue
		}
		id := p.tasks()[slot].ID
		for _, proc := range processesOf(p.root) {
			if slices.Contains(proc.args, "step") && slices.Contains(proc.args, role) && slices.Contains(proc.args, id) {
				killed = syscall.Kill(proc.pid, syscall.SIGKILL) == nil
			}
		}
	}
}

// worktreesWith are the worktrees that hold a file.
func (p *pair) worktreesWith(name string) []string {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(p.root), "state", "orch", "*", "*", "*", name))
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// sawAll fails unless the run shows each thing that was to go wrong.
func (p *pair) sawAll(r ran) {
	p.t.Helper()
	tasks := p.tasks()
	for _, slot := range []string{"base", "then", "later", "plain", "other", "twice", "left", "right", "weaken", "dies", "stuck-smaller", "endless-calm"} {
		if got := tasks[slot].Status; got != "MERGED" {
			p.t.Errorf("%s is %q, want MERGED", slot, got)
		}
		if p.on("lib/"+slot+".sh") == "" {
			p.t.Errorf("lib/%s.sh is not on the branch", slot)
		}
	}
	for _, slot := range []string{"stuck", "endless"} {
		if got := tasks[slot].Status; got != "SUPERSEDED" {
			p.t.Errorf("%s is %q, want SUPERSEDED", slot, got)
		}
	}
	count := func(kind, slot string, holds func(map[string]any) bool) (n int) {
		for _, m := range p.messages(kind) {
			if m["task"] == tasks[slot].ID && (holds == nil || holds(m)) {
				n++
			}
		}
		return n
	}
	rejected := func(m map[string]any) bool { return m["decision"] == "rejected" }
	for what, c := range map[string]struct{ got, want int }{
		"rejections of twice":           {count("ReviewVerdict", "twice", rejected), 2},
		"coders blocked on stuck":       {count("Blocked", "stuck", nil), 2},
		"rejections of a weakened test": {count("ReviewVerdict", "weaken", rejected), 1},
		"conflicts of left and right":   {count("IntegrationFailed", "left", nil) + count("IntegrationFailed", "right", nil), 1},
		"merges":                        {len(p.messages("Merged")), 12},
	} {
		if c.got != c.want {
			p.t.Errorf("%s: %d, want %d", what, c.got, c.want)
		}
	}
	if got := p.on("CHANGES"); got != "latest: left\nlatest: right\n" {
		p.t.Errorf("CHANGES is %q", got)
	}
	if p.on("tests/start.sh") == "" {
		p.t.Error("the test that was deleted is gone")
	}
	p.everyCommitIsThere()
}

// everyCommitIsThere fails if a commit that was submitted can not be reached
// any more, or one that was merged is not on the branch.
func (p *pair) everyCommitIsThere() {
	p.t.Helper()
	for _, m := range p.messages("ReviewRequested") {
		c, _ := m["review_commit"].(string)
		cmd := exec.Command("git", "for-each-ref", "--contains", c, "--count=1")
		cmd.Dir = p.root
		if out, err := cmd.Output(); err != nil || len(out) == 0 {
			p.t.Errorf("the submitted commit %.12s can not be reached: %v", c, err)
		}
	}
	for _, m := range p.messages("Merged") {
		c, _ := m["to"].(string)
		cmd := exec.Command("git", "merge-base", "--is-ancestor", c, "integration")
		cmd.Dir = p.root
		if err := cmd.Run(); err != nil {
			p.t.Errorf("%.12s is said to be merged and is not on the branch", c)
		}
	}
}
