//go:build linux

package main

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// terminals are loops of scripts/supervise.sh, each in a terminal of its own.
type terminals struct {
	t      *testing.T
	root   string
	script string
	roles  []string
	loops  []*background
	sides  []*os.File // what a terminal's window holds of each
}

func openTerminals(t *testing.T, root string, roles ...string) *terminals {
	t.Helper()
	script, err := filepath.Abs("../../scripts/supervise.sh")
	if err != nil {
		t.Fatal(err)
	}
	ts := &terminals{t: t, root: root, script: script, roles: roles, loops: make([]*background, len(roles)), sides: make([]*os.File, len(roles))}
	for n := range roles {
		ts.open(n)
	}
	return ts
}

func (ts *terminals) open(n int) {
	ts.t.Helper()
	role := ts.roles[n]
	ptm, pts := openPTY(ts.t)
	defer pts.Close()
	b := &background{t: ts.t, cmd: exec.Command("sh", ts.script, role), done: make(chan error, 1)}
	b.cmd.Dir, b.cmd.Env = ts.root, slices.Concat(orchCommand(ts.root).Env, []string{"ORCH=" + program, "PAUSE=0.3"})
	b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = pts, pts, pts
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := b.cmd.Start(); err != nil {
		ts.t.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(&b.out, ptm) // it ends in EIO, when nobody has the terminal open
		_ = ptm.Close()
	}()
	go func() { b.done <- b.cmd.Wait() }()
	ts.loops[n], ts.sides[n] = b, ptm
}

// close ends one of the terminals and opens it again: its window is closed,
// which hangs up on the loop and on what it started, or all of it is killed.
func (ts *terminals) close(n int, window bool) {
	ts.t.Helper()
	group := -ts.loops[n].cmd.Process.Pid
	if syscall.Kill(group, 0) != nil {
		return // it has left by itself
	}
	if window {
		_ = ts.sides[n].Close()
	} else {
		_ = syscall.Kill(group, syscall.SIGKILL) // it may have left meanwhile
	}
	select {
	case <-ts.loops[n].done:
	case <-time.After(runLimit):
		_ = syscall.Kill(group, syscall.SIGKILL)
		ts.t.Fatalf("the loop of %s outlives its terminal", ts.roles[n])
	}
	ts.open(n)
}

// left tells whether all loops have left by themselves.
func (ts *terminals) left() bool {
	return !slices.ContainsFunc(ts.loops, func(b *background) bool { return len(b.done) == 0 })
}

// wait waits for the loops to leave, which they do when no goal is open.
func (ts *terminals) wait() {
	ts.t.Helper()
	for _, b := range ts.loops {
		if code := b.wait(); code != 0 {
			ts.t.Errorf("%v: exit %d\n%s", b.cmd.Args, code, b.out.String())
		}
	}
}

// seeded is a source of chance that a failing test names.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 2))
}

// One role per process, each kept going by a shell loop, comes to what orch run
// comes to, also when some of them are killed.
func TestARunDrivenByScriptsEndsLikeOneDrivenByOrchRun(t *testing.T) {
	t.Parallel()
	run := copyExample(t, "make-stale")
	if out, err := orchCommand(run, "run", "make the tests pass").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	scripted := copyExample(t, "make-stale")
	if out, err := orchCommand(scripted, "run", "--later", "make the tests pass").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ts := openTerminals(t, scripted, "perceiver", "planner", "executor", "agent-validator", "meta-validator", "ggs", "memory", "auditor")
	r := seeded(t)
	for range 2 {
		time.Sleep(time.Duration(200+r.IntN(600)) * time.Millisecond)
		ts.close(r.IntN(len(ts.loops)), r.IntN(2) == 0)
	}
	ts.wait()
	if got, want := endState(t, scripted), endState(t, run); got != want {
		t.Errorf("ended differently:\n%s\nwant\n%s", got, want)
	}
	expectFresh(t, scripted)
}

// expectFresh fails unless state.yaml is what the log says.
func expectFresh(t *testing.T, root string) {
	t.Helper()
	shown, err := os.ReadFile(filepath.Join(root, ".orch", "state.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if is, want := seqShown(t, shown), lastSeqOf(t, root); is != want {
		t.Errorf("state.yaml is of message %d, the log ends at %d", is, want)
	}
}

// loopKills is how many terminals and steps one test run kills.
func loopKills() int {
	if os.Getenv("ORCH_TORTURE") != "" {
		return 25
	}
	return 4
}

// Loops alone drive a coding goal with a rejection and a conflict to its end,
// one of them killed now and then; and what state.yaml showed on the way tells
// what happened.
func TestLoopsDriveACodingGoalAndItsDiffsTellWhatHappened(t *testing.T) {
	t.Parallel()
	p := newKilledPair(t)
	p.plan("sh check.sh && sh lib/once.sh && grep left CHANGES && grep right CHANGES", task("once"), task("left"), task("right"))
	r := p.run("--later", "print names")
	if r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	history := keepHistory(t, p.root)
	ts := openTerminals(t, p.root, "perceiver", "planner", "coder", "coder", "code-reviewer", "meta-validator", "ggs", "integrate", "memory")
	chance := seeded(t)
	for n := loopKills(); n > 0 && !ts.left(); n-- {
		time.Sleep(time.Duration(300+chance.IntN(1200)) * time.Millisecond)
		if found := p.processes("step"); len(found) > 0 && chance.IntN(3) == 0 {
			_ = syscall.Kill(found[chance.IntN(len(found))].pid, syscall.SIGKILL) // it may have ended
		} else {
			ts.close(chance.IntN(len(ts.loops)), chance.IntN(2) == 0)
		}
	}
	ts.wait()
	history.end()
	expectFresh(t, p.root)
	if r := p.orch("gc"); r.code != 0 {
		t.Errorf("gc: exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	p.soundEnd()
	if g := p.goals(); len(g) != 1 || g[0].Status != "ENDED" {
		t.Errorf("goals: %v", g)
	}
	for _, kind := range []string{"IntegrationFailed", "Merged", "FinalResult"} {
		if len(p.messages(kind)) == 0 {
			t.Errorf("there was no %s", kind)
		}
	}
	history.read(p)
}

// A step by hand that finds the checkout changed stops the goal, as one of a run
// does, where a step could have changed it.
func TestAStepByHandCanStopTheGoal(t *testing.T) {
	t.Parallel()
	p := newPair(t, "confine: off")
	p.plan("sh check.sh", task("only"))
	p.script("coder/only.sh", "git -C \""+p.root+"\" tag mine\n"+work)
	if r := p.run("--later", "print names"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	for _, role := range []string{"perceiver", "planner", "planner", "coder"} {
		if r := p.orch("step", role); r.code != 0 && r.code != exitAgain {
			t.Fatalf("%s: exit %d\n%s\n%s", role, r.code, r.out, r.err)
		}
	}
	stops := p.messages("CheckpointReached")
	if len(stops) != 1 || stops[0]["name"] != mainCheckout {
		t.Errorf("it stopped for %v", stops)
	}
	if refused := p.messages("BoundaryViolation"); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
}
