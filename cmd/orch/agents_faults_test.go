//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

// fakeAgent is the agent program that behaves as it is told to, built once.
var fakeAgent = sync.OnceValue(func() string {
	path := filepath.Join(filepath.Dir(program), "fakeagent")
	if out, err := exec.Command("go", "build", "-o", path, "orch/scripts/fakeagent").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return path
})

// ways are how an agent program is driven: over its own events, over the
// protocol, and as a script that reads and writes JSON.
var ways = map[string]string{
	"exec": "backend: exec, options: {preset: claude, ",
	"acp":  "backend: acp, options: {",
	"json": "backend: exec, options: {format: json, ",
}

// agentEntry is an entry of models that is the fake agent in a mode, and the
// file in which it notes what it leaves.
func agentEntry(t *testing.T, way, mode string) (entry, pids string) {
	t.Helper()
	dir := t.TempDir()
	as := strings.Replace(way, "exec", "claude", 1)
	script, pids := filepath.Join(dir, "agent.sh"), filepath.Join(dir, "pids")
	write(t, script, fmt.Sprintf("#!/bin/sh\nexport FAKEAGENT_PIDS=%s\nexec %s --as %s --write hello.txt %s \"$@\"\n", pids, fakeAgent(), as, mode))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	idle := "120000"
	if mute[mode] {
		idle = "1500"
	}
	if mode == "limit-retry" { // it has to say so before it is mute
		idle = "10000"
	}
	return fmt.Sprintf("{%scommand: %s, timeout_ms: %q, idle_ms: %q, linger_ms: \"300\"}}", ways[way], script, "240000", idle), pids
}

// mute are the modes that only the idle limit ends.
var mute = map[string]bool{"silent": true, "hang": true, "limit-retry": true, "lies-on-term": true}

// byHand is greeting for an executor whose result says hi.
func byHand() []fakemodel.Rule {
	rules := greeting()
	for i := range rules {
		reply := *rules[i].Reply
		reply.Text = strings.NewReplacer(`"contains":"hello"`, `"contains":"hi"`, `"quote":"hello dear friend"`, `"quote":"hi"`).Replace(reply.Text)
		rules[i].Reply = &reply
	}
	return rules
}

// agentProject is a project in which an agent in a mode plays a role, and a
// model every other one.
func agentProject(t *testing.T, role message.Role, way, mode, limits string) (root, pids string) {
	t.Helper()
	srv := serve(t, byHand())
	entry, pids := agentEntry(t, way, mode)
	config := "models: {default: " + asked(srv, "openai", "/v1", "true") + ", " + string(role) + ": " + entry + "}" +
		strings.Replace(quick, "crashes: 1", "crashes: 1, "+limits, 1)
	return project(t, config), pids
}

// nobodyLeft asserts that no process that the agent noted lives.
func nobodyLeft(t *testing.T, pids string) {
	t.Helper()
	raw, err := os.ReadFile(pids)
	if err != nil {
		return // it noted none
	}
	for _, f := range strings.Fields(string(raw)) {
		var pid int
		if fmt.Sscan(f, &pid); syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d that the agent left lives", pid)
		}
	}
}

// What becomes of a run whose executor is an agent that fails, and how the
// failure is called.
const (
	accepted = "accepted"      // it behaves badly, and did what it was asked
	claimed  = "claimed"       // it says that it did it: checks decide
	environ  = "environmental" // its attempt failed, for want of an agent
	needsYou = "needs you"     // a person has to mend something
	outage   = "outage"        // its provider fails, and it says so by an event
)

var agentFaults = map[string]string{
	"children": accepted, "stubborn": accepted, "stays": accepted, "garbage": accepted, "chatty": accepted,
	"cheat": claimed, "wrong": claimed, "denied": claimed,
	"auth": needsYou, "forbidden": needsYou,
	"limit-open": needsYou, "no-credit": needsYou,
	"overloaded": outage, "server": outage, "unreachable": outage, "error": environ, "silent": environ, "hang": environ,
	"lies-on-term": environ, "crash": environ, "quiet": environ, "noresult": environ, "empty": environ, "huge": environ, "babble": environ,
}

func TestAFaultOfAnActingAgent(t *testing.T) {
	t.Parallel()
	for mode, want := range agentFaults {
		for _, way := range []string{"exec", "acp"} {
			t.Run(mode+" "+way, func(t *testing.T) {
				t.Parallel()
				root, pids := agentProject(t, message.Executor, way, mode, "corrections: 0")
				r := orch(t, root, "run", "--max-replans", "1", "greet me")
				nobodyLeft(t, pids)
				switch want {
				case accepted:
					r.want(t, 0, "result      done")
					orch(t, root, "verify").want(t, 0)
					return
				case needsYou:
					r.want(t, 4, "needs-you", "orch resume")
				case outage:
					r.givenUpWaiting(t, root, message.Executor)
				default:
					r.want(t, 3, "given up")
					for _, e := range results(t, root) {
						if want == claimed && e.Status != message.Completed {
							t.Errorf("its claim is %q: %s", e.Status, e.Reason)
						}
						if want == environ && (e.Status != message.Failed || e.Class != message.Environmental || e.Reason == "") {
							t.Errorf("%s as %s: %q", e.Status, e.Class, e.Reason)
						}
					}
				}
				nothingAccepted(t, root, r)
			})
		}
	}
}

