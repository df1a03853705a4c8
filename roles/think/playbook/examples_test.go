package playbook

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestExamples carries out the example projects as their README says.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		name, program string
		solved        bool
		rounds        []string
	}{
		{"needs-replan", "go", true, []string{"snapshot", "rerun", "generate:go"}},
		{"cannot-be-done", "go", false, []string{"snapshot", "rerun", "cache:go"}},
		{"make-stale", "make", true, []string{"snapshot", "rerun", "cache:make"}},
		{"python-mini", "python3", true, []string{"snapshot", "rerun"}},
		{"node-mini", "npm", true, []string{"snapshot", "rerun", "generate:node"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), c.name)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../../examples", c.name))); err != nil {
				t.Fatal(err)
			}
			if _, err := exec.LookPath(c.program); err != nil {
				refuses(t, dir)
				return
			}
			if r := carryOut(t, dir, "make the tests pass"); r.solved != c.solved || !slices.Equal(r.rounds, c.rounds) {
				t.Errorf("solved %v by %v, want %v by %v; last: %s", r.solved, r.rounds, c.solved, c.rounds, r.why)
			}
		})
	}
}
