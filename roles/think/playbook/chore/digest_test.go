package chore

import (
	"fmt"
	"strings"
	"testing"
)

// TestDigestFindsTheCause: a failure in the middle of a long run of success.
func TestDigestFindsTheCause(t *testing.T) {
	var log strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&log, "ok  \texample.org/m/p%d\t0.01s\n", i)
		if i == 1000 {
			log.WriteString("--- FAIL: TestTable (0.00s)\n    table_test.go:7: table.go is out of date: run go generate\nFAIL\n")
		}
	}
	log.WriteString(strings.Repeat("x", 300<<10) + "\n")
	dir := t.TempDir()
	put(t, dir, "log", log.String())
	code, out, stderr := do(t, dir, "digest", "--from", "log")
	if code != 0 || !strings.Contains(out, "table_test.go:7: table.go is out of date") || strings.Contains(out, "ok  ") || len(out) > digestBytes+100 {
		t.Errorf("exit %d: %d bytes: %s%s", code, len(out), out, stderr)
	}
}

func TestDigestIsBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "log", strings.Repeat("error: "+strings.Repeat("é", 500)+"\n", 5000))
	if code, out, _ := do(t, dir, "digest", "--from", "log"); code != 0 || len(out) > digestBytes+100 || !strings.Contains(out, "lines left out") {
		t.Errorf("exit %d: %d bytes", code, len(out))
	}
}

func TestDigestOfNothingTellingIsTheEnd(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "log", "a\nb\nc\n")
	if code, out, _ := do(t, dir, "digest", "--from", "log"); code != 0 || out != "a\nb\nc\n" {
		t.Errorf("exit %d: %q", code, out)
	}
	put(t, dir, "empty", "")
	if code, _, _ := do(t, dir, "digest", "--from", "empty"); code != 0 {
		t.Errorf("exit %d", code)
	}
	if code, _, _ := do(t, dir, "digest", "--from", "none"); code != 1 {
		t.Errorf("exit %d", code)
	}
}
