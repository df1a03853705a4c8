//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Whoever works on a board beside a living supervisor, and however little of
// the machine it can see, takes nothing from that: each payment is made once and
// the goal ends as if nobody had come.

// visitedRuns is how many runs one test run makes of each of four kinds: 100 in
// all where there is time.
func visitedRuns() int {
	if os.Getenv("ORCH_TORTURE") != "" {
		return 25
	}
	return 1
}

// visit is a run of one supervisor beside which others are started.
type visit struct {
	*till
	all []*sibling
}

// sibling is one process that supervises the run.
type sibling struct {
	how   string
	cmd   *exec.Cmd
	out   output
	ended time.Time
	done  chan struct{}
}

func (v *visit) start(how string, cmd *exec.Cmd) *sibling {
	v.t.Helper()
	s := &sibling{how: how, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &s.out, &s.out
	if err := cmd.Start(); err != nil {
		v.t.Fatalf("%s: %v", how, err)
	}
	go func() {
		_ = cmd.Wait() // the exit code is looked at
		s.ended = time.Now()
		close(s.done)
	}()
	v.all = append(v.all, s)
	return s
}

// under starts another supervisor by a shell that prepares for it.
func (v *visit) under(how, prepare string, attr *syscall.SysProcAttr) *sibling {
	cmd := orchCommand(v.root)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", prepare + ` && exec "$0" "$@"`, program, "run", "--jobs", fmt.Sprint(v.jobs), "--continue"}
	cmd.SysProcAttr = attr
	return v.start(how, cmd)
}

// visitors come to a run once its first task is worked on. Which of the n-th run
// they are is drawn from an order of the numbers below 49.
var visitors = map[string]func(v *visit, r *rand.Rand, n int, order []int){
	"few descriptors": func(v *visit, _ *rand.Rand, n int, order []int) {
		for i := range 2 {
			limit := 16 + order[(2*n+i)%len(order)] // each of 16 to 64 in 25 runs
			v.under(fmt.Sprintf("ulimit -n %d", limit), fmt.Sprintf("ulimit -n %d", limit), nil)
		}
	},
	"hidden proc": func(v *visit, _ *rand.Rand, n int, _ []int) {
		one := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
		attr := &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: one(os.Getuid()), GidMappings: one(os.Getgid()),
		}
		if n%5 == 4 {
			v.under("without /proc", "mount -t tmpfs none /proc", attr)
			return
		}
		var hide []string
		for _, p := range processesOf(v.root) {
			// One that has just ended has nothing to hide.
			hide = append(hide, fmt.Sprintf("{ mount -t tmpfs none /proc/%[1]d || ! test -d /proc/%[1]d; }", p.pid))
		}
		v.under("blind to the living", strings.Join(hide, " && "), attr)
	},
	"stopped": func(v *visit, r *rand.Rand, _ int, _ []int) {
		first := v.all[0].cmd.Process
		if err := first.Signal(syscall.SIGSTOP); err != nil {
			v.t.Fatal(err)
		}
		v.under("beside one that is stopped", "true", nil)
		time.Sleep(time.Duration(500+r.IntN(2500)) * time.Millisecond)
		if err := first.Signal(syscall.SIGCONT); err != nil {
			v.t.Fatal(err)
		}
	},
	"four at once": func(v *visit, _ *rand.Rand, _ int, _ []int) {
		for range 4 {
			v.under("one of four", "true", nil)
		}
	},
}

func TestNobodyTakesATaskFromTheLiving(t *testing.T) {
	t.Parallel()
	for kind, come := range visitors {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if kind == "hidden proc" && !machine(t).Namespace {
				t.Log("not tried, this machine has no namespaces")
				return
			}
			r := seeded(t)
			order, exits := r.Perm(49), map[string]int{}
			for n := range visitedRuns() {
				v := newVisit(t, 4)
				at := 12 + r.IntN(30)
				until(t, "the run begins", func() bool { return v.lines() > at || v.all[0].over() })
				come(v, r, n, order)
				v.wait()
				for _, s := range v.all[1:] {
					exits[fmt.Sprintf("%s: exit %d", s.how, s.cmd.ProcessState.ExitCode())]++
				}
				for _, step := range v.sound(fmt.Sprintf("%s, run %d", kind, n)) {
					t.Logf("run %d: %s", n, step)
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d runs; the others ended with %v", visitedRuns(), exits)
		})
	}
}

// newVisit is a run with as many tasks at once, each of some hundred milliseconds.
func newVisit(t *testing.T, tasks int) *visit {
	t.Helper()
	v := &visit{till: newTill(t, "playbook", tasks, tasks)}
	write(t, filepath.Join(v.root, "pay.sh"), "sleep 0.3\necho $1 >> ledger-${1#*-}\nsync ledger-${1#*-}\nsleep 0.1\n")
	v.start("first", orchCommand(v.root, "run", "--jobs", fmt.Sprint(tasks), "pay the bills"))
	return v
}

