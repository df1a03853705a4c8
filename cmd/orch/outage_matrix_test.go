//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/config"
	"orch/roles/think/fakemodel"
)

// unanswered is a question of a role that its provider does not answer.
type unanswered struct {
	name  string
	role  message.Role
	entry string // of models
	says  string // words of the question that no other has
	turn  int    // of the conversation; 0: any
	code  bool   // in a coding goal
	agent bool   // only agent programs are asked it
}

var questions = []unanswered{
	{name: "perceiver", role: message.Perceiver, entry: "perceiver", says: asPerceiver},
	{name: "planner, candidates", role: message.Planner, entry: "planner", says: asCandidates},
	{name: "planner, plan", role: message.Planner, entry: "planner", says: asPlanner},
	{name: "executor", role: message.Executor, entry: "executor", says: asExecutor, turn: 1},
	{name: "executor, after a call", role: message.Executor, entry: "executor", says: asExecutor, turn: 2},
	{name: "agent-validator", role: message.AgentValidator, entry: "agent-validator", says: asValidator},
	{name: "meta-validator", role: message.MetaValidator, entry: "meta-validator", says: asMeta},
	{name: "meta-validator, merge", role: message.MetaValidator, entry: "meta-validator", says: asMerger},
	{name: "planner of code", role: message.Planner, entry: "planner", says: asCodePlanner, code: true},
	{name: "plan-reviewer", role: message.Planner, entry: "plan-reviewer", says: asPlanReviewer, code: true},
	{name: "coder", role: message.Coder, entry: "coder", says: "# Coder", turn: 1, code: true, agent: true},
	{name: "coder, after a call", role: message.Coder, entry: "coder", says: "# Coder", turn: 2, code: true, agent: true},
	{name: "planner, woken", role: message.Planner, entry: "planner", says: asWoken, code: true},
	{name: "code-reviewer", role: message.CodeReviewer, entry: "code-reviewer", says: asCodeReviewer, code: true},
	{name: "crosscheck", role: message.CodeReviewer, entry: "crosscheck", says: asCodeReviewer, code: true},
}

// carriers are how a role's questions reach its provider.
var carriers = []struct {
	name  string
	agent bool
}{{"openai", false}, {"anthropic", false}, {"claude", true}, {"codex", true}}

// spans are how long a provider is gone, and how long the run waits for it.
var spans = []struct {
	name     string
	takes    time.Duration
	patience func(config.Limits) int64
	good     bool // it never answers until a person goes on
	killAt   int  // the wait in which the supervisor is killed
}{
	{"1 minute", time.Minute, foreground, false, 0},
	{"1 hour", time.Hour, withWait, false, 0},
	{"for good", 1e5 * time.Hour, foreground, true, 0},
	{"1 minute, killed", time.Minute, foreground, false, 1},
}

func foreground(l config.Limits) int64 { return l.OutageMS }
func withWait(l config.Limits) int64   { return l.OutageWaitMS }

// impatient are limits of the matrix: as few tries as there can be, so that many
// goals can be tried, and one question a try.
const impatient = "\nlimits: {crashes: 1, kills: 1, corrections: 1, model_retries: 0, model_idle_ms: 120000, outage_pause_ms: 60000}\nmemory: {settle_ms: 600000}\n"

// gone is one goal whose provider fails.
type gone struct {
	unanswered
	carrier string
	agent   bool
	span    int
}

func (c gone) String() string { return c.name + ", " + c.carrier + ", " + spans[c.span].name }

// all is the matrix: every question of every role, over every carrier, for every span.
func allOutages() (all []gone) {
	for _, a := range questions {
		for _, by := range carriers {
			for span := range spans {
				// The fake agent makes its calls again whatever it is told of them.
				again := by.agent && a.role == message.Executor && a.turn > 1
				if (by.agent || !a.agent) && !again {
					all = append(all, gone{a, by.name, by.agent, span})
				}
			}
		}
	}
	return all
}

// spread is a part of the matrix in which each question, each carrier and each
// span is met, and each question with different ones.
func spread(all []gone) (some []gone) {
	for i, a := range questions {
		carrier := carriers[i%len(carriers)].name
		if a.agent {
			carrier = carriers[2+i%2].name
		}
		span := (i + i/len(carriers)) % len(spans)
		some = append(some, all[slices.IndexFunc(all, func(c gone) bool { return c.name == a.name && c.carrier == carrier && c.span == span })])
	}
	return some
}

