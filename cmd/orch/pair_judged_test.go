//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hook puts a person's hook beside the board.
func (p *pair) hook(name, script string) {
	p.t.Helper()
	path := filepath.Join(".orch", "hooks", name)
	p.file(path, "#!/bin/sh -e\n"+script)
	if err := os.Chmod(filepath.Join(p.root, path), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// Somebody moves the branch when all is merged and nothing is judged yet, or
// when all is judged.
func TestABranchThatIsMovedAfterTheLastMergeIsNoticed(t *testing.T) {
	t.Parallel()
	const beforeJudging = "[ \"$ORCH_ROLE\" = meta-validator ] || exit 0\n"
	aside := beforeJudging + `git worktree add -q ../theirs integration
echo theirs > ../theirs/theirs.txt
git -C ../theirs add -A
git -C ../theirs commit -qm theirs
git worktree remove --force ../theirs
`
	for name, c := range map[string]struct {
		moment, do, says string
		code             int
		mend             func(p *pair)
	}{
		"rewound": {"pre-step", beforeJudging + "git branch -f integration main\n", "somebody moved it back", 4,
			func(p *pair) { p.git("branch", "-f", "integration", p.merged()) }},
		"deleted": {"pre-step", beforeJudging + "git branch -D integration\n", "integration is gone", 4,
			func(p *pair) { p.git("branch", "integration", p.merged()) }},
		"added to":                 {"pre-step", aside, "where no merge", 4, func(*pair) {}},
		"rewound when all is over": {"on-final", "git branch -f integration main\n", "somebody moved it back", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, "confine: off") // else what is added is known to be a person's
			p.plan("sh check.sh && sh lib/first.sh", task("first"))
			p.hook(c.moment, c.do)
			r := p.run("print names")
			if r.code != c.code || !strings.Contains(r.out+r.err, c.says) {
				t.Fatalf("exit %d, want %d and %q\n%s\n%s", r.code, c.code, c.says, r.out, r.err)
			}
			if c.mend == nil {
				return
			}
			if n := len(p.messages("OutcomeSummary")) + len(p.messages("ReplanRequest")); n > 0 {
				t.Errorf("the goal was judged %d times", n)
			}
			if err := os.Remove(filepath.Join(p.root, ".orch", "hooks", c.moment)); err != nil {
				t.Fatal(err)
			}
			c.mend(p)
			if r := p.orch("resume"); r.code != 0 {
				t.Fatalf("resume: %s", r.err)
			}
			if r := p.orch("run", "--continue"); r.code != 0 || p.on("lib/first.sh") == "" {
				t.Fatalf("exit %d after it was mended\n%s\n%s", r.code, r.out, r.err)
			}
			p.clean()
		})
	}
}

// What somebody put on the branch after the last step that looks was reviewed by
// nobody, and a merge on top would hide it: if a step could have been it.
func TestABranchThatIsMovedBeforeAMergeIsNoticed(t *testing.T) {
	t.Parallel()
	p := newPair(t, "confine: off")
	p.plan("sh check.sh && sh lib/first.sh", task("first"))
	if r := p.orch("init"); r.code != 0 {
		t.Fatalf("init: %s", r.err)
	}
	merging := residentLock(p.root, integratorRole) // so the branch is moved after the reviewer looked, and before the merge
	if err := merging.Lock(); err != nil {
		t.Fatal(err)
	}
	run := p.start("run", "--profile", "code", "--spec", "spec.md", "print names")
	until(t, "nobody is to look any more", func() bool { // a coder may end after its reviewer
		ended := map[any]bool{}
		for _, b := range p.messages("StepEnded") {
			ended[b["role"]] = true
		}
		return ended["coder"] && ended["code-reviewer"]
	})
	tree := filepath.Join(filepath.Dir(p.root), "theirs")
	p.git("worktree", "add", "-q", tree, "integration")
	writeBelow(t, filepath.Join(tree, "theirs.txt"), "theirs\n")
	gitIn(t, tree, "add", "-A")
	gitIn(t, tree, "commit", "-qm", "what somebody else did")
	p.git("worktree", "remove", tree)
	if err := merging.Unlock(); err != nil {
		t.Fatal(err)
	}
	if r := run.wait(t); r.code != 4 || !strings.Contains(r.out+r.err, "more is to be merged on top") {
		t.Fatalf("exit %d, want 4\n%s\n%s", r.code, r.out, r.err)
	}
	if n := len(p.messages("MergeStarting")); n > 0 {
		t.Errorf("%d merges were begun", n)
	}
	p.orch("resume").want(t, 0)
	if r := p.orch("run", "--continue"); r.code != 0 || p.on("lib/first.sh") == "" || p.on("theirs.txt") != "theirs\n" {
		t.Fatalf("exit %d after it was looked at\n%s\n%s", r.code, r.out, r.err)
	}
	p.clean()
}

// Once a run has told where the work is, the branch is the person's. For a run
// that was killed before it could, the next one tells it and looks at the branch.
func TestTheEndOfACodingGoalIsShownAgain(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.plan("sh check.sh && sh lib/first.sh", task("first"))
	p.run("print names").want(t, 0)
	const log, report = ".orch/log.jsonl", ".orch/goals/print_names/report.md"
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(p.root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	before := read(log)
	again := func() ran { return p.orch("run", "--continue", "print_names") }
	again().want(t, 0, "ended       print_names", "result      done", "take it     git merge integration")
	p.git("branch", "-D", "integration")
	r := again()
	r.want(t, 0, "branch      integration is gone, 1 merged, 0 not")
	if strings.Contains(r.out+r.err, "take it") || strings.Contains(r.err, "hint") {
		t.Errorf("a branch that is gone is offered:\n%s\n%s", r.out, r.err)
	}
	if err := os.Remove(filepath.Join(p.root, report)); err != nil {
		t.Fatal(err)
	}
	again().want(t, 1, "result      done", "error: integration is gone")
	if !strings.Contains(read(report), "add a program that prints first") {
		t.Error("the report was not written")
	}
	if read(log) != before {
		t.Error("the log has grown")
	}
}
