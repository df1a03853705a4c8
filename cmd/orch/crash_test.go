package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard/crash"
)

// panicky is where nothing can be written without a panic.
type panicky struct{}

func (panicky) Write([]byte) (int, error) { panic("no paper") }

// TestAPanicIsExit1WithAReport: never the runtime's exit 2, which means that
// the caller made a mistake.
func TestAPanicIsExit1WithAReport(t *testing.T) {
	root := t.TempDir()
	if code := Main([]string{"-C", root, "init"}, strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}); code != exitOK {
		t.Fatalf("init: exit %d", code)
	}
	var said bytes.Buffer
	if code := Main([]string{"-C", root, "status"}, strings.NewReader(""), panicky{}, &said); code != exitInternal {
		t.Fatalf("exit %d, want %d: %s", code, exitInternal, said.String())
	}
	reports, err := filepath.Glob(filepath.Join(root, ".orch", "run", "crash-*.txt"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("reports %v, %v", reports, err)
	}
	report, err := os.ReadFile(reports[0])
	if err != nil || !strings.Contains(string(report), "no paper") || !strings.Contains(string(report), "panicky.Write") {
		t.Errorf("the report names neither the cause nor the place: %s, %v", report, err)
	}
	if !strings.Contains(said.String(), reports[0]) || !strings.HasPrefix(said.String(), "error: ") || !strings.Contains(said.String(), "no paper") {
		t.Errorf("a person is told %q", said.String())
	}
}

// TestAPanicInAGoroutineIsExit1 runs itself as the process that panics.
func TestAPanicInAGoroutineIsExit1(t *testing.T) {
	if root := os.Getenv("ORCH_PANIC_IN"); root != "" {
		Main([]string{"-C", root, "init"}, strings.NewReader(""), os.Stdout, os.Stderr)
		crash.Go(func() { panic("no paper") })
		select {}
	}
	root := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAPanicInAGoroutineIsExit1$")
	cmd.Env = append(os.Environ(), "ORCH_PANIC_IN="+root)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitInternal {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	reports, err := filepath.Glob(filepath.Join(root, ".orch", "run", "crash-*.txt"))
	if err != nil || len(reports) != 1 || !strings.Contains(string(out), reports[0]) {
		t.Errorf("reports %v, %v; a person is told %s", reports, err, out)
	}
}
