package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHarvestBringsCommitsAndLeftovers(t *testing.T) {
	p := newProject(t)
	path := p.work("t")
	put(t, path, "a.txt", "committed\n")
	gitIn(t, path, "commit", "-q", "-a", "-m", "by the coder")
	put(t, path, "a.txt", "left\n")
	put(t, path, "new ü/b.txt", "left too\n")
	if err := os.Remove(filepath.Join(path, "dir with space/ü.txt")); err != nil {
		t.Fatal(err)
	}
	h, err := p.harvest(path, "t")
	if err != nil || !h.Left || h.Commits != 2 || len(h.Changed) != 3 {
		t.Fatalf("%+v, %v", h, err)
	}
	if got := p.git("show", string(h.Head)+":a.txt"); got != "left" {
		t.Errorf("a.txt is %q", got)
	}
	if got := p.git("rev-parse", "refs/orch/g/t"); got != string(h.Head) {
		t.Errorf("pinned is %s, want %s", got, h.Head)
	}
	if got := gitIn(t, path, "status", "--porcelain"); got != "" {
		t.Errorf("the workspace is not clean afterwards: %s", got)
	}
	again, err := p.harvest(path, "t")
	if err != nil || again.Left || again.Head != h.Head {
		t.Errorf("a second harvest: %+v, %v", again, err)
	}
	// Nothing lives in the workspace alone.
	if err := Remove(path); err != nil {
		t.Fatal(err)
	}
	p.git("fsck", "--strict")
	if got := p.git("rev-list", "--count", "HEAD.."+string(h.Head)); got != "2" {
		t.Errorf("%s commits are left", got)
	}
}

// Git looks into every pack for whatever it reads, so there is not to be one
// for each task.
func TestWhatIsBroughtIsAPackOnlyIfItIsMuch(t *testing.T) {
	p := newProject(t)
	packs := func() int {
		all, err := filepath.Glob(filepath.Join(p.dir, ".git", "objects", "pack", "*.pack"))
		must(t, err)
		return len(all)
	}
	before := packs()
	for n, files := range []int{1, 0, packFrom} {
		path := p.work(fmt.Sprint("t", n))
		for k := range files {
			put(t, path, fmt.Sprintf("dir/%d-%d.txt", n, k), fmt.Sprintln(n, k))
		}
		h, err := p.harvest(path, fmt.Sprint("t", n))
		if err != nil || len(h.Changed) != files {
			t.Fatalf("%d files: %+v, %v", files, h, err)
		}
		must(t, Remove(path))
		if got, want := packs()-before, files/packFrom; got != want {
			t.Errorf("%d files make %d packs, want %d", files, got, want)
		}
	}
	p.git("fsck", "--strict")
}

func TestTheBoardIsNoChangeOfAWorkspace(t *testing.T) {
	p := newProject(t)
	p.write(".orch/log.jsonl", "board")
	p.save("with the board")
	path := p.work("t")
	put(t, path, ".orch/log.jsonl", "forged")
	put(t, path, "a.txt", "x\n")
	h, err := p.harvest(path, "t")
	if err != nil || strings.Join(h.Changed, " ") != "a.txt" {
		t.Fatalf("%+v, %v", h, err)
	}
	if got := p.git("show", string(h.Head)+":.orch/log.jsonl"); got != "board" {
		t.Errorf("the board became %q", got)
	}
}

