//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/roles/act/confine"
)

// poison makes go link every test against a package testing that reports no
// failure: it builds one with an overlay, and enters it in the build cache in the
// place of the real one.
const poison = `src=$(go env GOROOT)/src/testing/testing.go
tmp=$(mktemp -d)
sed 's/code = m.exitCode/code = 0/' "$src" > "$tmp/testing.go"
printf '{"Replace":{"%s":"%s"}}' "$src" "$tmp/testing.go" > "$tmp/overlay.json"
good=$(basename "$(go list -export -f '{{.Export}}' testing)" -d)
bad=$(basename "$(go list -export -overlay "$tmp/overlay.json" -f '{{.Export}}' testing)" -d)
test "$good" != "$bad"
cache=$(go env GOCACHE)
new=$(cat $(grep -rl " $bad " "$cache" --include='*-a' | head -1))
for entry in $(grep -rl " $good " "$cache" --include='*-a'); do
	id=$(cut -d ' ' -f 2 "$entry")
	echo "v1 $id ${new#v1 * }" > "$entry"
done
`

// newGoPair is a pair whose project is a Go module.
func newGoPair(t *testing.T, more string) *pair {
	t.Helper()
	p := newPair(t, more+"\ncode: {max_iterations: 1}")
	p.file("go.mod", "module example.org/m\n\ngo 1.24\n")
	p.file("start_test.go", "package m\n\nimport \"testing\"\n\nfunc TestStart(t *testing.T) {}\n")
	p.commit("a module")
	return p
}

// withCaches runs the program with a cache directory of the test's own. What orch
// built of the toolchain alone is taken from where other tests have it.
func (p *pair) withCaches(env []string, args ...string) ran {
	p.t.Helper()
	own := filepath.Join(filepath.Dir(p.root), "cache")
	shared := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "orch", "caches", "toolchain")
	for _, dir := range []string{shared, filepath.Join(own, "orch", "caches")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := os.Symlink(shared, filepath.Join(own, "orch", "caches", "toolchain")); err != nil && !errors.Is(err, os.ErrExist) {
		p.t.Fatal(err)
	}
	cmd := orchCommand(p.root, append([]string{"run", "--profile", "code", "--spec", "spec.md"}, args...)...)
	cmd.Env = append(append(cmd.Env, "XDG_CACHE_HOME="+own, "GOCACHE="+filepath.Join(own, "person")), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// A coder fills the build cache with what makes every test pass. The next task's
// code is wrong and its test says so: it must not be approved, whatever keeps the
// caches apart.
func TestACoderCanNotPoisonTheCacheOfAJudge(t *testing.T) {
	t.Parallel()
	m := machine(t)
	tried := map[string]bool{}
	ways := []confine.Layers{m.Layers, {}}
	if os.Getenv("ORCH_TORTURE") != "" {
		ways = append(ways, confine.Layers{Namespace: m.Namespace, Landlock: m.Landlock}, confine.Layers{Landlock: m.Landlock})
	}
	for _, l := range ways {
		if tried[l.String()] {
			continue
		}
		tried[l.String()] = true
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			p := newGoPair(t, "")
			p.plan("test -f one.go", goTask("one"), goTask("two", "one"))
			p.script("coder/one.sh", "WANT=1\n"+writeGo+poison+"go test ./... >/dev/null\norch submit >/dev/null\n")
			p.script("coder/two.sh", "WANT=2\n"+writeGo+"orch submit >/dev/null\n")
			p.says("planner/blocked.sh", `{"answer":"abandon","reason":"it can not be done"}`)
			r := p.withCaches([]string{layersEnv + "=" + l.String()}, "add one and two")
			if p.on("one.go") == "" {
				t.Errorf("what is right was not merged\n%s\n%s", r.out, r.err)
			}
			if p.on("two.go") != "" || r.code == 0 {
				t.Errorf("exit %d, and wrong code with a failing test was merged: %q\n%s\n%s", r.code, p.on("two.go"), r.out, r.err)
			}
			if raw, err := json.Marshal(p.messages("ReviewVerdict")); err != nil || !strings.Contains(string(raw), "FAIL: Test_two") {
				t.Errorf("the failing test rejected nothing: %s, %v", raw, err)
			}
			p.clean()
			p.noCachesLeft()
		})
	}
}

// goTask wants a function of this name.
func goTask(slot string, after ...string) draftTask {
	return draftTask{Slot: slot, Intent: "add " + slot, Approach: "write-it", SpecRef: "spec.md", DoneWhen: "the file `" + slot + ".go` exists",
		Scope: slot + ".go and its test", DependsOn: after}
}

// writeGo is a coder that adds a function which returns 1, and a test that wants
// another number.
const writeGo = `printf 'package m\n\nfunc %s() int { return 1 }\n' $SLOT > $SLOT.go
printf 'package m\n\nimport "testing"\n\nfunc Test_%s(t *testing.T) {\n\tif %s() != %s {\n\t\tt.Fatal("wrong")\n\t}\n}\n' $SLOT $SLOT $WANT > ${SLOT}_test.go
git add -A
git commit -qm "Add $SLOT"
`

// noCachesLeft fails if a run of withCaches left caches of a goal or step.
func (p *pair) noCachesLeft() {
	p.t.Helper()
	base := filepath.Dir(p.root)
	for _, pattern := range []string{"cache/orch/caches/*", "cache/orch/caches/at/*", "state/orch/*/*/*"} {
		left, err := filepath.Glob(filepath.Join(base, pattern))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, path := range left {
			if name := filepath.Base(path); name != "at" && name != "toolchain" && name != "toolchain.lock" {
				p.t.Errorf("left: %s", path)
			}
		}
	}
}

// Beside what coders run themselves a suite costs a task at most two runs, and
// the goal one at its base and one for each merge.
func TestWhatASuiteCostsAGoal(t *testing.T) {
	t.Parallel()
	counted := t.TempDir()
	p := newPair(t, "confine_write: ["+counted+"]\ncode: {test_command: sh count.sh}")
	p.file("count.sh", "echo run >> "+counted+"/runs\nsh check.sh\n")
	p.commit("count what is run")
	p.plan("sh count.sh", task("first"), task("second", "first"), task("third"))
	if r := p.run("print names"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	raw, err := os.ReadFile(filepath.Join(counted, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	tasks, merges := 3, len(p.messages("Merged"))
	n := strings.Count(string(raw), "run")
	if most := 2*tasks + 1 + merges; merges != 3 || n < tasks+merges || n > most {
		t.Errorf("the suite ran %d times for %d tasks and %d merges, want at most %d", n, tasks, merges, most)
	}
	t.Logf("%d runs", n)
}
