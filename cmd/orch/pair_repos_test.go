//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Repositories as people have them: a coding run works to its end in them, or
// says what is in its way before it has written anything.

// at is the same play on another repository.
func (p *pair) at(root string) *pair {
	other := *p
	other.root = root
	return &other
}

// works runs a goal of two tasks to its end.
func (p *pair) works() {
	p.t.Helper()
	p.plan("sh check.sh && sh lib/second.sh", task("first"), task("second", "first"))
	r := p.run("print names", "--jobs", "4")
	if r.code != 0 {
		p.t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	for _, slot := range []string{"first", "second"} {
		if got := p.on("lib/" + slot + ".sh"); got != "echo "+slot+"\n" {
			p.t.Errorf("lib/%s.sh is %q", slot, got)
		}
	}
	endState(p.t, p.root)
}

// gitIn runs git anywhere.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestCodersWorkInOddRepositories(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]func(p *pair) *pair{
		"detached HEAD": func(p *pair) *pair {
			p.git("checkout", "-q", "--detach")
			return p
		},
		"shallow clone": func(p *pair) *pair {
			for _, name := range []string{"one", "two", "three"} {
				p.file(name, name)
				p.commit(name)
			}
			at := filepath.Join(filepath.Dir(p.root), "shallow")
			gitIn(t, p.root, "clone", "-q", "--depth", "1", "file://"+p.root, at)
			return p.moved(at)
		},
		"linked worktree": func(p *pair) *pair {
			at := filepath.Join(filepath.Dir(p.root), "linked")
			p.git("worktree", "add", "-q", "-b", "mine", at)
			return p.moved(at)
		},
		"submodule": func(p *pair) *pair {
			inner := filepath.Join(filepath.Dir(p.root), "inner")
			writeBelow(t, filepath.Join(inner, "inner.txt"), "inner\n")
			gitIn(t, inner, "init", "-q")
			gitIn(t, inner, "add", "-A")
			gitIn(t, inner, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "inner")
			gitIn(t, p.root, "submodule", "add", "-q", inner, "vendor/inner")
			p.commit("use inner")
			p.script("coder/first.sh", "test -d vendor/inner\ntest -z \"$(ls -A vendor/inner)\"\n"+work)
			return p
		},
		"spaces and Unicode": func(p *pair) *pair {
			at := filepath.Join(filepath.Dir(p.root), "mein Projekt ☂ \"é\"")
			if err := os.Rename(p.root, at); err != nil {
				t.Fatal(err)
			}
			p = p.at(at)
			p.file("docs/ein Name mit ☃.md", "# Hällo\n")
			p.file("docs/new\nline", "x\n")
			p.commit("name files")
			p.script("coder/first.sh", "echo mehr >> 'docs/ein Name mit ☃.md'\necho 'ü' > 'neu 名前.txt'\n"+work)
			return p
		},
		"committed .orch": func(p *pair) *pair {
			p.git("add", "-f", ".orch/config.yaml")
			p.git("commit", "-qm", "share the configuration")
			if r := p.orch("trust"); r.code != 0 {
				t.Fatalf("trust: %s", r.err)
			}
			return p
		},
		"ignored .orch": func(p *pair) *pair {
			p.file(".gitignore", ".orch/\n")
			p.git("add", ".gitignore")
			p.git("commit", "-qm", "ignore the board")
			return p
		},
		"hooks": func(p *pair) *pair {
			for _, hook := range []string{"pre-commit", "post-checkout", "pre-merge-commit", "reference-transaction", "commit-msg", "post-commit"} {
				path := filepath.Join(p.root, ".git", "hooks", hook)
				writeBelow(t, path, "#!/bin/sh\necho "+hook+" >> '"+filepath.Join(filepath.Dir(p.root), "hooked")+"'\nexit 1\n")
				if err := os.Chmod(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			return p
		},
		"signed commits": func(p *pair) *pair {
			p.git("config", "commit.gpgsign", "true")
			p.git("config", "gpg.program", "/bin/false")
			return p
		},
		"autocrlf": func(p *pair) *pair {
			p.file(".gitattributes", "*.sh text eol=lf\n*.txt text\n")
			p.file("lines.txt", "a\nb\n")
			p.commit("a file of two lines")
			p.git("config", "core.autocrlf", "true")
			p.remove("lines.txt")
			p.git("checkout", "-q", "--", "lines.txt")
			// What is checked out has other ends of lines than what is committed.
			p.script("coder/first.sh", "grep -q \"$(printf 'a\\r')\" lines.txt\nprintf 'c\\r\\n' >> lines.txt\n"+work)
			return p
		},
		"a filter of its own": func(p *pair) *pair {
			p.git("config", "filter.rot.smudge", "tr a-z n-za-m")
			p.git("config", "filter.rot.clean", "tr a-z n-za-m")
			p.git("config", "filter.rot.required", "true")
			p.file(".gitattributes", "*.rot filter=rot\n")
			p.file("word.rot", "uryyb\n")
			p.commit("a word that is kept in another form")
			p.script("coder/first.sh", "grep -q uryyb word.rot\necho jbeyq >> word.rot\n"+work)
			return p
		},
		"integration ahead": func(p *pair) *pair {
			p.git("checkout", "-q", "-b", "integration")
			p.file("theirs.txt", "theirs\n")
			p.commit("what somebody else did")
			p.git("checkout", "-q", "main")
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, "limits: {jobs: 4}\n")
			p.t = t
			p = odd(p)
			p.works()
			if name == "integration ahead" && p.on("theirs.txt") != "theirs\n" {
				t.Error("what was on the branch is gone")
			}
			if name == "submodule" && p.git("ls-tree", "integration", "vendor/inner") != p.git("ls-tree", "main", "vendor/inner") {
				t.Error("the submodule is another one")
			}
			if name == "autocrlf" && p.on("lines.txt") != "a\nb\nc\n" {
				t.Errorf("lines.txt is %q", p.on("lines.txt"))
			}
			if name == "a filter of its own" && p.on("word.rot") != "hello\nworld\n" {
				t.Errorf("word.rot is %q", p.on("word.rot"))
			}
			if name == "spaces and Unicode" && p.on("neu 名前.txt") != "ü\n" {
				t.Error("a file with an odd name did not arrive")
			}
			if hooked, err := os.ReadFile(filepath.Join(filepath.Dir(p.root), "hooked")); err == nil {
				t.Errorf("hooks were run: %s", hooked)
			}
			if status := p.git("status", "--porcelain", "--", ":!.orch"); status != "" {
				t.Errorf("the person's checkout changed: %s", status)
			}
		})
	}
}

