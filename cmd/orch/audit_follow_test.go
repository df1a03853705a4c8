//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/auditor"
)

// Findings are printed as they land, those that fit and each once; interrupted,
// it ends as orch audit does.
func TestAuditFollows(t *testing.T) {
	root := filepath.Join(t.TempDir(), "p")
	if out, err := orchCommand(".", "-C", t.TempDir(), "audit", "--follow").CombinedOutput(); err == nil || !strings.Contains(string(out), "hint: ") {
		t.Errorf("followed without a board: %v\n%s", err, out)
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := orchCommand(root, "init").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := blackboard.Open(root, blackboard.Options{Identity: blackboard.Identity{Agent: "executor-1", Speaks: []message.Role{message.Executor}}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	refuse := func(reason string) {
		t.Helper()
		var boundary *blackboard.BoundaryError
		if _, err := b.Append(t.Context(), message.Message{To: message.Auditor, Body: message.Paused{Reason: reason}}); !errors.As(err, &boundary) {
			t.Fatalf("an executor paused the board: %v", err)
		}
	}
	refuse("before it follows")
	cmd := orchCommand(root, "audit", "--follow", "--json", "--query", "kind = boundary_violation")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	silent := time.AfterFunc(runLimit, func() { _ = cmd.Process.Kill() })
	defer silent.Stop()
	lines := bufio.NewScanner(out)
	seen := map[string]bool{}
	for n := range 3 {
		if !lines.Scan() {
			t.Fatalf("it ended after %d findings: %v", n, lines.Err())
		}
		var f auditor.Finding
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil || f.Kind != auditor.BoundaryViolation || seen[f.ID] {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		seen[f.ID] = true
		if n < 2 {
			refuse("while it follows")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("after the interrupt: %s", lines.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFindings {
		t.Errorf("ended with %v, want %d", err, exitFindings)
	}
	if left := processesOf(root); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}
