package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
)

// stepping is a supervisor's processes whose steps are a shell script, and a
// claim for one.
func stepping(t *testing.T, script string, env ...string) (*Processes, Claim) {
	t.Helper()
	root := t.TempDir()
	b, err := blackboard.Init(root, blackboard.Options{Identity: blackboard.Identity{Agent: "supervisor-1", Speaks: []message.Role{message.Supervisor}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	exe := filepath.Join(root, "orch")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &Processes{Executable: exe, Root: root, Board: b, Limits: config.Default().Limits, Env: append(env, "PATH="+os.Getenv("PATH"))}
	marker := uuid.NewString()
	t.Cleanup(func() { p.Sweep(marker) })
	return p, Claim{Agent: "planner-1", Marker: marker, Activation: loop.Activation{Goal: "g", Key: blackboard.ActivationKey{Role: message.Planner, Subject: "g"}}}
}

// A step does what its environment says about specs, so a supervisor has to
// hand the variable on, and nothing that is secret.
func TestASupervisorHandsOnWhetherSpecsAreLookedFor(t *testing.T) {
	p, c := stepping(t, "printf '{\"detail\":\"%s %s\"}' \"$SKIP_SPEC_FILE_CHECK\" \"$MY_TOKEN\"\n", "SKIP_SPEC_FILE_CHECK=true", "MY_TOKEN=x")
	if end := p.Step(t.Context(), c); end.Detail != "true " {
		t.Errorf("the step saw %q: %+v", end.Detail, end)
	}
}

// A test of somebody's project may make a socket in its temporary directory,
// as t.TempDir() of Go does: <TMPDIR>/<test name><digits>/001/<name>.
func TestScratchLeavesRoomForASocket(t *testing.T) {
	const pathBytes, testBytes = 103, 70 // the limit on macOS, the smaller one
	t.Setenv("TMPDIR", "/tmp")
	if n := len(ScratchDir("0198c1d2-7a1b-7c3d-8e4f-0123456789ab")); n+testBytes > pathBytes {
		t.Errorf("the path takes %d bytes, and leaves less than %d for a test", n, testBytes)
	}
	if ScratchDir("a") == ScratchDir("b") {
		t.Error("two steps share a directory")
	}
}
