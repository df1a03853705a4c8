package supervisor

import (
	"os"
	"testing"

	"orch/blackboard/message"
	"orch/roles/act/process"
)

// What a killed step had started, in a session of its own as its guard is, must
// not go on writing while the step's directory is removed.
func TestAKilledStepLeavesNoDirectory(t *testing.T) {
	p, c := stepping(t, `mkdir "$SCRATCH"
ORCH_MARKER="${ORCH_MARKER%/*}/guard" setsid sh -c 'while :; do mkdir -p "$SCRATCH/a"; : > "$SCRATCH/a/b"; done' &
until test -e "$SCRATCH/a/b"; do :; done
kill -9 $$
`)
	dir := ScratchDir(c.Marker)
	p.Env, p.noCgroup = append(p.Env, "SCRATCH="+dir), true // as within another step
	if end := p.Step(t.Context(), c); end.Class != message.EndKilled {
		t.Fatalf("the step ended as %s: %s", end.Class, end.Detail)
	}
	if left, err := process.Find(process.Marker(c.Marker)); err != nil || len(left) > 0 {
		t.Errorf("alive after its end: %v, %v", left, err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("its directory is there")
	}
}
