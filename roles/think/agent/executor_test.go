//go:build unix

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/model"
)

// layer is a tool layer that remembers.
type layer struct {
	mu       sync.Mutex
	acts     []think.Acted
	observed []think.Observed
	done     []string
	asked    []string
	deny     bool
	held     string // why a run does not begin
	broken   error
}

func (l *layer) Do(_ context.Context, tool string, input json.RawMessage) (think.ToolResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = append(l.done, tool+" "+string(input))
	return think.ToolResult{Output: "ok"}, nil
}

func (l *layer) Act(ctx context.Context, _ string, _ json.RawMessage, run func(context.Context) think.Acted) (think.ToolResult, error) {
	if l.held != "" {
		return think.ToolResult{Denied: l.held}, nil
	}
	l.acts = append(l.acts, run(ctx))
	return think.ToolResult{}, nil
}

func (l *layer) Observe(_ context.Context, o think.Observed) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observed = append(l.observed, o)
	return l.broken
}

func (l *layer) May(tool string, input json.RawMessage) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, tool+" "+string(input))
	return !l.deny
}

func executeInput(t *testing.T) think.ExecuteInput {
	return think.ExecuteInput{Goal: "g", Attempt: 1, Workspace: t.TempDir(), Values: "be kind", Spec: message.TaskSpec{Intent: "the goal"},
		Task: message.SubTask{Intent: "write made.txt", SuccessCriteria: []message.Criterion{{ID: "a.1", Criterion: "made.txt exists"}}}}
}

func TestExecuteIsOneCallWithWhatItsStreamShows(t *testing.T) {
	for _, w := range ways() {
		l, in := &layer{}, executeInput(t)
		a, _ := w.start(t, "ok", nil)
		got, err := a.Execute(t.Context(), in, l)
		if err != nil || got.Status != message.Completed || got.Output != "all done" {
			t.Fatalf("%s: %+v, %v", w.name, got, err)
		}
		if len(l.acts) != 1 || l.acts[0].Failed != "" || !strings.Contains(l.acts[0].Output, "all done") {
			t.Errorf("%s: acts %+v", w.name, l.acts)
		}
		if w.name != "text" && w.name != "json" && (len(l.observed) != 1 || !strings.Contains(string(l.observed[0].Input), "made.txt")) {
			t.Errorf("%s: observed %+v", w.name, l.observed)
		}
		if w.name == "acp" && (len(l.asked) != 1 || !strings.HasPrefix(l.asked[0], "shell ")) {
			t.Errorf("the gate was asked %v", l.asked)
		}
		if got.Usage.Model != a.Model() {
			t.Errorf("%s: the record names %q", w.name, got.Usage.Model)
		}
	}
}

func TestTheGateAnswersAnACPAgent(t *testing.T) {
	w := ways()[4]
	l, in := &layer{deny: true}, executeInput(t)
	a, _ := w.start(t, "ok", nil)
	if _, err := a.Execute(t.Context(), in, l); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(in.Workspace, "made.txt")); err == nil {
		t.Error("it did what was refused")
	}
	if len(l.observed) != 2 || l.observed[0].Denied == "" && l.observed[1].Denied == "" {
		t.Errorf("observed %+v", l.observed)
	}
}

