//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/roles/think/fakemodel"
)

// What the keys of the test hold, by the variable's name. The names say nothing
// of a secret: only key_env does.
var boxes = map[string]string{"PLANNER_BOX": "planners-own-value-1", "DEFAULT_BOX": "everybody-elses-value-2", "AGENT_BOX": "the-agents-value-3"}

// TestAStepHasTheKeysOfItsRole lets an agent program look at its environment, at
// that of the step around it and at those of the residents beside it.
func TestAStepHasTheKeysOfItsRole(t *testing.T) {
	t.Parallel()
	srv := serve(t, greeting())
	keyed := func(box string) string {
		return strings.Replace(asked(srv, "openai", "/v1", "true"), "options: {", "options: {key_env: "+box+", ", 1)
	}
	root := project(t, "models:\n  default: "+keyed("DEFAULT_BOX")+"\n  planner: "+keyed("PLANNER_BOX")+
		"\n  executor: {backend: exec, options: {command: ./look.sh, keep_env: AGENT_BOX}}\nconfine: off"+quick)
	seen := filepath.Join(root, "seen")
	if err := os.Mkdir(seen, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "look.sh"), `#!/bin/sh
env >`+seen+`/agent
for p in /proc/[0-9]*; do
	line=$(tr '\0' ' ' <$p/cmdline 2>/dev/null) || continue
	case "$line" in
	*"-C `+root+` step "*) tr '\0' '\n' <$p/environ >`+seen+`/step-${p#/proc/} ;;
	*"-C `+root+` "*ggs*) tr '\0' '\n' <$p/environ >`+seen+`/ggs ;;
	*"-C `+root+` "*auditor*) tr '\0' '\n' <$p/environ >`+seen+`/auditor ;;
	esac
done
echo 'hello dear friend, by `+boxes["DEFAULT_BOX"]+`' >hello.txt
echo 'hello.txt says: hello dear friend'
`)
	if err := os.Chmod(filepath.Join(root, "look.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := orchCommand(root, "run", "greet me")
	for name, value := range boxes {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := os.ReadDir(seen)
	if err != nil || len(files) < 4 {
		t.Fatalf("looked at %v, %v", files, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(seen, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range boxes {
			// The controller asks the default model; the agent is given what it asks for.
			may := name == "DEFAULT_BOX" && f.Name() == "ggs" || name == "AGENT_BOX"
			if has := strings.Contains(string(raw), value); has && !may {
				t.Errorf("%s has %s", f.Name(), name)
			} else if !has && name == "AGENT_BOX" && f.Name() == "agent" {
				t.Errorf("%s lacks %s", f.Name(), name)
			}
		}
	}
	for _, r := range srv.Requests() {
		want := boxes["DEFAULT_BOX"]
		if systemHas(r, asPlanner) || systemHas(r, asCandidates) {
			want = boxes["PLANNER_BOX"]
		}
		if got := r.Header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("request %d came with %q, want %q", r.N, got, want)
		}
	}
	raw, err := os.ReadFile(filepath.Join(root, ".orch", "log.jsonl"))
	if err != nil || strings.Contains(string(raw), boxes["DEFAULT_BOX"]) {
		t.Errorf("the log holds a key: %v", err)
	}
}

func systemHas(r fakemodel.Request, words string) bool { return strings.Contains(r.System, words) }
