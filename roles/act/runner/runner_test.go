package runner_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orch/roles/act/ledger"
	"orch/roles/act/runner"
)

func TestMain(m *testing.M) {
	if runner.Called(os.Args[0]) {
		os.Exit(runner.Main(os.Args[0], os.Args[1:]))
	}
	os.Exit(m.Run())
}

// project makes a folder with files.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type ran struct {
	out, err string
	exit     int
}

func shell(t *testing.T, dir, command string, env []string) ran {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// heard runs a command with a channel.
func heard(t *testing.T, dir, command string, only ...ledger.Name) (ran, ledger.Ledger) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := runner.Open(t.TempDir(), exe)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if len(only) > 0 {
		if err := c.Only(only); err != nil {
			t.Fatal(err)
		}
	}
	r := shell(t, dir, command, c.Env(environ(), dir))
	l, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// environ is the environment without a terminal's colours.
func environ() []string { return append(os.Environ(), "NO_COLOR=1", "CI=", "GOFLAGS=-count=1") }

// changing is what differs between two runs of the same: times, addresses, numbers of
// goroutines and threads.
var changing = regexp.MustCompile(`\d+(\.\d+)?(ms|µs|m?s)\b|\(?0x[0-9a-f]+\??\)?|goroutine \d+|duration_ms \d+(\.\d+)?|\+0x[0-9a-f]+|duration_ms: [\d.]+|\(\d+\) panicked|-{2,}|={2,}|\s+[\d.]+ ns/op|\t *\d+`)

func steady(text string) string { return changing.ReplaceAllString(text, "·") }

var goProject = map[string]string{
	"go.mod":        "module example.org/m\n\ngo 1.22\n",
	"a/a.go":        "package a\n\nfunc Add(x, y int) int { return x + y }\n",
	"a/a_test.go":   aTest,
	"b/b.go":        "package b\n",
	"c/c.go":        "package c\n\nfunc X() int { return \"s\" }\n",
	"c/c_test.go":   "package c\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { X() }\n",
	"d/d_test.go":   "package d\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {}\n\nfunc TestExit(t *testing.T) { fmt.Println(\"bye\"); os.Exit(3) }\n",
	"e/e_test.go":   "package e\n\nimport \"testing\"\n\nfunc TestOK(t *testing.T) { t.Log(\"quiet\"); println(\"to stderr\") }\n\nfunc BenchmarkX(b *testing.B) {}\n",
	"f/f_test.go":   "package f\n\nimport \"testing\"\n\nfunc TestBoom(t *testing.T) { var m map[string]int; m[\"a\"] = 1 }\n",
	"tag/t_test.go": "//go:build integration\n\npackage tag\n\nimport \"testing\"\n\nfunc TestTag(t *testing.T) {}\n",
	"tag/t.go":      "package tag\n",
}

const aTest = `package a

import (
	"fmt"
	"testing"
)

func TestAdd(t *testing.T) {
	fmt.Println("printed by a test")
	t.Log("a log")
	if Add(1, 2) != 3 {
		t.Fatal("no")
	}
}

func TestSub(t *testing.T) {
	t.Log("before")
	for _, n := range []string{"one", "two words"} {
		t.Run(n, func(t *testing.T) {
			t.Log("log of", n)
			if n == "two words" {
				t.Errorf("bad %s\nsecond line", n)
				t.Run("deep", func(t *testing.T) { t.Error("deeper") })
			}
		})
	}
	t.Log("after")
}

func TestSkip(t *testing.T) { t.Skip("later") }
func TestPar(t *testing.T)  { t.Parallel(); fmt.Println("par print") }
`

// A command prints with the shims what it prints without, and ends as it does.
func TestACommandRunsAsItWouldWithoutShims(t *testing.T) {
	dir := project(t, goProject)
	for _, command := range []string{
		"go test ./...", "go test -v ./a ./e", "go test ./e ./b", "go test ./b", "cd a && go test", "cd e && go test", "cd d && go test",
		"go test ./nothing", "go test -run Nothing ./e", "cd c && go test", "go test -v ./d", "go test ./a -run TestSub -args x", "go vet ./e", "go test -run none -bench . ./e",
		"go test -C a", "go -C a test -v", "go version", "go test -c -o /dev/null ./e", "go test -list . ./e", "go nonsense", "go test -nonsense", "go test -json ./e | grep -c Action", "go list ./...; go test ./tag",
	} {
		t.Run(command, func(t *testing.T) {
			plain, _ := shell(t, dir, command, environ()), 0
			with, _ := heard(t, dir, command)
			if steady(with.out) != steady(plain.out) || with.exit != plain.exit {
				t.Errorf("exit %d, prints\n%s\nwant exit %d and\n%s", with.exit, with.out, plain.exit, plain.out)
			}
			if steady(with.err) != steady(plain.err) {
				t.Errorf("says on stderr\n%s\nwant\n%s", with.err, plain.err)
			}
		})
	}
}

func TestTheTestsOfGoAreSeen(t *testing.T) {
	dir := project(t, goProject)
	for command, want := range map[string]string{
		"go test ./...": `fail example.org/m/a: TestSub
fail example.org/m/a: TestSub/two_words
fail example.org/m/a: TestSub/two_words/deep
fail example.org/m/d: TestExit
fail example.org/m/f: TestBoom
pass example.org/m/a: TestAdd
pass example.org/m/a: TestPar
pass example.org/m/a: TestSub/one
pass example.org/m/d: TestA
pass example.org/m/e: TestOK
skip example.org/m/a: TestSkip
broken example.org/m/c: it does not compile`,
		"make -s -f - <<'E'\nall:\n\t@sh -c 'go test ./e'\nE": "pass example.org/m/e: TestOK",
		"go test ./b ./tag": "empty",
		"true":              "",
	} {
		_, l := heard(t, dir, command)
		if got := written(l); got != want {
			t.Errorf("%s: saw\n%s\nwant\n%s", command, got, want)
		}
	}
	_, l := heard(t, dir, "go test ./a -run 'TestSub|TestAdd' -count=2", ledger.Name{Suite: "example.org/m/a", Test: "TestAdd"})
	if got := written(l); got != "pass example.org/m/a: TestAdd" {
		t.Errorf("of one test alone saw\n%s", got)
	}
}

// written is a ledger as text.
func written(l ledger.Ledger) string {
	var out []string
	for _, r := range []ledger.Result{ledger.Failed, ledger.Passed, ledger.Skipped} {
		for _, n := range l.All(r) {
			out = append(out, string(r)+" "+n.String())
		}
	}
	for _, s := range l.Broken() {
		out = append(out, "broken "+s+": "+l.Why(s))
	}
	if l.Empty() {
		out = append(out, "empty")
	}
	return strings.Join(out, "\n")
}

// What a test starts is not heard: it is no test of the project.
func TestARunnerBelowARunnerIsNotHeard(t *testing.T) {
	dir := project(t, map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.22\n",
		"a_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"os/exec\"\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc TestOuter(t *testing.T) {\n\tif out, err := exec.Command(\"go\", \"test\", \"./in\").CombinedOutput(); err != nil {\n\t\tt.Fatal(string(out))\n\t}\n" +
			"\tfor _, kv := range os.Environ() {\n\t\tif strings.HasPrefix(kv, \"ORCH_LEDGER=\") {\n\t\t\tt.Error(kv)\n\t\t}\n\t}\n}\n",
		"in/in_test.go": "package in\n\nimport \"testing\"\n\nfunc TestInner(t *testing.T) {}\n",
	})
	r, l := heard(t, dir, "go test .")
	if got := written(l); got != "pass example.org/m: TestOuter" {
		t.Errorf("saw\n%s\nprinted\n%s%s", got, r.out, r.err)
	}
}

