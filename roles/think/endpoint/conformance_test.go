package endpoint_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think/endpoint"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

func TestText(t *testing.T) {
	script := fakemodel.Script{Key: key, Rules: []fakemodel.Rule{{
		When:  fakemodel.When{Model: "m-1", System: "be brief", Last: "héllo", Header: map[string]string{"X-Team": "blue"}},
		Reply: &fakemodel.Reply{Text: "grüß dich, 世界 🌍", Usage: fakemodel.Usage{Input: 20, Output: 7, Cached: 15}},
	}}}
	with(t, script, func(o *endpoint.Options) { o.Headers = map[string]string{"X-Team": "blue"} }, func(b bench) {
		got := b.ask(question("héllo"))
		want := model.Response{Text: "grüß dich, 世界 🌍", Stop: model.StopEnd, Usage: message.Usage{
			InputTokens: 20, OutputTokens: 7, CachedTokens: 15, ModelCalls: 1, Model: b.client.Model()}}
		if !reflect.DeepEqual(got, want) {
			b.Errorf("got  %+v\nwant %+v", got, want)
		}
		if s := b.server.Requests()[0].Stream; s == b.whole {
			b.Errorf("streamed %v", s)
		}
	})
}

func TestNames(t *testing.T) {
	with(t, always(fakemodel.Reply{Text: "x"}), nil, func(b bench) {
		want := map[fakemodel.API]string{fakemodel.Chat: "openai:m-1", fakemodel.Messages: "anthropic:m-1"}[b.api]
		if b.client.Model() != want || b.client.Account() != "model.test/TEST_KEY" {
			b.Errorf("model %q, account %q", b.client.Model(), b.client.Account())
		}
	})
}

func TestToolLoop(t *testing.T) {
	script := inOrder(
		fakemodel.Reply{Text: "let me look", Reasoning: "I need a listing", Calls: []fakemodel.Call{
			{ID: "c1", Name: "shell", Input: map[string]any{"command": "ls -l"}},
			{ID: "c2", Name: "shell", Raw: `{"command": "broken`}}},
		fakemodel.Reply{Text: "two files"})
	with(t, script, nil, func(b bench) {
		r := question("what is here?")
		r.Tools = []model.Tool{shell}
		first := b.ask(r)
		if first.Stop != model.StopTools || first.Text != "let me look" || len(first.Calls) != 2 {
			b.Fatalf("%+v", first)
		}
		if c := first.Calls[0]; c.ID != "c1" || c.Name != "shell" || !sameJSON(c.Input, `{"command":"ls -l"}`) {
			b.Errorf("%+v", c)
		}
		if c := first.Calls[1]; c.ID != "c2" || !strings.Contains(string(c.Input), "broken") {
			b.Errorf("%+v", c)
		}
		r.Turns = append(r.Turns, model.Turn{By: model.Assistant, Text: first.Text, Calls: first.Calls, Echo: first.Echo},
			model.Turn{By: model.ToolSays, Results: []model.Result{{CallID: "c1", Text: "a.txt b.txt"}, {CallID: "c2", Text: "no such tool", Failed: true}}})
		if second := b.ask(r); second.Text != "two files" || second.Stop != model.StopEnd || len(second.Calls) != 0 {
			b.Errorf("%+v", second)
		}
		sent := b.server.Requests()[1]
		body := string(sent.Body)
		for _, want := range []string{"let me look", "a.txt b.txt", "no such tool", "c1", "c2", "broken", "I need a listing"} {
			if !strings.Contains(body, want) {
				b.Errorf("no %q in the second request: %s", want, body)
			}
		}
		if sent.Turn() != 2 || !reflect.DeepEqual(sent.Tools, []string{"shell"}) {
			b.Errorf("turn %d, tools %v", sent.Turn(), sent.Tools)
		}
	})
}

func TestReasoningIsNotText(t *testing.T) {
	with(t, always(fakemodel.Reply{Text: "four", Reasoning: "two and two"}), nil, func(b bench) {
		if got := b.ask(question("2+2")); got.Text != "four" || got.Echo != nil {
			b.Errorf("%+v", got)
		}
	})
}

func TestSchema(t *testing.T) {
	with(t, always(fakemodel.Reply{JSON: map[string]any{"pass": true, "why": "it ran"}}), nil, func(b bench) {
		r := question("judge")
		r.Schema = verdict
		got := b.ask(r)
		if !sameJSON([]byte(got.Text), `{"pass":true,"why":"it ran"}`) || got.Stop != model.StopEnd || len(got.Calls) != 0 {
			b.Errorf("%+v", got)
		}
		if !b.server.Requests()[0].Schema {
			b.Error("no schema was asked for")
		}
	})
}

func TestSchemaWithTools(t *testing.T) {
	script := inOrder(
		fakemodel.Reply{Calls: []fakemodel.Call{{ID: "c1", Name: "shell", Input: map[string]any{"command": "go test"}}}},
		fakemodel.Reply{JSON: map[string]any{"pass": false, "why": "red"}})
	with(t, script, nil, func(b bench) {
		r := question("judge")
		r.Schema, r.Tools = verdict, []model.Tool{shell}
		first := b.ask(r)
		if first.Stop != model.StopTools || len(first.Calls) != 1 || first.Calls[0].Name != "shell" {
			b.Fatalf("%+v", first)
		}
		r.Turns = append(r.Turns, model.Turn{By: model.Assistant, Calls: first.Calls},
			model.Turn{By: model.ToolSays, Results: []model.Result{{CallID: "c1", Text: "FAIL"}}})
		if got := b.ask(r); !sameJSON([]byte(got.Text), `{"pass":false,"why":"red"}`) || got.Stop != model.StopEnd {
			b.Errorf("%+v", got)
		}
	})
}

