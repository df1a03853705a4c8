package main

import (
	"bufio"
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is shown of a run is shown while it goes on, however much there is to show.
func TestALongRunIsShownAsItGoes(t *testing.T) {
	t.Parallel()
	root := project(t, "")
	var steps strings.Builder
	for n := range 40 {
		fmt.Fprintf(&steps, "{run: \"echo %d\", idempotent: true}, ", n)
	}
	writeBelow(t, filepath.Join(root, ".orch", "playbooks", "count.yaml"), `name: count
describe: count and wait
examples: [count and wait]
match: {words: [[count], [wait]]}
task_criteria:
  - {criterion: it came, check: {file: {path: go}}}
subtasks:
  - slot: many
    intent: count
    sequence: 1
    targets: .
    criteria: [{criterion: it counted, check: {run: {command: "true"}}}]
    approaches:
      - {name: steps, describe: step by step, target: ., steps: [`+steps.String()+`]}
  - slot: wait
    intent: wait for a file
    sequence: 2
    targets: go
    criteria: [{criterion: it came, check: {file: {path: go}}}]
    approaches:
      - {name: look, describe: look for it, target: go, steps: [{run: "until test -e go; do sleep 0.1; done", idempotent: true}]}
`)
	cmd := orchCommand(root, "run", "count and wait")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { write(t, filepath.Join(root, "go"), "") }) // so that it ends whatever is shown
	defer late.Stop()
	began, shown := time.Now(), time.Duration(0)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "many/steps  done") {
			shown = time.Since(began)
			write(t, filepath.Join(root, "go"), "")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if shown == 0 || shown > 50*time.Second {
		t.Errorf("the first task was shown as done after %s, when the run was over", shown)
	}
}
