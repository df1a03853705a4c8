package codereviewer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/codereviewer"
	"orch/roles/internal/codertest"
	"orch/roles/think"
)

// A suite that the criteria of a task name as well as the configuration runs once
// in a review; one that failed for the world's sake is run again.
func TestAReviewRunsACommandOnce(t *testing.T) {
	for _, c := range []struct {
		ends   string
		runs   int
		status blackboard.Status
	}{{"exit 0", 1, blackboard.Approved}, {"exit 1", 1, blackboard.Rejected}, {"no-such-program", 3, blackboard.Rejected}} {
		counted := filepath.Join(t.TempDir(), "runs")
		command := "cat a.txt >> " + counted + "; " + c.ends
		raw, err := json.Marshal(map[string]any{"run": map[string]any{"command": command}})
		if err != nil {
			t.Fatal(err)
		}
		of := task()
		of.SuccessCriteria = []message.Criterion{
			{ID: "one", Criterion: "the suite passes", Mode: message.Verifiable, Required: true, Check: raw},
			{ID: "two", Criterion: "the suite passes here too", Mode: message.Verifiable, Required: true, Check: raw},
		}
		d := codertest.NewDesk(t, map[string]string{"a.txt": "open\n", "spec.md": "# Spec\n\nIt says done.\n"}, of)
		d.Claim("coder-1")
		if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "done\n"}, think.CodeReport{End: think.CodeSubmit})); err != nil {
			t.Fatal(err)
		}
		d.ClaimReview("code-reviewer-1")
		e := envOf(d, message.CodeReviewer, "code-reviewer-1")
		e.Code.Reviewer = panel{approve}
		e.Code.TestCommand = func(string) (string, error) { return command, nil }
		if err := codereviewer.Run(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		ran, err := os.ReadFile(counted) // runs at the base say that it is open
		if n := strings.Count(string(ran), "done"); err != nil || n != c.runs {
			t.Errorf("%s: it ran %d times, want %d, %v", c.ends, n, c.runs, err)
		}
		if now := d.Now(); now.Status != c.status || len(now.Review.Verdict.Checks) != 3 {
			t.Errorf("%s: %s, %+v", c.ends, now.Status, now.Review.Verdict)
		}
	}
}
