package playbook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/act/tool/gate"
	"orch/roles/think"
)

// onDisk shows the gate a real directory in which the goal made .venv only.
type onDisk struct{ root string }

func (d onDisk) Root() string { return d.root }
func (d onDisk) Inspect(p string, _ bool) gate.Entry {
	info, err := os.Stat(p)
	return gate.Entry{Real: p, Exists: err == nil, Dir: err == nil && info.IsDir(),
		Inside: p == d.root || strings.HasPrefix(p, d.root+"/"), Scratch: p == "/dev/null" || strings.HasPrefix(p, d.root+"/.orch/goals/g/files/"),
		Created: strings.HasPrefix(p, d.root+"/.venv/")}
}
func (d onDisk) Glob(p string) ([]string, bool) {
	list, err := filepath.Glob(p)
	return list, err == nil
}
func (d onDisk) Source(p string) (string, bool) {
	text, err := os.ReadFile(p)
	return string(text), err == nil
}

// TestShippedStepsNeedNoPermission: a shipped playbook must run unattended on
// any project, so no step of any approach may be one the gate asks about.
func TestShippedStepsNeedNoPermission(t *testing.T) {
	seen := map[string]bool{}
	for _, files := range []map[string]string{
		{"go.mod": goMod, "vendor/modules.txt": "", "m.go": ""},
		{"package.json": `{"scripts":{"test":"x","build":"y","format":"z","lint:fix":"w"}}`, "package-lock.json": "", "yarn.lock": "", "pnpm-lock.yaml": "",
			"node_modules/.bin/prettier": "", "node_modules/.bin/jest": ""},
		{"pytest.ini": "", "requirements.txt": "", "requirements-dev.txt": "", "pyproject.toml": "", "a.py": "",
			".venv/bin/pip": "#!python", ".venv/pyvenv.cfg": ""}, // as the step before the installing one leaves it
		{"tests/test_a.py": "", "a.py": ""},
		{"Cargo.toml": "[package]\n", "build.rs": ""},
		{"pom.xml": "", "gradlew": ""},
		{"back/go.mod": goMod, "front/package.json": `{"scripts":{"test":"x","build":"y","lint":"z"}}`, "front/package-lock.json": "", "front/node_modules/.bin/eslint": ""},
		{"go.mod": goMod, "a.py": "", ".git/HEAD": "", "Makefile": "lint:\n\techo hi\n"},
		{"Makefile": "test:\n\techo hi\ndeps:\nsetup:\nbootstrap:\ninstall-deps:\ngenerate:\ngen:\nbuild:\nfmt:\nformat:\nclean:\n\trm -f x\n"},
	} {
		dir := project(t, files)
		all := func(string) Facts { return Workspace(dir, func(string) (string, error) { return "/bin/x", nil }) }
		b, err := New(Options{Library: shipped(t), Orch: "/usr/local/bin/orch", Facts: all})
		if err != nil {
			t.Fatal(err)
		}
		for _, intent := range []string{"make the tests pass", "check the health of this repository"} {
			for _, command := range everyCommand(t, b, dir, intent) {
				if seen[command] {
					continue
				}
				seen[command] = true
				for _, dialect := range []gate.Dialect{gate.Bash, gate.POSIX} {
					if d := (gate.Gate{Facts: onDisk{dir}, Dialect: dialect}).Shell(command, dir); !d.Allow {
						t.Errorf("%s: %s", command, d.Reason)
					}
				}
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d commands were looked at", len(seen))
	}
}

// everyCommand lists the commands of every approach that the workspace admits.
func everyCommand(t *testing.T, b *Backend, dir, intent string) []string {
	t.Helper()
	s, err := b.situate(think.PlanInput{Goal: "g", Workspace: dir, Spec: message.TaskSpec{RawInput: intent}}, b.opt.Facts(dir))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, slot := range s.slots() {
		for _, o := range s.options(slot).possible {
			task, err := s.task(slot, o, s.slots())
			if err != nil {
				t.Fatal(err)
			}
			a, err := DecodeAction(task.Action)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range a.Variants {
				for _, step := range v.Steps {
					var in struct{ Command string }
					if err := json.Unmarshal(step.Input, &in); err != nil || in.Command == "" {
						t.Fatalf("%s: %v", step.Input, err)
					}
					list = append(list, in.Command)
				}
			}
		}
	}
	return list
}
