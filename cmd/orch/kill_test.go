//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orch/roles/run/supervisor"
)

// A kill may come at any moment of a run. Whatever is killed, and how often,
// the run ends as an undisturbed one does once it is continued.

// killsPerVictim is how many kills of each of four kinds of process one test
// run makes: 200 in all, and 10,000 where there is time.
func killsPerVictim() int {
	if os.Getenv("ORCH_TORTURE") != "" {
		return 2_500
	}
	return 50
}

// killable is a project with one goal that needs a second plan.
type killable struct {
	asks string
	make func(*testing.T) string
	ends string // as an undisturbed run does
}

// killables are a real one, in which most of the time goes into the Go command,
// and one whose tools do next to nothing, in which most kills meet orch itself.
func killables(t *testing.T) (built, bare killable) {
	built = killable{asks: "make the tests pass", make: func(t *testing.T) string { return copyExample(t, "needs-replan") }}
	bare = killable{asks: "mend the clock", make: clock}
	for _, p := range []*killable{&built, &bare} {
		root := p.make(t)
		if out, err := orchCommand(root, "run", p.asks).CombinedOutput(); err != nil {
			t.Fatalf("undisturbed run: %v\n%s", err, out)
		}
		p.ends = endState(t, root)
		if !strings.Contains(p.ends, " accept 2") {
			t.Fatalf("%q needs no second plan: %s", p.asks, p.ends)
		}
	}
	return built, bare
}

