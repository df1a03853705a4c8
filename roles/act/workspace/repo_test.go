package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// project is a person's repository in a directory with a difficult name.
type project struct {
	t    *testing.T
	dir  string
	repo Repo
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{t: t, dir: filepath.Join(t.TempDir(), "main tree: “ü”")}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "a")
	p.git("config", "user.email", "a@example.org")
	p.write("a.txt", "one\n")
	p.write("dir with space/ü.txt", "two\n")
	p.save("first")
	p.open()
	return p
}

func (p *project) open() {
	p.t.Helper()
	var err error
	if p.repo, err = Open(p.t.Context(), p.dir); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) git(args ...string) string { return gitIn(p.t, p.dir, args...) }

// gitIn runs git the way an agent would: with all its settings in force.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *project) write(name, text string) { p.t.Helper(); put(p.t, p.dir, name, text) }

func (p *project) save(subject string) Commit {
	p.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "-m", subject)
	return p.head()
}

func (p *project) head() Commit { return Commit(p.git("rev-parse", "HEAD")) }

// work makes a workspace at HEAD and returns its path.
func (p *project) work(name string) string {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "work of "+name)
	if err := p.repo.Make(p.t.Context(), path, Spec{Branch: "orch/g/" + name, Commit: p.head(), Name: "coder-1", Email: "coder-1@example.org"}, nil); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *project) harvest(path, name string) (Harvested, error) {
	return p.repo.Harvest(p.t.Context(), path, "refs/orch/g/"+name, p.head(), Leftover{"leftovers", "coder-1", "coder-1@example.org"})
}

func TestReadySaysWhatAPersonHasToDoFirst(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *project)
		want string // in the error; empty: ready
	}{
		{"clean", func(*project) {}, ""},
		{"detached", func(p *project) { p.git("checkout", "-q", "--detach") }, ""},
		{"the board's own files", func(p *project) { p.write(".orch/log.jsonl", "x") }, ""},
		{"a changed file", func(p *project) { p.write("a.txt", "x") }, "a.txt"},
		{"a new file", func(p *project) { p.write("new ü.txt", "x") }, "new ü.txt"},
		{"a staged file", func(p *project) { p.write("s.txt", "x"); p.git("add", "s.txt") }, "s.txt"},
		{"no commits", func(p *project) {
			p.git("update-ref", "-d", "HEAD")
			p.git("rm", "-rq", "--cached", ".")
		}, "no commit"},
		{"integration checked out", func(p *project) { p.git("checkout", "-q", "-b", "integration") }, "checked out"},
		{"integration checked out in a linked worktree", func(p *project) {
			p.git("worktree", "add", "-q", "-b", "integration", filepath.Join(p.t.TempDir(), "linked"))
		}, "linked"},
		{"a merge going on", func(p *project) {
			p.git("checkout", "-q", "-b", "x")
			p.write("a.txt", "x\n")
			p.save("x")
			p.git("checkout", "-q", "main")
			p.write("a.txt", "y\n")
			p.save("y")
			if err := exec.Command("git", "-C", p.dir, "merge", "-q", "x").Run(); err == nil {
				p.t.Fatal("there was no conflict")
			}
		}, "merge is going on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			c.do(p)
			_, err := p.repo.Ready(t.Context(), "refs/heads/integration")
			var not *NotReadyError
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want != "" && (!errors.As(err, &not) || !strings.Contains(not.What, c.want) || not.Do == ""):
				t.Fatalf("got %v, want a hint about %q", err, c.want)
			}
		})
	}
}

func TestOpenSaysWhatIsNoRepositoryToWorkIn(t *testing.T) {
	plain, bare := t.TempDir(), t.TempDir()
	gitIn(t, bare, "init", "-q", "--bare")
	for _, dir := range []string{plain, bare} {
		var not *NotReadyError
		if _, err := Open(t.Context(), dir); !errors.As(err, &not) {
			t.Errorf("%s: got %v", dir, err)
		}
	}
}

