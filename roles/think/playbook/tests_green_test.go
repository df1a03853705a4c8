package playbook

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
)

const goMod = "module m\n\ngo 1.21\n"

// needs lists programs a project of a kind can't be tested without.
var needs = map[string]string{"go": "go", "node": "npm", "python": "python3", "make": "make"}

// TestTestsGreen makes broken projects pass, or gives them up for the right
// reason; TestExamples has more.
func TestTestsGreen(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		files      map[string]string
		solved     bool
		rounds     []string
	}{
		{"go, green", "go", map[string]string{"go.mod": goMod, "m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestOK(t *testing.T) {}\n"},
			true, []string{"snapshot", "rerun"}},
		{"go, not formatted", "go", map[string]string{"go.mod": goMod, "m.go": "package m\nfunc  F( ) int {return 1}\n", "m_test.go": formatTest},
			true, []string{"snapshot", "rerun", "format:gofmt"}},
		{"make, green", "make", map[string]string{"Makefile": "test:\n\ttrue\n"}, true, []string{"snapshot", "rerun"}},
		{"make, stale build", "make", map[string]string{"Makefile": "test:\n\ttest ! -e built.o\nclean:\n\trm -f built.o\n", "built.o": "old"},
			true, []string{"snapshot", "rerun", "cache:make"}},
		{"make, dependencies", "make", map[string]string{"Makefile": "check:\n\tcat dep.txt\ndeps:\n\techo x > dep.txt\n"},
			true, []string{"snapshot", "rerun", "deps:make"}},
		{"python, wrong", "python", map[string]string{"calc.py": "def one():\n    return 2\n", "test_calc.py": pythonTest},
			false, []string{"snapshot", "rerun", "cache:python"}},
		{"node, green", "node", map[string]string{"package.json": `{"name":"m","version":"1.0.0","scripts":{"test":"node test.js"}}`, "test.js": "if (1 + 1 !== 2) process.exit(1)\n"},
			true, []string{"snapshot", "rerun"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := project(t, c.files)
			if _, err := exec.LookPath(needs[c.kind]); err != nil {
				refuses(t, dir)
				return
			}
			r := carryOut(t, dir, "make the tests pass")
			if r.solved != c.solved || !slices.Equal(r.rounds, c.rounds) {
				t.Errorf("solved %v by %v, want %v by %v; last: %s\ncommands: %q", r.solved, r.rounds, c.solved, c.rounds, r.why, r.commands)
			}
		})
	}
}

// refuses is what must happen where the language is not installed: no plan,
// and the missing program named.
func refuses(t *testing.T, dir string) {
	t.Helper()
	b, err := New(Options{Library: shipped(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Plan(context.Background(), think.PlanInput{Goal: "g", Workspace: dir, Spec: message.TaskSpec{RawInput: "make the tests pass"}})
	var none *think.NoPlanError
	if !errors.As(err, &none) || !strings.Contains(none.Why, "is not on PATH") {
		t.Errorf("err = %v, want a refusal that names the missing program", err)
	}
}

const formatTest = `package m

import (
	"go/format"
	"os"
	"testing"
)

func TestFormat(t *testing.T) {
	src, err := os.ReadFile("m.go")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := format.Source(src); err != nil || string(out) != string(src) {
		t.Fatal("m.go is not formatted: run gofmt")
	}
}
`

const pythonTest = `import unittest
import calc


class TestCalc(unittest.TestCase):
    def test_one(self):
        self.assertEqual(calc.one(), 1)
`

// TestTestsGreenOnNoTests: a run of no test is no success.
func TestTestsGreenOnNoTests(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		refuses(t, project(t, map[string]string{"test_none.py": ""}))
		return
	}
	if r := carryOut(t, project(t, map[string]string{"test_none.py": "x = 1\n"}), "make the tests pass"); r.solved {
		t.Errorf("solved by %v although no test ran", r.rounds)
	}
}

// TestTestsGreenNeverWeakensTests: a remedy that edits a test is no success.
func TestTestsGreenNeverWeakensTests(t *testing.T) {
	dir := project(t, map[string]string{"go.mod": goMod, "m.go": "package m\n\n//go:generate sh weaken.sh\n",
		"weaken.sh": "printf 'package m\\n' > m_test.go\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestStale(t *testing.T) { t.Fatal(\"stale: go generate\") }\n"})
	r := carryOut(t, dir, "make the tests pass")
	if r.solved || !slices.Contains(r.rounds, "generate:go") {
		t.Errorf("solved %v by %v, want a refusal after generate:go", r.solved, r.rounds)
	}
	if !strings.Contains(r.why, "m_test.go says something else") && !strings.Contains(r.why, "nothing in the failures") {
		t.Errorf("why = %s", r.why)
	}
}

func TestNextMovesNameTheFailure(t *testing.T) {
	b, err := New(Options{Library: shipped(t)})
	if err != nil {
		t.Fatal(err)
	}
	why := "--- FAIL: TestSum (0.00s)\n    m_test.go:7: 1+1 is not 3\nFAIL"
	moves := b.NextMoves("tests-green@0123456789ab", []message.SubTaskOutcome{{Status: message.Failed, FailureReason: &why}})
	if len(moves) != 3 || !strings.Contains(moves[0], "TestSum") || !strings.Contains(moves[1], "m_test.go:7") {
		t.Errorf("moves = %q", moves)
	}
}
