//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"

	"orch/roles/think/fakemodel"
)

// Words of the pages of the coding profile that no other has.
const (
	asCodePlanner  = "You own the way from a goal to merged commits"
	asWoken        = "one thing came up that only you can answer"
	asPlanReviewer = "Somebody else planned how a goal becomes merged commits"
	asCodeReviewer = "You give the binding verdict on one exact commit"
)

func inTurn(name, system string, answers ...string) fakemodel.Rule {
	r := fakemodel.Rule{Name: name, When: fakemodel.When{System: system}}
	for _, a := range answers {
		r.Replies = append(r.Replies, *text(a))
	}
	return r
}

// pairing is a model that plays everybody but the coder. It plans three times:
// the first misses a gate, the second is refused by the plan reviewer. It
// answers a blocked coder, and rejects its first work.
func pairing() []fakemodel.Rule {
	plan := func(scope, context string) string {
		return fmt.Sprintf(`{"task_criteria":[{"criterion":"it greets","check":{"run":{"command":"sh lib/greet.sh","stdout":{"contains":"reader"}}}}],
 "spec_gaps":["no word is named"],"tasks":[{"slot":"greet","intent":"greet the reader","approach":"write","target":"lib","spec_ref":"spec.md",
 "done_when":"`+"`sh lib/greet.sh` prints `hello`"+`","scope":%q,"context":%q}]}`, scope, context)
	}
	const met = `"verdicts":[{"id":"done_when","pass":true,"evidence":"echo hello"}]`
	return []fakemodel.Rule{
		says("perceiver", asPerceiver, `{"intent":"greet the reader","tags":["greeting"]}`),
		says("candidates", asCandidates, `{"candidates":[{"tool":"write","target":"lib"}]}`),
		inTurn("planner", asCodePlanner, plan("", ""), plan("lib", ""), plan("lib", "Tests are in tests/.")),
		inTurn("plan-reviewer", asPlanReviewer, `{"word":"{{word}}","decision":"reject","reason":"a gap","problems":[{"slot":"greet","problem":"a stranger does not know where tests are","fix":"say it"}]}`,
			`{"word":"{{word}}","decision":"accept","reason":"it covers the spec"}`),
		says("woken", asWoken, `{"answer":"unblock","reason":"the word is hello"}`),
		inTurn("code-reviewer", asCodeReviewer, `{"word":"{{word}}","decision":"rejected","blockers":[{"file":"lib/greet.sh","line":1,"defect":"it greets nobody","fix":"name the reader"}],`+met+`}`,
			`{"word":"{{word}}","decision":"approved","blockers":[],"prior_feedback":[{"what":"lib/greet.sh:1: it greets nobody","state":"RESOLVED"}],`+met+`}`),
	}
}

// Plain models plan, answer what comes up, look at the plan, and review; only
// the coder is an agent.
func TestPlainModelsPlanAndReviewCode(t *testing.T) {
	t.Parallel()
	for _, b := range backends[:2] {
		t.Run(b.name, func(t *testing.T) {
			srv := serve(t, pairing())
			p := newPair(t, "")
			model := asked(srv, b.backend, b.path, b.stream)
			other := strings.Replace(model, "name: fake", "name: fake-other", 1)
			p.file(".orch/config.yaml", fmt.Sprintf("models:\n  default: %s\n  plan-reviewer: %s\n  coder: {backend: exec, options: {command: %q, format: json}}\n%s"+
				"code: {plan_review: model, reviewer_other_model: true, test_command: sh check.sh}\n", model, other, actors()+" "+p.play, quick))
			p.script("coder/greet.sh", `grep -q '"answers":\["the word is hello"\]' "$REQUEST" || {
  echo '{"end":"blocked","summary":"-","blocked_reason":"the spec names no word to greet with","blocked_questions":["Which word greets the reader?"],"attempted":["read spec.md"]}'
  exit 0
}
mkdir -p lib tests
who=$(grep -q 'it greets nobody' "$REQUEST" && echo ' reader' || true)
echo "echo hello$who" > lib/greet.sh
echo 'sh lib/greet.sh | grep -q hello' > tests/greet.sh
echo '{"end":"submit","summary":"it greets"}'
`)
			r := p.run("greet the reader")
			r.want(t, 0, "gate scope", "plan review", "a stranger does not know where tests are", "1 merged, 0 not", "git merge integration")
			if got := p.on("lib/greet.sh"); got != "echo hello reader\n" {
				t.Errorf("lib/greet.sh is %q", got)
			}
			for kind, want := range map[string]int{"PlanRejected": 2, "TaskGated": 1, "Unblocked": 1, "ReviewVerdict": 2, "Merged": 1, "Anomaly": 1} {
				if got := len(p.messages(kind)); got != want {
					t.Errorf("%d × %s, want %d", got, kind, want)
				}
			}
			rows, _ := costs(t, p.root, "role")
			if planner, reviewer := rows["planner"].ModelCalls, rows["code-reviewer"].ModelCalls; planner != 7 || reviewer != 2 {
				t.Errorf("%d questions of the planner are counted, want 7; %d of the reviewer, want 2", planner, reviewer)
			}
			p.shown(t, srv)
			p.clean()
		})
	}
}

// shown looks at what the roles of the finished goal would be asked, which asks
// nobody.
func (p *pair) shown(t *testing.T, srv *fakemodel.Server) {
	t.Helper()
	before := len(srv.Requests())
	id := p.tasks()["greet"].ID
	p.orch("prompt", "coder", "--subject", id).want(t, 0, "# coder about", "## Done when", "the word is hello")
	p.orch("prompt", "code-reviewer", "--subject", id).want(t, 0, "# code-reviewer about", "+echo hello reader")
	p.orch("prompt", "planner", "--subject", id).want(t, 2, "the board asks nothing of the planner")
	if n := len(srv.Requests()); n != before {
		t.Errorf("%d questions were asked", n-before)
	}
}

// A spec that is not there is a missed gate, unless the environment of the run
// leaves that question out.
func TestTheEnvironmentOfARunSaysWhetherSpecsAreLookedFor(t *testing.T) {
	for _, skip := range []bool{false, true} {
		p := newPair(t, "")
		one := task("only")
		one.SpecRef = "later.md#names"
		p.plan("sh lib/only.sh", one)
		if skip {
			t.Setenv("SKIP_SPEC_FILE_CHECK", "true")
		}
		r := p.run("print names", "--max-replans", "1")
		gated := len(p.messages("TaskGated")) > 0
		if merged := p.on("lib/only.sh") != ""; gated == skip || merged != skip || skip && r.code != 0 {
			t.Errorf("skip %v: gated %v, merged %v, exit %d\n%s\n%s", skip, gated, merged, r.code, r.out, r.err)
		}
		p.clean()
	}
}
