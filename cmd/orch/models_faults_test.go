//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

// faults are the ways in which a model server fails a role.
var faults = map[string]fakemodel.Reply{
	"401":          broken(fakemodel.Fault{Kind: fakemodel.Status, Status: 401}),
	"403":          broken(fakemodel.Fault{Kind: fakemodel.Status, Status: 403}),
	"404":          broken(fakemodel.Fault{Kind: fakemodel.Status, Status: 404}),
	"500":          broken(fakemodel.Fault{Kind: fakemodel.Status, Status: 500}),
	"529":          broken(fakemodel.Fault{Kind: fakemodel.Status, Status: 529}),
	"hangup":       broken(fakemodel.Fault{Kind: fakemodel.Hangup}),
	"reset":        broken(fakemodel.Fault{Kind: fakemodel.Reset}),
	"silence":      broken(fakemodel.Fault{Kind: fakemodel.Silent}),
	"then silence": broken(fakemodel.Fault{Kind: fakemodel.SilentMiddle}),
	"garbage":      broken(fakemodel.Fault{Kind: fakemodel.Garbage}),
	"half":         broken(fakemodel.Fault{Kind: fakemodel.Half}),
	"empty":        broken(fakemodel.Fault{Kind: fakemodel.Empty}),
	"10 MB":        broken(fakemodel.Fault{Kind: fakemodel.Huge, Bytes: 10 << 20}),
	"error event":  broken(fakemodel.Fault{Kind: fakemodel.StreamError, Status: 500}),
	"wrong schema": *text(`{"answer":"yes, certainly, all of it passes"}`),
	"refusal":      {Refusal: "I would rather not."},
	"no answer":    *text("I have done everything you asked for. It passes."),
}

// spoken are the faults that the two protocols word differently. The others are
// alike above their clients, of which each is tried with every fault.
var spoken = map[string]bool{"401": true, "529": true, "error event": true, "half": true, "10 MB": true, "refusal": true, "wrong schema": true}

func broken(f fakemodel.Fault) fakemodel.Reply { return fakemodel.Reply{Fault: f} }

// mend are the faults that only a person can do something about.
var mend = map[string]bool{"401": true, "403": true, "404": true}

// outages are the faults that are the provider's own: they are waited out.
var outages = map[string]bool{"500": true, "529": true, "hangup": true, "reset": true, "silence": true, "then silence": true, "error event": true}

// givenUpWaiting asserts that a run ended because nobody answered a role, and
// that nothing was spent on that.
func (r ran) givenUpWaiting(t *testing.T, root string, role message.Role) {
	t.Helper()
	r.want(t, 4, "no answer", "orch run --continue")
	for _, e := range ended(t, root, role) {
		if e.Class != message.EndOutage && e.Class != message.EndDone {
			t.Errorf("an outage ended a step as %s: %s", e.Class, e.Detail)
		}
	}
	for _, of := range []message.Type{"ReplanRequest", "PlanDirective", "Megram", "FinalResult"} {
		if said := bodies[map[string]any](t, root, of); len(said) > 0 {
			t.Errorf("an outage led to %s: %v", of, said)
		}
	}
}

// faulty is a project whose model fails as named. Only silence needs a short
// patience, which a busy machine may not have with the others.
func faulty(t *testing.T, name, models, limits string) string {
	t.Helper()
	config := "models: " + models + strings.Replace(quick, "crashes: 1", "crashes: 1, "+limits, 1)
	if strings.Contains(name, "silence") {
		config = strings.Replace(config, "model_idle_ms: 120000", "model_idle_ms: 5000", 1)
	}
	return project(t, config)
}

// A planner that fails keeps the goal open and shows it to a person; one whose
// key is wrong is not tried a second time.
func TestAFaultOfThePlannerIsShown(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		for _, b := range backends[:2] {
			if b.backend == "anthropic" && !spoken[name] {
				continue
			}
			t.Run(name+" "+b.name, func(t *testing.T) {
				t.Parallel()
				srv := serve(t, []fakemodel.Rule{{Name: "fault", When: fakemodel.When{System: asPlanner}, Reply: &fault}}, greeting())
				root := faulty(t, name, "{default: "+asked(srv, b.backend, b.path, b.stream)+"}", "plan_rejections: 1")
				r := orch(t, root, "run", "--max-replans", "1", "greet me")
				ends := ended(t, root, message.Planner)
				switch {
				case mend[name]:
					r.want(t, 4, "needs-you", "orch resume")
					// Of the step that asked the memory and the one that failed either may end first.
					again := slices.DeleteFunc(slices.Clone(ends), func(e message.StepEnded) bool { return e.Class != message.EndAgain })
					if len(ends) != 2 || len(again) != 1 {
						t.Errorf("%d planner steps, of which %d are to be tried again", len(ends), len(again))
					}
				case outages[name]:
					r.givenUpWaiting(t, root, message.Planner)
				case r.code == 4:
					r.want(t, 4, "failed 1 times", "orch goals retry")
				default:
					r.want(t, 3, "given up") // an answer that can not be read is a plan that failed
				}
				nothingAccepted(t, root, r)
			})
		}
	}
}

