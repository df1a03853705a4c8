//go:build linux

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// approvedAndKilled is a coding goal whose task is approved, whose run was
// killed before the merge, and with a coder's step on it of which nobody said
// that it ended: as it is when a supervisor dies between the two.
func approvedAndKilled(t *testing.T) *pair {
	t.Helper()
	p := newPair(t, "")
	p.plan("sh check.sh && sh lib/first.sh", task("first"))
	p.orch("init").want(t, 0)
	merging := residentLock(p.root, integratorRole)
	if err := merging.Lock(); err != nil {
		t.Fatal(err)
	}
	run := p.start("run", "--profile", "code", "--spec", "spec.md", "print names")
	until(t, "coder and reviewer have ended", func() bool {
		ended := map[any]bool{}
		for _, b := range p.messages("StepEnded") {
			ended[b["role"]] = true
		}
		return ended["coder"] && ended["code-reviewer"]
	})
	if err := run.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.wait(t)
	until(t, "nothing of the run is left", func() bool { return len(processesOf(p.root)) == 0 })
	if err := merging.Unlock(); err != nil {
		t.Fatal(err)
	}
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	b, err := blackboard.Open(p.root, a.options(blackboard.Identity{Agent: "supervisor-1", Speaks: []message.Role{message.Supervisor}}))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	id := p.tasks()["first"].ID
	_, err = b.Append(t.Context(), message.Message{From: message.Supervisor, To: message.All, Goal: "print_names", Subject: id, Cause: "as before",
		Body: message.StepStarting{Role: message.Coder, Subject: id, Cause: "as before", Agent: "coder-5", Try: 1, Marker: "gone"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A step that nobody sees through any more is named with what to do, and the
// merge follows once it has been declared lost.
func TestAMergeComesAfterALostStep(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*testing.T, *pair){
		"orch run --continue": func(t *testing.T, p *pair) {
			p.orch("run", "--continue", "print_names").want(t, 0)
		},
		"orch role integrate beside a step by hand": func(t *testing.T, p *pair) {
			merger, said := orchCommand(p.root, "integrate"), output{}
			merger.Stderr = &said
			if err := merger.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "it says what it waits for", func() bool {
				return strings.Contains(said.String(), "warning: ") && strings.Contains(said.String(), "hint: nobody sees that step through any more: orch run --continue print_names\n")
			})
			p.orch("step", "code-reviewer").want(t, exitAgain) // there is nothing to review; what is lost is said first
			until(t, "the work is merged", func() bool { return len(p.messages("Merged")) > 0 })
			if err := merger.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if err := merger.Wait(); err != nil || strings.Contains(said.String(), "error") {
				t.Errorf("%v: %s", err, said.String())
			}
			p.orch("run", "--continue", "print_names").want(t, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := approvedAndKilled(t)
			p.orch("integrate", "--once").want(t, exitAgain, "waits for the step of coder-5 on it to end", "hint: nobody sees that step through any more: orch run --continue print_names")
			if n := len(p.messages("MergeStarting")); n > 0 {
				t.Errorf("%d merges were begun", n)
			}
			next(t, p)
			if n := len(p.messages("Merged")); n != 1 || p.on("lib/first.sh") == "" {
				t.Errorf("%d merges, lib/first.sh is %q", n, p.on("lib/first.sh"))
			}
			p.orch("integrate", "--once").want(t, 0)
			p.clean()
		})
	}
}
