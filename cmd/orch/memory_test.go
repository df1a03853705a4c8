package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orch/roles/memory"
)

// aResident runs `orch memory serve` on a project until the test ends, and
// returns once it has the store.
func aResident(t *testing.T, root string) *exec.Cmd {
	t.Helper()
	cmd := orchCommand(root, "memory", "serve")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the resident ended with %v\n%s", err, out.String())
			}
		}
	})
	for deadline := time.Now().Add(runLimit); !memoryServed(root) || !held(t, root); {
		if time.Now().After(deadline) {
			t.Fatalf("the resident does not come up\n%s", out.String())
		}
		<-time.After(10 * time.Millisecond) // it says nothing when it is up
	}
	return cmd
}

func held(t *testing.T, root string) bool {
	t.Helper()
	s, err := memory.Open(memoryDir(root), memory.Options{})
	if err == nil {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return err != nil
}

func said(t *testing.T, root string, args ...string) string {
	t.Helper()
	out, err := orchCommand(root, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("orch %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// patience lets the memory answer, and finish its pass at the end of a run, on a
// machine that is busy.
const patience = "limits: {memory_wait_ms: 60000, grace_ms: 240000}\n"

// learned is a project in which one approach failed and another worked.
func learned(t *testing.T) string {
	t.Helper()
	root := copyExample(t, "learns")
	write(t, filepath.Join(root, ".orch", "config.yaml"), patience)
	said(t, root, "run", "publish the page")
	return root
}

// Every command about the memory says the same whether or not a resident has it.
func TestMemoryCommandsWithAndWithoutAResident(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // where copies would be left
	root := learned(t)
	looks := [][]string{
		{"memory", "ls"}, {"memory", "why", "publish the page"}, {"memory", "query", "quick on page.html", "thorough on page.html"},
		{"memory", "export", "--out", "-", "--as-of", "2030-01-01"},
	}
	var without []string
	for _, look := range looks {
		without = append(without, said(t, root, look...))
	}
	aResident(t, root)
	for i, look := range looks {
		if with := said(t, root, look...); with != without[i] {
			t.Errorf("orch %v with a resident\n%s\nwithout\n%s", look, with, without[i])
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "orch-memory-*")); err != nil || len(left) > 0 {
		t.Errorf("copies left: %v, %v", left, err)
	}
	said(t, root, "memory", "add", "always use yarn")
	if out := said(t, root, "memory", "ls", "--level", "C"); !strings.Contains(out, "always use yarn") {
		t.Errorf("added, and not there:\n%s", out)
	}
	out := said(t, root, "dream", "--once", "--json")
	var report struct{ Deleted, Created []string }
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Deleted == nil {
		t.Errorf("report %q: %v", out, err)
	}
	if out := said(t, root, "memory", "rebuild"); !strings.Contains(out, "rebuilt through message") {
		t.Errorf("rebuild: %s", out)
	}
	if out := said(t, root, "memory", "export", "--out", "-", "--as-of", "2030-01-01"); !strings.Contains(out, "fact:always use yarn") {
		t.Errorf("after the rebuild\n%s", out)
	}
	if out, err := orchCommand(root, "dream", "--once", "--as-of", "200d").CombinedOutput(); err == nil {
		t.Errorf("a resident's memory was made 200 days older:\n%s", out)
	}
}

// The resident answers for a run that did not start it, and its end does not
// keep a command that waits for it waiting for ever.
func TestARunAndADreamShareAResident(t *testing.T) {
	t.Parallel()
	root := learned(t)
	cmd := aResident(t, root)
	if err := os.Remove(filepath.Join(root, "page.html")); err != nil {
		t.Fatal(err)
	}
	if out := said(t, root, "run", "publish the page"); !strings.Contains(out, "avoids 1") {
		t.Errorf("run\n%s", out)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a killed resident ended well")
	}
	if out := said(t, root, "dream", "--once"); !strings.Contains(out, "nothing to do") {
		t.Errorf("dream\n%s", out)
	}
	said(t, root, "verify")
	said(t, root, "replay")
}
