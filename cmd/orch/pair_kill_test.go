//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orch/blackboard"
	"orch/roles/run/socket"
)

// Coders, reviewers, merges: whatever is killed, and how often, no commit is
// lost, nothing is merged twice, and the branch ends as it does undisturbed.

// pairKills is how many processes one test run kills.
func pairKills() int {
	if os.Getenv("ORCH_TORTURE") != "" {
		return 120
	}
	return 20
}

// killsPerGoal bounds how often one goal is hit, so that a wrong end is known
// to come from few kills.
const killsPerGoal = 10

func TestCodingRunsKilledAtRandomMomentsEndTheSame(t *testing.T) {
	t.Parallel()
	undisturbed := newKilledPair(t)
	if r := undisturbed.run("print names"); r.code != 0 {
		t.Fatalf("undisturbed: exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	want := undisturbed.soundEnd()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("seed %d", seed)
	h := &hunter{r: rand.New(rand.NewPCG(seed, 2)), killed: map[string]int{}}
	goals := 0
	for h.total() < pairKills() {
		if goals++; goals > pairKills() {
			t.Fatalf("only %d kills in %d goals", h.total(), goals)
		}
		p := newKilledPair(t)
		h.hunt(p, min(killsPerGoal, pairKills()-h.total()))
		if got := p.soundEnd(); got != want {
			t.Fatalf("the branch ended as\n%s\nwant\n%s", got, want)
		}
	}
	t.Logf("%d kills in %d goals: %v", h.total(), goals, h.killed)
}

// An agent that somebody ends is no fault of its coder: it is started again, in
// the same worktree, and does not use up what a coder may fail.
func TestACoderWhoseAgentIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	p := newPair(t, "code: {test_command: sh check.sh}\nlimits: {crashes: 2}\n")
	p.plan("sh check.sh", task("only"))
	p.script("coder/only.sh", "echo again >> tries\ncase $(wc -l < tries) in 1) kill -9 $$ ;; 2) kill -9 $PPID ;; esac\n[ $(wc -l < tries) = 3 ] || exit 1\nrm tries\n"+p.read("coder/default.sh"))
	if r := p.run("print names"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	var ends []any
	for _, e := range p.messages("StepEnded") {
		if e["role"] == "coder" {
			ends = append(ends, e["class"])
		}
	}
	if got := fmt.Sprint(ends); got != "[killed killed done]" {
		t.Errorf("its steps ended as %s", got)
	}
	p.clean()
}

// A coder that is killed while it makes its work fit leaves its worktree as it
// is, and whoever goes on finds that.
func TestAFixThatIsCutOffIsGoneOnWith(t *testing.T) {
	t.Parallel()
	p := newPair(t, "confine: off\ncode: {test_command: sh check.sh}\nlimits: {crashes: 2}\n")
	p.file("CHANGES", "latest: none\n")
	p.commit("begin a list of changes")
	p.plan("grep left CHANGES && grep right CHANGES", task("left"), task("right"))
	p.changesInTheWay()
	for _, side := range []string{"left", "right"} {
		fix := "coder/" + side + ".fix.sh"
		p.script(fix, "if mkdir \"$PLAY/cut\" 2>/dev/null; then\n echo cut off >> CHANGES\n above() { sed -n 's/^PPid:[[:space:]]*//p' /proc/$1/status; }\n kill -9 $(above $(above $PPID))\n sleep 60\nfi\n"+p.read(fix))
	}
	if r := p.run("print names"); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	cut, failed := 0, len(p.messages("IntegrationFailed"))
	for _, e := range p.messages("StepEnded") {
		if e["class"] == "killed" {
			cut++
		}
	}
	if cut != 1 || failed != 1 {
		t.Errorf("%d steps were killed and %d merges failed, want one of each", cut, failed)
	}
	p.clean()
}

func TestACodingRunKilledAfterItsGoalEndedLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newKilledPair(t)
	run := p.start("run", "--profile", "code", "--spec", "spec.md", "print names")
	p.until("FinalResult", run)
	if err := syscall.Kill(run.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
	run.wait(t)
	(&hunter{r: rand.New(rand.NewPCG(1, 2))}).hunt(p, 0)
	p.soundEnd()
}

// newKilledPair is six tasks: one waits for another, two do not fit together,
// one is sent back once. What its scripts come to does not depend on how often
// they were cut off, nor on the order of the tasks.
func newKilledPair(t *testing.T) *pair {
	t.Helper()
	p := newPair(t, "code: {test_command: sh check.sh, coders: 3, reviewers: 2}\nlimits: {jobs: 4, crashes: 50}\n")
	if err := os.Mkdir(tempOf(p.root), 0o700); err != nil {
		t.Fatal(err)
	}
	p.file("CHANGES", "latest: none\n")
	p.commit("begin a list of changes")
	p.plan("sh check.sh && sh lib/then.sh && grep left CHANGES && grep right CHANGES",
		task("base"), task("then", "base"), task("plain"), task("once"), task("left"), task("right"))
	p.changesInTheWay()
	p.script("coder/once.sh", "mkdir -p lib tests\nn=$ITERATION\n[ $n = 1 ] || n=2\necho \"echo once # $n\" > lib/once.sh\necho 'sh lib/once.sh' > tests/once.sh\n"+
		commitAnd("Add once")+submitWork)
	p.script("code-reviewer/once.sh", "grep -q '# 2' lib/once.sh && echo approve || echo reject lib/once.sh 1 it is not the second try\n")
	return p
}

// changesInTheWay lets two tasks change one line, in words that are the same in the end.
// To make them fit, whoever was cut off in the middle of a merge begins it anew:
// git merges nothing over changes that are not committed.
func (p *pair) changesInTheWay() {
	for side, other := range map[string]string{"left": "right", "right": "left"} {
		p.script("coder/"+side+".sh", "if grep -q "+other+" CHANGES; then printf 'latest: left\\nlatest: right\\n' > CHANGES; else echo 'latest: "+side+"' > CHANGES; fi\n"+work)
		p.script("coder/"+side+".fix.sh", "git reset -q --hard\ngit merge -q \"$INTEGRATION\" >/dev/null 2>&1 || true\nprintf 'latest: left\\nlatest: right\\n' > CHANGES\n"+
			commitAnd("Name both")+submitWork)
	}
}

// soundEnd fails unless everything is merged, once, nothing is lost and nothing
// is left. It returns what is on the branch.
func (p *pair) soundEnd() string {
	p.t.Helper()
	p.clean()
	p.nothingLeft()
	p.everyCommitIsThere()
	merged := map[string]int{}
	for _, m := range p.messages("Merged") {
		merged[m["task"].(string)]++
	}
	for line := range strings.Lines(p.git("log", "--first-parent", "--merges", "--format=%b", "integration")) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "Task: "); ok {
			merged[id] += 100
		}
	}
	for _, slot := range p.wanted() {
		task := p.tasks()[slot]
		if task.Status != "MERGED" || merged[task.ID] != 101 {
			p.t.Errorf("%s is %s, merged %d times, said so %d times", slot, task.Status, merged[task.ID]/100, merged[task.ID]%100)
		}
	}
	return p.git("ls-tree", "-r", "integration")
}