// What does not fit the schema is the caller's to judge: it arrives as it is.
func TestWrongSchemaArrivesUnchanged(t *testing.T) {
	script := inOrder(fakemodel.Reply{Text: "I think it passes"}, fakemodel.Reply{Text: `[1,2]`}, fakemodel.Reply{Text: `{"pass":"maybe"}`})
	with(t, script, nil, func(b bench) {
		r := question("judge")
		r.Schema = verdict
		for _, want := range []string{"I think it passes", `[1,2]`, `{"pass":"maybe"}`} {
			if got := b.ask(r); got.Text != want {
				b.Errorf("got %q, want %q", got.Text, want)
			}
		}
	})
}

func TestCutByLength(t *testing.T) {
	script := inOrder(
		fakemodel.Reply{Text: "once upon a", Stop: "length"},
		fakemodel.Reply{Calls: []fakemodel.Call{{ID: "c", Name: "shell", Raw: `{"command":"ec`}}, Stop: "length"})
	with(t, script, nil, func(b bench) {
		if got := b.ask(question("tell")); got.Stop != model.StopLength || got.Text != "once upon a" {
			b.Errorf("%+v", got)
		}
		if got := b.ask(question("tell")); got.Stop != model.StopLength || len(got.Calls) != 1 {
			b.Errorf("%+v", got)
		}
	})
}

func TestRefusal(t *testing.T) {
	with(t, always(fakemodel.Reply{Refusal: "I can't help with that"}), nil, func(b bench) {
		if got := b.ask(question("do harm")); got.Stop != model.StopRefuse || got.Text != "I can't help with that" || got.Usage.OutputTokens == 0 {
			b.Errorf("%+v", got)
		}
	})
}

func TestEmptyAnswer(t *testing.T) {
	with(t, always(fakemodel.Reply{}), nil, func(b bench) {
		if got := b.ask(question("say nothing")); got.Stop != model.StopEnd || got.Text != "" {
			b.Errorf("%+v", got)
		}
	})
}

func TestMegabyte(t *testing.T) {
	text := strings.Repeat("wörds ", 150_000)
	with(t, always(fakemodel.Reply{Text: text}), nil, func(b bench) {
		if got := b.ask(question(text)); got.Text != text {
			b.Errorf("%d bytes came back of %d", len(got.Text), len(text))
		}
	})
}

func TestOutputLimit(t *testing.T) {
	with(t, always(fakemodel.Reply{Text: "x"}), func(o *endpoint.Options) { o.MaxOutputTokens = 777 }, func(b bench) {
		r := question("x")
		b.ask(r)
		r.MaxOutputTokens = 333
		b.ask(r)
		for i, want := range []string{"777", "333"} {
			if body := string(b.server.Requests()[i].Body); !strings.Contains(body, `"max_tokens":`+want) {
				b.Errorf("request %d: %s", i+1, body)
			}
		}
	})
}

func TestSlowButAlive(t *testing.T) {
	script := always(fakemodel.Reply{Text: "at last", Fault: fakemodel.Fault{Kind: fakemodel.Drip, DelayMS: 60_000}})
	with(t, script, nil, func(b bench) {
		if got := b.ask(question("x")); got.Text != "at last" || b.took().Minutes() < 4 {
			b.Errorf("%+v after %v", got, b.took())
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	script := fakemodel.Script{Rules: []fakemodel.Rule{{Func: func(r fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Text: "echo " + r.Last().Text}
	}}}}
	with(t, script, nil, func(b bench) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				text := fmt.Sprint("question ", i)
				if got, err := b.client.Complete(b.Context(), question(text)); err != nil || got.Text != "echo "+text {
					b.Errorf("%v %+v", err, got)
				}
			})
		}
		wg.Wait()
	})
}

func TestConversationSurvivesWhatModelsGetWrong(t *testing.T) {
	for name, input := range map[string]string{"cut": `{"command":"l`, "array": `["ls"]`, "empty": ``, "null": `null`, "text": `ls`} {
		t.Run(name, func(t *testing.T) {
			with(t, always(fakemodel.Reply{Text: "fine"}), nil, func(b bench) {
				r := question("x")
				r.Tools = []model.Tool{shell}
				r.Turns = append(r.Turns, model.Turn{By: model.Assistant, Calls: []model.Call{{ID: "c", Name: "shell", Input: json.RawMessage(input)}}},
					model.Turn{By: model.ToolSays, Results: []model.Result{{CallID: "c", Text: "", Failed: true}}})
				b.ask(r)
				var v any
				if err := json.Unmarshal(b.server.Requests()[0].Body, &v); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

func sameJSON(a []byte, want string) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(want), &y) == nil && reflect.DeepEqual(x, y)
}