// Eight tasks that begin at once do not crash each other: every step of the run
// ends well at its first try.
func TestEightTasksAtOnceEndWell(t *testing.T) {
	t.Parallel()
	runs := 1
	if os.Getenv("ORCH_TORTURE") != "" {
		runs = 20
	}
	for n := range runs {
		v := &visit{till: newTill(t, "playbook", 8, 8)}
		v.start("the only one", orchCommand(v.root, "run", "--jobs", "8", "pay the bills"))
		v.wait()
		if unwell := v.sound(fmt.Sprintf("run %d", n)); len(unwell) > 0 {
			t.Errorf("run %d: ended otherwise in %s:\n%s", n, v.root, strings.Join(unwell, "\n"))
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d runs", runs)
}

func (s *sibling) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (v *visit) wait() {
	v.t.Helper()
	for _, s := range v.all {
		select {
		case <-s.done:
		case <-time.After(runLimit):
			_ = s.cmd.Process.Kill() // the test fails in any case
			v.t.Fatalf("%s does not end in %s:\n%s", s.how, v.root, s.out.String())
		}
	}
}

// sound fails unless the run is as one that nobody came to. It returns the steps
// that did not end well.
func (v *visit) sound(how string) (unwell []string) {
	v.t.Helper()
	if code := v.all[0].cmd.ProcessState.ExitCode(); code != exitOK {
		v.t.Errorf("%s: the first ended with %d in %s:\n%s", how, code, v.root, v.all[0].out.String())
	}
	for _, s := range v.all {
		said := s.out.String()
		for _, word := range []string{"panic:", "fatal error:", "goroutine ", "fault of orch"} {
			if strings.Contains(said, word) {
				v.t.Errorf("%s: %s crashed in %s:\n%s", how, s.how, v.root, said)
			}
		}
		if code := s.cmd.ProcessState.ExitCode(); code != exitOK && (code != exitInternal && code != exitUsage || !strings.Contains(said, "error: ")) {
			v.t.Errorf("%s: %s ended with %d in %s:\n%s", how, s.how, code, v.root, said)
		}
	}
	if reports, err := filepath.Glob(filepath.Join(v.root, blackboard.DirName, blackboard.RunDir, "crash-*")); err != nil || len(reports) > 0 {
		v.t.Errorf("%s: reports of crashes: %v %v", how, reports, err)
	}
	v.paidOnce(how)
	return v.untaken(how)
}

// onLog is what the reader of the log knows of a message.
type onLog struct {
	Seq     uint64
	TS      time.Time
	Type    message.Type
	Payload aboutStep
}

type aboutStep struct {
	Role    message.Role
	Subject string
	Cause   message.ID
	Task    string
	Class   string
	Detail  string
	Holder  message.Process
}

func (s aboutStep) key() string { return fmt.Sprint(s.Role, " ", s.Subject, " ", s.Cause) }

// untaken reads the log by itself and fails if anybody lost a step, a claim or
// a registration while who held it lived.
func (v *visit) untaken(how string) (unwell []string) {
	v.t.Helper()
	raw, err := os.ReadFile(filepath.Join(v.root, blackboard.DirName, "log.jsonl"))
	if err != nil {
		v.t.Fatal(err)
	}
	claims := map[string]string{} // the latest step on each task
	works := map[string]onLog{}   // by what asks for them
	for line := range bytes.Lines(raw) {
		var m onLog
		if err := json.Unmarshal(line, &m); err != nil {
			v.t.Fatalf("%s: %v", line, err)
		}
		p := m.Payload
		switch {
		case m.Type == "StepStarting":
			if other, two := works[p.key()]; two {
				v.t.Errorf("%s: message %d starts %s on %s beside that of message %d in %s", how, m.Seq, p.Role, p.Subject, other.Seq, v.root)
			}
			works[p.key()] = m
			claims[p.Subject] = p.key()
		case m.Type == "LeaseLapsed":
			v.gone(how, m, works[claims[p.Task]])
		case m.Type == "StepEnded":
			if p.Class != message.EndDone {
				unwell = append(unwell, fmt.Sprintf("message %d: %s on %s: %s: %s", m.Seq, p.Role, p.Subject, p.Class, p.Detail))
			}
			if p.Class == message.EndLost {
				v.gone(how, m, works[p.key()])
			}
			delete(works, p.key())
		}
	}
	return unwell
}

// slack is how long after a process its parent may notice that it has ended.
const slack = time.Second

// gone fails unless the supervisor of a step had ended when the step was taken
// for lost. A supervisor that ends well leaves no step.
func (v *visit) gone(how string, m, step onLog) {
	v.t.Helper()
	for _, s := range v.all {
		if s.cmd.Process.Pid != step.Payload.Holder.PID {
			continue
		}
		if s.cmd.ProcessState.ExitCode() == exitOK || s.ended.Sub(m.TS) > slack {
			v.t.Errorf("%s: message %d (%s) takes %s from %s, which lives, in %s", how, m.Seq, m.Type, step.Payload.Subject, s.how, v.root)
		}
		return
	}
	v.t.Errorf("%s: message %d (%s) is about a step of nobody's in %s", how, m.Seq, m.Type, v.root)
}