// moved takes the configuration along to another checkout.
func (p *pair) moved(to string) *pair {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.root, ".orch", "config.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	other := p.at(to)
	other.file(".orch/config.yaml", string(raw))
	other.git("config", "user.name", "A Person")
	other.git("config", "user.email", "person@example.org")
	return other
}

func TestCodersRefuseWhatTheyCanNotWorkOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		odd  func(p *pair) *pair
		says []string
	}{
		"dirty tree": {func(p *pair) *pair { p.file("README.md", "changed\n"); return p },
			[]string{"README.md", "git commit or git stash"}},
		"untracked file": {func(p *pair) *pair { p.file("new.txt", "new\n"); return p },
			[]string{"new.txt", "git commit or git stash"}},
		"no commits": {func(p *pair) *pair {
			p.remove(".git")
			p.git("init", "-q")
			return p
		}, []string{"no commit yet", "git add -A && git commit"}},
		"no git": {func(p *pair) *pair { p.remove(".git"); return p },
			[]string{"not in a git repository", "git init"}},
		"a subdirectory": {func(p *pair) *pair { return p.moved(filepath.Join(p.root, "tests")) },
			[]string{"not the top", "cd "}},
		"integration checked out": {func(p *pair) *pair { p.git("checkout", "-q", "-b", "integration"); return p },
			[]string{"integration is checked out", "switch another branch"}},
		"a merge going on": {func(p *pair) *pair { p.file(".git/MERGE_HEAD", p.git("rev-parse", "HEAD")+"\n"); return p },
			[]string{"a merge is going on", "finish it"}},
		"LFS without git-lfs": {func(p *pair) *pair { p.filtered("lfs"); return p },
			[]string{"big.bin", "git-lfs is not set up", "git lfs install"}},
		"LFS whose program is gone": {func(p *pair) *pair {
			p.filtered("lfs")
			p.git("config", "filter.lfs.required", "true")
			p.git("config", "filter.lfs.process", "no-such-program filter-process")
			return p
		}, []string{"big.bin", "no-such-program", "git lfs install"}},
		"a filter that can not check out": {func(p *pair) *pair {
			p.filtered("rot")
			p.git("config", "filter.rot.smudge", "no-such-program")
			return p
		}, []string{"big.bin", "no-such-program", "filter\\.rot\\."}},
		"a filter that can not commit": {func(p *pair) *pair {
			p.filtered("rot")
			p.git("config", "filter.rot.clean", "no-such-program")
			return p
		}, []string{"big.bin", "no-such-program", "filter\\.rot\\."}},
		"a filter that does not come back": {func(p *pair) *pair {
			p.filtered("rot")
			p.git("config", "filter.rot.smudge", "tr a-y b-z")
			return p
		}, []string{"big.bin", "a fresh checkout differs", "filter\\.rot\\."}},
		"a spec in no commit": {func(p *pair) *pair { p.git("rm", "-q", "spec.md"); p.git("commit", "-qm", "no spec"); return p },
			[]string{"spec.md is in no commit", "commit it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, "")
			p.t = t
			p = c.odd(p)
			r := p.run("print names")
			if r.code != 2 {
				t.Fatalf("exit %d, want 2\n%s\n%s", r.code, r.out, r.err)
			}
			if !strings.Contains(r.err, "hint: ") {
				t.Errorf("no hint:\n%s", r.err)
			}
			for _, says := range c.says {
				if !strings.Contains(r.err, says) {
					t.Errorf("it does not say %q:\n%s", says, r.err)
				}
			}
			if _, err := os.Stat(filepath.Join(p.root, ".orch", "log.jsonl")); err == nil {
				t.Error("a board was made")
			}
		})
	}
}