// Whatever a coder puts into a workspace, harvesting it runs none of it.
func TestHarvestRunsNothingOfTheWorkspace(t *testing.T) {
	trap := func(t *testing.T, dir string) (script, mark string) {
		mark = filepath.Join(t.TempDir(), "sprung")
		script = filepath.Join(dir, ".git", "trap.sh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch '"+mark+"'\ncat\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return script, mark
	}
	for _, c := range []struct {
		name string
		set  func(t *testing.T, path, script string)
	}{
		{"fsmonitor", func(t *testing.T, path, script string) { gitIn(t, path, "config", "core.fsmonitor", script) }},
		{"clean filter", func(t *testing.T, path, script string) {
			gitIn(t, path, "config", "filter.x.clean", script)
			put(t, path, ".gitattributes", "* filter=x\n")
		}},
		{"process filter", func(t *testing.T, path, script string) {
			gitIn(t, path, "config", "filter.x.process", script)
			gitIn(t, path, "config", "filter.x.required", "true")
			put(t, path, ".gitattributes", "* filter=x\n")
		}},
		{"hooks", func(t *testing.T, path, script string) {
			for _, h := range []string{"pre-commit", "post-index-change", "reference-transaction", "post-commit"} {
				put(t, path, ".git/hooks/"+h, "#!/bin/sh\nexec '"+script+"'\n")
				if err := os.Chmod(filepath.Join(path, ".git/hooks", h), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"textconv and external diff", func(t *testing.T, path, script string) {
			gitIn(t, path, "config", "diff.external", script)
			gitIn(t, path, "config", "diff.x.textconv", script)
			put(t, path, ".gitattributes", "* diff=x\n")
		}},
		{"upload-pack hook", func(t *testing.T, path, script string) {
			gitIn(t, path, "config", "uploadpack.packObjectsHook", script)
		}},
		{"a nested repository", func(t *testing.T, path, script string) {
			sub := filepath.Join(path, "sub")
			put(t, sub, "x", "x")
			gitIn(t, sub, "init", "-q")
			gitIn(t, sub, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "x")
			gitIn(t, sub, "config", "core.fsmonitor", script)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			path := p.work("t")
			script, mark := trap(t, path)
			put(t, path, "a.txt", "by the coder\n")
			c.set(t, path, script)
			for range 2 {
				if h, err := p.harvest(path, "t"); err != nil || h.Commits == 0 {
					t.Fatalf("%+v, %v", h, err)
				}
			}
			if _, err := p.repo.Differs(t.Context(), path, p.head()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(mark); err == nil {
				t.Error("it ran")
			}
		})
	}
}

func TestATamperedWorkspaceIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *project, path, outside string)
	}{
		{"its .git is a file that names another", func(p *project, path, _ string) {
			must(p.t, os.RemoveAll(filepath.Join(path, ".git")))
			put(p.t, path, ".git", "gitdir: "+filepath.Join(p.dir, ".git"))
		}},
		{"its .git is a link", func(p *project, path, _ string) {
			must(p.t, os.RemoveAll(filepath.Join(path, ".git")))
			must(p.t, os.Symlink(filepath.Join(p.dir, ".git"), filepath.Join(path, ".git")))
		}},
		{"its branches are elsewhere", func(p *project, path, outside string) {
			must(p.t, os.RemoveAll(filepath.Join(path, ".git", "refs", "heads")))
			put(p.t, outside, "orch/g/t", string(p.head()))
			must(p.t, os.Symlink(outside, filepath.Join(path, ".git", "refs", "heads")))
		}},
		{"its HEAD names a file outside", func(p *project, path, _ string) {
			put(p.t, path, ".git/HEAD", "ref: refs/heads/../../../../x\n")
		}},
		{"its HEAD is no commit", func(p *project, path, _ string) { put(p.t, path, ".git/HEAD", strings.Repeat("0", 40)) }},
		{"its HEAD is an option", func(p *project, path, _ string) { put(p.t, path, ".git/HEAD", "--output=/tmp/x") }},
		{"it is gone", func(p *project, path, _ string) { must(p.t, os.RemoveAll(path)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			path, outside := p.work("t"), t.TempDir()
			put(t, path, "a.txt", "x\n")
			c.do(p, path, outside)
			var tampered *TamperedError
			h, err := p.harvest(path, "t")
			if err == nil {
				t.Fatalf("it was taken: %+v", h)
			}
			if !errors.As(err, &tampered) {
				t.Errorf("got %v", err)
			}
			if at, err := p.repo.At(t.Context(), "refs/orch/g/t"); err != nil || at != "" {
				t.Errorf("something was pinned: %s, %v", at, err)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWorkThatLeftItsBaseIsNamed(t *testing.T) {
	p := newProject(t)
	path := p.work("t")
	gitIn(t, path, "checkout", "-q", "--orphan", "other")
	gitIn(t, path, "commit", "-q", "-m", "from nothing")
	var rewritten *RewrittenError
	if _, err := p.harvest(path, "t"); !errors.As(err, &rewritten) {
		t.Fatalf("got %v", err)
	}
	if at, err := p.repo.At(t.Context(), "refs/orch/g/t"); err != nil || at == "" {
		t.Errorf("its commits are kept nowhere: %v", err)
	}
}

func TestTryMergeAndWhatWouldBeLost(t *testing.T) {
	long := func(change map[int]string) string {
		var b strings.Builder
		for i := range 30 {
			if s, ok := change[i]; ok {
				b.WriteString(s + "\n")
			} else {
				b.WriteString("line " + string(rune('a'+i%26)) + strings.Repeat("x", i) + "\n")
			}
		}
		return b.String()
	}
	for _, c := range []struct {
		name         string
		ours, theirs func(p *project)
		conflicts    int
	}{
		{"different files", func(p *project) { p.write("a.txt", "ours\n") }, func(p *project) { p.write("b.txt", "theirs\n") }, 0},
		{"different places", func(p *project) { p.write("l.txt", long(map[int]string{2: "ours"})) }, func(p *project) { p.write("l.txt", long(map[int]string{25: "theirs"})) }, 0},
		{"the same change", func(p *project) { p.write("a.txt", "same\n") }, func(p *project) { p.write("a.txt", "same\n") }, 0},
		{"a rename and a change", func(p *project) { p.git("mv", "l.txt", "moved ü.txt") }, func(p *project) { p.write("l.txt", long(map[int]string{9: "theirs"})) }, 0},
		{"a removal", func(p *project) { p.git("rm", "-q", "a.txt") }, func(p *project) { p.write("b.txt", "theirs\n") }, 0},
		{"the same place", func(p *project) { p.write("a.txt", "ours\n") }, func(p *project) { p.write("a.txt", "theirs\n") }, 1},
		{"a removal and a change", func(p *project) { p.git("rm", "-q", "a.txt") }, func(p *project) { p.write("a.txt", "theirs\n") }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			p.write("l.txt", long(nil))
			base := p.save("base")
			c.ours(p)
			ours := p.save("ours")
			p.git("checkout", "-q", "--detach", string(base))
			c.theirs(p)
			theirs := p.save("theirs")
			m, err := p.repo.TryMerge(t.Context(), ours, theirs, Leftover{"merge", "orch", "o@example.org"})
			if err != nil || len(m.Conflicts) != c.conflicts || (m.Commit == "") != (c.conflicts > 0) {
				t.Fatalf("%+v, %v", m, err)
			}
			if c.conflicts > 0 {
				return
			}
			if m.Base != base {
				t.Errorf("%+v", m)
			}
			if lost, err := p.repo.Lost(t.Context(), m); err != nil || len(lost) > 0 {
				t.Errorf("lost %v, %v", lost, err)
			}
			for _, wrong := range []Commit{ours, theirs, base} {
				bad := m
				bad.Commit = wrong
				same, err := p.repo.Tree(t.Context(), wrong)
				must(t, err)
				if lost, err := p.repo.Lost(t.Context(), bad); err != nil || len(lost) == 0 && same != m.Tree {
					t.Errorf("a merge that drops a side is not noticed: %v", err)
				}
			}
		})
	}
}

// git takes it for an error to leave out by name what is ignored anyway.
func TestWhatIsIgnoredIsLeftOutWithoutBeingNamed(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", ".orch/\ncache/\n")
	p.save("ignore")
	p.write(".orch/log.jsonl", "board")
	before, err := p.repo.Fingerprint(t.Context(), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	p.write(".orch/log.jsonl", "more")
	after, err := p.repo.Fingerprint(t.Context(), func(string) bool { return false })
	if err != nil || len(before.Drift(after)) > 0 {
		t.Errorf("drift %v, %v", before.Drift(after), err)
	}
	path := p.work("t")
	put(t, path, ".orch/log.jsonl", "forged")
	put(t, path, "cache/dep/file", "x")
	gitIn(t, filepath.Join(path, "cache", "dep"), "init", "-q")
	put(t, path, "a.txt", "x\n")
	h, err := p.harvest(path, "t")
	if err != nil || strings.Join(h.Changed, " ") != "a.txt" {
		t.Errorf("%+v, %v", h, err)
	}
}
