package codereviewer_test

import (
	"os/exec"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/codertest"
)

// mulTest is a test of Mul with some body.
func mulTest(body string) string {
	return "package m\n\nimport \"testing\"\n\nfunc TestMul(t *testing.T) {\n" + body + "\n}\n"
}

// answering makes the tests say that they passed without running.
const answering = `package m

import (
	"fmt"
	"os"
	"strings"
)

func %s {
	if !strings.HasSuffix(os.Args[0], ".t"+"est") {
		return%s
	}
	for _, t := range []string{"TestAdd", "TestAdd/small", "TestAdd/large", "TestSub"} {
		fmt.Printf("\x16=== RUN   %%s\n\x16--- PASS: %%s (0.00s)\n", t, t)
	}
	fmt.Println("PASS")
	exit(0)
	return%s
}

var exit = os.Exit
`

// A runner can be made to say anything. That a test fails when the function it is
// about does nothing can not.
func TestAChangeThatNoTestNoticesRejects(t *testing.T) {
	withMul := addCode + "\n// Mul multiplies.\nfunc Mul(a, b int) int { return a * b }\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // part of the reasons; empty: approved
	}{
		{"a test that asserts", map[string]string{"add.go": withMul, "mul_test.go": mulTest("\tif Mul(2, 3) != 6 {\n\t\tt.Error(\"2 * 3\")\n\t}")}, ""},
		{"a test that only calls", map[string]string{"add.go": withMul, "mul_test.go": mulTest("\tt.Log(Mul(2, 3))")}, "the tests do not notice this change"},
		{"a test that asserts of something else", map[string]string{"add.go": withMul, "mul_test.go": mulTest("\tif Mul(2, 3) != Mul(2, 3) {\n\t\tt.Error(\"2 * 3\")\n\t}")}, "the tests do not notice this change"},
		{"one of two", map[string]string{"add.go": withMul + "\n// Name names it.\nfunc Name() string { return \"m\" }\n", "mul_test.go": mulTest("\tif Mul(2, 3) != 6 {\n\t\tt.Error(\"2 * 3\")\n\t}")}, ""},
		{"a helper that hides what fails", map[string]string{
			"add.go": replaced(withMul, "a - b", "-b + a"), "mul_test.go": mulTest("\tif Mul(2, 3) != 6 {\n\t\tt.Error(\"2 * 3\")\n\t}"),
			"add_test.go": replaced(addTest, "if Sub(3, 1) != 2 {", "if same(3, 1) != 2 {"), "same_test.go": "package m\n\nfunc same(a, b int) int { return a - b }\n",
		}, "its test no longer notices: no test fails when Sub is emptied"},
		{"a program that answers for its tests", map[string]string{"add.go": replaced(addCode, "a - b", "b - a"), "start.go": answers("init()", "", ""),
			"add_test.go": addTest + "\n// More.\n"}, "by which it can tell that it is tested"},
		{"a program that answers from a variable", map[string]string{"add.go": replaced(addCode, "a - b", "b - a"), "start.go": answers("answer() int", " 0", " 1") + "\nvar _ = answer()\n",
			"add_test.go": addTest + "\n// More.\n"}, "by which it can tell that it is tested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := goDesk(t, nil)
			submit(t, d, c.files)
			shown := judge(t, d, "code-reviewer-1", "go test ./...", nil)
			now := d.Now()
			if got := reasons(now); (c.want == "") != (now.Status == blackboard.Approved) || !strings.Contains(got, c.want) {
				t.Errorf("%s, for\n%s\nwant %q", now.Status, got, c.want)
			}
			if c.name == "one of two" && (len(shown.Findings) != 1 || shown.Findings[0].Sure || !strings.Contains(shown.Findings[0].What, "Name")) {
				t.Errorf("shown %+v", shown.Findings)
			}
		})
	}
}

func answers(head, early, late string) string {
	return strings.NewReplacer("func %s {", "func "+head+" {", "return%s\n\t}", "return"+early+"\n\t}", "return%s\n}", "return"+late+"\n}", "%%", "%").Replace(answering)
}

// Python and scripts have their functions emptied as well, where they are there.
func TestOtherLanguagesAreProvenToo(t *testing.T) {
	for _, c := range []struct {
		name, needs, command string
		base, files          map[string]string
		want                 string
	}{
		{"python notices", "python3 --version", "python3 -m unittest", pyBase, map[string]string{"calc.py": "def add(a, b):\n    return b + a\n", "test_more.py": pyTest("self.assertEqual(add(2, 2), 4)")}, ""},
		{"python does not", "python3 --version", "python3 -m unittest", pyBase, map[string]string{"calc.py": "def add(a, b):\n    return a + b\n\ndef mul(a, b):\n    return a * b\n", "test_more.py": pyTest("calc.mul(2, 2)")}, "the tests do not notice this change"},
		{"python skips", "python3 --version", "python3 -m unittest", pyBase, map[string]string{"calc.py": "def add(a, b):\n    return b + a\n", "test_calc.py": "import unittest\nfrom calc import add\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.skipTest('later')\n        self.assertEqual(add(1, 2), 3)\n"}, "no tests were run"},
		{"node notices", "node --version", "node --test", nodeBase, map[string]string{"calc.js": "exports.add = (a, b) => {\n  return b + a;\n};\n", "more.test.js": nodeTest("assert.strictEqual(add(2, 2), 4)")}, ""},
		{"node does not", "node --version", "node --test", nodeBase, map[string]string{"calc.js": "exports.add = (a, b) => {\n  return b + a;\n};\n", "calc.test.js": nodeTest("add(2, 2)")}, "no test fails when add is emptied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := exec.Command("sh", "-c", c.needs).Run(); err != nil {
				t.Logf("not here: %s", c.needs)
				return
			}
			d := codertest.NewDesk(t, c.base, message.SubTask{Intent: "change it", SpecRef: "spec.md", DoneWhen: "Sub(3, 1) is 2", Scope: "all"})
			submit(t, d, c.files)
			judge(t, d, "code-reviewer-1", c.command, nil)
			now := d.Now()
			if got := reasons(now); (c.want == "") != (now.Status == blackboard.Approved) || !strings.Contains(got, c.want) {
				t.Errorf("%s, for\n%s\nwant %q", now.Status, got, c.want)
			}
		})
	}
}

var pyBase = map[string]string{"spec.md": "# Spec\n", "calc.py": "def add(a, b):\n    return a + b\n", "test_calc.py": "import unittest\nfrom calc import add\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"}

func pyTest(body string) string {
	return "import unittest\nimport calc\nfrom calc import add\n\nclass M(unittest.TestCase):\n    def test_more(self):\n        " + body + "\n"
}

var nodeBase = map[string]string{"spec.md": "# Spec\n", "calc.js": "exports.add = (a, b) => {\n  return a + b;\n};\n", "calc.test.js": nodeTest("assert.strictEqual(add(1, 2), 3)")}

func nodeTest(body string) string {
	return "const test = require('node:test'); const assert = require('node:assert');\nconst { add } = require('./calc.js');\ntest('adds', () => { " + body + "; });\n"
}