// filtered commits a file that goes through a filter nobody has configured.
func (p *pair) filtered(name string) {
	p.t.Helper()
	p.file(".gitattributes", "*.bin filter="+name+" -text\n")
	p.file("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n")
	p.commit("a filtered file")
}

func (p *pair) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, name)); err != nil {
		p.t.Fatal(err)
	}
}

// meanwhile runs a goal of two tasks, and does something to the repository when
// the first is merged and the second is at work.
func (p *pair) meanwhile(do func()) ran {
	p.t.Helper()
	p.plan("sh check.sh && sh lib/second.sh", task("first"), task("second", "first"))
	on := filepath.Join(p.play, "go")
	p.script("coder/second.sh", "while [ ! -f '"+on+"' ]; do sleep 0.05; done\n"+work)
	cmd := orchCommand(p.root, "run", "--profile", "code", "--spec", "spec.md", "print names")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-ended:
			tick.Stop()
			p.t.Fatalf("it ended before its second task: %s%s", out.String(), errs.String())
		case <-tick.C:
		}
		if n := len(p.messagesSoFar("Claimed")); n >= 2 {
			tick.Stop()
			break
		}
	}
	do()
	write(p.t, on, "")
	<-ended
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// messagesSoFar are messages of a board that may not be there yet.
func (p *pair) messagesSoFar(kind string) []map[string]any {
	if _, err := os.Stat(filepath.Join(p.root, ".orch", "log.jsonl")); err != nil {
		return nil
	}
	return p.messages(kind)
}

