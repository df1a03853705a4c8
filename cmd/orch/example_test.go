package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write state.yaml.example from a real run")

// variable is what differs from one run to the next: ids, hashes, times and
// how long something took. Everything else of the example must stay true.
var variable = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "HASH"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)?m?s\b`), "DURATION"},
	{regexp.MustCompile(`((?:active_ms|Omega|omega|budget_pressure|grad_l|L|seq|created_seq|last_said|pid|steps|start): )[-0-9.e]+`), "${1}N"},
}

// agents come and go while the plan is being written; which are still there is chance.
var agents = regexp.MustCompile(`(?m)^  agents:\n(?:    .*\n)+`)

func normalise(text []byte) string {
	text = agents.ReplaceAll(text, nil)
	for _, v := range variable {
		text = v.pattern.ReplaceAll(text, []byte(v.name))
	}
	return string(text)
}

// TestStateExampleIsTrue makes the run that state.yaml.example came from again.
func TestStateExampleIsTrue(t *testing.T) {
	t.Parallel()
	const example = "../../state.yaml.example"
	root := copyExample(t, "needs-replan")
	if out, err := orchCommand(root, "run", "make the tests pass").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := orchCommand(root, "state", "--at", secondPlan(t, root)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(example, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	if normalise(got) != normalise(want) {
		t.Errorf("state.yaml.example is not what a run writes now; go test ./cmd/orch -run StateExample -update\ngot\n%s\nwant\n%s", normalise(got), normalise(want))
	}
}

// secondPlan is the seq at which the example looks at the board: the second
// plan has just been committed.
func secondPlan(t *testing.T, root string) string {
	t.Helper()
	out, err := orchCommand(root, "log", "--type", "DispatchManifest").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d plans, want 2:\n%s", len(lines), out)
	}
	return strings.Fields(lines[1])[0]
}