// wanted are the slots of what was planned.
func (p *pair) wanted() []string {
	var slots []string
	for _, m := range p.messages("SubTask") {
		if s := m["slot"].(string); !slices.Contains(slots, s) {
			slots = append(slots, s)
		}
	}
	return slots
}

// nothingLeft fails if a process works in a worktree, or a temporary directory
// of orch's is there.
func (p *pair) nothingLeft() {
	p.t.Helper()
	if left := p.processes(""); len(left) > 0 {
		p.t.Errorf("processes left: %v", left)
	}
	entries, err := os.ReadDir(tempOf(p.root))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == filepath.Base(socket.Folder()) { // the folder stays, what was in it does not
			sockets, err := os.ReadDir(filepath.Join(tempOf(p.root), e.Name()))
			if err != nil || len(sockets) > 0 {
				p.t.Errorf("left in the folder of sockets: %v %v", sockets, err)
			}
		} else if strings.HasPrefix(e.Name(), "orch-") {
			p.t.Errorf("left in the temporary folder: %s", e.Name())
		}
	}
}

// supervising is the kind of orch run itself.
const supervising = "run"

// kinds are what is killed, by a word of its command line.
var kinds = []string{supervising, "integrate", "coder", "code-reviewer", "planner", "agent", "ggs", "meta-validator"}

