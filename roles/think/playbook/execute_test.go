package playbook

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/think"
)

// scripted answers calls in order.
type scripted struct {
	answers []think.ToolResult
	err     error
	inputs  []string
}

func (s *scripted) Do(_ context.Context, _ string, input json.RawMessage) (think.ToolResult, error) {
	s.inputs = append(s.inputs, string(input))
	if s.err != nil {
		return think.ToolResult{}, s.err
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	return a, nil
}

func step(name, command string, more func(*ActionStep)) ActionStep {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // two strings always marshal
	}
	s := ActionStep{Name: name, Tool: "shell", Input: input}
	if more != nil {
		more(&s)
	}
	return s
}

func mayFail(s *ActionStep) { s.ContinueOnError = true }

func TestExecute(t *testing.T) {
	two := []ActionVariant{{Name: "one", Steps: []ActionStep{step("a", "first", nil), step("b", "second", nil)}}, {Name: "two", Steps: []ActionStep{step("a", "other", nil)}}}
	wrong := &message.CorrectionSignal{WhatWasWrong: "exit 1: still red", FailureClass: message.Logical}
	inTheWay := &message.CorrectionSignal{WhatWasWrong: "[denied]", FailureClass: message.Environmental}
	for _, c := range []struct {
		name       string
		variants   []ActionVariant
		output     string
		attempt    int
		correction *message.CorrectionSignal
		answers    []think.ToolResult
		calls      int
		want       think.Execution
	}{
		{"all well", two, "", 1, nil, []think.ToolResult{{Output: "x"}, {Output: "y\n"}}, 2, think.Execution{Status: "completed", Output: "y"}},
		{"all outputs", two, "all", 1, nil, []think.ToolResult{{Output: "x"}, {Output: "y"}}, 2, think.Execution{Status: "completed", Output: "x\n\ny"}},
		{"output of a step", two, "a", 1, nil, []think.ToolResult{{Output: "x"}, {Output: "y"}}, 2, think.Execution{Status: "completed", Output: "x"}},
		{"silent success", two, "", 1, nil, []think.ToolResult{{}, {}}, 2, think.Execution{Status: "completed", Output: "ran `first`, then `second`"}},
		{"a step fails", two, "", 1, nil, []think.ToolResult{{Exit: 3, Output: "boom"}}, 1,
			think.Execution{Status: "failed", Class: message.Logical, Output: "boom", Reason: "try: `first` exited with 3: boom"}},
		{"a step fails for the world", two, "", 1, nil, []think.ToolResult{{Exit: 127, Output: "sh: x: not found", Class: message.Environmental}}, 1,
			think.Execution{Status: "failed", Class: message.Environmental, Output: "sh: x: not found", Reason: "try: `first` exited with 127: sh: x: not found"}},
		{"a step is refused", two, "", 1, nil, []think.ToolResult{{Exit: -1, Denied: "[denied] deletes x"}}, 1,
			think.Execution{Status: "failed", Class: message.Environmental, Reason: "try: `first` was refused: [denied] deletes x"}},
		{"a step may fail", []ActionVariant{{Steps: []ActionStep{step("a", "first", mayFail), step("b", "second", nil)}}}, "", 1, nil,
			[]think.ToolResult{{Exit: 1, Output: "x"}, {Output: "y"}}, 2, think.Execution{Status: "completed", Output: "y"}},
		{"what a step that may fail said", []ActionVariant{{Steps: []ActionStep{step("a", "first", mayFail)}}}, "", 1, nil,
			[]think.ToolResult{{Exit: 1, Output: "x"}}, 1,
			think.Execution{Status: "completed", Output: "`first` exited with 1, which it may; what counts was judged after it.\n\nx"}},
		{"what may fail may not be refused", []ActionVariant{{Steps: []ActionStep{step("a", "first", mayFail)}}}, "", 1, nil,
			[]think.ToolResult{{Exit: -1, Denied: "[denied]"}}, 1, think.Execution{Status: "failed", Class: message.Environmental, Reason: "try: `first` was refused: [denied]"}},
		{"a correction takes the next variant", two, "", 2, wrong, []think.ToolResult{{Output: "z"}}, 1, think.Execution{Status: "completed", Output: "z"}},
		{"no variant is left", two, "", 3, wrong, nil, 0,
			think.Execution{Status: "failed", Class: message.Logical, Reason: "exit 1: still red", Exhausted: true, Infeasible: "try on it has no further variant: exit 1: still red"}},
		{"the world was in the way of the last variant", two, "", 3, inTheWay, []think.ToolResult{{Output: "z"}}, 1, think.Execution{Status: "completed", Output: "z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tools := &scripted{answers: c.answers}
			got, err := execute(t, Action{Version: 1, Approach: "try", Target: "it", Variants: c.variants, Output: c.output}, c.attempt, c.correction, tools)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
			if len(tools.inputs) != c.calls {
				t.Errorf("%d calls, want %d: %v", len(tools.inputs), c.calls, tools.inputs)
			}
		})
	}
}

