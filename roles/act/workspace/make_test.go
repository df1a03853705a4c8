package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWorkspaceIsARepositoryOfItsOwn(t *testing.T) {
	p := newProject(t)
	p.write(".orch/log.jsonl", "board")
	p.write(".gitignore", ".env\n*.local\n*.pem\n")
	p.write(".worktreeinclude", "/.env\nconf/*.local\n*.pem\n")
	p.save("second")
	p.write(".env", "KEY=1")
	p.write("conf/a.local", "x")
	p.write("conf/.env", "KEY=2") // named by nobody
	p.write("site.pem", "a key")  // by a pattern only
	p.write("other.local", "not named")
	p.git("config", "core.hooksPath", "/nowhere")
	path := filepath.Join(t.TempDir(), "ws ü")
	ran := 0
	err := p.repo.Make(t.Context(), path, Spec{Branch: "orch/g/t", Commit: p.head(), Name: "coder-1", Email: "c@example.org", Included: true},
		func(_ context.Context, dir string) error { ran++; put(t, dir, "built.local", "x"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := gitIn(t, path, "symbolic-ref", "HEAD"); got != "refs/heads/orch/g/t" {
		t.Errorf("HEAD is on %s", got)
	}
	if got := gitIn(t, path, "status", "--porcelain"); got != "" {
		t.Errorf("a new workspace is not clean: %s", got)
	}
	if got := gitIn(t, path, "remote"); got != "" {
		t.Errorf("there is a remote to push to: %s", got)
	}
	for name, there := range map[string]bool{"a.txt": true, "dir with space/ü.txt": true, ".env": true, "conf/a.local": true, "built.local": true, "conf/.env": false, "site.pem": false,
		"other.local": false, ".orch": false, ".git/hooks": false} {
		if _, err := os.Lstat(filepath.Join(path, name)); (err == nil) != there {
			t.Errorf("%s: there %v, want %v", name, err == nil, there)
		}
	}
	if ran != 1 || !Made(path) {
		t.Errorf("setup ran %d times, made %v", ran, Made(path))
	}
	put(t, path, "a.txt", "changed\n")
	gitIn(t, path, "commit", "-q", "-a", "-m", "by the coder")
	if p.git("status", "--porcelain", "--untracked-files=no") != "" || p.git("for-each-ref", "refs/heads/orch") != "" {
		t.Error("work in the workspace shows in the repository")
	}
}

func TestWhatIsHalfMadeIsUndone(t *testing.T) {
	p := newProject(t)
	path := filepath.Join(t.TempDir(), "w")
	boom := errors.New("npm is not installed")
	err := p.repo.Make(t.Context(), path, Spec{Commit: p.head()}, func(context.Context, string) error { return boom })
	if !errors.Is(err, boom) || Made(path) {
		t.Fatalf("got %v, made %v", err, Made(path))
	}
	if _, err := os.Lstat(path); !missing(err) {
		t.Errorf("it is still there: %v", err)
	}
	// What a kill left has files but no mark, and directories nobody can write.
	put(t, path, "half/done", "x")
	if err := os.Chmod(filepath.Join(path, "half"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := p.repo.Make(t.Context(), path, Spec{Commit: p.head()}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(path, "half")); !missing(err) {
		t.Errorf("what was half made is part of the new one: %v", err)
	}
	if err := p.repo.Make(t.Context(), path, Spec{Commit: p.head()}, nil); err == nil {
		t.Error("a whole workspace was made over")
	}
}

func TestAWorkspaceIsNeverInsideTheRepository(t *testing.T) {
	p := newProject(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{p.dir, filepath.Join(p.dir, "w"), filepath.Join(p.dir, ".git", "w"), filepath.Join(link, "w")} {
		if err := p.repo.Make(t.Context(), path, Spec{Commit: p.head()}, nil); err == nil || !strings.Contains(err.Error(), "inside") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestWorkspacesOfUnusualRepositories(t *testing.T) {
	t.Run("shallow", func(t *testing.T) {
		p := newProject(t)
		p.write("a.txt", "later\n")
		p.save("second")
		shallow := filepath.Join(t.TempDir(), "shallow")
		gitIn(t, p.dir, "clone", "-q", "--depth", "1", "file://"+p.dir, shallow)
		p.dir = shallow
		p.git("config", "user.name", "a")
		p.git("config", "user.email", "a@example.org")
		p.open()
		path := p.work("t")
		put(t, path, "a.txt", "by the coder\n")
		if h, err := p.harvest(path, "t"); err != nil || h.Commits != 1 {
			t.Fatalf("%+v, %v", h, err)
		}
	})
	t.Run("submodules", func(t *testing.T) {
		lib := newProject(t)
		p := newProject(t)
		p.git("submodule", "add", "-q", lib.dir, "lib")
		p.save("with a library")
		want := p.git("ls-tree", "HEAD", "lib")
		path := p.work("t")
		put(t, path, "a.txt", "by the coder\n")
		h, err := p.harvest(path, "t")
		if err != nil || h.Commits != 1 {
			t.Fatalf("%+v, %v", h, err)
		}
		if got := p.git("ls-tree", string(h.Head), "lib"); got != want {
			t.Errorf("the submodule became %q, was %q", got, want)
		}
	})
	t.Run("detached and a linked worktree", func(t *testing.T) {
		p := newProject(t)
		linked := filepath.Join(t.TempDir(), "linked")
		p.git("worktree", "add", "-q", "--detach", linked)
		p.dir = linked
		p.open()
		path := p.work("t")
		put(t, path, "a.txt", "by the coder\n")
		if h, err := p.harvest(path, "t"); err != nil || len(h.Changed) != 1 {
			t.Fatalf("%+v, %v", h, err)
		}
	})
}

func TestReadOnlyFilesCanBeReadAndRemoved(t *testing.T) {
	p := newProject(t)
	path := filepath.Join(t.TempDir(), "review")
	if err := p.repo.Make(t.Context(), path, Spec{Commit: p.head(), ReadOnly: true}, nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(path, "a.txt"))
	if err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if differs, err := p.repo.Differs(t.Context(), path, p.head()); err != nil || differs {
		t.Errorf("it differs from its commit: %v, %v", differs, err)
	}
	if err := os.Remove(filepath.Join(path, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if differs, err := p.repo.Differs(t.Context(), path, p.head()); err != nil || !differs {
		t.Errorf("a removed file is not seen: %v", err)
	}
	if err := Remove(path); err != nil || Made(path) {
		t.Errorf("%v", err)
	}
}