// others are runners beside go, as far as this machine has them.
var others = []struct {
	name, needs string // a command that succeeds where the runner is there
	files       map[string]string
	command     string
	want        string
}{
	{"pytest", "python3 -c 'import pytest'", pyProject, "python3 -m pytest -q tests", pytestSaw},
	{"pytest with a path of its own", "python3 -c 'import pytest'", pyProject, "PYTHONPATH=. python3 -m pytest -q tests/test_calc.py -k add", "pass tests/test_calc.py: test_add"},
	{"pytest without tests", "python3 -c 'import pytest'", map[string]string{"a.py": ""}, "python3 -m pytest -q", "empty"},
	{"unittest", "python3 -c 'import unittest'", pyProject, "python3 -m unittest tests/test_unit.py", "fail tests/test_unit.py: U.test_bad\nfail tests/test_unit.py: U.test_sub\npass tests/test_unit.py: U.test_u\nskip tests/test_unit.py: U.test_later"},
	{"node", "node --version", nodeProject, "node --test", "fail test/a.test.js: bad one\nfail test/a.test.js: group\nfail test/a.test.js: group/inner # bad\npass test/a.test.js: adds\npass test/a.test.js: group/inner\nskip test/a.test.js: skipped\nskip test/a.test.js: to do\nbroken test/b.test.js: it can not be loaded, or failed outside of its tests"},
	{"npm test", "npm --version", nodeProject, "npm test --silent", "pass test/a.test.js: adds\npass test/a.test.js: group\nskip test/a.test.js: bad one\nskip test/a.test.js: group/inner\nskip test/a.test.js: group/inner # bad\nskip test/a.test.js: skipped\nskip test/a.test.js: to do"},
	{"node without tests", "node --version", map[string]string{"a.js": ""}, "node --test", "empty"},
	{"cargo", "cargo --version", cargoProject, "cargo test --offline --no-fail-fast", "fail m src/lib.rs: tests::bad\npass doc-tests m: src/lib.rs - add (line 1)\npass it tests/it.rs: outer\npass m src/lib.rs: tests::adds\npass m src/lib.rs: tests::panics\nskip m src/lib.rs: tests::later"},
}

