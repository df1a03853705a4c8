//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pair is a repository with a scripted planner, scripted coders and reviewers:
// what they say and do is in play, see scripts/fakepair.
type pair struct {
	t          *testing.T
	root, play string
}

// actors builds the program that plays, once.
var actors = sync.OnceValue(func() string {
	path := filepath.Join(filepath.Dir(program), "fakepair")
	if out, err := exec.Command("go", "build", "-o", path, "../../scripts/fakepair").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return path
})

// work is what a coder does that is told nothing else: a program that prints
// its slot, and a test of it. It may have been cut off before.
const work = `mkdir -p lib tests
printf 'echo %s\n' "$SLOT" > "lib/$SLOT.sh"
printf 'test "$(sh lib/%s.sh)" = %s\n' "$SLOT" "$SLOT" > "tests/$SLOT.sh"
git add -A
git diff --cached --quiet || git commit -qm "Add $SLOT"
orch submit --notes "lib/$SLOT.sh prints its name" >/dev/null
`

// newPair makes a repository whose tests are shell scripts, under a
// configuration to which the test adds.
func newPair(t *testing.T, more string) *pair {
	t.Helper()
	base := t.TempDir()
	if kept := os.Getenv("KEEP"); kept != "" {
		base = kept
	}
	p := &pair{t, filepath.Join(base, "project"), filepath.Join(base, "play")}
	p.file("check.sh", "set -e\nfor t in tests/*.sh; do sh \"$t\"; done\n")
	p.file("tests/start.sh", "test -f README.md\n")
	p.file("README.md", "# A project\n")
	p.file("spec.md", "# What is wanted\n\nPrograms that print their names.\n")
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "A Person")
	p.git("config", "user.email", "person@example.org")
	p.git("config", "maintenance.auto", "false") // newer versions go on in the background after a commit
	p.commit("start")
	player := actors() + " " + p.play
	var config strings.Builder
	config.WriteString("models:\n")
	for _, role := range []string{"planner", "coder", "code-reviewer", "meta-validator"} {
		fmt.Fprintf(&config, "  %s: {backend: exec, options: {command: %q, format: json, linger_ms: \"200\"}}\n", role, player)
	}
	if !strings.Contains(more, "code:") {
		more += "\ncode: {test_command: sh check.sh}\n"
	}
	p.file(".orch/config.yaml", config.String()+more)
	p.says("candidates/default.sh", `{"candidates":[]}`)
	p.script("coder/default.sh", work)
	return p
}

func (p *pair) file(name, text string) { writeBelow(p.t, filepath.Join(p.root, name), text) }

// script tells a role what to do.
func (p *pair) script(name, text string) { writeBelow(p.t, filepath.Join(p.play, name), text) }

// read is what a role is told.
func (p *pair) read(name string) string {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.play, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(raw)
}

// says tells a role what to say.
func (p *pair) says(name, answer string) {
	p.script(name, "cat <<'ANSWER'\n"+answer+"\nANSWER\n")
}

// draftTask is one task of a plan.
type draftTask struct {
	Slot      string   `json:"slot"`
	Intent    string   `json:"intent"`
	Approach  string   `json:"approach"`
	SpecRef   string   `json:"spec_ref"`
	DoneWhen  string   `json:"done_when"`
	Scope     string   `json:"scope"`
	DependsOn []string `json:"depends_on,omitempty"`
	Priority  int      `json:"priority,omitempty"`
	Exempt    bool     `json:"exempt_from_tests,omitempty"`
}

// task wants a program that prints the slot.
func task(slot string, after ...string) draftTask {
	return draftTask{Slot: slot, Intent: "add a program that prints " + slot, Approach: "write-it", SpecRef: "spec.md",
		DoneWhen: "the file `lib/" + slot + ".sh` exists", Scope: "lib/" + slot + ".sh and its test", DependsOn: after}
}

// plan tells the planner its first plan, and what the goal is judged by.
func (p *pair) plan(check string, tasks ...draftTask) {
	p.t.Helper()
	raw, err := json.Marshal(map[string]any{"tasks": tasks, "task_criteria": []any{map[string]any{
		"criterion": "what was asked for is on the branch", "check": map[string]any{"run": map[string]any{"command": check}}}}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.says("planner/plan.sh", string(raw))
}

// orch runs the program in the repository.
func (p *pair) orch(args ...string) ran {
	p.t.Helper()
	return orch(p.t, p.root, args...)
}

// run works on a goal of the coding profile.
func (p *pair) run(args ...string) ran {
	p.t.Helper()
	return p.orch(append([]string{"run", "--profile", "code", "--spec", "spec.md"}, args...)...)
}

func (p *pair) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *pair) commit(subject string) {
	p.t.Helper()
	p.git("add", "-A", "--", ":!.orch")
	p.git("commit", "-qm", subject)
}

// on is the content of a file on the integration branch; empty if it is not there.
func (p *pair) on(name string) string {
	cmd := exec.Command("git", "show", "integration:"+name)
	cmd.Dir = p.root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// coded is what is read of a task of a coding goal.
type coded struct {
	ID, Slot, Status, Agent string
}

// tasks are the tasks of the board by slot, the newest of each.
func (p *pair) tasks() map[string]coded {
	p.t.Helper()
	var all struct{ Tasks []coded }
	decode(p.t, p.root, &all, "task", "ls", "--all", "--json")
	out := map[string]coded{}
	for _, t := range all.Tasks {
		if t.Status != "VOID" {
			out[t.Slot] = t
		}
	}
	return out
}

// messages are the bodies of all messages of a type.
func (p *pair) messages(kind string) (bodies []map[string]any) {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.root, ".orch", "log.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var m struct {
			Type string         `json:"type"`
			Body map[string]any `json:"payload"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			p.t.Fatal(err)
		}
		if m.Type == kind {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

// clean fails if a run left a process, a worktree or a step's directory, or a
// log that does not add up.
func (p *pair) clean() {
	p.t.Helper()
	endState(p.t, p.root)
	places := filepath.Join(filepath.Dir(p.root), "state", "orch")
	var left []string
	_ = filepath.WalkDir(places, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			left = append(left, path)
		}
		return nil
	})
	if len(left) > 0 {
		p.t.Errorf("worktrees left: %v", left)
	}
	if status := p.git("status", "--porcelain", "--", ":!.orch"); status != "" {
		p.t.Errorf("the person's checkout changed: %s", status)
	}
	if head := p.git("symbolic-ref", "HEAD"); head != "refs/heads/main" {
		p.t.Errorf("the person is on %s now", head)
	}
}

func TestCodersBuildAPlan(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.plan("sh check.sh && sh lib/second.sh", task("first"), task("second", "first"), task("third"))
	r := p.run("print names", "--jobs", "4")
	if r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	for _, slot := range []string{"first", "second", "third"} {
		if got := p.on("lib/" + slot + ".sh"); got != "echo "+slot+"\n" {
			t.Errorf("lib/%s.sh is %q", slot, got)
		}
		if got := p.tasks()[slot].Status; got != "MERGED" {
			t.Errorf("%s is %s", slot, got)
		}
	}
	if n := len(p.messages("Merged")); n != 3 {
		t.Errorf("%d merges", n)
	}
	if !slices.ContainsFunc(strings.Split(r.out, "\n"), func(l string) bool { return strings.Contains(l, "git merge integration") }) {
		t.Errorf("it does not say how to take the work:\n%s", r.out)
	}
	p.clean()
}