// Whoever questions a provider that does not answer, over whatever carries the
// question, for however long: the goal ends as it does without that, message by
// message, with the same attempts, replans, verdicts, active time and memories;
// or it waits for a person, says for which role and account and how to go on,
// and ends so after that. With ORCH_TORTURE set it is the whole matrix.
func TestOutagesOfEveryRole(t *testing.T) {
	t.Parallel()
	cells := spread(allOutages())
	if os.Getenv("ORCH_TORTURE") != "" {
		cells = allOutages()
	}
	m := &matrix{undisturbed: map[string]*undisturbed{}, said: map[string]string{}}
	t.Run("cells", func(t *testing.T) {
		for _, c := range cells {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				m.try(t, c)
			})
		}
	})
	t.Logf("%d goals\n%s", len(cells), m)
}

// course is what became of a goal.
type course struct {
	story  []string
	active int64
	goal   blackboard.Goal
}

type undisturbed struct {
	sync.Once
	got *course
}

type matrix struct {
	mu          sync.Mutex
	undisturbed map[string]*undisturbed // by what a goal is made of
	said        map[string]string       // by cell
}

// without is the same goal when everybody answers.
func (m *matrix) without(t *testing.T, c gone) course {
	t.Helper()
	key := fmt.Sprint(c.code, c.carrier, c.agent && !c.code, c.entry == "coder")
	if c.agent {
		key += c.entry
	}
	m.mu.Lock()
	once, known := m.undisturbed[key]
	if !known {
		once = &undisturbed{}
		m.undisturbed[key] = once
	}
	m.mu.Unlock()
	once.Do(func() {
		d := c.world(t, &offline{clock: newMoved()}, foreground)
		got := d.outcome(d.run())
		once.got = &got
	})
	if once.got == nil {
		t.Fatal("the goal without an outage failed")
	}
	return *once.got
}

func (d *drive) outcome(g blackboard.Goal) course { return course{d.story(), g.ActiveMS, g} }

// try is one cell of the matrix.
func (m *matrix) try(t *testing.T, c gone) {
	span := spans[c.span]
	want := m.without(t, c)
	if want.goal.Final == nil || want.goal.Final.Directive == message.Abandon {
		t.Fatalf("without an outage it ends as %s: %+v\n%s", want.goal.Status, want.goal.Suspended, strings.Join(want.story, "\n"))
	}
	off := &offline{clock: newMoved(), takes: span.takes, hits: func(asked string, turn int) bool {
		return isAsked(asked, c.says) && (c.turn == 0 || c.turn == turn)
	}}
	d := c.world(t, off, span.patience)
	d.killAt = span.killAt
	g := d.run()
	if span.good {
		d.gaveUp(g, c)
		off.mend()
		d.goesOn()
		g = d.run()
	}
	got := d.outcome(g)
	if off.asked == 0 {
		t.Fatal("nothing was down")
	}
	if !slices.Equal(got.story, want.story) {
		t.Errorf("it went another way:\n%s\n\nwithout the outage:\n%s\n\n%+v", strings.Join(got.story, "\n"), strings.Join(want.story, "\n"), g.Suspended)
	}
	if got.active != want.active {
		t.Errorf("%d ms of active time, without the outage %d", got.active, want.active)
	}
	d.spent(g)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said[c.String()] = fmt.Sprintf("%2d tries", off.asked)
}

// gaveUp asserts that a goal waits for a person and says what to do.
func (d *drive) gaveUp(g blackboard.Goal, c gone) {
	d.t.Helper()
	if g.Suspended == nil || g.Suspended.Why != blackboard.WhyOutage || g.Suspended.Command != "orch run --continue "+string(g.ID) {
		d.t.Fatalf("it is %s: %+v\n%s", g.Status, g.Suspended, strings.Join(d.story(), "\n"))
	}
	account := map[string]string{"openai": "openai/127.0.0.1:", "anthropic": "anthropic/127.0.0.1:", "claude": "claude", "codex": "codex"}[c.carrier]
	for _, part := range []string{"to the " + string(c.role), account, g.Suspended.Command, "--wait"} {
		if !strings.Contains(g.Suspended.Detail, part) {
			d.t.Errorf("%q does not say %q", g.Suspended.Detail, part)
		}
	}
}

