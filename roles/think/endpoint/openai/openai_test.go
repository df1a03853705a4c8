package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"orch/roles/think/endpoint"
	"orch/roles/think/endpoint/openai"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var tool = model.Tool{Name: "shell", Description: "runs a command", Input: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)}

var shape = &model.Schema{Name: "verdict", JSON: json.RawMessage(`{"type":"object","properties":{"pass":{"type":"boolean"}},"required":["pass"],"additionalProperties":false}`)}

func serve(t *testing.T, script fakemodel.Script) (*fakemodel.Server, *openai.Client) {
	t.Helper()
	srv, err := fakemodel.Listen(script, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	c, err := openai.New(endpoint.Options{BaseURL: srv.URL() + "/v1/", Model: "m", BackoffMS: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return srv, c
}

// refusing is a server that answers with an error while the request's body
// holds a text.
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

// What servers were seen to refuse, in their words, and what is then sent.
func TestServersThatTakeLess(t *testing.T) {
	full := model.Request{System: "be fair", Turns: []model.Turn{{By: model.User, Text: "judge"}}, Schema: shape, MaxOutputTokens: 500}
	tools := model.Request{System: "be fair", Turns: []model.Turn{{By: model.User, Text: "judge"}}, Tools: []model.Tool{tool}}
	for _, c := range []struct {
		name, message string
		status        int
		refuses       []string
		r             model.Request
		gone, there   []string
		tries         int
	}{
		{"stream options", "Unknown parameter: 'stream_options'.", 400, []string{"stream_options"}, full, []string{"stream_options"}, []string{`"stream":true`}, 2},
		{"old name of the limit", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 400,
			[]string{`"max_tokens"`}, full, []string{`"max_tokens"`}, []string{`"max_completion_tokens":500`}, 2},
		{"both names of the limit", "max_tokens: Extra inputs are not permitted; max_completion_tokens: Extra inputs are not permitted", 422,
			[]string{`"max_tokens"`, "max_completion_tokens"}, full, []string{"max_tokens", "max_completion_tokens"}, []string{"json_schema"}, 3},
		{"limit too large", "max_tokens is too large: 500. This model supports at most 256 completion tokens", 400,
			[]string{"max_tokens"}, full, []string{"max_tokens"}, []string{"json_schema"}, 2},
		{"strict", "Invalid schema for response_format 'verdict': In context=(), 'additionalProperties' is required", 400,
			[]string{`"strict":true`}, full, []string{`"strict"`}, []string{`"type":"json_schema"`}, 2},
		{"schema", "This response_format type is unavailable now", 400, []string{`"json_schema"`}, full,
			[]string{`"json_schema"`}, []string{`"json_object"`, "must fit this JSON Schema"}, 3},
		{"format", "'response_format.type' must be 'text'", 400, []string{"response_format"}, full,
			[]string{"response_format"}, []string{"must fit this JSON Schema"}, 4},
		{"tools", "registry.ollama.ai/library/gemma:2b does not support tools", 400, []string{`"tools"`}, tools,
			[]string{`"tools"`}, []string{"tool_calls", "runs a command"}, 2},
		{"tools at a router", "No endpoints found that support tool use.", 404, []string{`"tools"`}, tools,
			[]string{`"tools"`}, []string{"tool_calls"}, 2},
		{"system role", "Conversation roles must alternate user/assistant/user/assistant; System role not supported", 400, []string{`"system"`}, tools,
			[]string{`"system"`}, []string{"be fair"}, 2},
		{"streaming", "Your organization must be verified to stream this model.", 400, []string{`"stream":true`}, full,
			[]string{`"stream"`}, []string{"json_schema"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv, client := serve(t, fakemodel.Script{Rules: []fakemodel.Rule{refusing(c.status, c.message, c.refuses...)}})
			for range 2 {
				if res, err := client.Complete(t.Context(), c.r); err != nil || res.Text != `{"pass":true}` {
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

// A server that refuses everything is asked a bounded number of times.
func TestRefusalsEnd(t *testing.T) {
	message := "response_format tools stream_options max_tokens system role stream are not supported"
	srv, client := serve(t, fakemodel.Script{Rules: []fakemodel.Rule{refusing(400, message, "m")}})
	_, err := client.Complete(t.Context(), model.Request{System: "s", Schema: shape, Tools: []model.Tool{tool}, MaxOutputTokens: 9,
		Turns: []model.Turn{{By: model.User, Text: "x"}}})
	if err == nil || len(srv.Requests()) > 12 {
		t.Errorf("%v after %d requests", err, len(srv.Requests()))
	}
}

func TestToolsInText(t *testing.T) {
	refuse := fakemodel.Rule{When: fakemodel.When{Tool: "shell"}, Reply: &fakemodel.Reply{Fault: fakemodel.Fault{
		Kind: fakemodel.Status, Status: 400, Message: "this model does not support tools"}}}
	srv, client := serve(t, fakemodel.Script{Rules: []fakemodel.Rule{refuse, {Replies: []fakemodel.Reply{
		{Text: "Let me see.\n```json\n{\"tool_calls\":[{\"name\":\"shell\",\"input\":{\"command\":\"ls\"}}]}\n```"},
		{Text: "two files"}}}}})
	r := model.Request{Tools: []model.Tool{tool}, Turns: []model.Turn{{By: model.User, Text: "what is here?"}}}
	first, err := client.Complete(t.Context(), r)
	if err != nil || first.Stop != model.StopTools || len(first.Calls) != 1 || first.Calls[0].Name != "shell" || string(first.Calls[0].Input) != `{"command":"ls"}` || first.Text != "Let me see." {
		t.Fatalf("%v %+v", err, first)
	}
	r.Turns = append(r.Turns, model.Turn{By: model.Assistant, Text: first.Text, Calls: first.Calls},
		model.Turn{By: model.ToolSays, Results: []model.Result{{CallID: first.Calls[0].ID, Text: "a b"}}})
	second, err := client.Complete(t.Context(), r)
	if err != nil || second.Text != "two files" || second.Stop != model.StopEnd {
		t.Fatalf("%v %+v", err, second)
	}
	last := srv.Requests()[2]
	if last.Last().Role != "user" || !strings.Contains(last.Last().Text, "a b") || !strings.Contains(string(last.Body), `\"tool_calls\"`) {
		t.Errorf("%s", last.Body)
	}
}

func TestServerThatCannotStream(t *testing.T) {
	whole := fakemodel.Rule{When: fakemodel.When{}, Reply: &fakemodel.Reply{Text: "in one piece"}}
	srv, err := fakemodel.Listen(fakemodel.Script{Rules: []fakemodel.Rule{whole}}, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	client, err := openai.New(endpoint.Options{BaseURL: srv.URL(), Model: "m", HTTP: deaf(), BackoffMS: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	res, err := client.Complete(t.Context(), model.Request{Turns: []model.Turn{{By: model.User, Text: "x"}}})
	if err != nil || res.Text != "in one piece" || res.Usage.ModelCalls != 2 {
		t.Errorf("%v %+v", err, res)
	}
}

func TestCost(t *testing.T) {
	cost := 0.0125
	_, client := serve(t, fakemodel.Script{Default: &fakemodel.Reply{Text: "x", Cost: &cost}})
	res, err := client.Complete(t.Context(), model.Request{Turns: []model.Turn{{By: model.User, Text: "x"}}})
	if err != nil || res.Cost == nil || *res.Cost != cost {
		t.Errorf("%v %+v", err, res)
	}
}

func TestStrictOnlyForClosedSchemas(t *testing.T) {
	for schema, strict := range map[string]bool{
		string(shape.JSON): true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                             false,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"],"additionalProperties":false}`:                                         false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}},"required":["a"],"additionalProperties":false}`:       false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"required":["a"],"additionalProperties":false,"description":"fine"}`: true,
	} {
		srv, client := serve(t, fakemodel.Script{Default: &fakemodel.Reply{Text: "{}"}})
		r := model.Request{Schema: &model.Schema{Name: "s", JSON: json.RawMessage(schema)}, Turns: []model.Turn{{By: model.User, Text: "x"}}}
		if _, err := client.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(srv.Requests()[0].Body), `"strict":true`); got != strict {
			t.Errorf("strict %v for %s", got, schema)
		}
	}
}
