//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orch/roles/run/socket"
	"orch/roles/think/fakemodel"
)

// heldKey is a key that the person has in the environment and in a file.
const heldKey = "key-0123456789-of-the-person"

// siege is a place with runs of several repositories, one of which is left
// alone, that share a folder of sockets and a home.
type siege struct {
	t                *testing.T
	base, layers     string
	victim           *pair
	victimEnded      chan ran
	roots            []string
	reports, waiting string
}

func newSiege(t *testing.T, layers string) *siege {
	t.Helper()
	base, err := os.MkdirTemp("", "h") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	s := &siege{t: t, base: base, layers: layers, reports: filepath.Join(base, "reports"), waiting: filepath.Join(base, "outside", "waiting"), victimEnded: make(chan ran, 1)}
	for _, dir := range []string{"tmp", "outside", "reports", "home/.ssh", "home/.aws", "home/.cargo", "home/.config/containers",
		"home/.config/tool", "home/.claude", "home/.codex"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".ssh/id", ".aws/credentials", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".cargo/credentials.toml", ".vault-token",
		".bash_history", ".config/containers/auth.json", ".claude/.credentials.json", ".codex/auth.json", ".claude.json"} {
		write(t, filepath.Join(base, "home", name), "SECRETWORD")
	}
	write(t, filepath.Join(base, "home", ".config", "tool", "settings.ini"), "SECRETWORD with "+heldKey)
	write(t, filepath.Join(base, "home", ".claude", "settings.json"), "{}")
	write(t, filepath.Join(base, "home", ".codex", "config.toml"), "")
	write(t, filepath.Join(base, "home", ".profile"), "")
	write(t, filepath.Join(base, "home", ".gitconfig"), "[user]\n\tname = n\n\temail = n@example.org\n")
	return s
}

// attack is a command line that runs the hostile program in a project.
func (s *siege) attack(root, party string) string {
	raw, err := json.Marshal(map[string]string{"Project": root, "Outside": filepath.Join(s.base, "outside"), "Home": filepath.Join(s.base, "home"),
		"Sockets": filepath.Join(s.base, "tmp", "orch-sockets-"+strconv.Itoa(os.Getuid())), "Reports": s.reports, "Orch": program, "Secret": "SECRETWORD"})
	if err != nil {
		s.t.Fatal(err)
	}
	brief := filepath.Join(s.base, "brief-"+strings.Fields(party)[0]+".json")
	write(s.t, brief, string(raw))
	writeBelow(s.t, filepath.Join(root, "full", "file"), "it is not empty\n")
	return fmt.Sprintf("%s %s '%s' >/dev/null", hostileProgram(), brief, party)
}

