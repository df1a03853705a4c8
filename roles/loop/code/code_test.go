package code

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
)

func good() message.SubTask {
	return message.SubTask{ID: "t", Intent: "retry failed calls", SpecRef: "specs/retry.md#backoff", Scope: "the client only",
		DoneWhen: "429 responses trigger exponential backoff starting at 1s", Targets: []string{"client/"}}
}

func TestGates(t *testing.T) {
	change := func(f func(*message.SubTask)) message.SubTask {
		x := good()
		f(&x)
		return x
	}
	for name, c := range map[string]struct {
		task message.SubTask
		want string // gates, in order
	}{
		"all there":                 {good(), ""},
		"no spec":                   {change(func(t *message.SubTask) { t.SpecRef = "" }), "spec_ref"},
		"only an anchor":            {change(func(t *message.SubTask) { t.SpecRef = "#backoff" }), "spec_ref"},
		"a spec that is not there":  {change(func(t *message.SubTask) { t.SpecRef = "specs/none.md" }), "spec_ref"},
		"a spec outside":            {change(func(t *message.SubTask) { t.SpecRef = "../specs/retry.md" }), "spec_ref"},
		"an absolute spec":          {change(func(t *message.SubTask) { t.SpecRef = "/specs/retry.md" }), "spec_ref"},
		"anchors are not looked at": {change(func(t *message.SubTask) { t.SpecRef = "specs/retry.md#nowhere" }), ""},
		"no done_when":              {change(func(t *message.SubTask) { t.DoneWhen = " " }), "done_when"},
		"a vague done_when":         {change(func(t *message.SubTask) { t.DoneWhen = "Rate limiting is handled appropriately" }), "done_when"},
		"no scope":                  {change(func(t *message.SubTask) { t.Scope = " - " }), "scope"},
		"a dependency that is not":  {change(func(t *message.SubTask) { t.DependsOn = []message.TaskID{"x"} }), "depends_on"},
		"a dependency that is":      {change(func(t *message.SubTask) { t.DependsOn = []message.TaskID{"there"} }), ""},
		"itself":                    {change(func(t *message.SubTask) { t.DependsOn = []message.TaskID{"t"} }), "depends_on"},
		"a task of tests alone": {change(func(t *message.SubTask) {
			t.Intent, t.Targets = "Add unit tests for the client", []string{"client_test.go"}
		}), "tests"},
		"more coverage":               {change(func(t *message.SubTask) { t.Intent = "Increase the test coverage" }), "tests"},
		"a thing with tests":          {change(func(t *message.SubTask) { t.Intent = "Add a client with tests" }), ""},
		"a test helper":               {change(func(t *message.SubTask) { t.Intent = "Add a test server that refuses every second call" }), ""},
		"code without room for tests": {change(func(t *message.SubTask) { t.Targets = []string{"client/client.go"} }), "tests"},
		"code with its tests":         {change(func(t *message.SubTask) { t.Targets = []string{"client/client.go", "client/client_test.go"} }), ""},
		"exempt documentation":        {change(func(t *message.SubTask) { t.ExemptFromTests, t.Targets = true, []string{"README.md", "config.yaml"} }), ""},
		"exempt code":                 {change(func(t *message.SubTask) { t.ExemptFromTests, t.Targets = true, []string{"a.go"} }), "tests"},
		"everything":                  {message.SubTask{ID: "t", Intent: "i"}, "spec_ref done_when scope"},
	} {
		got := []string{}
		for _, g := range Gated([]message.SubTask{c.task}, Basis{
			SpecExists: func(p string) bool { return p == "specs/retry.md" }, Known: func(id message.TaskID) bool { return id == "there" },
		}) {
			if err := g.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, m := range g.Missing {
				got = append(got, m.Gate)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: misses %v, want %q", name, got, c.want)
		}
	}
	absent := good()
	absent.SpecRef = "specs/none.md"
	if got := Gated([]message.SubTask{absent}, Basis{}); got != nil {
		t.Errorf("without the question whether specs exist: %v", got)
	}
}

func TestCirclesAmongDrafts(t *testing.T) {
	chain := func(edges ...string) []message.SubTask {
		var out []message.SubTask
		for i, e := range edges {
			x := good()
			x.ID = message.TaskID(fmt.Sprint(i))
			for _, d := range strings.Fields(e) {
				x.DependsOn = append(x.DependsOn, message.TaskID(d))
			}
			out = append(out, x)
		}
		return out
	}
	for _, c := range []struct {
		tasks []message.SubTask
		want  int
	}{{chain("1", "2", ""), 0}, {chain("1", "2", "0"), 3}, {chain("1", "0", "0"), 2}, {chain("1 2", "3", "3", ""), 0}} {
		gated := Gated(c.tasks, Basis{})
		if len(gated) != c.want {
			t.Errorf("%v: %d in a circle, want %d", c.tasks, len(gated), c.want)
		}
		if v := Violations(gated, func(id message.TaskID) string { return "slot " + string(id) }); len(v) != c.want || c.want > 0 && v[0].Rule != "gate_depends_on" {
			t.Errorf("violations %v", v)
		}
	}
}

func TestDoneWhen(t *testing.T) {
	for _, ok := range []string{
		"GET /users returns 200 with JSON array containing user objects",
		"429 responses trigger exponential backoff starting at 1s",
		"the parser rejects nested comments",
		"users can log in with a passkey",
		"`go test ./...` passes",
		"git status is clean after a failed run",
		"retry() works with 3 attempts",
		"the error names the file as well as the line",
		"an empty input exits with status 2 and handles it gracefully",
		"the fast path is taken when the cache is warm",
		"Suchanfragen liefern höchstens zehn Treffer",
	} {
		if why := DoneWhenProblem(ok); why != "" {
			t.Errorf("%q refused: %s", ok, why)
		}
	}
	for _, bad := range []string{
		"", "  ", "done", "It works.", "works correctly", "handles errors properly", "Rate limiting is handled appropriately",
		"everything works as expected", "The code is good and maintainable", "the feature is complete", "Pagination works well",
		"errors are handled gracefully", "the api is user-friendly", "performance is improved", "the implementation is correct",
		"retries happen if necessary", "login, logout, etc", "the parser returns the right result",
	} {
		if DoneWhenProblem(bad) == "" {
			t.Errorf("%q passed", bad)
		}
	}
}

func TestChecksAreWrittenWhereTheyCanBe(t *testing.T) {
	for text, want := range map[string]string{
		"`go test ./...` passes":                        `{"run":{"command":"go test ./..."}}`,
		"`./tool --bad` exits with status 2":            `{"run":{"command":"./tool --bad","exit":2}}`,
		"`./tool version` prints \"1.2\"":               `{"run":{"command":"./tool version","stdout":{"contains":"1.2"}}}`,
		"the file `docs/retry.md` exists":               `{"file":{"path":"docs/retry.md"}}`,
		"`old.go` does not exist":                       `{"file":{"path":"old.go","absent":true}}`,
		"users can log in":                              "",
		"`./tool` exits with status 999":                "",
		"GET /users returns 200":                        "",
		"`../../etc/passwd` exists":                     "",
		"`retry` is called for every response with 429": "",
	} {
		raw, ok := DeriveCheck(text)
		if ok != (want != "") || string(raw) != want {
			t.Errorf("%q: %s (%v), want %s", text, raw, ok, want)
		}
		if ok {
			if _, err := check.Decode(raw); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

func TestATaskGetsTheCriteriaItsReviewDecides(t *testing.T) {
	x := good()
	x.DoneWhen = "`go test ./...` passes"
	x.SuccessCriteria = []message.Criterion{{ID: "own", Criterion: "o", Mode: message.Plausible}}
	got := WithCriteria(WithCriteria(x)) // twice changes nothing
	var ids []string
	for _, c := range got.SuccessCriteria {
		ids = append(ids, c.ID)
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(ids, []string{"own", "done_when.check", "done_when"}) {
		t.Errorf("criteria %v", ids)
	}
	x.SuccessCriteria[0].Check = json.RawMessage(`{"file":{"path":"a"}}`)
	if got := WithCriteria(x).SuccessCriteria; len(got) != 2 || got[1].ID != "done_when" {
		t.Errorf("a task with a check of its own: %+v", got)
	}
}

func TestBlocksAreSpecific(t *testing.T) {
	fine := message.Blocked{Task: "t", Kind: message.BlockedSpec, BlockedReason: "the spec does not define partial failures of pagination",
		BlockedQuestions: []string{"Should partial results be returned if page 3 of 5 fails?", "Is retry of failed pages in scope?"}}
	change := func(f func(*message.Blocked)) message.Blocked {
		b := fine
		b.BlockedQuestions = slices.Clone(b.BlockedQuestions)
		f(&b)
		return b
	}
	for name, c := range map[string]struct {
		b    message.Blocked
		want string
	}{
		"as it should be":   {fine, ""},
		"no reason":         {change(func(b *message.Blocked) { b.BlockedReason = "" }), "blocked_reason is missing"},
		"a shrug":           {change(func(b *message.Blocked) { b.BlockedReason = "It does not work." }), "names no cause"},
		"one word":          {change(func(b *message.Blocked) { b.BlockedReason = "stuck" }), "not specific"},
		"no question":       {change(func(b *message.Blocked) { b.BlockedQuestions = nil }), "0 questions"},
		"four questions":    {change(func(b *message.Blocked) { b.BlockedQuestions = append(b.BlockedQuestions, "a b c?", "d e f?") }), "4 questions"},
		"a statement":       {change(func(b *message.Blocked) { b.BlockedQuestions[0] = "I need to know about page 3" }), "no question"},
		"an empty question": {change(func(b *message.Blocked) { b.BlockedQuestions[0] = " " }), "empty question"},
		"a vague question":  {change(func(b *message.Blocked) { b.BlockedQuestions[0] = "What now?" }), "not specific"},
		"the same twice": {change(func(b *message.Blocked) {
			b.BlockedQuestions[1] = "should partial results be returned, if page 3 of 5 fails?"
		}), "asked twice"},
		"a kind for code":    {change(func(b *message.Blocked) { b.Kind = message.BlockedDeadlock }), "for code to say"},
		"no kind":            {change(func(b *message.Blocked) { b.Kind = "" }), "kind"},
		"of the environment": {change(func(b *message.Blocked) { b.Kind = message.BlockedEnvironment }), ""},
	} {
		got := BlockProblem(c.b)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRescopesNameTheRootCause(t *testing.T) {
	var task blackboard.Task
	task.ID = "t"
	rescope := func(reason string, by ...message.TaskID) message.Rescoped {
		return message.Rescoped{Task: "t", RescopeReason: reason, SupersededBy: by, Alignment: "still every call"}
	}
	for _, c := range []struct {
		r    message.Rescoped
		want string
	}{
		{rescope("the spec leaves partial failures open, so each coder guessed another way", "a"), ""},
		{rescope("client and server can not change in one commit", "a", "b"), ""},
		{rescope("the task was blocked twice by two coders", "a"), "not why"},
		{rescope("too hard", "a"), "not specific"},
		{rescope("it failed again and again", "a"), "not why"},
		{rescope("the spec leaves partial failures open"), "no replacement"},
		{rescope("the spec leaves partial failures open", "t"), "by itself"},
		{message.Rescoped{Task: "t", RescopeReason: "the spec leaves it open", SupersededBy: []message.TaskID{"a"}}, "alignment"},
	} {
		if got := RescopeProblem(c.r, task); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.r.RescopeReason, got, c.want)
		}
	}
	task.Rescopes = 2
	if MustGiveUp(task, 3) || !MustGiveUp(task, 2) {
		t.Error("rescopes are not counted")
	}
}

func verdict(id, result string) message.Verdict {
	v := message.Verdict{CriterionID: id, Criterion: "criterion " + id, Mode: message.Verifiable, Verdict: result, By: message.ByCode, Evidence: "ok"}
	if result == message.Fail {
		v.FailureClass, v.Evidence = message.Logical, "exit 1\n--- FAIL: TestX\n    /usr/lib/go/x.go:3: no\n    client/retry_test.go:42: got 1, want 2"
	}
	return v
}

// A red check rejects whatever anybody decided, with blockers that bind, and
// they are closed by the check alone.
func TestARedCheckRejectsWithoutAModel(t *testing.T) {
	task := WithCriteria(good())
	task.SuccessCriteria = append(task.SuccessCriteria, message.Criterion{ID: "c", Criterion: "criterion c", Mode: message.Verifiable})
	open := []message.Blocker{{File: "a.go", Line: 1, Defect: "a model's", Fix: "f", SpecRef: "s"}}
	said := message.ReviewVerdict{Decision: message.Approved, Checks: []message.Verdict{verdict("done_when", message.Pass), verdict("c", message.Pass)},
		PriorFeedback: []message.Feedback{{What: open[0].Name(), State: message.Resolved}}}

	red := Complete(message.ReviewVerdict{Decision: message.Approved}, task, "sha", []message.Verdict{verdict("c", message.Fail)}, open, false)
	if red.Decision != message.Rejected || len(red.Blockers) != 1 || red.Blockers[0].File != "client/retry_test.go" || red.Blockers[0].Line != 42 || red.Blockers[0].SpecRef != task.SpecRef {
		t.Fatalf("%+v", red)
	}
	if err := red.Binds(task, open); err != nil {
		t.Error(err)
	}
	pending := red.Left(open)
	if len(pending) != 2 {
		t.Fatalf("left open: %v", pending)
	}
	moved := verdict("c", message.Fail)
	moved.Evidence = "client/retry_test.go:77: got 1, want 2"
	again := Complete(message.ReviewVerdict{}, task, "sha", []message.Verdict{moved}, pending, false)
	if left := again.Left(pending); len(left) != 2 {
		t.Errorf("the same red check became another point: %v", left)
	}
	green := Complete(said, task, "sha", []message.Verdict{verdict("c", message.Pass)}, pending, true)
	if err := green.Binds(task, pending); err != nil || green.Decision != message.Approved || !green.AnomalyLogged {
		t.Errorf("%v: %+v", err, green)
	}
	if got := Complete(message.ReviewVerdict{Checks: []message.Verdict{verdict("c", message.Pass)}}, task, "sha", []message.Verdict{verdict("c", message.Fail)}, nil, false); got.Checks[0].Passed() || len(got.Checks) != 1 {
		t.Errorf("what is said stands over what was run: %+v", got.Checks)
	}
}

// Whatever is put into Complete, an approval with a red check never comes out
// of it, and a rejection by red checks alone always binds.
func TestCompleteNeverApprovesRed(t *testing.T) {
	task := good()
	rapid.Check(t, func(rt *rapid.T) {
		var checks []message.Verdict
		red := false
		for i := range rapid.IntRange(0, 4).Draw(rt, "checks") {
			r := rapid.SampledFrom([]string{message.Pass, message.Fail}).Draw(rt, "result")
			red = red || r == message.Fail
			checks = append(checks, verdict(fmt.Sprint(i), r))
		}
		v := message.ReviewVerdict{Decision: rapid.SampledFrom([]string{message.Approved, message.Rejected}).Draw(rt, "decision")}
		got := Complete(v, task, "sha", checks, nil, rapid.Bool().Draw(rt, "logged"))
		if red && got.Decision == message.Approved {
			rt.Fatal("approved with a red check")
		}
		if err := got.Binds(task, nil); red && err != nil {
			rt.Fatalf("a red rejection does not bind: %v", err)
		}
	})
}

func TestPlaceWithoutOneIsTheSpec(t *testing.T) {
	v := verdict("c", message.Fail)
	v.Evidence = "exit 1: nothing said"
	if b := RedBlockers(good(), []message.Verdict{v}, nil); len(b) != 1 || b[0].File != "specs/retry.md" || b[0].Line != 1 || b[0].Validate() != nil {
		t.Errorf("%+v", b)
	}
	v.Evidence = "  File \"app/main.py\", line 7, in run"
	if b := RedBlockers(good(), []message.Verdict{v}, nil); b[0].File != "app/main.py" || b[0].Line != 7 {
		t.Errorf("%+v", b)
	}
}

func TestReviewerWithAnotherModel(t *testing.T) {
	if CheckReviewer("m", "m", true) == nil || CheckReviewer("m", "n", true) != nil || CheckReviewer("m", "m", false) != nil {
		t.Error("other models")
	}
}

func TestOutcomes(t *testing.T) {
	base := blackboard.Task{For: message.Coder, Fence: 2, Attempt: 2, Status: blackboard.Blocked, BlockedReason: "no", BlockedKind: message.BlockedDeadlock}
	base.SubTask = message.SubTask{ID: "t", Slot: "s", SuccessCriteria: []message.Criterion{{ID: "a", Criterion: "ca", Mode: message.Verifiable}, {ID: "b", Criterion: "cb", Mode: message.Verifiable}}}
	change := func(f func(*blackboard.Task)) blackboard.Task { x := base; f(&x); return x }
	reviewed := func(t *blackboard.Task, a, b string) {
		t.Review.Verdict = &message.ReviewVerdict{Checks: []message.Verdict{verdict("a", a), verdict("b", b)}}
	}
	for name, c := range map[string]struct {
		task   blackboard.Task
		status string
		failed int
		class  message.FailureClass
	}{
		"merged": {change(func(t *blackboard.Task) {
			t.Status, t.Review.MergedAs = blackboard.Merged, "abc"
			reviewed(t, message.Pass, message.Pass)
		}), message.Matched, 0, ""},
		"merged without criteria": {change(func(t *blackboard.Task) { t.Status, t.SuccessCriteria = blackboard.Merged, nil }), message.Matched, 0, ""},
		"blocked, half of it seen": {change(func(t *blackboard.Task) {
			reviewed(t, message.Pass, message.Fail)
			t.Review.Pending = []message.Blocker{{File: "f", Line: 1, Defect: "d"}}
		}), message.Failed, 2, message.Logical},
		"never reviewed": {base, message.Failed, 3, message.Logical},
		"by the machine": {change(func(t *blackboard.Task) { t.BlockedKind = message.BlockedEnvironment }), message.Failed, 3, message.Environmental},
		"approved, no fit": {change(func(t *blackboard.Task) {
			t.Status = blackboard.Abandoned
			t.Review.IntegrationN = 2
			t.Review.Integration = &message.IntegrationFailed{Conflict: []string{"a.go"}}
			reviewed(t, message.Pass, message.Pass)
		}), message.Failed, 1, message.Logical},
		"never started": {change(func(t *blackboard.Task) {
			t.Status, t.Fence, t.Attempt, t.BlockedReason, t.BlockedKind = blackboard.Unclaimed, 0, 0, "", ""
		}), message.Skipped, 2, ""},
		"begun, given back": {change(func(t *blackboard.Task) {
			t.Status, t.Attempt, t.BlockedReason, t.BlockedKind = blackboard.Unclaimed, 0, "", ""
		}), message.Failed, 3, message.Logical},
	} {
		o := Outcome(c.task)
		failed := 0
		for _, v := range o.CriteriaVerdicts {
			if !v.Passed() {
				failed++
				if v.FailureClass != c.class {
					t.Errorf("%s: %s has class %q", name, v.CriterionID, v.FailureClass)
				}
			}
		}
		if o.Status != c.status || failed != c.failed || o.Validate() != nil {
			t.Errorf("%s: %s with %d failed, want %s with %d (%v)", name, o.Status, failed, c.status, c.failed, o.Validate())
		}
	}
}

func TestSprintMetrics(t *testing.T) {
	tasks := map[message.TaskID]blackboard.Task{
		"a": {Status: blackboard.Merged, For: message.Coder}, "b": {Status: blackboard.Approved, For: message.Coder}, "c": {Status: blackboard.Approved},
	}
	s := blackboard.Sprint{Scope: message.SprintScope{Planned: []message.TaskID{"a", "b"}, Stretch: []message.TaskID{"c", "gone"}},
		Approved: 3, FirstPass: 1, Rejected: 1, Merged: 2, Unmerged: 2, Rescoped: 1, OutOfScope: 1, SpecChanges: 1}
	got := Metrics(s, func(id message.TaskID) (blackboard.Task, bool) { t, ok := tasks[id]; return t, ok })
	for name, want := range map[string]float64{MetricPlanned: 2, MetricPlannedDone: 1, MetricStretchDone: 1, MetricApprovalRate: 0.75,
		MetricFirstPass: 1.0 / 3, MetricIntegration: 0.5, MetricDrift: 1.5, MetricOutOfScope: 1, MetricBlocked: 0} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	for name, v := range Metrics(blackboard.Sprint{}, func(message.TaskID) (blackboard.Task, bool) { return blackboard.Task{}, false }) {
		if v != 0 {
			t.Errorf("of nothing, %s is %v", name, v)
		}
	}
}

func TestLostClaimsBackOff(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		wait, again := ClaimLost(n, 3, 5_000, func(limit int64) int64 { return rapid.Int64Range(0, limit-1).Draw(rt, "random") })
		if again != (n < 3) || again && (wait < 1_000 || wait > 5_000) {
			rt.Fatalf("after %d: wait %d, again %v", n, wait, again)
		}
	})
	a := ClaimFailed("t", "coder-1", 2, "coder-2 holds it")
	if a.Validate() != nil || message.MayLog(message.Supervisor, a.Kind) != nil {
		t.Errorf("%+v", a)
	}
	if a := SpecChangedAnomaly("t", "specs/a.md", "x", "y"); a.Validate() != nil || message.MayLog(message.Supervisor, a.Kind) != nil || message.MayLog(message.CodeReviewer, a.Kind) != nil {
		t.Errorf("%+v", a)
	}
}
