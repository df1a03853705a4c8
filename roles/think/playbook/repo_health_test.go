package playbook

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// strange is a tree with what breaks shell loops.
var strange = map[string]string{
	"LICENSE":              "MIT License\n",
	"a b/it's $(odd);.txt": "x\n",
	"a b/-rf":              "x\n",
	"new\nline.txt":        "x\n",
	"src/conf.py":          "api_key = \"q8Zr4tY1uI0pLk9J\"\n",
	"big.bin":              strings.Repeat("\x00big", 2_000_000),
}

// TestRepoHealth reports on an empty repository and on a strange one, and changes
// nothing; what is not installed is named.
func TestRepoHealth(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is needed, as the whole program needs it")
	}
	for _, c := range []struct {
		intent    string
		seen, not []string
	}{
		{"check the health of this repository", []string{"?? left.txt", "src/conf.py:1", "LICENSE", "MIT License", "8000000 bytes  big.bin", "commit "}, nil},
		{"scan for secrets", []string{"src/conf.py:1", "commit "}, []string{"LICENSE", "big.bin"}},
	} {
		for name, files := range map[string]map[string]string{"empty": {}, "strange": strange} {
			t.Run(name+"/"+c.intent, func(t *testing.T) {
				dir := project(t, files)
				gitInit(t, dir)
				if err := os.WriteFile(filepath.Join(dir, "left.txt"), []byte("x"), 0o644); err != nil {
					t.Fatal(err)
				}
				before := tree(t, dir)
				r := carryOut(t, dir, c.intent)
				if !r.solved {
					t.Fatalf("not solved by %v: %s", r.rounds, r.why)
				}
				if after := tree(t, dir); !maps.Equal(before, after) {
					t.Error("the tree was changed")
				}
				text, err := os.ReadFile(filepath.Join(dir, ".orch/goals/g/files/report.md"))
				if err != nil {
					t.Fatal(err)
				}
				report := string(text)
				if strings.Contains(report, "q8Zr4tY1uI0pLk9J") {
					t.Error("the report gives a secret away")
				}
				if _, err := exec.LookPath("gitleaks"); (err != nil) != strings.Contains(report, "gitleaks is not installed") {
					t.Errorf("gitleaks: %v\n%s", err, report)
				}
				if name == "empty" {
					return
				}
				for _, want := range c.seen {
					if !strings.Contains(report, want) {
						t.Errorf("the report lacks %q:\n%s", want, report)
					}
				}
				for _, not := range c.not {
					if strings.Contains(report, not) {
						t.Errorf("the report has %q:\n%s", not, report)
					}
				}
			})
		}
	}
}

// TestRepoHealthAsksTheLinter: what the linter finds is in the report and does not
// make the goal fail.
func TestRepoHealthAsksTheLinter(t *testing.T) {
	dir := project(t, map[string]string{"Makefile": "lint:\n\t@echo main.c:1: too long; exit 3\n"})
	gitInit(t, dir)
	r := carryOut(t, dir, "run the linter and write it to lint.md")
	if !r.solved {
		t.Fatalf("not solved by %v: %s", r.rounds, r.why)
	}
	report, err := os.ReadFile(filepath.Join(dir, "lint.md"))
	if err != nil || !strings.Contains(string(report), "main.c:1: too long") || strings.Contains(string(report), "# Secrets") {
		t.Errorf("%v\n%s", err, report)
	}
}

// TestRepoHealthTellsAPartThatIsMissing: a report that says less than was found,
// or is about another commit, is no success.
func TestRepoHealthTellsAPartThatIsMissing(t *testing.T) {
	dir := project(t, map[string]string{"src/conf.py": "x = 1\n"})
	gitInit(t, dir)
	b, err := New(Options{Library: shipped(t)})
	if err != nil {
		t.Fatal(err)
	}
	if r := carryOut(t, dir, "check the health of this repository"); !r.solved {
		t.Fatalf("not solved: %s", r.why)
	}
	report := filepath.Join(dir, ".orch/goals/g/files/report.md")
	whole, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(){
		"a line is gone": func() { put(t, report, strings.Replace(string(whole), "# Licence\n", "", 1)) },
		"another commit": func() { put(t, report, string(whole)); gitInit(t, dir) },
	} {
		spoil()
		if criteriaHold(t, b, dir, "check the health of this repository") {
			t.Errorf("%s: the report passes", name)
		}
	}
}
