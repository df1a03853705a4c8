package blackboard

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard/journal"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Find(deep)
	if !errors.Is(err, ErrNoBoard) {
		t.Fatalf("find without a board: %v", err)
	}
	var hint interface{ Hint() string }
	if !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "orch init") {
		t.Errorf("the error %v has no hint at orch init", err)
	}
	if err := os.Mkdir(filepath.Join(root, DirName), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, filepath.Dir(deep), deep, filepath.Join(root, DirName)} {
		if got, err := Find(dir); err != nil || got != root {
			t.Errorf("find from %s: %s, %v", dir, got, err)
		}
	}
	// A file of that name is no board.
	if err := os.WriteFile(filepath.Join(deep, DirName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(deep); err != nil || got != root {
		t.Errorf("find past a file: %s, %v", got, err)
	}
}

// TestGitSeesWhatPeopleWrite asks git itself.
func TestGitSeesWhatPeopleWrite(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed to build and to test orch")
	}
	root := t.TempDir()
	dir := filepath.Join(root, DirName)
	if err := makeLayout(journal.OSFS{}, dir); err != nil {
		t.Fatal(err)
	}
	tracked := []string{"config.yaml", "values.md", "playbooks/a.yaml", "hooks/on-final", "state.yaml", "memory.yaml", "audit/week.md"}
	log := []string{"log.jsonl", "archive/log-000000000001-000000000009.jsonl"}
	hidden := []string{"orch.lock", "archive/torn-1", "archive/checkpoint-a", "audit/audit.jsonl", "goals/g/prompt.md", "run/head", "cache/board-1", "memory/CURRENT", "PAUSE", "state.yaml.tmp", "state.yaml.rejected-1"}
	for _, list := range [][]string{tracked, log, hidden} {
		for _, name := range list {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-C", root}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("init", "-q")
	tracked = append(tracked, ignoreName)
	check := func(want ...[]string) {
		t.Helper()
		seen := map[string]bool{}
		for name := range strings.SplitSeq(strings.TrimSpace(run("ls-files", "--others", "--exclude-standard", DirName)), "\n") {
			seen[strings.TrimPrefix(name, DirName+"/")] = true
		}
		for _, list := range want {
			for _, name := range list {
				if !seen[name] {
					t.Errorf("git does not see %s", name)
				}
				delete(seen, name)
			}
		}
		if len(seen) > 0 {
			t.Errorf("git sees %v", seen)
		}
	}
	check(tracked)
	for range 2 { // twice changes nothing
		if err := Track(journal.OSFS{}, root, true); err != nil {
			t.Fatal(err)
		}
		check(tracked, log)
	}
	if err := Track(journal.OSFS{}, root, false); err != nil {
		t.Fatal(err)
	}
	check(tracked)
}

func TestLayoutKeepsWhatAPersonChanged(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, DirName)
	name := filepath.Join(dir, ignoreName)
	if err := makeLayout(journal.OSFS{}, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := makeLayout(journal.OSFS{}, dir); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Track(journal.OSFS{}, root, true), Track(journal.OSFS{}, root, false)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "mine\n" {
		t.Errorf("the file became %q, %v", got, err)
	}
}

func TestUserStateDir(t *testing.T) {
	abs := t.TempDir()
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_STATE_HOME": abs, "HOME": "/h"}, filepath.Join(abs, "orch")},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/h"}, filepath.Join("/h", ".local", "state", "orch")},
		{map[string]string{}, ""},
	} {
		got, err := UserStateDir(func(name string) string { return test.env[name] })
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("with %v: %q, %v; want %q", test.env, got, err, test.want)
		}
	}
}
