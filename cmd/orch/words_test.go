//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/step"
)

// A role is told what was said to it and to all, and nothing that was said to
// another.
func TestWordsReachTheRoleTheyAreFor(t *testing.T) {
	g := blackboard.Goal{Said: []blackboard.Said{{For: "planner", Text: "prefer  the small\nfix"}, {Text: "mind the gap"}}}
	for _, role := range []message.Role{message.Perceiver, message.Planner, message.Executor, message.AgentValidator, message.MetaValidator, message.Coder, message.CodeReviewer} {
		got := step.Values("be kind", g, role)
		if !strings.Contains(got, "mind the gap") || !strings.Contains(got, "be kind") || strings.Contains(got, "prefer  the small\nfix") != (role == message.Planner) {
			t.Errorf("%s is told %q", role, got)
		}
	}
	if got := step.Values("be kind", blackboard.Goal{}, message.Coder); got != "be kind" {
		t.Errorf("without a word: %q", got)
	}
}

// What a person says stands in what the role's backend is asked, word for word.
func TestWhatAPersonSaysReachesEachRole(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.plan("sh check.sh", task("only"))
	hear := "grep -q 'to all of you' \"$REQUEST\" && grep -q 'just resumed' \"$REQUEST\" && grep -q \"only for ROLE\" \"$REQUEST\" || { echo 'ROLE was not told' >&2; exit 1; }\n"
	for _, name := range []string{"planner/plan.sh", "coder/default.sh"} {
		role, _, _ := strings.Cut(name, "/")
		p.script(name, strings.ReplaceAll(hear, "ROLE", role)+p.read(name))
	}
	p.script("code-reviewer/default.sh", strings.ReplaceAll(hear, "ROLE", "code-reviewer")+"echo approve\n")
	p.run("--later", "print names").want(t, 0)
	for _, role := range []string{"planner", "coder", "code-reviewer"} {
		p.orch("note", "human", "--for", role, "only for "+role).want(t, 0, "told to "+role)
	}
	p.orch("note", "human", "to all of you").want(t, 0)
	p.orch("pause").want(t, 0)
	p.orch("resume", "just resumed").want(t, 0)
	if r := p.orch("note", "human", "--for", "planer", "x"); r.code != exitUsage {
		t.Errorf("a role that is none: exit %d %s", r.code, r.err)
	}
	if board := p.board(); !strings.Contains(board, "      - for: coder\n        text: only for coder\n") || !strings.Contains(board, "text: just resumed\n") {
		t.Errorf("the board does not show it:\n%s", board)
	}
	r := p.orch("run", "--continue")
	if r.code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
	}
	for _, m := range p.messages("Resumed") {
		if m["reason"] != "just resumed" {
			t.Errorf("resumed for %q", m["reason"])
		}
	}
	p.orch("pause").want(t, 0)
	p.orch("resume").want(t, 0)
	if all := p.messages("Resumed"); slices.ContainsFunc(all, func(m map[string]any) bool { return m["reason"] == "by hand" }) {
		t.Errorf("a person who said nothing is quoted: %v", all)
	}
}
