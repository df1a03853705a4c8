package thinker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/model"
	"orch/roles/think/thinker/internal/modeltest"
)

// hands are tools that answer as they are told to, and remember what was done.
type hands struct {
	do  func(name, input string) (think.ToolResult, error)
	did []string
}

func (h *hands) Do(_ context.Context, name string, input json.RawMessage) (think.ToolResult, error) {
	h.did = append(h.did, name+" "+string(input))
	if h.do == nil {
		return think.ToolResult{Output: fmt.Sprintf("output %d\n", len(h.did))}, nil
	}
	return h.do(name, string(input))
}

func shell(command string) modeltest.Answer {
	return modeltest.Call("shell", map[string]string{"command": command})
}

var done = said1(`{"status":"completed","output":"todos.md written"}`)

func always(r think.ToolResult) func(string, string) (think.ToolResult, error) {
	return func(string, string) (think.ToolResult, error) { return r, nil }
}

// TestExecutorBehaviours are things models do in a tool loop.
func TestExecutorBehaviours(t *testing.T) {
	many := func(n int, a modeltest.Answer) (all []modeltest.Answer) {
		for range n {
			all = append(all, a)
		}
		return all
	}
	type want struct {
		status, output, reason, infeasible string // reason: a part of it
		unusable                           bool
		did, asked                         int
	}
	for name, c := range map[string]struct {
		answers  []modeltest.Answer
		say      func(int, model.Request) modeltest.Answer
		do       func(string, string) (think.ToolResult, error)
		readOnly bool
		want     want
	}{
		"does it and reports": {answers: []modeltest.Answer{shell("ls"), shell("make"), done}, want: want{status: "completed", output: "todos.md written", did: 2, asked: 3}},
		"fails and says so": {answers: []modeltest.Answer{shell("ls"), said1(`{"status":"failed","output":"half","reason":"no compiler"}`)},
			want: want{status: "failed", output: "half", reason: "no compiler", did: 1, asked: 2}},
		"finds it infeasible": {answers: []modeltest.Answer{shell("ls"), said1(`{"status":"failed","output":"","infeasible":"there is no such file"}`)},
			want: want{status: "failed", infeasible: "there is no such file", did: 1, asked: 2}},
		"completed and infeasible at once": {answers: []modeltest.Answer{shell("ls"), said1(`{"status":"completed","output":"x","infeasible":"odd"}`)},
			want: want{status: "completed", output: "x", did: 1, asked: 2}},
		"loops for ever on one call": {say: func(int, model.Request) modeltest.Answer { return shell("ls") }, do: always(think.ToolResult{Output: "same"}),
			want: want{status: "failed", reason: "got nowhere for 4 turns; the last it saw: same", did: 5, asked: 5}},
		"loops for ever on new calls": {say: func(n int, _ model.Request) modeltest.Answer { return shell(fmt.Sprint("echo ", n)) },
			want: want{status: "failed", reason: "40 turns were used up", did: 40, asked: 40}},
		"denied, tries on": {say: func(n int, _ model.Request) modeltest.Answer { return shell(fmt.Sprint("rm ", n)) },
			do:   always(think.ToolResult{Exit: -1, Denied: "[denied] needs permission", Output: "[denied] needs permission\nhint: orch allow x"}),
			want: want{status: "failed", reason: "got nowhere", did: 4, asked: 4}},
		"claims success without doing":              {answers: []modeltest.Answer{done, done}, want: want{status: "completed", output: "todos.md written", asked: 2}},
		"claims success, then does it":              {answers: []modeltest.Answer{done, shell("make"), done}, want: want{status: "completed", output: "todos.md written", did: 1, asked: 3}},
		"claims success where nothing need be done": {answers: []modeltest.Answer{done}, readOnly: true, want: want{status: "completed", output: "todos.md written", asked: 1}},
		"malformed input, repairable": {answers: []modeltest.Answer{modeltest.Call("shell", json.RawMessage(`{'command':'ls',}`)), done},
			do: func(_, in string) (think.ToolResult, error) {
				return think.ToolResult{Output: in}, nil
			}, want: want{status: "completed", output: "todos.md written", did: 1, asked: 2}},
		"malformed input, hopeless": {say: func(n int, _ model.Request) modeltest.Answer {
			return modeltest.Call("shell", json.RawMessage(`{"command`))
		},
			do:   always(think.ToolResult{Exit: 1, Output: "error: input of shell: unexpected end"}),
			want: want{status: "failed", reason: "got nowhere", did: 5, asked: 5}},
		"unknown tool": {answers: []modeltest.Answer{modeltest.Call("teleport", map[string]string{"to": "x"}), done},
			do:   always(think.ToolResult{Exit: 1, Output: `error: unknown tool "teleport", there are shell`}),
			want: want{status: "completed", output: "todos.md written", did: 1, asked: 2}},
		"refuses":                 {answers: []modeltest.Answer{{Text: "I can't help with that.", Stop: model.StopRefuse}}, want: want{unusable: true, asked: 1}},
		"refuses in prose, twice": {answers: []modeltest.Answer{said1("I'm sorry, no."), said1("I'm sorry, no.")}, want: want{unusable: true, asked: 2}},
		"truncated, then shorter": {answers: []modeltest.Answer{shell("ls"), {Text: `{"status":"completed","output":"xxxx`, Stop: model.StopLength}, done},
			want: want{status: "completed", output: "todos.md written", did: 1, asked: 3}},
		"truncated twice": {answers: []modeltest.Answer{{Text: `{"status":"com`, Stop: model.StopLength}, {Text: `{"status":"completed"`, Stop: model.StopLength}},
			want: want{unusable: true, asked: 2}},
		"a call in text that is cut off is not run": {answers: []modeltest.Answer{
			{Text: `{"tool":"shell","input":{"command":"rm -rf a"}}`, Stop: model.StopLength}, shell("ls"), done},
			want: want{status: "completed", output: "todos.md written", did: 1, asked: 3}},
		"says nothing, twice": {answers: []modeltest.Answer{said1(""), said1("")}, want: want{unusable: true, asked: 2}},
		"narrates between calls": {answers: []modeltest.Answer{said1("Let me look."), shell("ls"), said1("Now I write."), shell("make"), done},
			want: want{status: "completed", output: "todos.md written", did: 2, asked: 5}},
		"only narrates": {say: func(int, model.Request) modeltest.Answer { return said1("Working on it…") }, want: want{unusable: true, asked: 2}},
		"calls in its text": {answers: []modeltest.Answer{said1(`<tool_call>{"name":"shell","arguments":{"command":"ls"}}</tool_call>`), done},
			want: want{status: "completed", output: "todos.md written", did: 1, asked: 2}},
		"calls in its text and makes up the result": {answers: []modeltest.Answer{
			said1(`{"tool":"shell","input":{"command":"ls"}} The output is fine. {"status":"completed","output":"made up"}`), done},
			want: want{status: "completed", output: "todos.md written", did: 1, asked: 2}},
		"a call in its reasoning only": {answers: []modeltest.Answer{said1(`<think>{"tool":"shell","input":{"command":"rm x"}}</think>` + done.Text), done},
			want: want{status: "completed", output: "todos.md written", asked: 2}},
		"forty calls at once":           {answers: []modeltest.Answer{{Calls: calls(40)}, done}, want: want{status: "completed", output: "todos.md written", did: callsAtOnce, asked: 2}},
		"reports with a list":           {answers: []modeltest.Answer{shell("ls"), said1(`{"status":"completed","output":["a",1]}`)}, want: want{status: "completed", output: `["a",1]`, did: 1, asked: 2}},
		"reports another status, twice": {answers: []modeltest.Answer{said1(`{"status":"done","output":"x"}`), said1(`{"status":"success","output":"x"}`)}, want: want{unusable: true, asked: 2}},
		"reports and calls at once":     {answers: []modeltest.Answer{{Text: done.Text, Calls: calls(1)}, done}, want: want{status: "completed", output: "todos.md written", did: 1, asked: 2}},
		"fails without a reason": {answers: []modeltest.Answer{shell("ls"), said1(`{"status":"failed","output":"no space left\nmore"}`)},
			want: want{status: "failed", output: "no space left\nmore", reason: "no space left", did: 1, asked: 2}},
		"huge answers": {answers: append(many(1, shell("ls")), said1(strings.Repeat("x", 1<<20)), done), want: want{status: "completed", output: "todos.md written", did: 1, asked: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &modeltest.Script{Answers: c.answers, Say: c.say}
			th, err := New(s, Options{})
			if err != nil {
				t.Fatal(err)
			}
			h := &hands{do: c.do}
			got, err := th.Execute(context.Background(), think.ExecuteInput{Attempt: 1, Task: message.SubTask{Intent: "List TODOs", ReadOnly: c.readOnly}}, h)
			if unusable := errors.As(err, new(*think.UnusableError)); unusable != c.want.unusable || err != nil && !unusable {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.Status != c.want.status || got.Output != c.want.output || !strings.Contains(got.Reason, c.want.reason) || got.Infeasible != c.want.infeasible {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if len(h.did) != c.want.did || len(s.Asked()) != c.want.asked || got.Usage.ModelCalls != c.want.asked {
				t.Errorf("did %d, asked %d, usage %+v; want %+v", len(h.did), len(s.Asked()), got.Usage, c.want)
			}
			wellFormed(t, s.Asked())
		})
	}
}

func calls(n int) []model.Call {
	var all []model.Call
	for i := range n {
		all = append(all, model.Call{ID: fmt.Sprint("c", i), Name: "shell", Input: json.RawMessage(fmt.Sprintf(`{"command":"echo %d"}`, i))})
	}
	return all
}

// wellFormed checks what every server demands: no empty turn, and exactly one
// result for each call, right after it.
func wellFormed(t *testing.T, asked []model.Request) {
	t.Helper()
	turns := asked[len(asked)-1].Turns
	for i, turn := range turns {
		if strings.TrimSpace(turn.Text) == "" && len(turn.Calls) == 0 && len(turn.Results) == 0 {
			t.Errorf("turn %d is empty", i)
		}
		if len(turn.Calls) == 0 {
			continue
		}
		if i+1 >= len(turns) || len(turns[i+1].Results) != len(turn.Calls) {
			t.Fatalf("turn %d has %d calls without as many results", i, len(turn.Calls))
		}
		for k, call := range turn.Calls {
			if turns[i+1].Results[k].CallID != call.ID {
				t.Errorf("result %d of turn %d answers another call", k, i)
			}
		}
	}
	for i := 1; i < len(turns); i++ {
		if (turns[i].By == model.Assistant) == (turns[i-1].By == model.Assistant) {
			t.Errorf("turns %d and %d are by the same side", i-1, i)
		}
	}
}

func TestABrokenJournalEndsTheLoop(t *testing.T) {
	th, s := thinker(t, shell("ls"), done)
	broken := errors.New("disk full")
	_, err := th.Execute(context.Background(), think.ExecuteInput{}, &hands{do: func(string, string) (think.ToolResult, error) { return think.ToolResult{}, broken }})
	if !errors.Is(err, broken) || len(s.Asked()) != 1 {
		t.Errorf("%v", err)
	}
}

func TestALimitInTheMiddleKeepsItsType(t *testing.T) {
	th, _ := thinker(t, shell("ls"), modeltest.Fail(model.Limit))
	got, err := th.Execute(context.Background(), think.ExecuteInput{}, &hands{})
	if _, ok := AsLimit(err); !ok || got.Usage.ModelCalls != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a provider signed goes back with the turn it came with, and only there.
func TestWhatAProviderSignedGoesBackToIt(t *testing.T) {
	signed := func(echo string, a modeltest.Answer) modeltest.Answer {
		a.Echo = json.RawMessage(echo)
		return a
	}
	th, s := thinker(t, signed(`"one"`, shell("ls")), shell("pwd"), signed(`"two"`, shell("make")), done)
	if _, err := th.Execute(context.Background(), think.ExecuteInput{}, &hands{}); err != nil {
		t.Fatal(err)
	}
	var echoes []string
	for _, turn := range s.Asked()[3].Turns {
		if turn.By == model.Assistant {
			echoes = append(echoes, string(turn.Echo))
		} else if turn.Echo != nil {
			t.Errorf("%s came with a turn of the model and goes back with another", turn.Echo)
		}
	}
	if want := []string{`"one"`, "", `"two"`}; fmt.Sprint(echoes) != fmt.Sprint(want) {
		t.Errorf("it got back %q, want %q", echoes, want)
	}
}

func TestResultsAreShownAsTheyAre(t *testing.T) {
	results := map[string]think.ToolResult{
		"quiet": {}, "failing": {Exit: 3, Output: "boom\n"}, "denied": {Exit: -1, Denied: "[denied] no", Output: "[denied] no\nhint: x"}, "banned": {Exit: -1, Denied: "[denied] plan", Output: ""}, "bytes": {Output: "a\xffb"},
	}
	var all []modeltest.Answer
	for _, name := range []string{"quiet", "failing", "denied", "banned", "bytes"} {
		all = append(all, shell(name))
	}
	th, s := thinker(t, append(all, done)...)
	h := &hands{do: func(_, in string) (think.ToolResult, error) {
		for name, r := range results {
			if strings.Contains(in, name) {
				return r, nil
			}
		}
		return think.ToolResult{}, nil
	}}
	if _, err := th.Execute(context.Background(), think.ExecuteInput{}, h); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, turn := range s.Asked()[5].Turns {
		for _, r := range turn.Results {
			got = append(got, fmt.Sprintf("%q %v", r.Text, r.Failed))
		}
	}
	want := []string{`"[exit 0, no output]" false`, `"boom\n[exit 3]" true`, `"[denied] no\nhint: x" true`, `"[denied] plan\n" true`, `"a�b" false`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestInputOf(t *testing.T) {
	for in, want := range map[string]string{
		`{"path":"a","limit":"20","offset":null}`: `{"limit":20,"path":"a"}`,
		`{"path":"a < b","limit":20}`:             `{"path":"a < b","limit":20}`,
		`{"path":"7","limit":"many"}`:             `{"path":"7","limit":"many"}`,
		`{path:'a'}`:                              `{"path":"a"}`,
		`{"path":null}`:                           `{"path":null}`,
		`not json`:                                `not json`,
		`"text"`:                                  `"text"`,
		``:                                        ``,
	} {
		if got := inputOf("read_file", json.RawMessage(in)); string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := inputOf("grep", json.RawMessage(`{"pattern":"true","ignore_case":"true"}`)); string(got) != `{"ignore_case":true,"pattern":"true"}` {
		t.Errorf("got %s", got)
	}
}

// A long attempt stays within a bounded conversation, and is told of its end.
func TestALongAttemptStaysBounded(t *testing.T) {
	s := &modeltest.Script{Say: func(n int, _ model.Request) modeltest.Answer { return shell(fmt.Sprint("cat ", n)) }}
	th, err := New(s, Options{Turns: 60})
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 20<<10)
	h := &hands{do: func(_, in string) (think.ToolResult, error) { return think.ToolResult{Output: in + big}, nil }}
	if _, err := th.Execute(context.Background(), think.ExecuteInput{}, h); err != nil {
		t.Fatal(err)
	}
	last := s.Asked()[59]
	total, told := 0, false
	for _, turn := range last.Turns {
		for _, r := range turn.Results {
			total += len(r.Text)
			told = told || strings.Contains(r.Text, "more turns: finish and report")
		}
	}
	if total > historyBytes+60*len(forgotten) || !told {
		t.Errorf("%d bytes of results, told of the end: %v", total, told)
	}
	if !strings.Contains(last.Turns[0].Text, "Your task") && last.Turns[0].Text == forgotten {
		t.Error("the task itself was forgotten")
	}
}
