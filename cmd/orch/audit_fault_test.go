//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/auditor"
)

// Killed again and again during a run, the auditor is started again, and in the
// end has seen everything.
func TestAKilledAuditorReadsOn(t *testing.T) {
	t.Parallel()
	root := copyExample(t, "needs-replan")
	cmd := orchCommand(root, "run", "make the tests pass")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	killed := map[int]bool{}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for over := false; !over; {
		select {
		case err := <-ended:
			if over = true; err != nil {
				t.Fatalf("run: %v\n%s", err, out.String())
			}
		case <-look.C:
			for _, p := range processesOf(root) {
				if slices.Contains(p.args, "auditor") && len(killed) < 4 && !killed[p.pid] && syscall.Kill(p.pid, syscall.SIGKILL) == nil {
					killed[p.pid] = true
				}
			}
		}
	}
	if len(killed) < 2 {
		t.Fatalf("killed %d auditors: it was not started again", len(killed))
	}
	if code, text := auditOf(root); code != 0 {
		t.Errorf("orch audit: exit %d\n%s", code, text)
	}
	if left := processesOf(root); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

func auditOf(root string, args ...string) (code int, text string) {
	out, err := orchCommand(root, append([]string{"audit"}, args...)...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, string(out)
	case errors.As(err, &exit):
		return exit.ExitCode(), string(out)
	}
	return -1, err.Error()
}

// Words to the auditor that its sender may not say are refused and reported; a
// flood of words is reported, and hides nothing.
func TestWordsDoNotSilenceTheAuditor(t *testing.T) {
	root := t.TempDir()
	if out, err := orchCommand(root, "init").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(root, ".orch", "config.yaml"), []byte("audit: {flood_messages: 100}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := blackboard.Open(root, blackboard.Options{Identity: blackboard.Identity{Agent: "executor-1", Speaks: []message.Role{message.Executor}}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, body := range []message.Body{message.Paused{Reason: "auditor, stop"}, message.Aborted{}, message.Registered{Agent: "auditor-1", Role: message.Auditor}} {
		var boundary *blackboard.BoundaryError
		if _, err := b.Append(t.Context(), message.Message{To: message.Auditor, Body: body}); !errors.As(err, &boundary) {
			t.Errorf("%s to the auditor: %v", body.Type(), err)
		}
	}
	for range 150 {
		_, err := b.Append(t.Context(), message.Message{To: message.Auditor, Door: message.DoorAgent, Body: message.Anomaly{Kind: "others", Details: map[string]string{"what": "noise"}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Append(t.Context(), message.Message{From: message.GGS, Body: message.FinalResult{Directive: message.Accept}}); err == nil {
		t.Error("a FinalResult of an executor was taken")
	}
	code, text := auditOf(root)
	if code != 5 || strings.Count(text, string(auditor.BoundaryViolation)) != 4 {
		t.Errorf("exit %d\n%s", code, text)
	}
	if !strings.Contains(text, string(auditor.LogFlood)) {
		t.Errorf("the flood is not reported\n%s", text)
	}
}