// An executor that fails fails its attempt as environmental, and says so. One
// that nobody answers makes no attempt.
func TestAFaultOfTheExecutorFailsTheAttempt(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		for _, b := range backends[1:2] {
			t.Run(name+" "+b.name, func(t *testing.T) {
				t.Parallel()
				srv := serve(t, []fakemodel.Rule{{Name: "fault", When: fakemodel.When{System: asExecutor}, Reply: &fault}}, greeting())
				root := faulty(t, name, "{default: "+asked(srv, b.backend, b.path, b.stream)+"}", "corrections: 0")
				r := orch(t, root, "run", "--max-replans", "1", "greet me")
				switch {
				case mend[name]:
					r.want(t, 4, "needs-you")
				case outages[name]:
					r.givenUpWaiting(t, root, message.Executor)
					if tried := bodies[message.ExecutionResult](t, root, "ExecutionResult"); len(tried) > 0 {
						t.Errorf("counted as an attempt: %+v", tried)
					}
				default:
					r.want(t, 3, "given up")
					for _, e := range results(t, root) {
						if e.Status != message.Failed || e.Reason == "" && e.Infeasible == "" {
							t.Errorf("the attempt says %q: %q", e.Status, e.Reason)
						}
						if e.Class != message.Environmental && name != "refusal" {
							t.Errorf("the attempt failed as %s: %s", e.Class, e.Reason)
						}
					}
				}
				nothingAccepted(t, root, r)
			})
		}
	}
}

// A judge that fails passes nothing and fails nothing: the goal waits.
func TestAFaultOfAJudgePassesNothing(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		for _, b := range backends[:1] {
			t.Run(name+" "+b.name, func(t *testing.T) {
				t.Parallel()
				srv := serve(t, []fakemodel.Rule{{Name: "fault", When: fakemodel.When{System: asValidator}, Reply: &fault}}, greeting())
				root := faulty(t, name, "{default: "+asked(srv, b.backend, b.path, b.stream)+"}", "corrections: 0")
				r := orch(t, root, "run", "--max-replans", "1", "--strict", "greet me")
				r.want(t, 4) // it waits, for a person or after its last try
				if judged := bodies[message.SubTaskOutcome](t, root, "SubTaskOutcome"); len(judged) > 0 {
					t.Errorf("what nobody judged is %s", judged[0].Status)
				}
				nothingAccepted(t, root, r)
			})
		}
	}
}

// Nobody listens where the model of a role should be.
func TestAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	gone := serve(t)
	gone.Close()
	for _, role := range []message.Role{message.Planner, message.Executor, message.AgentValidator} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			srv := serve(t, greeting())
			root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+", "+string(role)+": "+asked(gone, "anthropic", "", "true")+"}"+
				strings.Replace(quick, "crashes: 1", "crashes: 1, corrections: 0", 1))
			r := orch(t, root, "run", "--max-replans", "1", "--strict", "greet me")
			r.want(t, 4, "unreachable")
			r.givenUpWaiting(t, root, role)
			nothingAccepted(t, root, r)
		})
	}
}

func nothingAccepted(t *testing.T, root string, r ran) {
	t.Helper()
	if strings.Contains(r.out, "result      done") || strings.Contains(r.out, "result      good enough") {
		t.Errorf("it was accepted:\n%s", r.out)
	}
	orch(t, root, "verify").want(t, 0)
	if left := running(t, root); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
}

func ended(t *testing.T, root string, role message.Role) (all []message.StepEnded) {
	t.Helper()
	for _, e := range bodies[message.StepEnded](t, root, "StepEnded") {
		if e.Role == role {
			all = append(all, e)
		}
	}
	return all
}

func results(t *testing.T, root string) []message.ExecutionResult {
	t.Helper()
	all := bodies[message.ExecutionResult](t, root, "ExecutionResult")
	if len(all) == 0 {
		t.Error("there is no result of an attempt")
	}
	return all
}

