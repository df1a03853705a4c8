// Package modeltest has a model.Client that says what a test tells it to, and
// remembers what it was asked. It opens no connection and starts nothing.
package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"orch/blackboard/message"
	"orch/roles/think/model"
)

// Script is a model that reads from a script. The zero value has nothing to
// say: its first question fails as model.Ended. It may be used from several
// goroutines.
type Script struct {
	Name    string // default "script:test"
	Of      string // the account, default "script"
	Answers []Answer
	// Say, when set, answers instead of Answers. nth counts from 1.
	Say func(nth int, r model.Request) Answer

	mu    sync.Mutex
	asked []model.Request
}

// Answer is one thing a model says, or how it fails.
type Answer struct {
	Text  string
	Calls []model.Call
	Stop  model.Stop // default: end, or tools when there are calls
	Usage message.Usage
	Cost  *float64
	Echo  json.RawMessage // what it wants back with this turn
	Err   error
}

// Text is an answer in prose.
func Text(s string) Answer { return Answer{Text: s} }

// JSON is an answer that is the JSON of a value.
func JSON(v any) Answer {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own value
	}
	return Answer{Text: string(raw)}
}

// Call is an answer that asks for one tool call.
func Call(name string, input any) Answer {
	raw, ok := input.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(input); err != nil {
			panic(err) // a test's own value
		}
	}
	return Answer{Calls: []model.Call{{ID: "call-" + name, Name: name, Input: raw}}}
}

// Fail is a failure of a kind.
func Fail(kind model.Kind) Answer {
	return Answer{Err: &model.Error{Kind: kind, Model: "script:test", Account: "script", Detail: "the script says so"}}
}

// Complete implements model.Client.
func (s *Script) Complete(ctx context.Context, r model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, err
	}
	s.mu.Lock()
	r.Turns = slices.Clone(r.Turns)
	s.asked = append(s.asked, r)
	nth := len(s.asked)
	s.mu.Unlock()
	a, err := s.answer(nth, r)
	if err != nil {
		return model.Response{}, err
	}
	if a.Stop == "" {
		a.Stop = model.StopEnd
		if len(a.Calls) > 0 {
			a.Stop = model.StopTools
		}
	}
	if a.Usage == (message.Usage{}) {
		a.Usage = message.Usage{InputTokens: int64(len(r.System)) / 4, OutputTokens: int64(len(a.Text)) / 4}
	}
	a.Usage.ModelCalls, a.Usage.Model = 1, s.Model()
	return model.Response{Text: a.Text, Calls: a.Calls, Stop: a.Stop, Usage: a.Usage, Cost: a.Cost, Echo: a.Echo}, a.Err
}

func (s *Script) answer(nth int, r model.Request) (Answer, error) {
	switch {
	case s.Say != nil:
		a := s.Say(nth, r)
		return a, a.Err
	case nth <= len(s.Answers):
		return s.Answers[nth-1], s.Answers[nth-1].Err
	}
	return Answer{}, &model.Error{Kind: model.Ended, Model: s.Model(), Account: s.Account(),
		Detail: fmt.Sprintf("the script has %d answers, this is question %d", len(s.Answers), nth)}
}

// Model implements model.Client.
func (s *Script) Model() string {
	if s.Name == "" {
		return "script:test"
	}
	return s.Name
}

// Account implements model.Client.
func (s *Script) Account() string {
	if s.Of == "" {
		return "script"
	}
	return s.Of
}

// Asked lists the requests so far.
func (s *Script) Asked() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}
