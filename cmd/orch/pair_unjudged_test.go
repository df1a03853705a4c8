//go:build linux

package main

import (
	"strings"
	"testing"
)

// A reviewer that gives no verdict holds up what it was to judge, and nothing
// else. The goal waits for a person when nothing else is left, nothing is put
// down to the coder, and after resume or --continue the reviewer is asked again.
func TestAReviewerThatAnswersGarbageHoldsUpOneTask(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string][]string{"resume": {"resume"}, "continue": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, "")
			p.plan("sh check.sh && sh lib/first.sh && sh lib/second.sh && sh lib/third.sh", task("first"), task("second"), task("third", "second"))
			p.says("code-reviewer/first.sh", `{"text":"Well, it looks like a fine piece of work to me."}`)
			r := p.run("print names")
			if r.code != 4 || !strings.Contains(r.out+r.err, "not_judged") || !strings.Contains(r.out+r.err, "orch resume") {
				t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
			}
			now := p.tasks()
			if now["first"].Status != "READY_FOR_REVIEW" || now["second"].Status != "MERGED" || now["third"].Status != "MERGED" {
				t.Errorf("tasks are %+v", now)
			}
			asked := 0
			for _, b := range p.messages("StepEnded") {
				if b["role"] == "code-reviewer" && b["subject"] == now["first"].ID {
					asked++
					if b["class"] != "unjudged" {
						t.Errorf("the review ended as %v", b)
					}
				}
			}
			if asked != 1 || len(p.messages("Blocked")) > 0 {
				t.Errorf("%d reviews, blocked %v", asked, p.messages("Blocked"))
			}
			p.orch("task", "show", now["first"].ID).want(t, 0, "spec      spec.md", "done when", "commit ", "review    not judged yet")
			p.orch("task", "show", now["second"].ID).want(t, 0, "review    approved by code-reviewer-", "merge     merged as ")
			p.script("code-reviewer/first.sh", "echo approve\n")
			if len(goOn) > 0 {
				p.orch(goOn...).want(t, 0)
			}
			if r := p.orch("run", "--continue"); r.code != 0 || p.on("lib/first.sh") == "" {
				t.Fatalf("exit %d\n%s\n%s", r.code, r.out, r.err)
			}
			for _, v := range p.messages("ReviewVerdict") {
				if v["decision"] != "approved" {
					t.Errorf("said of a task: %v", v)
				}
			}
			p.clean()
		})
	}
}
