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
var needs = map[string]string{"go": "go", "node": "npm", "python": "python3", "make": "make", "rust": "cargo"}

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
		{"go, workspace", "go", map[string]string{"go.work": "go 1.21\n\nuse (\n\t./a\n\t./b c\n)\n", "a/go.mod": goMod, "a/m_test.go": goTest, "b c/go.mod": "module n\n\ngo 1.21\n", "b c/m_test.go": goRed},
			false, []string{"snapshot", "rerun", "cache:go"}},
		{"go, workspace, green", "go", map[string]string{"go.work": "go 1.21\n\nuse ./a\n", "a/go.mod": goMod, "a/m_test.go": goTest}, true, []string{"snapshot", "rerun"}},
		{"no tests", "go", map[string]string{"go.mod": goMod, "m.go": "package m\n"}, false, []string{"snapshot", "rerun", "cache:go"}},
		{"sub-directories, one red", "go", map[string]string{"back/go.mod": goMod, "back/m_test.go": goTest, "tools/x/go.mod": goMod, "tools/x/m_test.go": goRed},
			false, []string{"snapshot", "rerun", "cache:go"}},
		{"sub-directories, stale", "make", map[string]string{"a/Makefile": "test:\n\ttrue\n", "b/Makefile": "test:\n\ttest ! -e built.o\nclean:\n\trm -f built.o\n", "b/built.o": "old"},
			true, []string{"snapshot", "rerun", "cache:make"}},
		{"npm workspace", "node", map[string]string{"package.json": `{"name":"m","private":true,"workspaces":["a","b"]}`, "a/package.json": `{"name":"a","version":"1.0.0","scripts":{"test":"node test.js"}}`,
			"a/test.js": "console.log('1 passed')\n", "b/package.json": `{"name":"b","version":"1.0.0"}`}, true, []string{"snapshot", "rerun"}},
		{"rust workspace", "rust", map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"a\"]\nresolver = \"2\"\n", "a/Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"a/src/lib.rs": "#[test]\nfn ok() {}\n"}, true, []string{"snapshot", "rerun"}},
		{"rust, wrong", "rust", map[string]string{"Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": "#[test]\nfn ok() { panic!(\"no\") }\n"},
			false, []string{"snapshot", "rerun"}},
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

const (
	goTest = "package m\n\nimport \"testing\"\n\nfunc TestOK(t *testing.T) {}\n"
	goRed  = "package m\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) { t.Fatal(\"red\") }\n"
)

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
	if !strings.Contains(r.why, "the tests were changed") && !strings.Contains(r.why, "nothing in the failures") {
		t.Errorf("why = %s", r.why)
	}
}

func TestNextMovesNameTheFailure(t *testing.T) {
	b, err := New(Options{Library: shipped(t)})
	if err != nil {
		t.Fatal(err)
	}
	moves := b.NextMoves(message.UserInput{Text: "make the tests pass"}, "--- FAIL: TestSum (0.00s)\n    m_test.go:7: 1+1 is not 3\nFAIL")
	if len(moves) != 3 || strings.Contains(moves[2], "TestSum") || !strings.Contains(moves[0], "TestSum") || !strings.Contains(moves[1], "m_test.go:7") {
		t.Errorf("moves = %q", moves)
	}
}

// TestAPartOfTheProject: the tests of the part that the words name are run, and
// those alone where the tool can.
func TestAPartOfTheProject(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		refuses(t, project(t, map[string]string{"go.mod": goMod}))
		return
	}
	files := map[string]string{"go.mod": goMod, "pkg/foo/m_test.go": goTest, "pkg/bar/m_test.go": goRed}
	if r := carryOut(t, project(t, files), "fix the failing tests in ./pkg/foo"); !r.solved {
		t.Errorf("not solved: %s", r.why)
	}
	if r := carryOut(t, project(t, files), "fix the failing tests in pkg/bar"); r.solved {
		t.Errorf("solved by %q", r.commands)
	}
	if r := carryOut(t, project(t, files), "fix the failing tests in pkg/none"); r.solved || !strings.Contains(r.why, "there is no pkg/none") {
		t.Errorf("solved %v: %s", r.solved, r.why)
	}
}

// TestTheTestsThatAreMeant: of several kinds of tests the words say which.
func TestTheTestsThatAreMeant(t *testing.T) {
	all := func(string) (string, error) { return "/bin/x", nil }
	book, err := shipped(t).Find("tests-green")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		intent string
		files  map[string]string
		want   string
	}{
		{"make the tests pass", map[string]string{"Cargo.toml": ""}, "cargo test --workspace"},
		{"make the tests pass", map[string]string{"pom.xml": ""}, "mvn -B test"},
		{"make the tests pass", map[string]string{"pom.xml": "", "mvnw": ""}, "sh ./mvnw -B test"},
		{"make the tests pass", map[string]string{"build.gradle.kts": ""}, "gradle test"},
		{"make the tests pass", map[string]string{"build.gradle": "", "gradlew": ""}, "sh ./gradlew test"},
		{"make the tests pass", map[string]string{"package.json": "{}", "pnpm-workspace.yaml": ""}, "pnpm -r run test"},
		{"make the tests pass", map[string]string{"package.json": `{"workspaces": []}`, "yarn.lock": ""}, "yarn workspaces run test"},
		{"make the tests pass", map[string]string{"package.json": `{"workspaces": []}`, "yarn.lock": "", ".yarnrc.yml": ""}, "yarn workspaces foreach -A run test"},
		{"make the tests pass", map[string]string{"package.json": `{"workspaces": []}`}, "npm test --workspaces --if-present"},
		{"make the tests pass", map[string]string{"package.json": `{"workspaces": [], "scripts": {"test": "turbo test"}}`}, "npm test"},
		{"make the tests pass", map[string]string{"web/package.json": `{"scripts": {"test": "jest"}}`, "api/go.mod": "", "api/sub/go.mod": ""}, "(cd api && go test ./...) && (cd web && npm test)"},
		{"make the tests pass", map[string]string{"it's/go.mod": ""}, `(cd 'it'\''s' && go test ./...)`},
		{"make the tests pass", map[string]string{"node_modules/x/package.json": `{"scripts": {"test": "jest"}}`, "testdata/go.mod": ""}, ""},
		{"make the tests in web/ pass", map[string]string{"go.mod": "", "web/package.json": `{"scripts": {"test": "jest"}}`}, "(cd web && npm test)"},
		{"make the python tests pass", map[string]string{"go.mod": "", "pytest.ini": ""}, `PATH=".venv/bin:$PATH" PYTHONPATH=".:$PYTHONPATH" pytest -q`},
		{"make the python tests in tests/unit pass", map[string]string{"go.mod": "", "pytest.ini": "", "tests/unit/test_a.py": ""}, `PATH=".venv/bin:$PATH" PYTHONPATH=".:$PYTHONPATH" pytest -q tests/unit`},
		{"make the rust tests pass", map[string]string{"go.mod": ""}, ""},
	} {
		f := Workspace(project(t, c.files), all)
		v, _, err := book.values(c.intent, f, builtinValues{Goal: "g"})
		var missing *missingParamError
		if c.want == "" && !errors.As(err, &missing) || c.want != "" && (err != nil || v.text("test") != c.want) {
			t.Errorf("%q in %v: %q, %v, want %q", c.intent, c.files, v.text("test"), err, c.want)
		}
	}
}