// spent asserts that no try counted for anything.
func (d *drive) spent(g blackboard.Goal) {
	d.t.Helper()
	for m, err := range d.starter.Board.Messages(1) {
		if err != nil {
			d.t.Fatal(err)
		}
		if e, ok := m.Body.(message.StepEnded); ok && e.Class != message.EndDone && e.Class != message.EndAgain && e.Class != message.EndOutage {
			d.t.Errorf("a step ended as %s: %s", e.Class, e.Detail)
		}
	}
	if err := d.starter.Board.View(d.t.Context(), func(s *blackboard.State) error {
		for t := range s.Tasks() {
			if t.Status == blackboard.Blocked {
				d.t.Errorf("%s is %s", t.Slot, t.Status)
			}
		}
		return nil
	}); err != nil {
		d.t.Fatal(err)
	}
}

// String is the table: the questions that were not answered until the goal went on.
func (m *matrix) String() string {
	var b strings.Builder
	for _, a := range questions {
		fmt.Fprintf(&b, "%-24s", a.name)
		for _, by := range carriers {
			fmt.Fprintf(&b, " | %s:", by.name)
			for span := range spans {
				said, known := m.said[gone{a, by.name, by.agent, span}.String()]
				if !known {
					said = "-"
				}
				fmt.Fprintf(&b, " %8s", said)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// world is a project in which the role of a cell is asked over its carrier, and
// the goal that is worked on.
func (c gone) world(t *testing.T, off *offline, patience func(config.Limits) int64) *drive {
	t.Helper()
	answers := mindOf(c.code)
	healthy := serve(t, []fakemodel.Rule{{Name: "all", Func: func(r fakemodel.Request) fakemodel.Reply { return answers(textOf(r), r.Turn()) }}})
	failing := serve(t, []fakemodel.Rule{{Name: "all", Func: func(r fakemodel.Request) fakemodel.Reply {
		asked := textOf(r)
		if off.down(asked, r.Turn()) {
			return fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: 529}}
		}
		return answers(asked, r.Turn())
	}}})
	entry := asked(failing, "openai", "/v1", "true")
	switch {
	case c.agent:
		entry = speaking(t, failing, c.carrier)
	case c.carrier == "anthropic":
		entry = asked(failing, "anthropic", "", "true")
	}
	if c.entry == "crosscheck" || c.entry == "plan-reviewer" {
		entry = strings.Replace(entry, "name: fake", "name: fake-other", 1)
	}
	entries := map[string]string{"default": asked(healthy, "openai", "/v1", "true")}
	if !c.code {
		entries[c.entry] = entry
		return newDrive(t, project(t, modelsOf(entries)+impatient), off.clock, patience, "greet me")
	}
	other := strings.Replace(entries["default"], "name: fake", "name: fake-other", 1)
	p := newPair(t, "")
	entries["plan-reviewer"], entries["crosscheck"] = other, other
	entries["coder"] = fmt.Sprintf("{backend: exec, options: {command: %q, format: json}}", actors()+" "+p.play)
	entries[c.entry] = entry
	p.script("coder/greet.sh", coderScript)
	p.file(".orch/config.yaml", modelsOf(entries)+impatient+"code: {plan_review: model, crosscheck: true, reviewer_other_model: true, test_command: sh check.sh}\n")
	return newDrive(t, p.root, off.clock, patience, "--profile", "code", "--spec", "spec.md", "greet the reader")
}

func modelsOf(entries map[string]string) string {
	text := "models:\n"
	for name, e := range entries {
		text += "  " + name + ": " + e + "\n"
	}
	return text
}

// speaking is an entry that is an agent program which questions a server.
func speaking(t *testing.T, srv *fakemodel.Server, preset string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "agent.sh")
	write(t, script, fmt.Sprintf("#!/bin/sh\nexport FAKEAGENT_MODEL=%s\nexec %s --as %s asks \"$@\"\n", srv.URL(), fakeAgent(), preset))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("{backend: exec, options: {preset: %s, command: %q, linger_ms: \"200\"}}", preset, script)
}

func textOf(r fakemodel.Request) string {
	asked := r.System
	for _, t := range r.Turns {
		asked += "\n" + t.Text
	}
	return asked
}

// isAsked tells whether a question has the words of one. An agent that executes
// is told in other words than a model.
func isAsked(asked, words string) bool {
	return strings.Contains(asked, words) || words == asExecutor && strings.Contains(asked, "You carry out one task in the current directory")
}

// coderScript is a coder that is blocked at first.
const coderScript = `grep -q '"answers":\["the word is hello"\]' "$REQUEST" || {
  echo '{"end":"blocked","summary":"-","blocked_reason":"the spec names no word to greet with","blocked_questions":["Which word greets the reader?"],"attempted":["read spec.md"]}'
  exit 0
}
mkdir -p lib tests
echo 'echo hello reader' > lib/greet.sh
echo 'sh lib/greet.sh | grep -q hello' > tests/greet.sh
echo '{"end":"submit","summary":"it greets"}'
`

// codes is what a coder that is an agent program does.
const codes = `mkdir -p lib tests && echo 'echo hello reader' > lib/greet.sh && echo 'sh lib/greet.sh | grep -q hello' > tests/greet.sh`

// signing is greeting in two tasks, whose outputs are merged.
func signing() []fakemodel.Rule {
	const plan = `{"task_criteria":[{"criterion":"the greeting is there","check":{"file":{"path":"hello.txt","contains":"hello"}}},{"criterion":"the greeting is friendly"}],
 "tasks":[{"slot":"greet","intent":"write a greeting into hello.txt","approach":"write-file","target":"hello.txt","targets":["hello.txt"],
 "criteria":[{"criterion":"hello.txt greets","check":{"file":{"path":"hello.txt","contains":"hello"}}},{"criterion":"it sounds friendly"}]},
 {"slot":"sign","intent":"write the name of the sender into sign.txt","approach":"write-file","target":"sign.txt","targets":["sign.txt"],
 "criteria":[{"criterion":"sign.txt names somebody","check":{"file":{"path":"sign.txt","contains":"a friend"}}}]}]}`
	rules := greeting()
	for i, r := range rules {
		if r.Name == "planner" {
			rules[i].Reply = text(plan)
		}
	}
	return rules
}

// mindOf answers every role, whoever questions for it.
func mindOf(code bool) func(asked string, turn int) fakemodel.Reply {
	rules := signing()
	if code {
		const met = `"verdicts":[{"id":"done_when","pass":true,"evidence":"echo hello"}]`
		rules = []fakemodel.Rule{
			says("plan-reviewer", asPlanReviewer, `{"word":"{{word}}","decision":"accept","reason":"it covers the spec"}`),
			says("code-reviewer", asCodeReviewer, `{"word":"{{word}}","decision":"approved","blockers":[],`+met+`}`),
			says("woken", asWoken, `{"answer":"unblock","reason":"the word is hello"}`),
			{Name: "coder", When: fakemodel.When{System: "# Coder", Turn: 1}, Reply: calls("shell", map[string]any{"command": codes})},
			says("coder submits", "# Coder", `{"end":"submit","summary":"it greets"}`),
			says("perceiver", asPerceiver, `{"intent":"greet the reader","tags":["greeting"]}`),
			says("candidates", asCandidates, `{"candidates":[{"tool":"write","target":"lib"}]}`),
			says("planner", asCodePlanner, `{"task_criteria":[{"criterion":"it greets","check":{"run":{"command":"sh lib/greet.sh","stdout":{"contains":"reader"}}}}],
 "tasks":[{"slot":"greet","intent":"greet the reader","approach":"write","target":"lib","spec_ref":"spec.md",
 "done_when":"`+"`sh lib/greet.sh` prints `hello`"+`","scope":"lib","context":"Tests are in tests/."}]}`),
		}
	}
	return func(asked string, turn int) fakemodel.Reply {
		for _, r := range rules {
			if isAsked(asked, r.When.System) && (r.When.Turn == 0 || r.When.Turn == turn) {
				if r.Name == "executor" && strings.Contains(asked, "the name of the sender") {
					return *calls("write_file", map[string]any{"path": "sign.txt", "content": "a friend\n"})
				}
				return *r.Reply
			}
		}
		return fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: 400}}
	}
}
