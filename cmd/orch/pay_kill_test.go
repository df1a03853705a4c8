//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/think/fakemodel"
)

// Payments are calls that must not be made twice. Whatever is killed at whatever
// moment, each is made once; where nobody can know, a person is asked, and the
// result names the call.

// bills is what a goal of n tasks has to pay, one line of the ledger each.
func bills(tasks int) (all []string) {
	for i := range tasks {
		for _, part := range []string{"first", "second"} {
			all = append(all, fmt.Sprintf("%s-%d", part, i))
		}
	}
	return all
}

func payment(bill string) string { return "sh pay.sh " + bill }

// payers make the payments of a project: by a playbook, a model behind a server
// and an agent program.
var payers = map[string]func(t *testing.T, tasks int) (config, playbook string){
	"playbook": func(_ *testing.T, tasks int) (string, string) {
		var b strings.Builder
		b.WriteString("name: pay\ndescribe: pay the bills\nexamples: [pay the bills]\nmatch: {words: [[pay], [bills]]}\n")
		fmt.Fprintf(&b, "task_criteria: [{criterion: all is paid, check: {file: {path: ledger-%[1]d, contains: second-%[1]d}}}]\nsubtasks:\n", tasks-1)
		for i := range tasks {
			first, second := bills(tasks)[2*i], bills(tasks)[2*i+1]
			fmt.Fprintf(&b, "  - slot: pay-%d\n    intent: pay\n    sequence: 1\n    targets: ledger-%[1]d\n", i)
			fmt.Fprintf(&b, "    criteria: [{criterion: %[1]s is paid, check: {file: {path: ledger-%[2]d, contains: %[1]s}}}]\n", second, i)
			fmt.Fprintf(&b, "    approaches:\n      - {name: by-hand, describe: pay, target: bills-%d, steps: [{run: %s}, {run: %s}]}\n", i, payment(first), payment(second))
		}
		return "limits: {kills: 200}\n", b.String()
	},
	"model": func(t *testing.T, tasks int) (string, string) {
		return "models: {default: " + asked(serve(t, paying(tasks)), "openai", "/v1", "true") + "}\n" + quick, ""
	},
	"agent": func(t *testing.T, tasks int) (string, string) {
		script := filepath.Join(t.TempDir(), "agent.sh")
		var commands []string
		for _, bill := range bills(tasks) {
			commands = append(commands, payment(bill))
		}
		write(t, script, fmt.Sprintf("#!/bin/sh\nexport FAKEAGENT_CALLS='%s'\nexec %s --as claude calls \"$@\"\n", strings.Join(commands, "\n"), fakeAgent()))
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
		return "models: {default: " + asked(serve(t, paying(1)), "openai", "/v1", "true") + ", executor: {" + ways["exec"] + "command: " + script + "}}}\n" + quick, ""
	},
}

// paying is a model that plans the payments and makes them one by one. It goes
// on behind what it is told was made.
func paying(tasks int) []fakemodel.Rule {
	all := bills(tasks)
	var plan []string
	for i := range tasks {
		plan = append(plan, fmt.Sprintf(`{"slot":"pay-%[1]d","intent":"pay %[2]s, then %[3]s","approach":"by-hand","target":"bills-%[1]d","targets":["ledger-%[1]d"],
 "criteria":[{"criterion":"%[3]s is paid","check":{"file":{"path":"ledger-%[1]d","contains":"%[3]s"}}}]}`, i, all[2*i], all[2*i+1]))
	}
	pay := func(r fakemodel.Request) fakemodel.Reply {
		for i, bill := range all {
			made := !strings.Contains(r.Turns[0].Text, fmt.Sprintf("pay %s, then", all[i&^1])) || strings.Contains(r.Turns[0].Text, "`"+payment(bill)+"`\n[exit")
			for _, turn := range r.Turns[1:] {
				made = made || turn.Role == "assistant" && strings.Contains(turn.Text, payment(bill))
			}
			if !made {
				return *calls("shell", map[string]any{"command": payment(bill)})
			}
		}
		return *text(`{"status":"completed","output":"all paid"}`)
	}
	return []fakemodel.Rule{
		says("perceiver", asPerceiver, `{"intent":"pay the bills","tags":["bills"]}`),
		says("candidates", asCandidates, `{"candidates":[{"tool":"by-hand","target":"bills-0"}]}`),
		says("planner", asPlanner, `{"task_criteria":[{"criterion":"all is paid","check":{"file":{"path":"ledger-`+fmt.Sprint(tasks-1)+`","contains":"`+all[len(all)-1]+`"}}}],"tasks":[`+strings.Join(plan, ",")+`]}`),
		{Name: "executor", When: fakemodel.When{System: asExecutor}, Func: pay},
		says("merger", asMerger, `{"summary":"all is paid","output":"all is paid"}`),
	}
}