func TestOtherRunnersAreSeen(t *testing.T) {
	for _, c := range others {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t, c.files)
			if shell(t, dir, c.needs, environ()).exit != 0 {
				t.Logf("this machine has no %s; what it prints is read in the tests of package ledger", c.name)
				return
			}
			plain := shell(t, dir, c.command, environ())
			with, l := heard(t, dir, c.command)
			if got := written(l); got != c.want {
				t.Errorf("saw\n%s\nwant\n%s\nprinted\n%s%s", got, c.want, with.out, with.err)
			}
			if with.exit != plain.exit || sorted(with.out) != sorted(plain.out) {
				t.Errorf("exit %d, prints\n%s\nwant exit %d and\n%s", with.exit, with.out, plain.exit, plain.out)
			}
		})
	}
}

// sorted is a text whose lines come in no order: tests of rust run side by side.
func sorted(text string) string {
	lines := strings.Split(steady(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

var pyProject = map[string]string{
	"calc.py":           "def add(a, b):\n    return a + b\n",
	"tests/conftest.py": "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))\n",
	"tests/test_calc.py": `import pytest, unittest
from calc import add

def test_add(): assert add(1, 2) == 3
def test_bad(): assert add(1, 2) == 4
@pytest.mark.skip(reason="later")
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.mark.parametrize("n", [1, "two words"])
def test_many(n): assert n
@pytest.fixture
def broken(): raise ValueError("no")
def test_error(broken): pass
class TestC:
    def test_in(self): pass
`,
	"tests/test_unit.py": `import unittest

class U(unittest.TestCase):
    def test_u(self): self.assertEqual(2, 2)
    def test_bad(self): self.assertEqual(2, 3)
    @unittest.skip("later")
    def test_later(self): pass
    def test_sub(self):
        for n in (1, 2):
            with self.subTest(n=n): self.assertEqual(n, 1)
`,
}

const pytestSaw = `fail tests/test_calc.py: test_bad
fail tests/test_calc.py: test_error
fail tests/test_unit.py: U::test_bad
fail tests/test_unit.py: U::test_sub
pass tests/test_calc.py: TestC::test_in
pass tests/test_calc.py: test_add
pass tests/test_calc.py: test_many[1]
pass tests/test_calc.py: test_many[two words]
pass tests/test_unit.py: U::test_u
skip tests/test_calc.py: test_skip
skip tests/test_calc.py: test_xfail
skip tests/test_unit.py: U::test_later`

var nodeProject = map[string]string{
	"package.json": `{"name": "m", "scripts": {"test": "node --test --test-name-pattern=adds test/a.test.js"}}`,
	"test/a.test.js": `const test = require('node:test'); const assert = require('node:assert');
test('adds', () => { assert.strictEqual(1+2, 3); });
test('bad one', () => { assert.strictEqual(1+2, 4); });
test('skipped', { skip: true }, () => {});
test('to do', { todo: true }, () => { throw new Error('x'); });
test.describe('group', () => { test.it('inner', () => {}); test.it('inner # bad', () => { throw new Error('no'); }); });
`,
	"test/b.test.js": "throw new Error('cannot load');\n",
}

var cargoProject = map[string]string{
	"Cargo.toml":  "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
	"src/lib.rs":  "/// ```\n/// assert_eq!(m::add(1, 2), 3);\n/// ```\npub fn add(a: i32, b: i32) -> i32 { a + b }\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test] fn adds() { assert_eq!(add(1, 2), 3); }\n    #[test] fn bad() { println!(\"test x ... ok\"); assert_eq!(add(1, 2), 4); }\n    #[test] #[ignore] fn later() {}\n    #[test] #[should_panic] fn panics() { panic!(\"x\") }\n}\n",
	"tests/it.rs": "#[test] fn outer() { assert_eq!(m::add(1, 1), 2); }\n",
}