func TestEnsureBranchNeverMovesOne(t *testing.T) {
	p := newProject(t)
	first := p.head()
	at, err := p.repo.EnsureBranch(t.Context(), "refs/heads/integration", first)
	if err != nil || at != first {
		t.Fatalf("%s, %v", at, err)
	}
	p.write("a.txt", "later\n")
	later := p.save("later")
	at, err = p.repo.EnsureBranch(t.Context(), "refs/heads/integration", later)
	if err != nil || at != first {
		t.Errorf("it is at %s, want %s: %v", at, first, err)
	}
}

func TestFingerprintNoticesEveryKindOfChangeAndNothingElse(t *testing.T) {
	integration := func(ref string) bool { return ref == "refs/heads/integration" }
	for _, c := range []struct {
		name string
		do   func(p *project)
		want bool
	}{
		{"nothing", func(*project) {}, false},
		{"touched", func(p *project) {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(p.dir, "a.txt"), later, later); err != nil {
				p.t.Fatal(err)
			}
		}, false},
		{"the board", func(p *project) { p.write(".orch/log.jsonl", "more") }, false},
		{"integration", func(p *project) { p.git("branch", "-f", "integration", "HEAD~1") }, false},
		{"a pin", func(p *project) { p.git("update-ref", "refs/orch/x", "HEAD") }, false},
		{"a fetch", func(p *project) { p.git("update-ref", "refs/remotes/origin/x", "HEAD~1") }, false},
		{"an ignored file", func(p *project) { p.write("out.tmp", "x") }, false},
		{"a file", func(p *project) { p.write("a.txt", "x\n") }, true},
		{"a new file", func(p *project) { p.write("b.txt", "x\n") }, true},
		{"a removed file", func(p *project) {
			if err := os.Remove(filepath.Join(p.dir, "a.txt")); err != nil {
				p.t.Fatal(err)
			}
		}, true},
		{"a staged file", func(p *project) { p.write("b.txt", "x\n"); p.git("add", "b.txt") }, true},
		{"a commit", func(p *project) { p.write("b.txt", "x\n"); p.save("x") }, true},
		{"a branch", func(p *project) { p.git("branch", "x") }, true},
		{"a tag", func(p *project) { p.git("tag", "x") }, true},
		{"a note", func(p *project) { p.git("notes", "add", "-m", "x") }, true},
		{"a stash", func(p *project) { p.git("update-ref", "refs/stash", "HEAD") }, true},
		{"a ref of no known kind", func(p *project) { p.git("update-ref", "refs/mine/a/b", "HEAD") }, true},
		{"a packed one", func(p *project) { p.git("update-ref", "refs/mine/a/b", "HEAD"); p.git("pack-refs", "--all") }, true},
		{"refs that are packed", func(p *project) { p.git("pack-refs", "--all") }, false},
		{"another branch checked out", func(p *project) { p.git("checkout", "-q", "-b", "x") }, true},
		{"a hook", func(p *project) { p.write(".git/hooks/pre-commit", "#!/bin/sh\n") }, true},
		{"a setting", func(p *project) { p.git("config", "core.editor", "x") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			p.write(".gitignore", "*.tmp\n")
			p.write(".orch/log.jsonl", "board")
			p.save("second")
			p.git("branch", "integration")
			before, err := p.repo.Fingerprint(t.Context(), integration)
			if err != nil {
				t.Fatal(err)
			}
			c.do(p)
			after, err := p.repo.Fingerprint(t.Context(), integration)
			if err != nil {
				t.Fatal(err)
			}
			if drift := before.Drift(after); (len(drift) > 0) != c.want {
				t.Errorf("drift %v, want some: %v", drift, c.want)
			}
		})
	}
}

// What a merged .gitattributes says must not hide from a reviewer what the next
// change does.
func TestAttributesHideNothingFromADiff(t *testing.T) {
	p := newProject(t)
	put(t, p.dir, ".gitattributes", "*_test.go -diff\n")
	put(t, p.dir, "a_test.go", "package a // the test\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "a test")
	from := p.head()
	p.git("rm", "-q", "a_test.go")
	p.git("commit", "-qm", "no test")
	diff, err := p.repo.Diff(t.Context(), from, p.head())
	if err != nil || !strings.Contains(string(diff), "-package a // the test") {
		t.Errorf("%s, %v", diff, err)
	}
}
