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
	"README.md":             "# Ünïcode & spaces\n\n[ok](a%20b/deep.md#second) [gone](missing.md) [self](#ünïcode--spaces) [web](https://example.invalid/x)\n",
	"a b/deep.md":           "# First\n\n## Second\n\n[up](../README.md) [bad](../README.md#nowhere)\n",
	"a b/it's $(odd);.txt":  "same content\n",
	"a b/-rf":               "same content\n",
	"new\nline.txt":         "x\n",
	"src/main.go":           "package main\n\n// TODO(ann): say hello\nfunc main() {} // FIXME later\n",
	"src/conf.py":           "api_key = \"q8Zr4tY1uI0pLk9J\"\n",
	"node_modules/x/README": "TODO not ours\n",
	".env":                  "A=1\n",
	"big.bin":               strings.Repeat("\x00big", 5000),
}

// TestReports runs the reporting playbooks on an empty folder, on a strange
// tree, and on the same tree under git: each must solve its goal and change
// nothing but the report.
func TestReports(t *testing.T) {
	for _, c := range []struct {
		intent string
		seen   []string // of the report on the strange tree
	}{
		{"find the largest, oldest and duplicate files", []string{"big.bin", "a b/it's $(odd);.txt", "a b/-rf", `"new\nline.txt"`, "1 sets of equal files"}},
		{"list the 2 largest files in \"a b\"", []string{"deep.md", "under a b"}},
		{"list all TODOs", []string{"src/main.go:3", "TODO: 1 line", "FIXME: 1 line"}},
		{"check the health of this repository", []string{"src/conf.py:1", "assignment  q8Zr… (16 characters)", ".env", "there is no LICENSE"}},
		{"scan for secrets", []string{"src/conf.py:1"}},
		{"check the links", []string{"README.md:3  no-file  missing.md", "a b/deep.md:5  no-anchor  ../README.md#nowhere", "5 local links looked up, 1 web links counted"}},
	} {
		for name, files := range map[string]map[string]string{"empty": {"a b/.keep": ""}, "strange": strange, "git": strange} {
			t.Run(name+"/"+c.intent, func(t *testing.T) {
				dir := project(t, files)
				if name == "git" {
					gitInit(t, dir)
				}
				before := tree(t, dir)
				r := carryOut(t, dir, c.intent)
				if !r.solved {
					t.Fatalf("not solved by %v: %s", r.rounds, r.why)
				}
				if after := tree(t, dir); !maps.Equal(before, after) {
					t.Error("the tree was changed")
				}
				report, err := os.ReadFile(filepath.Join(dir, ".orch/goals/g/files/report.md"))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(report), "q8Zr4tY1uI0pLk9J") {
					t.Error("the report gives a secret away")
				}
				if name == "empty" {
					return
				}
				for _, want := range c.seen {
					if !strings.Contains(string(report), want) {
						t.Errorf("the report lacks %q:\n%s", want, report)
					}
				}
			})
		}
	}
}

func gitInit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// TestReportWhereThePersonSays: the file named in the intent is written, read
// again by the second run, and never takes the place of something else.
func TestReportWhereThePersonSays(t *testing.T) {
	dir := project(t, map[string]string{"a.txt": "a", "notes.md": "mine\n"})
	for range 2 {
		if r := carryOut(t, dir, "find the largest files and write them to out/big.md"); !r.solved {
			t.Fatalf("not solved: %s", r.why)
		}
	}
	if report, err := os.ReadFile(filepath.Join(dir, "out/big.md")); err != nil || !strings.Contains(string(report), "a.txt") {
		t.Errorf("report: %v\n%s", err, report)
	}
	r := carryOut(t, dir, "find the largest files and write them to notes.md")
	if r.solved || !strings.Contains(r.why, "exists and is not a report") {
		t.Errorf("solved %v: %s", r.solved, r.why)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "notes.md")); err != nil || string(text) != "mine\n" {
		t.Errorf("notes.md became %q, %v", text, err)
	}
}