// running lists the processes that work in a directory.
func running(t *testing.T, root string) (left []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		dir, err := os.Readlink(link)
		if err != nil || dir != root && !strings.HasPrefix(dir, root+"/") {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if err == nil {
			left = append(left, strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return left
}

// limited answers 429 to the planner so many times.
func limited(times int, retryAfter string) fakemodel.Rule {
	return fakemodel.Rule{Name: "limit", When: fakemodel.When{System: asPlanner}, Times: times,
		Reply: &fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: 429, RetryAfter: retryAfter}}}
}

func TestALimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, b := range backends[:2] {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, []fakemodel.Rule{limited(1, "3")}, greeting())
			root := project(t, "models: {default: "+asked(srv, b.backend, b.path, b.stream)+"}"+strings.Replace(quick, "crashes: 1", "crashes: 1, model_wait_ms: 100", 1))
			began := time.Now()
			orch(t, root, "run", "greet me").want(t, 0, "limit", "result      done")
			if took := time.Since(began); took < 2*time.Second {
				t.Errorf("it waited %s, told to wait 3 s", took)
			}
			limits := bodies[message.LimitReached](t, root, "LimitReached")
			if len(limits) != 1 || !strings.HasPrefix(limits[0].Account, b.backend+"/127.0.0.1:") {
				t.Errorf("limits %+v", limits)
			}
			for _, e := range ended(t, root, message.Planner) {
				if e.Class != message.EndDone && e.Class != message.EndAgain {
					t.Errorf("a limit ended a step as %s", e.Class)
				}
			}
			if final := bodies[message.FinalResult](t, root, "FinalResult"); len(final) != 1 || final[0].Replans != 0 {
				t.Errorf("final %+v", final)
			}
		})
	}
}

// A limit that does not say how long it holds is waited out like an outage: the
// run shows when it tries again and asks nobody, and Ctrl-C leaves the goal
// suspended and nothing behind.
func TestALimitWithoutAnEndIsWaitedOut(t *testing.T) {
	t.Parallel()
	srv := serve(t, []fakemodel.Rule{limited(0, "")}, greeting())
	root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+"}"+strings.Replace(quick, "outage_ms: 0", "outage_pause_ms: 60000", 1))
	run := start(t, root, "run", "greet me")
	until(t, "the next try is shown", func() bool { return strings.Contains(run.out.String(), "the next one is at") })
	until(t, "the step is closed", func() bool { return len(ended(t, root, message.Planner)) >= 2 })
	asked := len(srv.Requests())
	orch(t, root, "status").want(t, 0, "no answer", "openai/127.0.0.1:")
	if now := len(srv.Requests()); now != asked {
		t.Errorf("%d more questions while the account is used up", now-asked)
	}
	if err := run.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := run.wait(); code != 130 || !strings.Contains(run.out.String(), "orch run --continue greet_me") {
		t.Errorf("exit %d:\n%s", code, run.out.String())
	}
	if left := running(t, root); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	orch(t, root, "status").want(t, 0, "SUSPENDED", "stopped while it waited")
}

func TestCtrlCWhileAModelIsSilentLeavesNothing(t *testing.T) {
	t.Parallel()
	silent := faults["silence"]
	srv := serve(t, []fakemodel.Rule{{Name: "silent", When: fakemodel.When{System: asExecutor}, Reply: &silent}}, greeting())
	root := project(t, "models: {default: "+asked(srv, "anthropic", "", "true")+"}"+strings.Replace(quick, "model_idle_ms: 120000", "model_idle_ms: 600000", 1))
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		cmd := orchCommand(root, "run", "--continue")
		if signal == syscall.SIGINT {
			cmd = orchCommand(root, "run", "greet me")
		}
		before := len(srv.Requests())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the executor asks", func() bool {
			all := srv.Requests()
			return len(all) > before && strings.Contains(all[len(all)-1].System, asExecutor)
		})
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed: its error is the signal
		until(t, "everything is gone after "+signal.String(), func() bool { return len(running(t, root)) == 0 })
	}
	for _, e := range ended(t, root, message.Executor) {
		if e.Class == message.EndCrash || e.Class == message.EndTimeout {
			t.Errorf("being stopped counts as %s", e.Class)
		}
	}
}

func TestAFallbackTakesOver(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		if name == "garbage" || name == "half" || name == "empty" || name == "10 MB" || name == "wrong schema" || name == "refusal" || name == "no answer" {
			continue // what was said is the fault: nobody else is asked
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := serve(t, []fakemodel.Rule{{Name: "fault", Reply: &fault}})
			good := serve(t, greeting())
			entry := strings.TrimSuffix(asked(bad, "openai", "/v1", "true"), "}") + ", fallback: other}"
			root := faulty(t, name, "{default: "+entry+", other: "+asked(good, "anthropic", "", "true")+"}", "kills: 9")
			orch(t, root, "run", "greet me").want(t, 0, "result      done")
			if n := len(bad.Requests()); n != 1 {
				t.Errorf("the one that fails was asked %d times; limits %+v, steps %+v", n,
					bodies[message.LimitReached](t, root, "LimitReached"), bodies[message.StepEnded](t, root, "StepEnded"))
			}
		})
	}
}