// processes are the living processes of a kind; of all, for the empty kind.
func (p *pair) processes(kind string) (found []proc) {
	for _, proc := range processesOf(filepath.Dir(p.root)) {
		player := slices.ContainsFunc(proc.args, func(a string) bool { return strings.Contains(a, p.play) })
		switch kind {
		case "":
		case "agent":
			if !player {
				continue
			}
		default:
			if player || !slices.Contains(proc.args, kind) {
				continue
			}
		}
		found = append(found, proc)
	}
	return found
}

// hunter kills processes of runs.
type hunter struct {
	r      *rand.Rand
	killed map[string]int
}

func (h *hunter) total() (n int) {
	for _, k := range h.killed {
		n += k
	}
	return n
}

// hunt works on a goal until it ends, killing up to n processes on the way.
func (h *hunter) hunt(p *pair, n int) {
	p.t.Helper()
	for range 3 * killsPerGoal {
		args := []string{"run", "--profile", "code", "--spec", "spec.md", "print names"}
		switch g := p.goals(); {
		case len(g) > 0 && g[0].Status == string(blackboard.GoalEnded):
			// It was killed between the end of its goal and its own.
			until(p.t, "what it started leaves", func() bool { return len(p.processes("")) == 0 })
			p.orch("run", "--continue").want(p.t, 0, "ended       print_names", "result      done", "take it     git merge integration")
			if r := p.orch("gc"); r.code != 0 {
				p.t.Fatalf("gc: exit %d\n%s\n%s", r.code, r.out, r.err)
			}
			return
		case len(g) > 0:
			args = []string{"run", "--continue"}
		}
		before := h.total()
		r, dead := h.disturb(p, args, n)
		n -= h.total() - before
		if !dead {
			if r.code != 0 {
				p.t.Fatalf("exit %d after %v\n%s\n%s", r.code, h.killed, r.out, r.err)
			}
			return
		}
	}
	p.t.Fatal("the run does not end")
}

// disturb runs orch until it ends or is killed itself.
func (h *hunter) disturb(p *pair, args []string, n int) (r ran, dead bool) {
	p.t.Helper()
	run := p.start(args...)
	kind, patience := h.next()
	for wait := h.r.IntN(400); n > 0 && !dead; wait = 20 + h.r.IntN(200) {
		select {
		case <-run.ended:
			return run.wait(p.t), false
		case <-time.After(time.Duration(wait) * time.Millisecond):
		}
		if h.kill(p, kind, run.cmd.Process.Pid) {
			h.killed[kind]++
			n, dead = n-1, kind == supervising
			patience = 0
		}
		if patience--; patience < 0 {
			kind, patience = h.next()
		}
	}
	return run.wait(p.t), dead
}

// next is what is killed next, and how often one is looked for in vain.
func (h *hunter) next() (kind string, patience int) {
	return kinds[h.r.IntN(len(kinds))], 5 + h.r.IntN(10)
}

// kill ends one process of a kind, if there is one.
func (h *hunter) kill(p *pair, kind string, supervisor int) bool {
	if kind == supervising {
		return syscall.Kill(supervisor, syscall.SIGKILL) == nil
	}
	found := p.processes(kind)
	return len(found) > 0 && syscall.Kill(found[h.r.IntN(len(found))].pid, syscall.SIGKILL) == nil
}

// goals are the goals of the board; none where there is no board yet.
func (p *pair) goals() []struct{ ID, Status string } {
	if !exists(filepath.Join(p.root, ".orch", "log.jsonl")) {
		return nil
	}
	var all struct{ Goals []struct{ ID, Status string } }
	decode(p.t, p.root, &all, "goals", "--json")
	return all.Goals
}

// commitAnd commits what is there, also where it was cut off before.
func commitAnd(subject string) string {
	return fmt.Sprintf("git add -A\nif [ -f .git/MERGE_HEAD ] || ! git diff --cached --quiet; then git commit -qm '%s'; fi\n", subject)
}

const submitWork = "orch submit >/dev/null\n"
