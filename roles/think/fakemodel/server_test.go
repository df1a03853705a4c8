package fakemodel_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"orch/roles/think/fakemodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, script string, log io.Writer) *fakemodel.Server {
	t.Helper()
	s, err := fakemodel.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := fakemodel.Listen(s, "127.0.0.1:0", log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// client keeps no connection, so that none outlives its test.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

func post(t *testing.T, url, body string) (int, string, http.Header) {
	t.Helper()
	res, err := client().Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

// One question in each protocol, with what its answers hold.
var protocols = []struct {
	name, path, whole, streamed string
	wants                       []string // in both forms
	last                        string   // name or data of the last event
}{
	{"chat", "/v1/chat/completions",
		`{"model":"m","messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hello there"}],"tools":[{"type":"function","function":{"name":"shell"}}]}`,
		`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"be kind"},{"role":"user","content":[{"type":"text","text":"hello there"}]}],"tools":[{"type":"function","function":{"name":"shell"}}]}`,
		[]string{`"prompt_tokens":12`, `"cached_tokens":5`, `"name":"shell"`, `"finish_reason":"tool_calls"`}, "data: [DONE]"},
	{"messages", "/v1/messages",
		`{"model":"m","system":"be kind","messages":[{"role":"user","content":"hello there"}],"tools":[{"name":"shell"}]}`,
		`{"model":"m","stream":true,"system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":[{"type":"text","text":"hello there"}]}],"tools":[{"name":"shell"}]}`,
		[]string{`"input_tokens":7`, `"cache_read_input_tokens":5`, `"name":"shell"`, `"stop_reason":"tool_use"`}, `data: {"type":"message_stop"}`},
	{"responses", "/v1/responses",
		`{"model":"m","instructions":"be kind","input":"hello there","tools":[{"type":"function","name":"shell"}]}`,
		`{"model":"m","stream":true,"instructions":"be kind","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello there"}]}],"tools":[{"type":"function","name":"shell"}]}`,
		[]string{`"input_tokens":12`, `"cached_tokens":5`, `"name":"shell"`, `"type":"function_call"`}, `"type":"response.completed"`},
	{"gemini", "/v1beta/models/m:",
		`{"systemInstruction":{"parts":[{"text":"be kind"}]},"contents":[{"role":"user","parts":[{"text":"hello there"}]}],"tools":[{"functionDeclarations":[{"name":"shell"}]}]}`,
		`{"systemInstruction":{"parts":[{"text":"be kind"}]},"contents":[{"role":"user","parts":[{"text":"hello there"}]}],"tools":[{"functionDeclarations":[{"name":"shell"}]}]}`,
		[]string{`"promptTokenCount":12`, `"cachedContentTokenCount":5`, `"name":"shell"`, `"finishReason":"STOP"`}, `"finishReason":"STOP"`},
}

const greeting = `
rules:
  - name: greet
    when: {api: %s, model: m, system: be kind, last: hello there, turn: 1, tool: shell}
    reply:
      text: good day to you
      calls: [{name: shell, input: {command: ls}}]
      usage: {input: 12, output: 3, cached: 5}
`

func TestProtocols(t *testing.T) {
	for _, p := range protocols {
		for _, streamed := range []bool{false, true} {
			name, path, body := p.name+"/whole", p.path, p.whole
			if streamed {
				name, body = p.name+"/streamed", p.streamed
			}
			if p.name == "gemini" {
				path += map[bool]string{false: "generateContent", true: "streamGenerateContent?alt=sse"}[streamed]
			}
			t.Run(name, func(t *testing.T) {
				srv := serve(t, strings.Replace(greeting, "%s", p.name, 1), nil)
				status, got, header := post(t, srv.URL()+path, body)
				if status != 200 {
					t.Fatalf("status %d: %s", status, got)
				}
				for _, want := range p.wants {
					if !strings.Contains(got, want) {
						t.Errorf("no %s in:\n%s", want, got)
					}
				}
				if !streamed {
					if !json.Valid([]byte(got)) {
						t.Errorf("not JSON: %s", got)
					}
					return
				}
				if ct := header.Get("Content-Type"); ct != "text/event-stream" {
					t.Errorf("content type %q", ct)
				}
				events := strings.Split(strings.TrimSuffix(got, "\n\n"), "\n\n")
				if last := events[len(events)-1]; !strings.Contains(last, p.last) {
					t.Errorf("last event %q, want %q in it", last, p.last)
				}
				for _, e := range events {
					_, data, ok := strings.Cut(e, "data: ")
					if !ok || data != "[DONE]" && !json.Valid([]byte(data)) {
						t.Errorf("event without JSON: %q", e)
					}
				}
			})
		}
	}
}

func TestRulesAreUsedInOrder(t *testing.T) {
	srv := serve(t, `
default: {text: default}
rules:
  - {when: {contains: [alpha]}, times: 1, reply: {text: first}}
  - {when: {contains: [alpha]}, replies: [{text: second}, {text: third}]}
  - {when: {contains: [beta], nth: 2}, reply: {text: twice}}
`, nil)
	ask := func(text string) string {
		_, got, _ := post(t, srv.URL()+"/v1/chat/completions", `{"messages":[{"role":"user","content":"`+text+`"}]}`)
		var v struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(got), &v); err != nil || len(v.Choices) != 1 {
			t.Fatalf("%v in %s", err, got)
		}
		return v.Choices[0].Message.Content
	}
	for i, c := range [][2]string{{"alpha", "first"}, {"alpha", "second"}, {"alpha", "third"}, {"alpha", "third"},
		{"beta", "default"}, {"beta", "twice"}, {"beta", "default"}, {"gamma", "default"}} {
		if got := ask(c[0]); got != c[1] {
			t.Errorf("request %d: %q answered %q, want %q", i, c[0], got, c[1])
		}
	}
	if n := len(srv.Requests()); n != 8 {
		t.Errorf("%d requests kept, want 8", n)
	}
}

func TestNoRuleFailsLoudly(t *testing.T) {
	srv := serve(t, `rules: [{when: {contains: [x]}, reply: {text: y}}]`, nil)
	status, got, _ := post(t, srv.URL()+"/v1/messages", `{"messages":[]}`)
	if status != 400 || !strings.Contains(got, "no rule of the script matches") {
		t.Errorf("status %d: %s", status, got)
	}
}

func TestKeyAndLog(t *testing.T) {
	var log bytes.Buffer
	srv := serve(t, `{"key": "right", "default": {"text": "in"}}`, &log)
	for key, want := range map[string]int{"right": 200, "wrong": 401} {
		req, err := http.NewRequest("POST", srv.URL()+"/v1/messages", strings.NewReader(`{"model":"m","messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("x-api-key", key)
		res, err := client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("key %s: status %d, want %d", key, res.StatusCode, want)
		}
	}
	lines := 0
	for sc := bufio.NewScanner(&log); sc.Scan(); lines++ {
		var v struct {
			API  string
			Key  bool
			Body json.RawMessage
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil || v.API != "messages" || !v.Key || len(v.Body) == 0 {
			t.Errorf("%v in %s", err, sc.Text())
		}
		if strings.Contains(sc.Text(), "right") || strings.Contains(sc.Text(), "wrong") {
			t.Errorf("a key is in the log: %s", sc.Text())
		}
	}
	if lines != 2 {
		t.Errorf("%d lines in the log, want 2", lines)
	}
}

func TestScriptsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`rules: [{when: {contians: [x]}, reply: {text: y}}]`, "contians"},
		{`rules: [{name: a, when: {}}]`, `rule 1 ("a") of the model script has no reply`},
		{`rules: [{reply: {fault: {kind: sulk}}}]`, `unknown fault "sulk"`},
		{`rules: [{reply: {fault: {kind: status}}}]`, "needs a status"},
		{`rules: [{when: {api: smoke}, reply: {text: y}}]`, `unknown api "smoke"`},
	} {
		if _, err := fakemodel.Parse([]byte(c.script)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.script, err, c.want)
		}
	}
}

func TestFaultsOnTheWire(t *testing.T) {
	const ask = `{"stream":true,"messages":[{"role":"user","content":"x"}]}`
	get := func(t *testing.T, fault string) (*http.Response, []byte, error) {
		t.Helper()
		srv := serve(t, `default: {text: some answer, fault: `+fault+`}`, nil)
		res, err := client().Post(srv.URL()+"/v1/chat/completions", "application/json", strings.NewReader(ask))
		if err != nil {
			return nil, nil, err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res, b, err
	}
	t.Run("status", func(t *testing.T) {
		res, b, err := get(t, `{kind: status, status: 429, retry_after: "7", message: slow down}`)
		if err != nil || res.StatusCode != 429 || res.Header.Get("Retry-After") != "7" || !strings.Contains(string(b), "slow down") {
			t.Errorf("%v %v %s", err, res, b)
		}
	})
	t.Run("reset", func(t *testing.T) {
		if _, _, err := get(t, `{kind: reset}`); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("error %v, want a reset", err)
		}
	})
	t.Run("hangup", func(t *testing.T) {
		if _, _, err := get(t, `{kind: hangup}`); err == nil {
			t.Error("an answer came")
		}
	})
	t.Run("half", func(t *testing.T) {
		_, b, err := get(t, `{kind: half, events: 2}`)
		if err != nil || bytes.HasSuffix(b, []byte("\n\n")) || bytes.Count(b, []byte("\n\n")) != 2 {
			t.Errorf("%v %q", err, b)
		}
	})
	t.Run("huge", func(t *testing.T) {
		if _, b, err := get(t, `{kind: huge, bytes: 3000000}`); err != nil || len(b) < 100 {
			t.Errorf("%v, %d bytes", err, len(b))
		}
		srv := serve(t, `default: {fault: {kind: huge, bytes: 3000000}}`, nil)
		if _, got, _ := post(t, srv.URL()+"/v1/messages", `{"messages":[]}`); len(got) < 3_000_000 {
			t.Errorf("%d bytes, want 3,000,000", len(got))
		}
	})
	t.Run("empty", func(t *testing.T) {
		if res, b, err := get(t, `{kind: empty}`); err != nil || res.StatusCode != 200 || len(b) > 0 {
			t.Errorf("%v %v %q", err, res, b)
		}
	})
	t.Run("stream error", func(t *testing.T) {
		if _, b, err := get(t, `{kind: stream-error, status: 529}`); err != nil || !strings.Contains(string(b), "overloaded_error") {
			t.Errorf("%v %q", err, b)
		}
	})
	t.Run("refuse", func(t *testing.T) {
		srv := serve(t, `default: {fault: {kind: refuse}}`, nil)
		if _, err := client().Post(srv.URL()+"/v1/messages", "", strings.NewReader(`{}`)); err == nil {
			t.Error("an answer came")
		}
		if _, err := client().Post(srv.URL()+"/v1/messages", "", strings.NewReader(`{}`)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("error %v, want a refused connection", err)
		}
	})
	t.Run("silent", func(t *testing.T) {
		srv := serve(t, `default: {fault: {kind: silent}}`, nil)
		ended := make(chan error, 1)
		go func() {
			res, err := client().Post(srv.URL()+"/v1/messages", "", strings.NewReader(`{}`))
			if err == nil {
				res.Body.Close()
			}
			ended <- err
		}()
		for len(srv.Requests()) == 0 {
			select {
			case err := <-ended:
				t.Fatalf("an answer came: %v", err)
			default:
			}
		}
		srv.Close()
		<-ended
	})
}

// The script that the documentation shows is one that works.
func TestDocumentedScript(t *testing.T) {
	page, err := os.ReadFile("../../../docs/endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	script, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no script in docs/endpoints.md")
	}
	s, err := fakemodel.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rules) != 4 || len(s.Rules[0].Replies) != 2 || s.Rules[2].Reply.Refusal == "" || s.Rules[3].Reply.Fault.Status != 429 {
		t.Errorf("%+v", s)
	}
}