// An agent that thinks: what it says is read as any model's answer, and what
// its failure is called decides what follows. A judge's agent that gives no
// verdict fails nothing and passes nothing.
func TestAFaultOfAThinkingAgent(t *testing.T) {
	t.Parallel()
	const again, mend, failed, outage, unjudged = "failed 1 times", "needs-you", "given up", "no answer", "is not judged"
	for _, c := range []struct {
		role   message.Role
		way    string
		mode   string
		follow string
	}{
		{message.Planner, "exec", "forbidden", mend}, {message.Planner, "exec", "hang", again}, {message.Planner, "exec", "huge", again},
		{message.Planner, "exec", "empty", failed}, {message.Planner, "exec", "wrong", failed}, {message.Planner, "exec", "cheat", failed},
		{message.Planner, "json", "auth", mend}, {message.Planner, "json", "crash", again}, {message.Planner, "json", "babble", failed}, {message.Planner, "json", "wrong", failed},
		{message.AgentValidator, "acp", "auth", mend}, {message.AgentValidator, "acp", "overloaded", outage}, {message.AgentValidator, "acp", "unreachable", outage},
		{message.AgentValidator, "acp", "huge", unjudged}, {message.AgentValidator, "acp", "wrong", unjudged}, {message.AgentValidator, "acp", "cheat", unjudged},
	} {
		t.Run(fmt.Sprintf("%s %s %s", c.mode, c.way, c.role), func(t *testing.T) {
			t.Parallel()
			root, pids := agentProject(t, c.role, c.way, c.mode, "corrections: 0, plan_rejections: 1")
			r := orch(t, root, "run", "--max-replans", "1", "--strict", "greet me")
			nobodyLeft(t, pids)
			r.want(t, map[string]int{again: 4, mend: 4, unjudged: 4, failed: 3, outage: 4}[c.follow], c.follow)
			nothingAccepted(t, root, r)
		})
	}
}

// Somebody ends an agent: that is no attempt, no verdict and no crash of it.
// The step is started again, as often as limits.kills says.
func TestAKilledAgentIsStartedAgain(t *testing.T) {
	t.Parallel()
	for role, ways := range map[message.Role][]string{
		message.Executor: {"exec", "acp", "json"}, message.Planner: {"exec"}, message.AgentValidator: {"acp"}, message.Perceiver: {"json"},
	} {
		for _, way := range ways {
			t.Run(fmt.Sprintf("%s %s", role, way), func(t *testing.T) {
				t.Parallel()
				root, pids := agentProject(t, role, way, "killed", "corrections: 0, kills: 2")
				r := orch(t, root, "run", "--max-replans", "1", "--strict", "greet me")
				nobodyLeft(t, pids)
				r.want(t, 4, "ended from outside")
				nothingAccepted(t, root, r)
				all := ended(t, root, role)
				if len(all) != 2 {
					t.Errorf("%d steps, want 2", len(all))
				}
				for _, e := range all {
					if e.Class != message.EndKilled || !strings.Contains(e.Detail, "from outside") {
						t.Errorf("ended as %s: %s", e.Class, e.Detail)
					}
				}
				if tried := bodies[message.ExecutionResult](t, root, "ExecutionResult"); role == message.Executor && len(tried) > 0 {
					t.Errorf("counted as an attempt: %+v", tried)
				}
			})
		}
	}
}

// An agent whose account is used up: the run stays up and starts nobody, and
// Ctrl-C leaves nothing behind.
func TestALimitOfAnAgentIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ way, mode string }{{"exec", "limit"}, {"acp", "limit"}, {"json", "limit"}} {
		t.Run(c.mode+" "+c.way, func(t *testing.T) {
			t.Parallel()
			root, _ := agentProject(t, message.Executor, c.way, c.mode, "corrections: 0")
			run := start(t, root, "run", "greet me")
			until(t, "the limit is shown", func() bool { return strings.Contains(run.out.String(), "limit ") })
			until(t, "the step is closed", func() bool { return len(ended(t, root, message.Executor)) > 0 })
			orch(t, root, "status").want(t, 0, "used up")
			if err := run.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if code := run.wait(); code != 130 {
				t.Errorf("exit %d:\n%s", code, run.out.String())
			}
			limits := bodies[message.LimitReached](t, root, "LimitReached")
			if len(limits) != 1 {
				t.Fatalf("limits %+v", limits)
			}
			// An hour, from what the agent says.
			if wait := time.Until(limits[0].Until); wait < 50*time.Minute || wait > time.Hour {
				t.Errorf("it waits until %s, in %s", limits[0].Until, wait)
			}
			if steps := ended(t, root, message.Executor); len(steps) != 1 || steps[0].Class != message.EndAgain {
				t.Errorf("steps %+v", steps)
			}
			if results := bodies[message.ExecutionResult](t, root, "ExecutionResult"); len(results) != 0 {
				t.Errorf("it counts as an attempt: %+v", results)
			}
			if left := running(t, root); len(left) > 0 {
				t.Errorf("left running: %q", left)
			}
		})
	}
}
