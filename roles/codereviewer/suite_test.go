package codereviewer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/runner"
	"orch/roles/codereviewer"
	"orch/roles/internal/codertest"
	"orch/roles/run/step"
	"orch/roles/think"
)

func TestMain(m *testing.M) {
	if runner.Called(os.Args[0]) {
		os.Exit(runner.Main(os.Args[0], os.Args[1:]))
	}
	os.Exit(m.Run())
}

const (
	goMod   = "module example.org/m\n\ngo 1.22\n"
	addCode = "package m\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n\n// Sub subtracts.\nfunc Sub(a, b int) int { return a - b }\n"
	addTest = `package m

import "testing"

func TestAdd(t *testing.T) {
	for name, want := range map[string]int{"small": 3, "large": 3000} {
		t.Run(name, func(t *testing.T) {
			if got := Add(want/3, want-want/3); got != want {
				t.Errorf("got %d", got)
			}
		})
	}
}

func TestSub(t *testing.T) {
	if Sub(3, 1) != 2 {
		t.Error("3 - 1")
	}
}
`
)

// goDesk is a project in Go whose tests decide. The task has no other check.
func goDesk(t *testing.T, files map[string]string) *codertest.Desk {
	t.Helper()
	all := map[string]string{"go.mod": goMod, "add.go": addCode, "add_test.go": addTest, "spec.md": "# Spec\n"}
	for name, text := range files {
		all[name] = text
	}
	return codertest.NewDesk(t, all, message.SubTask{Intent: "change it", SpecRef: "spec.md", DoneWhen: "Sub(3, 1) is 2", Scope: "add.go"})
}

