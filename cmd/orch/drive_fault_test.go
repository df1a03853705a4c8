//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hostile makes a project with a playbook of its own, whose only step runs
// tool.sh, which appends to effects.txt.
func hostile(t *testing.T, script string, idempotent bool, timeout string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(root, ".orch", "playbooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	book := fmt.Sprintf(`name: slow
describe: one step that takes long
examples: [do it slowly]
match: {words: [[do], [slowly]]}
task_criteria:
  - {criterion: there is an effect, check: {file: {path: effects.txt, exists: true}}}
subtasks:
  - slot: write
    intent: write a line
    sequence: 1
    targets: effects.txt
    criteria:
      - {criterion: the effect is there, check: {file: {path: effects.txt, exists: true}}}
    approaches:
      - name: slow
        describe: run the script
        target: effects.txt
        steps: [{run: sh tool.sh, idempotent: %v, timeout: %s}]
`, idempotent, timeout)
	write(t, filepath.Join(root, ".orch", "playbooks", "slow.yaml"), book)
	write(t, filepath.Join(root, "tool.sh"), script)
	return root
}

func effects(root string) int {
	raw, err := os.ReadFile(filepath.Join(root, "effects.txt"))
	if err != nil {
		return 0
	}
	return bytes.Count(raw, []byte("\n"))
}

// output collects what a program says and can be read while it goes on.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// background is an orch that works while the test does something to it.
type background struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  output
	done chan error
}

func start(t *testing.T, root string, args ...string) *background {
	t.Helper()
	b := &background{t: t, cmd: orchCommand(root, args...), done: make(chan error, 1)}
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.out
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.done <- b.cmd.Wait() }()
	return b
}

// wait returns the exit code, and fails the test after runLimit.
func (b *background) wait() int {
	b.t.Helper()
	select {
	case <-b.done:
		return b.cmd.ProcessState.ExitCode()
	case <-time.After(runLimit):
		b.cmd.Process.Kill()
		b.t.Fatalf("orch %v does not end:\n%s", b.cmd.Args[1:], b.out.String())
		return -1
	}
}

// until polls for a condition that the program under test brings about.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(runLimit)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func expectNobodyIn(t *testing.T, root string) {
	t.Helper()
	if left := processesOf(root); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

func TestAToolThatDiedInTheMiddleIsRunAgainOnlyIfThatIsHarmless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		idempotent bool
		effects    int
		doubted    bool
	}{{true, 2, false}, {false, 1, true}} {
		t.Run(fmt.Sprintf("idempotent %v", c.idempotent), func(t *testing.T) {
			t.Parallel()
			// The first run waits to be killed; a second one would end by itself.
			root := hostile(t, "echo x >> effects.txt\ntest $(wc -l < effects.txt) -gt 1 || exec sleep 600\n", c.idempotent, "5m")
			run := start(t, root, "run", "do it slowly")
			until(t, "the tool's effect", func() bool { return effects(root) > 0 })
			until(t, "the step's process", func() bool { return kill(root, "executor", 0) })
			if code := run.wait(); code != 0 {
				t.Fatalf("exit %d:\n%s", code, run.out.String())
			}
			if got := effects(root); got != c.effects {
				t.Errorf("%d effects, want %d:\n%s", got, c.effects, run.out.String())
			}
			log, err := orchCommand(root, "log", "--type", "ExecutionResult", "--json").Output()
			if err != nil {
				t.Fatal(err)
			}
			doubt := bytes.Contains(log, []byte("Whether it took effect is unknown")) && bytes.Contains(log, []byte("environmental"))
			if doubt != c.doubted {
				t.Errorf("the doubt is stated: %v, want %v\n%s", doubt, c.doubted, log)
			}
			endState(t, root)
		})
	}
}

func TestManySupervisorsOnOneGoalDoNothingTwice(t *testing.T) {
	t.Parallel()
	root := hostile(t, "echo x >> effects.txt\nsleep 1\n", false, "1m")
	if out, err := orchCommand(root, "run", "--later", "do it slowly").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var runs []*background
	for range 3 {
		runs = append(runs, start(t, root, "run", "--continue", "do_it_slowly"))
	}
	for _, run := range runs {
		if code := run.wait(); code != 0 {
			t.Errorf("exit %d:\n%s", code, run.out.String())
		}
	}
	if got := effects(root); got != 1 {
		t.Errorf("%d effects of one step", got)
	}
	log, err := orchCommand(root, "log", "--type", "StepStarting", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	for _, line := range lines {
		if !strings.Contains(line, `"try":1`) {
			t.Errorf("started again: %s", line)
		}
	}
	endState(t, root)
}

func TestASignalStopsEverythingAndContinueGoesOn(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			root := hostile(t, "echo x >> effects.txt\ntest $(wc -l < effects.txt) -gt 1 && exit\nsetsid sleep 600 &\nsleep 600\n", true, "5m")
			run := start(t, root, "run", "do it slowly")
			until(t, "the tool's effect", func() bool { return effects(root) > 0 })
			if err := run.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := run.wait(); code != exitInterrupted {
				t.Errorf("exit %d, want %d:\n%s", code, exitInterrupted, run.out.String())
			}
			if !strings.Contains(run.out.String(), "orch run --continue do_it_slowly") {
				t.Errorf("the last words do not say how to go on:\n%s", run.out.String())
			}
			expectNobodyIn(t, root)
			if out, err := orchCommand(root, "run", "--continue").CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			endState(t, root)
		})
	}
}

func TestAHostileCommandIsBoundedClassifiedAndGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, says string }{
		"hangs":            {"exec sleep 600\n", "time limit reached"},
		"ignores SIGTERM":  {"trap '' TERM INT HUP\nwhile :; do sleep 1; done\n", "time limit reached"},
		"closes its pipes": {"exec >&- 2>&-\nsleep 600\n", "time limit reached"},
		"floods":           {"exec yes flood\n", "too much output"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := hostile(t, c.script, false, "1s")
			if name == "floods" {
				root = hostile(t, c.script, false, "1m")
			}
			run := start(t, root, "run", "--max-replans", "1", "do it slowly")
			if code := run.wait(); code != exitAbandoned {
				t.Errorf("exit %d, want %d", code, exitAbandoned)
			}
			log, err := orchCommand(root, "log", "--json").Output()
			if err != nil || !bytes.Contains(log, []byte(c.says)) {
				t.Errorf("the log does not say %q, %v", c.says, err)
			}
			expectNobodyIn(t, root)
			endState(t, root)
		})
	}
}

func TestChildrenThatLeaveTheGroupEndWithTheCommand(t *testing.T) {
	root := hostile(t, "setsid sleep 600 &\nsetsid sh -c 'sleep 601 & sleep 602' >/dev/null 2>&1 </dev/null &\necho x >> effects.txt\n", false, "1m")
	if code := start(t, root, "run", "do it slowly").wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	endState(t, root)
}

func TestALogThatCannotGrowStopsTheRunAndLosesNothing(t *testing.T) {
	t.Parallel()
	root := copyExample(t, "make-stale")
	run := exec.Command("sh", "-c", `ulimit -f 24; exec "$0" run "make the tests pass"`, program)
	run.Dir, run.Env = root, orchCommand(root).Env
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	forEver := time.AfterFunc(runLimit, func() { _ = run.Process.Kill() })
	defer forEver.Stop()
	if err := run.Wait(); err == nil {
		t.Fatalf("it did not fail:\n%s", out.String())
	}
	if code := run.ProcessState.ExitCode(); code != exitInternal {
		t.Errorf("exit %d:\n%s", code, out.String())
	}
	if !strings.Contains(out.String(), "error: ") || !strings.Contains(out.String(), "log.jsonl") {
		t.Errorf("it does not say what is wrong:\n%s", out.String())
	}
	expectNobodyIn(t, root)
	if out, err := orchCommand(root, "run", "--continue").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	endState(t, root)
}
