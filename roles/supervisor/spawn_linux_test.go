package supervisor

import (
	"os"
	"testing"
	"time"

	"orch/blackboard/message"
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
	for range 20 {
		if _, err := os.Lstat(dir); err == nil {
			t.Fatal("its directory is there")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