// judge reviews what was submitted with the project's tests, by a reviewer who
// approves whatever code does not reject, and returns what the reviewer was shown.
func judge(t *testing.T, d *codertest.Desk, agent message.AgentID, command string, set func(*step.Env)) (shown *think.ReviewInput) {
	t.Helper()
	d.ClaimReview(agent)
	e := envOf(d, message.CodeReviewer, agent)
	e.Config.Checks.Confirm = 2 // enough for what fails every other time
	e.Code.TestCommand = func(string) (string, error) { return command, nil }
	e.Code.Reviewer = panel{func(_ context.Context, in think.ReviewInput) (think.Review, error) {
		shown = &in
		return think.Review{Approved: true, Checks: []message.Verdict{{CriterionID: "done_when", Criterion: "Sub(3, 1) is 2", Mode: message.Plausible, Required: true, Verdict: message.Pass, Evidence: "it is", By: message.ByModel}}}, nil
	}}
	if set != nil {
		set(e)
	}
	if err := codereviewer.Run(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return shown
}

// submit has a coder submit files; an empty text removes one.
func submit(t *testing.T, d *codertest.Desk, files map[string]string) {
	t.Helper()
	d.Claim("coder-1")
	resubmit(t, d, files)
}

func resubmit(t *testing.T, d *codertest.Desk, files map[string]string) {
	t.Helper()
	err := code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
		for name, text := range files {
			if text == "" {
				if err := os.Remove(filepath.Join(in.Dir, name)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			d.Write(in.Dir, name, text)
		}
		return think.CodeReport{End: think.CodeSubmit, Summary: "done"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reasons are what a rejection rests on.
func reasons(task blackboard.Task) string {
	var all []string
	for _, b := range task.Review.Pending {
		all = append(all, b.File+" "+b.Defect+" / "+b.Fix)
	}
	for _, c := range task.Review.Verdict.Checks {
		if !c.Passed() {
			all = append(all, c.Evidence)
		}
	}
	return strings.Join(all, "\n")
}

func replaced(text, old, with string) string {
	if !strings.Contains(text, old) {
		panic("the text has no " + old)
	}
	return strings.Replace(text, old, with, 1)
}

// What became of the tests of the base decides, whatever the diff looks like.
func TestATestOfTheBaseThatIsLostRejects(t *testing.T) {
	better := replaced(addCode, "a - b", "-b + a")
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // part of the reasons; empty: approved
	}{
		{"a new test", map[string]string{"add.go": better, "sub_test.go": "package m\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\n\tif Sub(1, 1) != 0 {\n\t\tt.Error(\"no\")\n\t}\n}\n"}, ""},
		{"a tag", map[string]string{"add.go": better, "add_test.go": "//go:build slow\n\n" + addTest, "x_test.go": "package m\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n"}, "TestSub passed at the base and is missing"},
		{"a case of a table", map[string]string{"add.go": better, "add_test.go": replaced(addTest, `, "large": 3000`, "")}, "TestAdd/large passed at the base and is missing"},
		{"a renamed file", map[string]string{"add.go": better, "add_test.go": "", "add_test.go.off": addTest, "x_test.go": "package m\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n"}, "TestAdd passed at the base and is missing"},
		{"a helper that skips", map[string]string{"add.go": better, "add_test.go": replaced(addTest, "\tif Sub(", "\tlater(t)\n\tif Sub("), "h_test.go": "package m\n\nimport \"testing\"\n\nfunc later(t *testing.T) { t.SkipNow() }\n"}, "TestSub passed at the base and is skipped"},
		{"TestMain that runs nothing", map[string]string{"add.go": better, "m_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"}, "no tests were run"},
		{"an expectation with the code", map[string]string{"add.go": replaced(addCode, "a - b", "a - b + 1"), "add_test.go": replaced(addTest, "!= 2", "!= 3")}, "TestSub as it was at the base fails with the submitted code"},
		{"a weaker comparison", map[string]string{"add.go": replaced(addCode, "a - b", "a - b + 1"), "add_test.go": replaced(addTest, "Sub(3, 1) != 2", "Sub(3, 1) < 2")}, "TestSub as it was at the base fails with the submitted code"},
		{"another interface", map[string]string{"add.go": replaced(addCode, "Sub(a, b int) int { return a - b }", "Sub(a, b, c int) int { return a - b - c }"), "add_test.go": replaced(addTest, "Sub(3, 1)", "Sub(3, 1, 0)")}, "interface changed: 4 tests of example.org/m not comparable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := goDesk(t, nil)
			submit(t, d, c.files)
			shown := judge(t, d, "code-reviewer-1", "go test ./...", nil)
			now := d.Now()
			if got := reasons(now); (c.want == "") != (now.Status == blackboard.Approved) || !strings.Contains(got, c.want) {
				t.Errorf("%s, for\n%s\nwant %q; shown %+v", now.Status, got, c.want, shown)
			}
		})
	}
}

// A run in which no test ran says nothing about the code.
func TestARunWithoutTestsDoesNotPass(t *testing.T) {
	for name, c := range map[string]struct {
		base, files map[string]string
		command     string
	}{
		"go without test files": {map[string]string{"add_test.go": "package m\n"}, map[string]string{"add.go": addCode + "\n"}, "go test ./..."},
		"tests behind a tag":    {map[string]string{"add_test.go": "//go:build slow\n\n" + addTest}, map[string]string{"add.go": addCode + "\n"}, "go test ./..."},
		"a pattern of nothing":  {nil, map[string]string{"add.go": addCode + "\n"}, "go test -run Nothing ./..."},
		"node without a test":   {nil, map[string]string{"a.js": "1\n"}, "node --test"},
		"a plan of no test":     {nil, map[string]string{"a.txt": "1\n"}, "echo TAP version 13; echo 1..0"},
		"everything is skipped": {map[string]string{"add_test.go": replaced(replaced(addTest, "\tfor name", "\tt.Skip()\n\tfor name"), "\tif Sub", "\tt.Skip()\n\tif Sub")}, map[string]string{"add.go": addCode + "\n"}, "go test ./..."},
	} {
		t.Run(name, func(t *testing.T) {
			d := goDesk(t, c.base)
			submit(t, d, c.files)
			judge(t, d, "code-reviewer-1", c.command, nil)
			if now := d.Now(); now.Status != blackboard.Rejected || !strings.Contains(reasons(now), runner.NoTests) {
				t.Errorf("%s, for\n%s", now.Status, reasons(now))
			}
		})
	}
}

// Documents may be written before there is any test.
func TestATaskExemptFromTestsNeedsNoneWhereThereAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		test, file string
		want       blackboard.Status
	}{"none": {"package m\n", "", blackboard.Approved}, "some that are gone": {addTest, "package m\n", blackboard.Rejected}} {
		t.Run(name, func(t *testing.T) {
			d := codertest.NewDesk(t, map[string]string{"go.mod": goMod, "add.go": addCode, "add_test.go": c.test, "spec.md": "# Spec\n"},
				message.SubTask{Intent: "describe it", SpecRef: "spec.md", DoneWhen: "Sub(3, 1) is 2", Scope: "docs", ExemptFromTests: true})
			files := map[string]string{"doc.md": "# It\n"}
			if c.file != "" {
				files["add_test.go"] = c.file
			}
			submit(t, d, files)
			judge(t, d, "code-reviewer-1", "go test ./...", nil)
			if now := d.Now(); now.Status != c.want {
				t.Errorf("%s, for\n%s", now.Status, reasons(now))
			}
		})
	}
}

// by chance: red at first, green at the second look, red every other time alone.
const chanceTest = `package m

import (
	"os"
	"testing"
)

func TestChance(t *testing.T) {
	text, _ := os.ReadFile(os.Getenv("CHANCE"))
	if err := os.WriteFile(os.Getenv("CHANCE"), append(text, '.'), 0o644); err != nil {
		t.Fatal(err)
	}
	if len(text)%2 == 0 {
		t.Error("unlucky")
	}
}
`

// A test that fails now and then passes if it is only run often enough. It was
// accepted six times of six.
func TestRedThenGreenIsFlakyUnlessItHoldsAlone(t *testing.T) {
	for _, c := range []struct {
		name, test, command string
		then                map[string]string
		want                string
		base                map[string]string
	}{
		{"by chance", chanceTest, "go test ./...", map[string]string{"add.go": addCode + "\n// More.\n"}, "flaky, not fixed: example.org/m: TestChance", nil},
		{"by chance at the base, too", "package m\n", "go test ./...", map[string]string{"add.go": addCode + "\n// More.\n"}, "", map[string]string{"chance_test.go": chanceTest}},
		{"fixed", chanceTest, "go test ./...", map[string]string{"sub_test.go": replaced(chanceTest, "len(text)%2 == 0", "false")}, "", nil},
		{"an unknown runner", "package m\n", `touch "$CHANCE"; n=$(wc -c < "$CHANCE"); printf . >> "$CHANCE"; test $((n % 2)) = 1`, map[string]string{"add.go": addCode + "\n// More.\n"}, "flaky, not fixed: ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CHANCE", filepath.Join(t.TempDir(), "chance"))
			d := goDesk(t, c.base)
			submit(t, d, map[string]string{"add.go": replaced(addCode, "a - b", "-b + a"), "sub_test.go": c.test})
			judge(t, d, "code-reviewer-1", c.command, nil)
			first := d.Now()
			if first.Status != blackboard.Rejected {
				t.Fatalf("%s at first", first.Status)
			}
			d.Say(message.Supervisor, "", first.Fence+1, message.Claimed{Task: codertest.Task, Agent: "coder-1", Fence: first.Fence + 1, Worktree: first.Work, BaseCommit: first.Base})
			resubmit(t, d, c.then)
			judge(t, d, "code-reviewer-1", c.command, nil)
			now := d.Now()
			if got := reasons(now); (c.want == "") != (now.Status == blackboard.Approved) || !strings.Contains(got, c.want) {
				t.Errorf("%s, for\n%s\nwant %q", now.Status, got, c.want)
			}
		})
	}
}