func TestFilesAndTerminalsGoThroughTheTools(t *testing.T) {
	w := ways()[4]
	l, in := &layer{}, executeInput(t)
	a, err := New(ACP, "", map[string]string{"command": fake + " --as acp --write through-client ok", "serve": "true", "timeout_ms": "240000"},
		World{Environ: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Execute(t.Context(), in, l); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(l.done, "\n")
	if len(l.done) != 2 || !strings.Contains(all, "write_file") || !strings.Contains(all, `"command":"sh -c 'echo term \u003e term.txt'"`) {
		t.Errorf("done: %s", all)
	}
	if len(l.acts) != 0 {
		t.Error("a run whose calls are journalled one by one is itself a call")
	}
	off, _ := w.start(t, "ok", nil)
	quiet := &layer{}
	if _, err := off.Execute(t.Context(), in, quiet); err != nil || len(quiet.done) != 0 {
		t.Errorf("not asked for, and served: %v %v", quiet.done, err)
	}
}

func TestALimitIsPassedOn(t *testing.T) {
	for _, w := range ways() {
		if w.name == "text" {
			continue
		}
		l := &layer{}
		a, _ := w.start(t, "limit", nil)
		_, err := a.Execute(t.Context(), executeInput(t), l)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.Limit || e.Account != a.Account() || len(l.acts) != 1 || l.acts[0].Failed == "" {
			t.Errorf("%s: %v, acts %+v", w.name, err, l.acts)
		}
	}
}

func TestABrokenJournalEndsTheAgent(t *testing.T) {
	w := ways()[0]
	broken := errors.New("the claim is lost")
	l := &layer{broken: broken}
	a, pids := w.start(t, "stubborn", nil)
	_, err := a.Execute(t.Context(), executeInput(t), l)
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	noneLeft(t, pids, 0)
}

// An agent that is seen to do what its plan must not is stopped, and whatever
// it says, its attempt failed.
func TestWhatAnAgentMustNotDoEndsItsRun(t *testing.T) {
	for _, w := range []way{ways()[0], ways()[1], ways()[4]} {
		l := &layer{broken: &think.MustNotError{What: "echo hi", Ban: think.Ban{Approach: "shell:echo", Source: think.FromMemory, Because: "it never worked"}}}
		for _, mode := range []string{"ok", "stubborn"} {
			a, pids := w.start(t, mode, nil)
			got, err := a.Execute(t.Context(), executeInput(t), l)
			if err != nil || got.Status != message.Failed || !strings.Contains(got.MustNot, "must not (memory: it never worked)") {
				t.Errorf("%s %s: %+v, %v", w.name, mode, got, err)
			}
			noneLeft(t, pids, 0)
		}
		if l.observed[0].Command != "echo hi > made.txt" {
			t.Errorf("%s: the command is %q", w.name, l.observed[0].Command)
		}
	}
}

func TestARunThatIsHeldBackDoesNotBegin(t *testing.T) {
	l, in := &layer{held: "[denied] a person is to be asked"}, executeInput(t)
	a, _ := ways()[0].start(t, "ok", nil)
	got, err := a.Execute(t.Context(), in, l)
	if err != nil || got.Status != message.Failed || got.Class != message.Environmental || got.Reason != l.held {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(in.Workspace, "made.txt")); err == nil {
		t.Error("it began")
	}
}

func TestAnAgentIsToldWhatItMustNot(t *testing.T) {
	in := executeInput(t)
	in.MustNot = []think.Ban{{Approach: "shell:npm", Because: "round 1"}, {Approach: "edit", Target: "a.txt", Because: "it failed"}, {Target: "make all", Because: "nothing changed"}}
	for _, line := range []string{"- use shell:npm (round 1)", "- use edit on a.txt (it failed)", "- run or act on make all, while nothing has changed (nothing changed)"} {
		if p := executorPrompt(in); !strings.Contains(p, line) {
			t.Errorf("%q is not in\n%s", line, p)
		}
	}
}

func TestTheClaimIsReadKindly(t *testing.T) {
	for text, want := range map[string]claimed{
		"all done": {Status: "completed", Output: "all done"},
		"I did it.\n```json\n{\"status\":\"completed\",\"output\":\"x\"}\n```":       {Status: "completed", Output: "x"},
		`{"status":"failed","output":"","reason":"no compiler","infeasible":"gone"}`: {Status: "failed", Reason: "no compiler", Infeasible: "gone"},
		`{"status":"completed","output":"x","approach":"shell:npm"}`:                 {Status: "completed", Output: "x", Approach: "shell:npm"},
		`{"status":"great"}`: {Status: "completed", Output: `{"status":"great"}`},
	} {
		if got := claim(text); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestCompleteOnlyLooks(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		a, _ := w.start(t, "schema", nil)
		got, err := a.Complete(t.Context(), model.Request{System: "judge", Turns: []model.Turn{{By: model.User, Text: "x"}}, Schema: &model.Schema{Name: "s", JSON: claimSchema}})
		if err != nil || got.Text != `{"status":"completed","output":"it is done"}` || got.Stop != model.StopEnd {
			t.Errorf("%+v, %v", got, err)
		}
		_, err = a.Complete(t.Context(), model.Request{Tools: []model.Tool{{Name: "x"}}})
		if kindOf(t, err) != model.BadRequest {
			t.Errorf("tools were taken: %v", err)
		}
	})
}

// A role can be a script: JSON in, JSON out, or an answer in a file.
func TestARoleCanBeAScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "role.sh")
	write := func(body string) {
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(format string) (model.Response, error) {
		a, err := New(Exec, "", map[string]string{"command": script, "format": format, "timeout_ms": "240000"}, World{Environ: []string{"PATH=" + os.Getenv("PATH")}})
		if err != nil {
			t.Fatal(err)
		}
		return a.Complete(t.Context(), model.Request{Role: "planner", Input: json.RawMessage(`{"goal":"g"}`), Turns: []model.Turn{{By: model.User, Text: "plan"}}})
	}
	write(`in=$(cat); case "$in" in *'"role":"planner"'*'"input":{"goal":"g"}'*) echo '{"answer":{"tasks":[1]},"cost_usd":0.5}';; *) echo "got $in" >&2; exit 1;; esac`)
	if got, err := ask("json"); err != nil || got.Text != `{"tasks":[1]}` || got.Cost == nil || *got.Cost != 0.5 {
		t.Errorf("%+v, %v", got, err)
	}
	write(`echo '{"tasks":[2]}'`)
	if got, err := ask("json"); err != nil || strings.TrimSpace(got.Text) != `{"tasks":[2]}` {
		t.Errorf("%+v, %v", got, err)
	}
	write(`echo progress; echo the answer > "$ORCH_RESULT"`)
	if got, err := ask("text"); err != nil || got.Text != "the answer" {
		t.Errorf("%+v, %v", got, err)
	}
	write(`echo '{"error":{"kind":"limit","detail":"used up","until":"2999-01-01T00:00:00Z"}}'`)
	if _, err := ask("json"); kindOf(t, err) != model.Limit {
		t.Errorf("%v", err)
	}
	write(`echo half; exit 4`)
	if _, err := ask("text"); kindOf(t, err) != model.Ended {
		t.Errorf("%v", err)
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		kind    string
		options map[string]string
		want    string
	}{
		"unknown option": {Exec, map[string]string{"presett": "claude"}, "presett is not known"},
		"unknown preset": {Exec, map[string]string{"preset": "eliza"}, "allowed: claude"},
		"nothing":        {Exec, nil, "is needed"},
		"range":          {Exec, map[string]string{"preset": "claude", "idle_ms": "5"}, "allowed: 1000 to 86400000 ms"},
		"access":         {Exec, map[string]string{"preset": "claude", "access": "root"}, "allowed: read, workspace, full"},
		"no acp":         {ACP, map[string]string{"preset": "pi"}, "does not speak ACP"},
		"kind":           {"telepathy", map[string]string{"preset": "pi"}, "drives no agent"},
		"format":         {Exec, map[string]string{"preset": "pi", "format": "json"}, "without a preset"},
	} {
		_, err := New(c.kind, "", c.options, World{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", name, err, c.want)
		}
	}
	a, err := New(Exec, "opus", map[string]string{"preset": "claude", "args": "--x 'a b'"}, World{})
	if err != nil || a.Model() != "exec:claude/opus" || a.Account() != "claude" || len(a.set.args) != 2 {
		t.Errorf("%v %+v", err, a)
	}
}

func TestAMissingProgramIsConfiguration(t *testing.T) {
	a, err := New(Exec, "", map[string]string{"command": "no-such-agent-here"}, World{Environ: []string{"PATH=/nowhere"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Run(t.Context(), Task{Prompt: "x", Dir: t.TempDir()})
	if kindOf(t, err) != model.BadRequest || !strings.Contains(err.Error(), "was not found") {
		t.Errorf("%v", err)
	}
}
