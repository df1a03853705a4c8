package endpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"orch/roles/think/endpoint"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

// served answers every request with the same bytes, and keeps the last request.
type served struct {
	kind, answer string
	header       http.Header
	path         string
	body         []byte
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.header, s.path = r.Header, r.URL.Path
	s.body, _ = io.ReadAll(r.Body)
	w.Header().Set("Content-Type", s.kind)
	_, _ = io.WriteString(w, s.answer)
}

// exchange asks a server that answers with these bytes.
func exchange(t *testing.T, api fakemodel.API, s *served, o endpoint.Options, r model.Request) (model.Response, error) {
	t.Helper()
	srv := httptest.NewServer(s)
	defer srv.Close()
	o.BaseURL, o.Key, o.Model, o.Retries = srv.URL+"/v1/", key, "m-1", -1
	client, err := protocols[api](o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	return client.Complete(t.Context(), r)
}

// long is a conversation that uses every part of a request.
func long() model.Request {
	return model.Request{System: "be <brief> & fair", Tools: []model.Tool{shell, {Name: "look", Input: json.RawMessage(`[]`)}}, Turns: []model.Turn{
		{By: model.User, Text: "what is here?"},
		{By: model.Assistant, Text: "let me look \n", Calls: []model.Call{{ID: "c1", Name: "shell", Input: json.RawMessage(`{"n":12345678901234567890}`)},
			{ID: "c2", Name: "shell", Input: json.RawMessage(`{"command": "bro`)}, {ID: "c3", Name: "look"}}},
		{By: model.ToolSays, Results: []model.Result{{CallID: "c1", Text: "a b"}, {CallID: "c2", Text: "no JSON", Failed: true}, {CallID: "c3"}}},
	}}
}

// What is sent is what the providers document, and not a member more.
func TestRequests(t *testing.T) {
	judge := model.Request{System: "judge", Schema: verdict, Turns: []model.Turn{{By: model.User, Text: "?"}}, MaxOutputTokens: 5}
	for _, c := range []struct {
		name  string
		api   fakemodel.API
		whole bool
		r     model.Request
		want  string
	}{
		{"chat", fakemodel.Chat, false, long(), `{"model":"m-1","stream":true,"stream_options":{"include_usage":true},
			"tools":[{"type":"function","function":{"name":"shell","description":"runs a command","parameters":` + string(shell.Input) + `}},
				{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{}}}}],
			"messages":[{"role":"system","content":"be <brief> & fair"},{"role":"user","content":"what is here?"},
				{"role":"assistant","content":"let me look \n","tool_calls":[
					{"type":"function","id":"c1","function":{"name":"shell","arguments":"{\"n\":12345678901234567890}"}},
					{"type":"function","id":"c2","function":{"name":"shell","arguments":"{\"malformed\":\"{\\\"command\\\": \\\"bro\"}"}},
					{"type":"function","id":"c3","function":{"name":"look","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c1","content":"a b"},{"role":"tool","tool_call_id":"c2","content":"failed: no JSON"},{"role":"tool","tool_call_id":"c3","content":""}]}`},
		{"chat in one piece, with a schema", fakemodel.Chat, true, judge, `{"model":"m-1","max_tokens":5,
			"messages":[{"role":"system","content":"judge"},{"role":"user","content":"?"}],
			"response_format":{"type":"json_schema","json_schema":{"name":"verdict","strict":true,
				"schema":` + string(verdict.JSON) + `}}}`},
		{"messages", fakemodel.Messages, false, long(), `{"model":"m-1","max_tokens":8192,"stream":true,
			"system":[{"type":"text","text":"be <brief> & fair","cache_control":{"type":"ephemeral"}}],
			"tools":[{"name":"shell","description":"runs a command","input_schema":` + string(shell.Input) + `},
				{"name":"look","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"what is here?"}]},
				{"role":"assistant","content":[{"type":"text","text":"let me look"},
					{"type":"tool_use","id":"c1","name":"shell","input":{"n":12345678901234567890}},
					{"type":"tool_use","id":"c2","name":"shell","input":{"malformed":"{\"command\": \"bro"}},
					{"type":"tool_use","id":"c3","name":"look","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a b"}]},
					{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text","text":"no JSON"}]},
					{"type":"tool_result","tool_use_id":"c3","content":[{"type":"text","text":"(no output)"}],"cache_control":{"type":"ephemeral"}}]}]}`},
		{"messages in one piece, with a schema", fakemodel.Messages, true, judge, `{"model":"m-1","max_tokens":5,
			"system":[{"type":"text","text":"judge","cache_control":{"type":"ephemeral"}}],
			"tools":[{"name":"answer_verdict","description":"Gives the final answer. Call it once, when the answer is complete.",
				"input_schema":` + string(verdict.JSON) + `,"cache_control":{"type":"ephemeral"}}],
			"tool_choice":{"type":"tool","name":"answer_verdict","disable_parallel_tool_use":true},
			"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &served{kind: "text/plain", answer: "nothing"}
			if _, err := exchange(t, c.api, s, endpoint.Options{Whole: c.whole, Headers: map[string]string{"X-Team": "blue"}}, c.r); err == nil {
				t.Fatal("an answer out of nothing")
			}
			if !reflect.DeepEqual(exactly(t, s.body), exactly(t, []byte(c.want))) {
				t.Errorf("sent %s\nwant %s", s.body, c.want)
			}
			head := map[string]string{"Authorization": "Bearer " + key, "X-Team": "blue", "Content-Type": "application/json", "Accept": "application/json"}
			path := "/v1/chat/completions"
			if c.api == fakemodel.Messages {
				delete(head, "Authorization")
				head["X-Api-Key"], head["Anthropic-Version"] = key, "2023-06-01"
				path = "/v1/messages"
			}
			for name, want := range head {
				if s.header.Get(name) != want {
					t.Errorf("%s is %q, want %q", name, s.header.Get(name), want)
				}
			}
			if s.path != path {
				t.Errorf("sent to %s, want %s", s.path, path)
			}
		})
	}
}

// exactly decodes JSON with every digit.
func exactly(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Answers as servers were seen to write them, beside what is documented.
func TestAnswersAsServersWriteThem(t *testing.T) {
	stream := func(events ...string) (out string) {
		for _, e := range events {
			out += "data: " + e + "\n\n"
		}
		return out
	}
	named := func(events ...string) (out string) {
		for _, e := range events {
			var v struct{ Type string }
			_ = json.Unmarshal([]byte(e), &v)
			out += "event: " + v.Type + "\ndata: " + e + "\n\n"
		}
		return out
	}
	const sse, js = "text/event-stream", "application/json"
	for _, c := range []struct {
		name, kind, answer string
		api                fakemodel.API
		text, call         string
		input, output      int64
		fails              model.Kind
	}{
		{"nothing where nothing is said", sse, stream(`{"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":null,"refusal":null},"finish_reason":null}],"usage":null,"error":null}`,
			`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`, `[DONE]`), fakemodel.Chat, "ok", "", 0, 0, ""},
		{"counts as floats and strings", sse, stream(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12.0,"completion_tokens":"3","cost":"free"}}`), fakemodel.Chat, "ok", "", 12, 3, ""},
		{"counts below zero", js, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1,"completion_tokens":-1}}`, fakemodel.Chat, "ok", "", 0, 0, ""},
		{"arguments as an object", js, `{"choices":[{"message":{"content":"","tool_calls":[{"id":7,"function":{"name":"shell","arguments":{"command":"ls"}}}]},"finish_reason":"stop"}]}`, fakemodel.Chat, "", `{"command":"ls"}`, 0, 0, ""},
		{"line ends of another system", sse, ": hi\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\r\ndata: \"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n", fakemodel.Chat, "ok", "", 0, 0, ""},
		{"a mark at the start", sse, "\uFEFF" + stream(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`), fakemodel.Chat, "ok", "", 0, 0, ""},
		{"something after the end", sse, stream(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`, `[DONE]`, `nonsense`), fakemodel.Chat, "ok", "", 0, 0, ""},
		{"an event that is no object", sse, stream(`"ok"`), fakemodel.Chat, "", "", 0, 0, model.Malformed},
		{"an error by name", sse, "event: error\ndata: {\"message\":\"the model is overloaded\",\"code\":503}\n\n", fakemodel.Chat, "", "", 0, 0, model.Server},
		{"an answer after an error of null", js, `{"error":null,"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`, fakemodel.Chat, "ok", "", 0, 0, ""},
		{"an error where an answer should be", js, `{"error":{"code":429,"message":"slow down"}}`, fakemodel.Chat, "", "", 0, 0, model.Limit},
		{"no choice", js, `{"choices":[]}`, fakemodel.Chat, "", "", 0, 0, model.Malformed},
		{"a list", js, `[]`, fakemodel.Chat, "", "", 0, 0, model.Malformed},

		{"unknown events and blocks", sse, "event: ping\ndata: \n\ndata: [DONE?]\n\n" + named(`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","input":[],"content":{"type":"x"}}}`, `{"type":"vote","index":"x"}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}`, `{"type":"message_stop"}`), fakemodel.Messages, "ok", "", 9, 4, ""},
		{"sums at the end only", sse, named(`{"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"cache_read_input_tokens":2,"output_tokens":4}}`), fakemodel.Messages, "ok", "", 11, 4, ""},
		{"no end", sse, named(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}`), fakemodel.Messages, "", "", 0, 0, model.Malformed},
		{"a delta of no block", sse, named(`{"type":"content_block_delta","index":3,"delta":{"text":"lost"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}`), fakemodel.Messages, "", "", 0, 0, ""},
		{"a call in one piece", js, `{"content":[{"type":"tool_use","id":"a","name":"shell","input":{"command":"ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}`, fakemodel.Messages, "", `{"command":"ls"}`, 3, 2, ""},
		{"an error in a good answer", js, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, fakemodel.Messages, "", "", 0, 0, model.Overloaded},
		{"a pause", js, `{"content":[],"stop_reason":"pause_turn"}`, fakemodel.Messages, "", "", 0, 0, model.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := question("x")
			r.Tools = []model.Tool{shell}
			got, err := exchange(t, c.api, &served{kind: c.kind, answer: c.answer}, endpoint.Options{Whole: c.kind == js}, r)
			if c.fails != "" {
				var e *model.Error
				if !errors.As(err, &e) || e.Kind != c.fails {
					t.Errorf("%v, want %s", err, c.fails)
				}
				return
			}
			if err != nil || got.Text != c.text || got.Usage.InputTokens != c.input || got.Usage.OutputTokens != c.output {
				t.Errorf("%v %+v", err, got)
			}
			if c.call != "" && (len(got.Calls) != 1 || string(got.Calls[0].Input) != c.call || got.Calls[0].ID == "") {
				t.Errorf("calls %+v, want %s", got.Calls, c.call)
			}
		})
	}
}