// till is a project with bills to pay.
type till struct {
	t     *testing.T
	root  string
	by    string
	tasks int
	jobs  int
	asked map[string]bool // calls that a person was asked about
}

func newTill(t *testing.T, by string, tasks, jobs int) *till {
	t.Helper()
	config, playbook := payers[by](t, tasks)
	p := &till{t: t, root: project(t, config), by: by, tasks: tasks, jobs: jobs, asked: map[string]bool{}}
	if playbook != "" {
		writeBelow(t, filepath.Join(p.root, ".orch", "playbooks", "pay.yaml"), playbook)
	}
	write(t, filepath.Join(p.root, "pay.sh"), "sleep 0.02\necho $1 >> ledger-${1#*-}\nsync ledger-${1#*-}\nsleep 0.02\n")
	return p
}

// lines counts the records of the log.
func (p *till) lines() int {
	raw, err := os.ReadFile(filepath.Join(p.root, blackboard.DirName, "log.jsonl"))
	if err != nil {
		return 0
	}
	return bytes.Count(raw, []byte("\n"))
}

// ledger is what was paid.
func (p *till) ledger() (paid []string) {
	p.t.Helper()
	for i := range p.tasks {
		raw, err := os.ReadFile(filepath.Join(p.root, fmt.Sprintf("ledger-%d", i)))
		if err != nil && !os.IsNotExist(err) {
			p.t.Fatal(err)
		}
		paid = append(paid, strings.Fields(string(raw))...)
	}
	return paid
}

// run brings the goal to its end. hit is called again and again while a
// supervisor runs; it tells whether it killed that.
func (p *till) run(hit func(supervisor int) (dead bool)) {
	p.t.Helper()
	for range 60 {
		args := []string{"run", "--jobs", fmt.Sprint(p.jobs), "pay the bills"}
		if hasGoal(p.root) {
			args = []string{"run", "--jobs", fmt.Sprint(p.jobs), "--continue"}
		}
		code, dead, out := p.once(args, hit)
		switch {
		case dead:
			until(p.t, "what it started leaves", func() bool { return len(processesOf(p.root)) == 0 })
			if hasGoal(p.root) && !hasGoal(p.root, "--open") {
				return
			}
		case code == exitOK:
			return
		case code == exitSuspended && p.answer() > 0:
		default:
			p.t.Fatalf("%v in %s: exit %d\n%s", args, p.root, code, out)
		}
	}
	p.t.Fatalf("the run in %s does not end", p.root)
}

func (p *till) once(args []string, hit func(int) bool) (code int, dead bool, out string) {
	p.t.Helper()
	cmd := orchCommand(p.root, args...)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case <-ended:
			code := cmd.ProcessState.ExitCode()
			return code, dead && code != exitOK, both.String()
		case <-time.After(time.Millisecond):
		}
		if !dead {
			dead = hit(cmd.Process.Pid)
		}
	}
}

// answer is a person who looks into the ledger and says the truth about each
// call that is asked about.
func (p *till) answer() (answered int) {
	p.t.Helper()
	var open struct {
		Approvals []struct {
			Request string
			Input   json.RawMessage
		}
	}
	decode(p.t, p.root, &open, "allow", "--json")
	for _, a := range open.Approvals {
		var in tool.ShellInput
		if err := json.Unmarshal(a.Input, &in); err != nil {
			p.t.Fatal(err)
		}
		bill := strings.TrimPrefix(in.Command, payment(""))
		if !strings.HasPrefix(a.Request, "again-") || !slices.Contains(bills(p.tasks), bill) {
			p.t.Fatalf("a person is asked about %s: %s", a.Request, a.Input)
		}
		word := "allow"
		if slices.Contains(p.ledger(), bill) {
			word = "deny"
		}
		p.asked[in.Command] = true
		orch(p.t, p.root, word, a.Request).want(p.t, exitOK)
		answered++
	}
	return answered
}