func TestSomebodyMovesTheBranchMeanwhile(t *testing.T) {
	t.Parallel()
	ahead := func(t *testing.T, more string) (*pair, ran) {
		p := newPair(t, more)
		tree := filepath.Join(filepath.Dir(p.root), "theirs")
		return p, p.meanwhile(func() {
			p.git("worktree", "add", "-q", tree, "integration")
			writeBelow(t, filepath.Join(tree, "theirs.txt"), "theirs\n")
			gitIn(t, tree, "add", "-A")
			gitIn(t, tree, "commit", "-qm", "what somebody else did")
			p.git("worktree", "remove", tree)
		})
	}
	onTop := func(p *pair, r ran) {
		t.Helper()
		if r.code != 0 || p.on("theirs.txt") != "theirs\n" || p.on("lib/second.sh") == "" {
			p.t.Errorf("exit %d, theirs.txt is %q\n%s\n%s", r.code, p.on("theirs.txt"), r.out, r.err)
		}
	}
	asked := func(p *pair, r ran) {
		t.Helper()
		// Nobody can tell a person from a coder that got at the branch, so a person is asked.
		if r.code != 4 || !strings.Contains(r.err+r.out, "orch resume") {
			p.t.Fatalf("exit %d, want 4\n%s\n%s", r.code, r.out, r.err)
		}
		if r = p.orch("resume"); r.code == 0 {
			r = p.orch("run", "--continue")
		}
		onTop(p, r)
	}
	t.Run("ahead, where no step gets there", func(t *testing.T) {
		t.Parallel()
		p, r := ahead(t, "")
		if !machine(t).Layers.Any() { // then every step gets there, whatever is asked for
			asked(p, r)
			return
		}
		onTop(p, r)
		p.clean()
	})
	t.Run("ahead", func(t *testing.T) {
		t.Parallel()
		asked(ahead(t, "confine: off"))
	})
	for name, c := range map[string]struct {
		do   func(p *pair)
		says string
		mend func(p *pair)
	}{
		"rewound": {func(p *pair) { p.git("branch", "-f", "integration", "main") }, "somebody moved it back",
			func(p *pair) { p.git("branch", "-f", "integration", p.merged()) }},
		"deleted": {func(p *pair) { p.git("branch", "-qD", "integration") }, "integration is gone",
			func(p *pair) { p.git("branch", "integration", p.merged()) }},
		"checked out": {func(p *pair) {
			p.git("worktree", "add", "-q", filepath.Join(filepath.Dir(p.root), "theirs"), "integration")
		}, "integration is checked out", func(p *pair) { p.git("worktree", "remove", filepath.Join(filepath.Dir(p.root), "theirs")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, "")
			was := ""
			r := p.meanwhile(func() {
				c.do(p)
				was = p.git("for-each-ref", "--format=%(objectname)", "refs/heads/integration")
			})
			if r.code != 4 {
				t.Fatalf("exit %d, want 4\n%s\n%s", r.code, r.out, r.err)
			}
			status := p.orch("status")
			if !strings.Contains(status.out, c.says) {
				// It may only have been seen that the branch moved, and a person said
				// that it was them.
				if r = p.orch("resume"); r.code == 0 {
					r = p.orch("run", "--continue")
				}
				status = p.orch("status")
			}
			if is := p.git("for-each-ref", "--format=%(objectname)", "refs/heads/integration"); is != was || r.code != 4 {
				t.Errorf("exit %d, the branch moved from %q to %q", r.code, was, is)
			}
			if !strings.Contains(r.out+r.err+status.out, c.says) || !strings.Contains(r.out+r.err+status.out, "orch resume") {
				t.Errorf("it does not say %q and what to do:\n%s\n%s\n%s", c.says, r.out, r.err, status.out)
			}
			c.mend(p)
			if r := p.orch("resume"); r.code != 0 {
				t.Fatalf("resume: %s", r.err)
			}
			if r := p.orch("run", "--continue"); r.code != 0 {
				t.Fatalf("exit %d after it was mended\n%s\n%s", r.code, r.out, r.err)
			}
			for _, slot := range []string{"first", "second"} {
				if p.on("lib/"+slot+".sh") == "" {
					t.Errorf("lib/%s.sh is not on the branch", slot)
				}
			}
			p.clean()
		})
	}
}

// merged is the commit that was merged last.
func (p *pair) merged() string {
	p.t.Helper()
	all := p.messages("Merged")
	if len(all) == 0 {
		p.t.Fatal("nothing was merged")
	}
	to, _ := all[len(all)-1]["to"].(string)
	return to
}

// TestACodersAnomalyIsToldAsItComes: the auditor trips on what a coder's agent
// says while the agent still works.
func TestACodersAnomalyIsToldAsItComes(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.plan("sh check.sh", task("first"))
	p.script("coder/first.sh", `for n in 3 4 5; do
  orch note anomaly retry_loop count=$n 'error_pattern=dial tcp 10.0.0.7:5432: connection refused' >/dev/null || exit 1
done
n=0
until grep -q retry_cluster '`+p.root+`/.orch/audit/audit.jsonl'; do
  n=$((n+1)); test $n -lt 600 || exit 1
  sleep 0.1
done
`+work)
	r := p.orch("run", "--profile", "code", "--spec", "spec.md", "print names")
	if r.code != 4 || len(p.messages("Anomaly")) != 3 || len(p.messages("CircuitBreaker")) == 0 {
		t.Errorf("exit %d, %d anomalies, %d trips\n%s\n%s", r.code, len(p.messages("Anomaly")), len(p.messages("CircuitBreaker")), r.out, r.err)
	}
	if len(p.messages("ReviewRequested")) == 0 {
		t.Error("the agent did not see the trip while it worked")
	}
}
