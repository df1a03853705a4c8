package endpoint_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"orch/roles/think/endpoint"
	"orch/roles/think/endpoint/anthropic"
	"orch/roles/think/endpoint/openai"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// key is a key no error may show.
const key = "sk-test-0123456789abcdef"

type closer interface {
	model.Client
	Close()
}

// protocols are the clients that share this suite.
var protocols = map[fakemodel.API]func(endpoint.Options) (closer, error){
	fakemodel.Chat:     func(o endpoint.Options) (closer, error) { return openai.New(o) },
	fakemodel.Messages: func(o endpoint.Options) (closer, error) { return anthropic.New(o) },
}

// bench is a client and the server it talks to, over connections in memory and
// in simulated time. All goroutines must have ended when the test returns.
type bench struct {
	*testing.T
	api     fakemodel.API
	whole   bool
	client  closer
	server  *fakemodel.Server
	started time.Time
}

// with runs a test against both clients, streaming and not. What is in edit
// changes the options.
func with(t *testing.T, script fakemodel.Script, edit func(*endpoint.Options), test func(bench)) {
	t.Helper()
	for api := range protocols {
		for _, whole := range []bool{false, true} {
			name := string(api) + map[bool]string{false: "/streamed", true: "/whole"}[whole]
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { one(t, api, whole, script, edit, test) })
			})
		}
	}
}

func one(t *testing.T, api fakemodel.API, whole bool, script fakemodel.Script, edit func(*endpoint.Options), test func(bench)) {
	network := fakemodel.NewNetwork()
	server, err := fakemodel.Serve(script, network, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	o := endpoint.Options{BaseURL: "http://model.test/v1", Key: key, KeyName: "TEST_KEY", Model: "m-1", Whole: whole, HTTP: network.Client()}
	if edit != nil {
		edit(&o)
	}
	client, err := protocols[api](o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	test(bench{t, api, whole, client, server, time.Now()})
}

func (b bench) ask(r model.Request) model.Response {
	b.Helper()
	res, err := b.client.Complete(b.Context(), r)
	if err != nil {
		b.Fatalf("%v (%#v)", err, err)
	}
	return res
}

// fails asks a plain question and returns the failure.
func (b bench) fails() *model.Error {
	b.Helper()
	res, err := b.client.Complete(b.Context(), question("hello"))
	if err == nil {
		b.Fatalf("accepted: %+v", res)
	}
	var e *model.Error
	if !errors.As(err, &e) {
		b.Fatalf("%T, want *model.Error: %v", err, err)
	}
	if e.Model != b.client.Model() || e.Account != "model.test/TEST_KEY" {
		b.Errorf("the error names %q and %q", e.Model, e.Account)
	}
	b.secret(e)
	return e
}

// secret checks that an error and all it wraps show no key.
func (b bench) secret(err error) {
	b.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), key) {
			b.Errorf("the key is in %T: %v", err, err)
		}
	}
}

func (b bench) took() time.Duration { return time.Since(b.started) }

func question(text string) model.Request {
	return model.Request{System: "be brief", Turns: []model.Turn{{By: model.User, Text: text}}}
}

var shell = model.Tool{Name: "shell", Description: "runs a command",
	Input: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}`)}

var verdict = &model.Schema{Name: "verdict",
	JSON: json.RawMessage(`{"type":"object","properties":{"pass":{"type":"boolean"},"why":{"type":"string"}},"required":["pass","why"],"additionalProperties":false}`)}

func always(p fakemodel.Reply) fakemodel.Script { return fakemodel.Script{Default: &p} }

func inOrder(replies ...fakemodel.Reply) fakemodel.Script {
	return fakemodel.Script{Rules: []fakemodel.Rule{{Replies: replies}}}
}