// paidOnce fails unless each bill was paid once. What an agent did while it was
// killed is only observed: there the result may name its run instead.
func (p *till) paidOnce(how string) (inDoubt int) {
	p.t.Helper()
	ends := bodies[message.FinalResult](p.t, p.root, "FinalResult")
	if len(ends) != 1 || ends[0].Directive != message.Accept {
		p.t.Errorf("%s: ended as %+v", how, ends)
		return 0
	}
	named := strings.Join(ends[0].InDoubt, "\n")
	times := map[string]int{}
	for _, bill := range p.ledger() {
		times[bill]++
	}
	for _, bill := range bills(p.tasks) {
		excused := p.by == "agent" && times[bill] > 1 && strings.Contains(named, "agent:")
		if times[bill] != 1 && !excused {
			p.t.Errorf("%s: %s was paid %d times; in doubt: %s; %s", how, bill, times[bill], named, p.root)
		}
	}
	for call := range p.asked {
		if !strings.Contains(named, "`"+call+"`") {
			p.t.Errorf("%s: a person was asked about %s, and the result names %q", how, call, named)
		}
	}
	orch(p.t, p.root, "verify").want(p.t, exitOK)
	orch(p.t, p.root, "replay").want(p.t, exitOK)
	if left := processesOf(p.root); len(left) > 0 {
		p.t.Errorf("%s: processes left: %v", how, left)
	}
	return len(ends[0].InDoubt)
}

// The first process of each kind is killed when the log has its n-th line, at
// once or while a payment that the line begins is under way, for every n of a run.
func TestPaymentsUnderAKillAtEachMessage(t *testing.T) {
	t.Parallel()
	for by := range payers {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			undisturbed := newTill(t, by, 1, 1)
			undisturbed.run(func(int) bool { return false })
			undisturbed.paidOnce("undisturbed")
			lines := undisturbed.lines()
			for _, victim := range []string{"supervisor", "step", "ggs", "memory"} {
				t.Run(victim, func(t *testing.T) {
					t.Parallel()
					payAtEach(t, by, victim, lines)
				})
			}
		})
	}
}

// payAtEach kills at every line; only at some where there is little time.
func payAtEach(t *testing.T, by, victim string, lines int) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 3))
	at := r.Perm(lines)
	if os.Getenv("ORCH_TORTURE") == "" {
		at = at[:map[string]int{"supervisor": 2, "step": 2}[victim]]
	}
	killed, doubts := 0, 0
	for _, n := range at {
		p := newTill(t, by, 1, 1)
		hit, later := false, time.Duration(r.IntN(2)*35)*time.Millisecond
		var seen time.Time
		p.run(func(supervisor int) bool {
			if hit || p.lines() <= n {
				return false
			}
			if seen.IsZero() {
				seen = time.Now()
			}
			if time.Since(seen) < later {
				return false
			}
			if hit = kill(p.root, victim, supervisor); hit {
				killed++
			}
			return hit && victim == "supervisor"
		})
		doubts += p.paidOnce(fmt.Sprintf("seed %d, %s killed at line %d", seed, victim, n+1))
	}
	t.Logf("%d lines, %d kills, %d calls in doubt", len(at), killed, doubts)
}

// paymentKills is how many random kills one test run makes with each number of jobs.
func paymentKills() int {
	if os.Getenv("ORCH_TORTURE") != "" {
		return 67 // 200 over 1, 4 and 8 jobs
	}
	return 3
}

func TestPaymentsUnderRandomKills(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 4, 8} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			r := rand.New(rand.NewPCG(seed, 4))
			killed, doubts, goals := 0, 0, 0
			for ; killed < paymentKills(); goals++ {
				if goals > 2*paymentKills() {
					t.Fatalf("only %d kills in %d goals", killed, goals)
				}
				by := []string{"playbook", "model"}[goals%2]
				p := newTill(t, by, jobs, jobs)
				left := min(3, paymentKills()-killed)
				next := time.Now().Add(time.Duration(r.IntN(1500)) * time.Millisecond)
				p.run(func(supervisor int) bool {
					if left == 0 || time.Now().Before(next) {
						return false
					}
					next = time.Now().Add(time.Duration(r.IntN(1500)) * time.Millisecond)
					victim := []string{"supervisor", "step", "step", "ggs", "memory"}[r.IntN(5)]
					if !kill(p.root, victim, supervisor) {
						return false
					}
					left--
					killed++
					return victim == "supervisor"
				})
				doubts += p.paidOnce(fmt.Sprintf("seed %d, %d jobs, goal %d by %s", seed, jobs, goals, by))
			}
			t.Logf("%d kills in %d goals, %d calls in doubt", killed, goals, doubts)
		})
	}
}
