package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"orch/roles/think/endpoint"
	"orch/roles/think/endpoint/anthropic"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var tool = model.Tool{Name: "shell", Description: "runs a command",
	Input: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false,"$defs":{"a":{"type":"string"}}}`)}

var shape = &model.Schema{Name: "the verdict!", JSON: json.RawMessage(`{"type":"object","properties":{"pass":{"type":"boolean"}},"required":["pass"]}`)}

func serve(t *testing.T, script fakemodel.Script, path string) (*fakemodel.Server, *anthropic.Client) {
	t.Helper()
	srv, err := fakemodel.Listen(script, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	c, err := anthropic.New(endpoint.Options{BaseURL: srv.URL() + path, Model: "m", BackoffMS: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return srv, c
}

func refusing(status int, message string, texts ...string) fakemodel.Rule {
	return fakemodel.Rule{Func: func(r fakemodel.Request) fakemodel.Reply {
		for _, text := range texts {
			if strings.Contains(string(r.Body), text) {
				return fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: status, Message: message}}
			}
		}
		return fakemodel.Reply{JSON: map[string]any{"pass": true}}
	}}
}

func TestServersThatTakeLess(t *testing.T) {
	r := model.Request{System: "be fair", Turns: []model.Turn{{By: model.User, Text: "judge"}}, Schema: shape}
	for _, c := range []struct {
		name, message string
		refuses       []string
		gone, there   []string
		tries         int
	}{
		{"limit", "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens", []string{`"max_tokens":8192`}, nil, []string{`"max_tokens":4096`}, 2},
		{"cache", "messages.0.cache_control: Extra inputs are not permitted", []string{"cache_control"}, []string{"cache_control"}, []string{"tool_choice"}, 2},
		{"forced tool", "Thinking may not be enabled when tool_choice forces tool use.", []string{"tool_choice"}, []string{"tool_choice"}, []string{"answer_the_verdict_", "by calling the tool"}, 2},
		{"tools", "tools are not supported by this model; tool_choice neither", []string{"tools"}, []string{`"tools"`, "tool_choice"}, []string{"must fit this JSON Schema"}, 3},
		{"streaming", "streaming is not supported", []string{`"stream":true`}, []string{`"stream"`}, []string{"tool_choice"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv, client := serve(t, fakemodel.Script{Rules: []fakemodel.Rule{refusing(400, c.message, c.refuses...)}}, "")
			for range 2 {
				if res, err := client.Complete(t.Context(), r); err != nil || res.Text != `{"pass":true}` || res.Stop != model.StopEnd {
					t.Fatalf("%v %+v", err, res)
				}
			}
			sent := srv.Requests()
			if len(sent) != c.tries+1 {
				t.Errorf("%d requests, want %d and then 1 for the next question", len(sent), c.tries)
			}
			last := string(sent[len(sent)-1].Body)
			for _, text := range c.gone {
				if strings.Contains(last, text) {
					t.Errorf("%s is still in %s", text, last)
				}
			}
			for _, text := range c.there {
				if !strings.Contains(last, text) {
					t.Errorf("no %s in %s", text, last)
				}
			}
		})
	}
}

func TestRefusalsEnd(t *testing.T) {
	message := "max_tokens: 9 > 8 cache_control tool_choice tool schema stream are not supported"
	srv, client := serve(t, fakemodel.Script{Rules: []fakemodel.Rule{refusing(400, message, "m")}}, "")
	_, err := client.Complete(t.Context(), model.Request{Schema: shape, Turns: []model.Turn{{By: model.User, Text: "x"}}})
	if err == nil || len(srv.Requests()) > 8 {
		t.Errorf("%v after %d requests", err, len(srv.Requests()))
	}
}

// What stays the same between requests is marked at its end, so that the
// provider finds it in its cache.
func TestCacheMarks(t *testing.T) {
	srv, client := serve(t, fakemodel.Script{Default: &fakemodel.Reply{Text: "x"}}, "/v1")
	r := model.Request{System: "be brief", Tools: []model.Tool{tool, {Name: "read_file", Input: tool.Input}}, Turns: []model.Turn{
		{By: model.User, Text: "look"},
		{By: model.Assistant, Calls: []model.Call{{ID: "c", Name: "shell", Input: json.RawMessage(`{}`)}}},
		{By: model.ToolSays, Results: []model.Result{{CallID: "c", Text: "ok"}}},
	}}
	if _, err := client.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	type marked struct {
		Cache any `json:"cache_control"`
	}
	var body struct {
		Tools, System []marked
		Messages      []struct{ Content []marked }
	}
	if err := json.Unmarshal(srv.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	if body.Tools[0].Cache != nil || body.Tools[1].Cache == nil || body.System[0].Cache == nil ||
		body.Messages[0].Content[0].Cache != nil || body.Messages[2].Content[0].Cache == nil {
		t.Errorf("%s", srv.Requests()[0].Body)
	}
}

func TestToolSchemaIsSentWhole(t *testing.T) {
	srv, client := serve(t, fakemodel.Script{Default: &fakemodel.Reply{Text: "x"}}, "")
	if _, err := client.Complete(t.Context(), model.Request{Tools: []model.Tool{tool}, Turns: []model.Turn{{By: model.User, Text: "x"}}}); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Tools []struct {
			Input json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(srv.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"command":{"type":"string"}`, `"required":["command"]`, `"additionalProperties":false`, `"$defs"`, `"type":"object"`} {
		if !strings.Contains(string(body.Tools[0].Input), want) {
			t.Errorf("no %s in %s", want, body.Tools[0].Input)
		}
	}
}

// A model that asks for a tool and answers in one breath does not know its
// answer yet.
func TestAnswerBesideCallsIsPutOff(t *testing.T) {
	_, client := serve(t, fakemodel.Script{Default: &fakemodel.Reply{Calls: []fakemodel.Call{
		{ID: "a", Name: "shell", Input: map[string]any{"command": "ls"}},
		{ID: "b", Name: "answer_the_verdict_", Input: map[string]any{"pass": true}}}}}, "")
	res, err := client.Complete(t.Context(), model.Request{Schema: shape, Tools: []model.Tool{tool}, Turns: []model.Turn{{By: model.User, Text: "x"}}})
	if err != nil || res.Stop != model.StopTools || len(res.Calls) != 1 || res.Calls[0].Name != "shell" || res.Text != "" {
		t.Errorf("%v %+v", err, res)
	}
}