// run runs orch in a project of the siege.
func (s *siege) run(root string, args ...string) ran {
	s.t.Helper()
	cmd := orchCommand(root, args...)
	cmd.Env = append(cmd.Env, "HOME="+filepath.Join(s.base, "home"), "TMPDIR="+filepath.Join(s.base, "tmp"), layersEnv+"="+s.layers, "A_TOKEN=SECRETWORD", "OPENAI_API_KEY="+heldKey,
		socket.Env+"=/the/socket/of/another/step", socket.TokenEnv+"=its token") // as if a command of another step had started orch
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Error(err)
		return ran{code: -1}
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// config lets what attacks write its reports, and nothing else.
func (s *siege) config() string { return "confine_write: [" + s.reports + "]\n" }

// defend starts the run that is left alone. Its coder waits at its work until
// relieve.
func (s *siege) defend() {
	s.victim = newPair(s.t, "")
	s.victim.plan("sh check.sh", task("first"))
	s.victim.script("coder/first.sh", fmt.Sprintf("echo > $TMPDIR/waits; n=0; while ! test -e %s && test $n -lt 1200; do n=$((n+1)); sleep 0.1; done\n", s.waiting)+work)
	go func() {
		s.victimEnded <- s.run(s.victim.root, "run", "--profile", "code", "--spec", "spec.md", "print names")
	}()
	until(s.t, "the other repository's coder works", func() bool {
		found, _ := filepath.Glob(filepath.Join(s.base, "tmp", "*", "waits"))
		return len(found) > 0
	})
}

// relieve lets the run that was left alone end, which it must as if nothing had been.
func (s *siege) relieve() {
	write(s.t, s.waiting, "")
	if r := <-s.victimEnded; r.code != 0 || s.victim.on("lib/first.sh") == "" {
		s.t.Errorf("the other repository's run was disturbed: exit %d\n%s\n%s", r.code, r.out, r.err)
	}
}

// tasks runs a goal whose executor, check and hook are hostile.
func (s *siege) tasks() {
	root := filepath.Join(s.base, "model", "project")
	s.repository(root)
	raw, err := json.Marshal(fmt.Sprintf("if test \"$(pwd -P)\" = %s; then %s; else %s; fi", root, s.attack(root, "check"), s.attack(root, "early check")))
	if err != nil {
		s.t.Fatal(err)
	}
	plan := `{"task_criteria":[{"criterion":"the greeting is there","check":{"file":{"path":"hello.txt","contains":"hello"}}}],
 "tasks":[{"slot":"greet","intent":"write a greeting into hello.txt","approach":"write-file","target":"hello.txt","targets":["hello.txt"],
 "criteria":[{"criterion":"hello.txt greets","check":{"run":{"command":` + string(raw) + `}}}]}]}`
	srv := serve(s.t, append([]fakemodel.Rule{says("plan", asPlanner, plan)}, tries([]fakemodel.Call{shell(s.attack(root, "executor"))})...), greeting())
	writeBelow(s.t, filepath.Join(root, ".orch", "config.yaml"), "models: {default: "+asked(srv, "openai", "/v1", "false")+"}\nallow: ['unknown:**']\n"+quick+s.config())
	hook := filepath.Join(root, ".orch", "hooks", "pre-step")
	writeBelow(s.t, hook, "#!/bin/sh\n"+s.attack(root, "hook")+"\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.ended(s.run(root, "run", "greet me"), root)
}

// playbooks runs a goal whose playbook has a hostile step.
func (s *siege) playbooks() {
	root := filepath.Join(s.base, "playbook", "project")
	s.repository(root)
	writeBelow(s.t, filepath.Join(root, ".orch", "config.yaml"), "allow: ['unknown:**']\n"+s.config())
	writeBelow(s.t, filepath.Join(root, ".orch", "playbooks", "greet.yaml"), `name: greet
describe: make a file
examples: [make the greeting]
match: {words: [[make], [greeting]]}
task_criteria:
  - {criterion: it is there, check: {file: {path: hello.txt}}}
subtasks:
  - slot: greet
    intent: make it
    sequence: 1
    targets: hello.txt
    criteria:
      - {criterion: it is there, check: {file: {path: hello.txt}}}
    approaches:
      - {name: write, describe: write it, target: hello.txt, steps: [{run: "`+s.attack(root, "playbook step")+`; touch hello.txt"}]}
`)
	s.ended(s.run(root, "run", "make the greeting"), root)
}

// code runs a coding goal in which all that is run is hostile.
func (s *siege) code() {
	p := newPair(s.t, s.config()+"code:\n")
	attack := func(party string) string { return s.attack(p.root, party) }
	config := p.readConfig() + fmt.Sprintf("  setup: %s\n  test_command: %s; sh check.sh\n  integration_command: %s; sh check.sh\n", attack("setup"), attack("test command"), attack("merge command"))
	p.file(".orch/config.yaml", config)
	p.commit("something to be in the way")
	p.plan("sh check.sh", task("first"))
	p.script("coder/first.sh", attack("coder")+"\n"+work)
	p.script("code-reviewer/default.sh", attack("reviewer")+"\necho approve\n")
	writeBelow(s.t, filepath.Join(p.root, ".env"), "SECRETWORD")
	writeBelow(s.t, filepath.Join(p.root, ".git", "info", "exclude"), "/.env\n")
	s.ended(s.run(p.root, "run", "--profile", "code", "--spec", "spec.md", "print names"), p.root)
	if p.on("lib/first.sh") == "" {
		s.t.Error("the coder's work is not on the branch")
	}
}

func (p *pair) readConfig() string {
	raw, err := os.ReadFile(filepath.Join(p.root, ".orch", "config.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(raw)
}

func (s *siege) repository(root string) {
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		s.t.Fatalf("%s", out)
	}
	write(s.t, filepath.Join(root, ".env"), "SECRETWORD")
	write(s.t, filepath.Join(root, ".git", "info", "exclude"), "/.env\n")
}

// ended looks at the end of an attacked run: what it was asked to do is done.
func (s *siege) ended(r ran, root string) {
	s.roots = append(s.roots, root)
	if r.code != 0 {
		s.t.Errorf("%s: exit %d\n%s\n%s", root, r.code, r.out, r.err)
	}
}