func execute(t *testing.T, a Action, attempt int, c *message.CorrectionSignal, tools think.Tools) (think.Execution, error) {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	b := altBackend(t, fakeFacts{})
	return b.Execute(context.Background(), think.ExecuteInput{Task: message.SubTask{Action: data}, Attempt: attempt, Correction: c}, tools)
}

func TestExecuteWhenItNoLongerApplies(t *testing.T) {
	a := Action{Version: 1, Approach: "try", When: When{File: Strings{"gone"}}, Variants: []ActionVariant{{Steps: []ActionStep{step("a", "x", nil)}}}}
	tools := &scripted{}
	got, err := execute(t, a, 1, nil, tools)
	if err != nil || got.Status != message.Failed || got.Infeasible != "try does not apply any more: there is no gone" || len(tools.inputs) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestExecuteSeesParameters: a condition on a parameter holds when run as it did when planned.
func TestExecuteSeesParameters(t *testing.T) {
	a := Action{Version: 1, Approach: "try", When: When{Param: []ParamIs{{Name: "x", Matches: "^y$"}}}, Params: map[string]string{"x": "y"},
		Variants: []ActionVariant{{Steps: []ActionStep{step("a", "x", nil)}}}}
	if got, err := execute(t, a, 1, nil, &scripted{answers: []think.ToolResult{{}}}); err != nil || got.Status != message.Completed {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestExecuteRefusesForeignTasks(t *testing.T) {
	b := altBackend(t, fakeFacts{})
	for _, action := range []string{"", "null", "{}", `{"version":2,"variants":[{}]}`, `{"version":1}`, "[", `{"version":"1"}`} {
		if got, err := b.Execute(context.Background(), think.ExecuteInput{Task: message.SubTask{Action: json.RawMessage(action)}, Attempt: 1}, &scripted{}); err == nil {
			t.Errorf("%q: executed as %+v", action, got)
		}
	}
}

func TestExecuteReportsBrokenMachinery(t *testing.T) {
	a := Action{Version: 1, Approach: "try", Variants: []ActionVariant{{Steps: []ActionStep{step("a", "x", nil)}}}}
	broken := errors.New("the journal is full")
	if _, err := execute(t, a, 1, nil, &scripted{err: broken}); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
}

func TestExecuteWaits(t *testing.T) {
	var waited time.Duration
	b, err := New(Options{Library: &Library{}, Facts: func(string) Facts { return fakeFacts{} }, Sleep: func(_ context.Context, d time.Duration) error { waited += d; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(Action{Version: 1, WaitMS: 1500, Variants: []ActionVariant{{Steps: []ActionStep{step("a", "x", nil)}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Execute(context.Background(), think.ExecuteInput{Task: message.SubTask{Action: data}, Attempt: 1}, &scripted{answers: []think.ToolResult{{}}}); err != nil || waited != 1500*time.Millisecond {
		t.Errorf("waited %v, %v", waited, err)
	}
}

func TestLongOutputKeepsItsEnd(t *testing.T) {
	long := strings.Repeat("ü", maxOutputBytes) + "the end"
	if got := tail(long); len(got) > maxOutputBytes+8 || !strings.HasSuffix(got, "the end") || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-10:])
	}
}

func TestMergeJoinsWhatMatched(t *testing.T) {
	got, err := altBackend(t, fakeFacts{}).Merge(context.Background(), think.MergeInput{Outcomes: []message.SubTaskOutcome{
		{Slot: "a", Approach: "x", Status: message.Matched, Output: "one\n"}, {Slot: "b", Approach: "y", Status: message.Failed, Output: "two"}, {Slot: "c", Approach: "z", Status: message.Matched}}})
	if err != nil || got.Output != "## a\n\none" || got.Summary != "2 of 3 tasks matched: a by x, c by z" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPerceive(t *testing.T) {
	own, err := Decode("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{Library: &Library{list: append(shipped(t).list, own)}})
	if err != nil {
		t.Fatal(err)
	}
	see := func(text, name string) (think.Perception, error) {
		return b.Perceive(context.Background(), think.PerceiveInput{Input: message.UserInput{Text: text, Playbook: name}})
	}
	if p, err := see("tidy the room\n in docs/", ""); err != nil || p.Intent != "tidy the room in docs/" || p.Tags[0] != "small" || p.Constraints.Scope == nil || *p.Constraints.Scope != "docs" {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := see("remember that the port is 8080", ""); err != nil || !p.Declarative {
		t.Errorf("got %+v, %v", p, err)
	}
	var none *NoMatchError
	if _, err := see("sing a song", ""); !errors.As(err, &none) {
		t.Errorf("err = %v", err)
	}
	if p, err := see("sing a song", "tests-green"); err != nil || p.Tags[0] != "tests-green" {
		t.Errorf("got %+v, %v", p, err)
	}
}

// declaring tells which calls were declared harmless to run again.
type declaring struct {
	scripted
	declared []string
}

func (d *declaring) DoIdempotent(ctx context.Context, tool string, input json.RawMessage) (think.ToolResult, error) {
	d.declared = append(d.declared, string(input))
	return d.scripted.Do(ctx, tool, input)
}

func TestWhatThePlaybookDeclaresIdempotentIsDeclaredToTheTools(t *testing.T) {
	tools := &declaring{scripted: scripted{answers: make([]think.ToolResult, 2)}}
	steps := ActionVariant{Steps: []ActionStep{
		{Name: "once", Tool: "shell", Input: json.RawMessage(`{"command":"once"}`)},
		{Name: "often", Tool: "shell", Input: json.RawMessage(`{"command":"often"}`), Idempotent: true},
	}}
	if _, err := runSteps(context.Background(), Action{Approach: "a"}, steps, tools, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{`{"command":"often"}`}; !slices.Equal(tools.declared, want) {
		t.Fatalf("declared %q, want %q", tools.declared, want)
	}
}

// recorded has calls on record.
type recorded struct {
	scripted
	done []think.Done
}

func (r *recorded) Resume() []think.Done { return r.done }

func (r *recorded) Recall(tool string, input json.RawMessage) (think.Done, bool) {
	for _, d := range r.done {
		if d.Tool == tool && string(d.Input) == string(input) {
			return d, true
		}
	}
	return think.Done{}, false
}

// What is on record but is not what the steps begin with is no reason to make
// any of it again.
func TestARecordThatDoesNotFitTheStepsIsNamed(t *testing.T) {
	step := func(command string) ActionStep {
		return ActionStep{Name: command, Tool: "shell", Input: json.RawMessage(`{"command":"` + command + `"}`)}
	}
	done := func(commands ...string) (all []think.Done) {
		for _, command := range commands {
			all = append(all, think.Done{Tool: "shell", Input: step(command).Input})
		}
		return all
	}
	v := ActionVariant{Steps: []ActionStep{step("pay 1"), step("pay 2")}}
	for name, c := range map[string]struct {
		done []think.Done
		ran  int
		fits bool
	}{
		"fits":         {done("pay 1"), 1, true},
		"all done":     {done("pay 1", "pay 2"), 0, true},
		"another call": {done("pay 9"), 0, false},
		"more calls":   {done("pay 1", "pay 2", "pay 3"), 0, false},
	} {
		tools := &recorded{scripted: scripted{answers: make([]think.ToolResult, 2)}, done: c.done}
		got, err := runSteps(context.Background(), Action{Approach: "a"}, v, tools, c.done)
		if err != nil || len(tools.inputs) != c.ran || (got.Status == message.Completed) != c.fits {
			t.Errorf("%s: ran %v, %+v, %v", name, tools.inputs, got, err)
		}
		if !c.fits && (got.Class != message.Environmental || !strings.Contains(got.Reason, "pay")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