// clock is a project whose clock is not mended by the first thing that is tried.
func clock(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "clock")
	if err := os.MkdirAll(filepath.Join(root, ".orch", "playbooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".orch", "playbooks", "mend.yaml"), `name: mend
describe: mend the clock
examples: [mend the clock]
match: {words: [[mend], [clock]]}
task_criteria:
  - {criterion: it ticks, check: {run: {command: sh look.sh, stdout: {contains: ticks}}}}
subtasks:
  - slot: wind
    intent: wind it up
    sequence: 1
    targets: spring.txt
    criteria: [{criterion: it is wound up, check: {file: {path: spring.txt, contains: wound}}}]
    approaches:
      - {name: key, describe: with the key, target: spring.txt, steps: [{run: "sleep 0.1; echo wound > spring.txt", idempotent: true}]}
  - slot: mend
    intent: mend it
    sequence: 2
    targets: clock.txt
    criteria: [{criterion: it ticks, check: {run: {command: sh look.sh, stdout: {contains: ticks}}}}]
    approaches:
      - {name: shake, describe: shake it, target: clock.txt, steps: [{run: "sleep 0.1; echo rattles > clock.txt", idempotent: true}]}
      - {name: oil, describe: oil it, target: clock.txt, steps: [{run: "sleep 0.1; echo ticks > clock.txt", idempotent: true}]}
`)
	write(t, filepath.Join(root, "look.sh"), "sleep 0.05; cat clock.txt\n")
	return root
}

func TestKilledAtRandomMomentsEndsTheSame(t *testing.T) {
	t.Parallel()
	built, bare := killables(t)
	for _, victim := range []string{"supervisor", "ggs", "memory", "step"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			left, runs := killsPerVictim(), 0
			for ; left > 0; runs++ {
				if runs > 3*killsPerVictim() {
					t.Fatalf("%d kills are left after %d runs", left, runs)
				}
				p := bare
				if runs%8 == 0 {
					p = built
				}
				root := p.make(t)
				left -= runKilling(t, root, p.asks, victim, min(left, 5), r)
				if got := endState(t, root); got != p.ends {
					t.Fatalf("ended differently in %s:\n%s\nwant\n%s", root, got, p.ends)
				}
			}
			t.Logf("%d kills over %d runs", killsPerVictim(), runs)
		})
	}
}

// runKilling runs a goal to its end, killing up to n processes of a kind on
// the way, and returns how many it killed.
func runKilling(t *testing.T, root, asks, victim string, n int, r *rand.Rand) (killed int) {
	t.Helper()
	args := []string{"run", asks}
	for tries := 0; tries < n+20; tries++ {
		cmd := orchCommand(root, args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		dead := false
		for !dead && killed < n {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("run in %s: %v\n%s", root, err, out.String())
				}
				return killed
			case <-time.After(time.Duration(r.IntN(250)) * time.Millisecond):
			}
			if kill(root, victim, cmd.Process.Pid) {
				killed++
				dead = victim == "supervisor"
			}
		}
		err := <-ended
		switch {
		case err == nil: // also if what was killed had ended by itself
			return killed
		case !dead:
			t.Fatalf("run in %s: %v\n%s", root, err, out.String())
		case hasGoal(root, "--open"):
			args = []string{"run", "--continue"}
		case hasGoal(root):
			// It was killed between the end of its goal and its own.
			until(t, "what it started leaves", func() bool { return len(processesOf(root)) == 0 })
			if out, err := orchCommand(root, "gc").CombinedOutput(); err != nil {
				t.Fatalf("gc: %v\n%s", err, out)
			}
			if out, err := orchCommand(root, "run", "--continue").CombinedOutput(); err != nil {
				t.Fatalf("run in %s: %v\n%s", root, err, out)
			}
			return killed
		}
	}
	t.Fatalf("the run in %s does not end", root)
	return 0
}

func hasGoal(root string, which ...string) bool {
	return orchCommand(root, append([]string{"goals", "--quiet"}, which...)...).Run() == nil
}

// kill ends one process of a kind that works on the project.
func kill(root, victim string, supervisor int) bool {
	if victim == "supervisor" {
		return syscall.Kill(supervisor, syscall.SIGKILL) == nil
	}
	for _, p := range processesOf(root) {
		if slices.Contains(p.args, victim) {
			return syscall.Kill(p.pid, syscall.SIGKILL) == nil
		}
	}
	return false
}

type proc struct {
	pid  int
	args []string
}

// processesOf lists living processes whose command line names the project or
// whose working directory is in it.
func processesOf(root string) []proc {
	var found []proc
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		raw, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil || len(raw) == 0 {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		args := strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
		if slices.Contains(args, root) || cwd == root || strings.HasPrefix(cwd, root+"/") {
			found = append(found, proc{pid, args})
		}
	}
	return found
}

// scratchOf lists the directories that steps of a project left.
func scratchOf(t *testing.T, root string) (left []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, ".orch", "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile(`"marker":"([^"]+)"`).FindAllSubmatch(raw, -1)
	if len(steps) == 0 {
		t.Fatal("the log names no step")
	}
	for _, m := range steps {
		if dir := supervisor.ScratchDir(string(m[1])); exists(dir) {
			left = append(left, dir)
		}
	}
	return left
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// endState is what a run came to, without what differs from run to run: the
// result, and each task's slot, approach and status. It also checks that the
// log and what was derived from it agree, and that no process is left.
func endState(t *testing.T, root string) string {
	t.Helper()
	for _, check := range [][]string{{"verify"}, {"replay"}} {
		if out, err := orchCommand(root, check...).CombinedOutput(); err != nil {
			t.Fatalf("orch %v in %s: %v\n%s", check, root, err, out)
		}
	}
	if left := processesOf(root); len(left) > 0 {
		t.Fatalf("processes left: %v", left)
	}
	if left := scratchOf(t, root); len(left) > 0 {
		t.Fatalf("directories of dead steps left: %v", left)
	}
	var goals struct {
		Goals []struct {
			ID, Status, Directive string
			Rounds                int
		}
	}
	var tasks struct {
		Tasks []struct{ Slot, Approach, Status string }
	}
	decode(t, root, &goals, "goals", "--json")
	decode(t, root, &tasks, "task", "ls", "--all", "--json")
	var lines []string
	for _, g := range goals.Goals {
		lines = append(lines, fmt.Sprintf("goal %s %s %s %d", g.ID, g.Status, g.Directive, g.Rounds))
	}
	for _, task := range tasks.Tasks {
		if task.Status != "VOID" { // drafts of a planner that was killed
			lines = append(lines, fmt.Sprintf("task %s %s %s", task.Slot, task.Approach, task.Status))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func decode(t *testing.T, root string, v any, args ...string) {
	t.Helper()
	out, err := orchCommand(root, args...).Output()
	if err != nil {
		t.Fatalf("orch %v in %s: %v", args, root, err)
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("orch %v in %s: %v\n%s", args, root, err, out)
	}
}
