//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who keeps the view fresh while a goal is worked on speaks as the supervisor;
// an edit it finds is a person's word all the same.
func TestAnEditInMidRunIsTakenIn(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.plan("sh check.sh", task("first"), task("second", "first"))
	p.script("coder/first.sh", "while ! test -e $PLAY/go-on; do sleep 0.05; done\n"+work)
	run := p.start("run", "--profile", "code", "--spec", "spec.md", "print names")
	p.until("Claimed", run)
	until(t, "the second task in state.yaml", func() bool { return strings.Contains(p.board(), "\n  second:\n") })
	change(t, p.root, "priority: 100", "priority: 7")
	p.until("HumanEdit", run)
	p.script("go-on", "")
	if r := run.wait(t); r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	if refused := p.messages("BoundaryViolation"); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
	p.clean()
}

// board is what state.yaml shows; empty while there is none.
func (p *pair) board() string {
	raw, err := os.ReadFile(filepath.Join(p.root, ".orch", "state.yaml"))
	if err != nil {
		return ""
	}
	return string(raw)
}
