//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
)

// A reviewer that looks at nothing approves a change that takes a test away. Code
// rejects it until a person accepts that by name, and then the same commit is
// merged although the coder had begun to do it again.
func TestAPersonAcceptsAFindingByName(t *testing.T) {
	t.Parallel()
	p := newPair(t, "limits: {lease_ms: 3000}\n")
	p.plan("sh check.sh", task("first"))
	p.script("coder/first.1.sh", "git rm -q tests/start.sh\n"+work)
	p.script("coder/first.2.sh", "sleep 300\n")
	run := p.start("run", "--profile", "code", "--spec", "spec.md", "print names")
	var listed struct {
		Goals []struct {
			ID       string
			Findings []openFinding
		}
	}
	for deadline := time.Now().Add(runLimit); ; time.Sleep(200 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.root, ".orch", "log.jsonl")); err == nil && len(p.messages("Claimed")) == 2 { // the coder is at it again
			decode(t, p.root, &listed, "goals", "--json")
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing was rejected\n%s", run.lastWords())
		}
	}
	if len(listed.Goals) != 1 || len(listed.Goals[0].Findings) != 1 {
		t.Fatalf("orch goals lists %+v", listed)
	}
	goal, f := listed.Goals[0].ID, listed.Goals[0].Findings[0]
	if shown := p.orch("show", f.Finding); shown.code != 0 || !strings.Contains(shown.out, "-test -f README.md") || !strings.Contains(shown.out, "orch accept "+goal) || strings.Contains(shown.out, "lib/first.sh") {
		t.Errorf("orch show: exit %d\n%s%s", shown.code, shown.out, shown.err)
	}
	for _, wrong := range [][]string{{"accept", goal, "f-0000000000"}, {"accept", goal, f.Finding, "f-0000000000"}, {"accept", "none", f.Finding}, {"accept", goal}, {"accept", goal, ""}} {
		if r := p.orch(wrong...); r.code != exitUsage || len(p.messages("FindingsAccepted")) != 0 {
			t.Errorf("%v: exit %d\n%s%s", wrong, r.code, r.out, r.err)
		}
	}
	if r := p.orch("accept", goal, f.Finding, "--because", "the README goes away"); r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.err)
	}
	if r := run.wait(t); r.code != 0 || !strings.Contains(r.out, "orch accept "+goal+" "+f.Finding) {
		t.Errorf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	if n := len(p.messages("ReviewRequested")); n != 1 {
		t.Errorf("it was submitted %d times", n)
	}
	if p.on("tests/start.sh") != "" || p.tasks()["first"].Status != "MERGED" {
		t.Errorf("the task is %+v", p.tasks()["first"])
	}
	p.clean()
}

// Who reads that a task was given up reads what code had against it.
func TestAReportNamesTheFindingsThatKeptWorkFromBeingMerged(t *testing.T) {
	r := codeReport{branch: "integration", others: []blackboard.Task{{SubTask: message.SubTask{Intent: "drop v1"}, Status: blackboard.Abandoned,
		Review: blackboard.Review{Pending: []message.Blocker{{File: "a_test.go", Line: 3, Defect: "deleted_test: it is gone", Finding: "f-1", Content: "c"}}}}}}
	var out bytes.Buffer
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out.String(), r.markdown()} {
		if !strings.Contains(text, "code found: a_test.go:3: deleted_test: it is gone") {
			t.Errorf("it says:\n%s", text)
		}
	}
}
