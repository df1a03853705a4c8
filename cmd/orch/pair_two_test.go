//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Of two supervisors on one repository each task is one's, and each merge.

// orchRun is an orch that was started.
type orchRun struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	ended     chan struct{}
}

// start starts orch in the repository.
func (p *pair) start(args ...string) *orchRun {
	p.t.Helper()
	r := &orchRun{cmd: orchCommand(p.root, args...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	if err := r.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // how it ended is in its state
		close(r.ended)
	}()
	return r
}

// wait waits for its end.
func (r *orchRun) wait(t *testing.T) ran {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(runLimit):
		_ = r.cmd.Process.Signal(syscall.SIGQUIT)
		<-r.ended
		t.Fatalf("it does not end\n%s\n%s\nits log ends:\n%s", r.out.String(), r.errs.String(), r.lastWords())
	}
	return ran{r.cmd.ProcessState.ExitCode(), r.out.String(), r.errs.String()}
}

// lastWords are the last messages on the board, to see what it waits for.
func (r *orchRun) lastWords() string {
	raw, err := os.ReadFile(filepath.Join(r.cmd.Dir, ".orch", "log.jsonl"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// fine fails unless it ended well, and without a word of warning.
func (r *orchRun) fine(t *testing.T) {
	t.Helper()
	got := r.wait(t)
	if got.code != 0 || strings.Contains(got.err, "warning") {
		t.Errorf("exit %d\n%s\n%s", got.code, got.out, got.err)
	}
}

func TestTwoRunsOnOneCodingGoal(t *testing.T) {
	t.Parallel()
	p := newKilledPair(t)
	if r := p.run("print names", "--later"); r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.err)
	}
	one, two := p.start("run", "--continue", "print_names"), p.start("run", "--continue", "print_names")
	one.fine(t)
	two.fine(t)
	p.soundEnd()
}

func TestTwoCodingGoalsOnOneBranch(t *testing.T) {
	t.Parallel()
	p := newKilledPair(t)
	one, two := p.startTwoGoals()
	one.fine(t)
	two.fine(t)
	p.soundEnd()
	if n := len(p.messages("Merged")); n != 9 {
		t.Errorf("%d merges, want 9", n)
	}
}

// One of two is killed: the other's goal is not disturbed, and its own goes on.
func TestOneOfTwoCodingRunsIsKilled(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*pair) (dies, lives *orchRun){
		"one goal": func(p *pair) (dies, lives *orchRun) {
			if r := p.run("print names", "--later"); r.code != 0 {
				p.t.Fatalf("exit %d\n%s", r.code, r.err)
			}
			return p.start("run", "--continue", "print_names"), p.start("run", "--continue", "print_names")
		},
		"two goals": (*pair).startTwoGoals,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newKilledPair(t)
			dies, lives := start(p)
			p.until("ReviewRequested", dies)
			if err := dies.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			dies.wait(t)
			if got := lives.wait(t); got.code != 0 {
				t.Fatalf("the other: exit %d\n%s\n%s", got.code, got.out, got.err)
			}
			if open := p.orch("goals", "--open", "--quiet"); open.code == 0 {
				if r := p.orch("run", "--continue"); r.code != 0 {
					t.Fatalf("continued: exit %d\n%s\n%s", r.code, r.out, r.err)
				}
			}
			p.soundEnd()
		})
	}
}

// startTwoGoals lets two runs work on a goal each.
func (p *pair) startTwoGoals() (one, two *orchRun) {
	first := p.read("planner/plan.sh")
	p.plan("sh check.sh && sh lib/more.sh", task("more"), task("most", "more"), task("again"))
	p.script("planner/plan.sh", "if grep -q '\"goal\": *\"print_more\"' \"$REQUEST\"; then\n"+p.read("planner/plan.sh")+"else\n"+first+"fi\n")
	return p.start("run", "--profile", "code", "--spec", "spec.md", "print names"), p.start("run", "--profile", "code", "--spec", "spec.md", "print more")
}

// until waits for a message of a type while a run goes on.
func (p *pair) until(kind string, r *orchRun) {
	p.t.Helper()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-r.ended:
			p.t.Fatalf("it ended before a %s\n%s\n%s", kind, r.out.String(), r.errs.String())
		case <-tick.C:
		}
		raw, err := os.ReadFile(filepath.Join(p.root, ".orch", "log.jsonl")) // its last line may be half written
		if err == nil && bytes.Contains(raw, []byte(`"type":"`+kind+`"`)) {
			tick.Stop()
			return
		}
	}
}

// A killed run that nobody goes on with is named, and what it left of what has
// ended goes.
func TestGcNamesAndRemovesWhatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	p := newKilledPair(t)
	dies := p.start("run", "--profile", "code", "--spec", "spec.md", "print names")
	p.until("ReviewRequested", dies)
	if err := dies.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	dies.wait(t)
	boards, err := filepath.Glob(filepath.Join(filepath.Dir(p.root), "state", "orch", "*", "print_names"))
	if err != nil || len(boards) != 1 {
		t.Fatalf("worktrees are in %v, %v", boards, err)
	}
	if r := p.orch("gc"); r.code != 0 || !strings.Contains(r.err, "orch run --continue print_names") {
		t.Errorf("gc of an open goal: exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	if r := p.orch("run", "--continue"); r.code != 0 {
		t.Fatalf("continued: exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	if err := os.MkdirAll(filepath.Join(boards[0], "0a0a-coder-1-9", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"gc", "--dry-run"}, {"gc"}} {
		if r := p.orch(args...); r.code != 0 || !strings.Contains(r.out, "1 worktree") {
			t.Errorf("%v of an ended goal: exit %d\n%s\n%s", args, r.code, r.out, r.err)
		}
	}
	p.soundEnd()
}
