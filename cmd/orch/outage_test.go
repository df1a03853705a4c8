//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

// down answers the first questions of a role with a fault.
func down(system string, times, turn, status int) fakemodel.Rule {
	return fakemodel.Rule{Name: "down", When: fakemodel.When{System: system, Turn: turn}, Times: times,
		Reply: &fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: status}}}
}

// Every question of a goal meets a server that fails a few times: the goal ends
// as it does without that, and nothing is done twice.
func TestAGoalEndsAsWithoutTheOutages(t *testing.T) {
	t.Parallel()
	srv := serve(t, []fakemodel.Rule{
		down(asPerceiver, 2, 0, 500), down(asCandidates, 1, 0, 503), down(asPlanner, 2, 0, 529), down(asExecutor, 1, 1, 500),
		down(asExecutor, 2, 2, 502), down(asValidator, 1, 0, 504), down(asMeta, 1, 0, 429),
	}, greeting())
	config := "models: {default: " + asked(srv, "openai", "/v1", "true") + "}" + strings.Replace(quick, "outage_ms: 0", "outage_pause_ms: 50", 1)
	root := project(t, config)
	orch(t, root, "run", "greet me").want(t, 0, "result      done", "no answer", "the next one is at")
	orch(t, root, "verify").want(t, 0)
	if n := len(bodies[message.Outage](t, root, "Outage")); n != 10 {
		t.Errorf("%d outages on the log, want 10", n)
	}
	if calls := bodies[message.ToolCall](t, root, "ToolCall"); len(calls) != 1 {
		t.Errorf("the tool was called %d times: %+v", len(calls), calls)
	}
	if r := results(t, root); len(r) != 1 || r[0].Attempt != 1 {
		t.Errorf("attempts %+v", r)
	}
	if final := bodies[message.FinalResult](t, root, "FinalResult"); len(final) != 1 || final[0].Replans != 0 || len(final[0].UnmetCriteria) != 0 {
		t.Errorf("final %+v", final)
	}
}

// A run that is killed while its goal waits leaves the outage on the log. The
// next one tries at once and spends nothing more than a run without all that.
func TestARunKilledInAnOutageGoesOn(t *testing.T) {
	t.Parallel()
	srv := serve(t, []fakemodel.Rule{down(asExecutor, 1, 2, 500)}, greeting())
	root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+"}"+strings.Replace(quick, "outage_ms: 0", "outage_pause_ms: 300000", 1))
	run := start(t, root, "run", "greet me")
	until(t, "it waits", func() bool { return strings.Contains(run.out.String(), "the next one is at") })
	if err := run.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run.wait()
	began := time.Now()
	orch(t, root, "run", "--continue").want(t, 0, "result      done")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it waited %s", took)
	}
	if calls := bodies[message.ToolCall](t, root, "ToolCall"); len(calls) != 1 {
		t.Errorf("the tool was called %d times", len(calls))
	}
	if r := results(t, root); len(r) != 1 || r[0].Attempt != 1 {
		t.Errorf("attempts %+v", r)
	}
}

// A full disk is a person's to mend, whoever meets it: a step, whose goal is
// suspended then, or the run itself, which can not even say so on the log.
func TestAFullDiskAsksAPerson(t *testing.T) {
	for name, cause := range map[string]error{
		"of a step":  &fs.PathError{Op: "write", Path: "/data/x", Err: syscall.ENOSPC},
		"over quota": fmt.Errorf("keep the output: %w", &fs.PathError{Op: "write", Path: "/data/x", Err: syscall.EDQUOT}),
	} {
		needs := mendFirst(cause)
		for _, part := range []string{"/data/x", "free", "orch resume"} {
			if !strings.Contains(needs, part) {
				t.Errorf("%s: %q does not say %q", name, needs, part)
			}
		}
	}
	if mendFirst(errors.New("exit status 1")) != "" {
		t.Error("any failure asks a person")
	}
	var said strings.Builder
	a := &app{err: &said}
	code := a.finish(fmt.Errorf("close step: %w", &journal.StorageError{Path: "log.jsonl", Kind: journal.DiskFull, Err: syscall.ENOSPC}))
	if code != exitSuspended || !strings.Contains(said.String(), "hint: ") || !strings.Contains(said.String(), "orch run --continue") {
		t.Errorf("exit %d: %s", code, said.String())
	}
}
