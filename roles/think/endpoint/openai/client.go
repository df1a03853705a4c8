// Package openai asks models that are served over the Chat Completions
// protocol: by OpenAI, DeepSeek, OpenRouter, vLLM, llama.cpp, Ollama and many
// others.
//
// It owns the translation of a model.Request and the answer, streamed or
// whole, and what to leave out when a server refuses a part of the protocol:
// what was refused once is not sent again by the same client. It promises what
// package endpoint promises. It never sends what the request does not hold,
// and never reads the environment.
package openai

import (
	"context"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// BaseURL is where requests go when the options name no place.
const BaseURL = "https://api.openai.com/v1"

// Client asks one model. It may be used from several goroutines.
type Client struct {
	*endpoint.Endpoint
	dialect *dialect
}

var _ model.Client = (*Client)(nil)

// New returns a client. Close it when done.
func New(o endpoint.Options) (*Client, error) {
	e, err := endpoint.New(endpoint.Protocol{Name: "openai", BaseURL: BaseURL, Path: "/chat/completions",
		Auth: func(key string) (string, string) { return "Authorization", "Bearer " + key }}, o)
	if err != nil {
		return nil, err
	}
	return &Client{Endpoint: e, dialect: newDialect(e.Options())}, nil
}

// Complete asks the model.
func (c *Client) Complete(ctx context.Context, r model.Request) (model.Response, error) {
	return c.Ask(ctx, endpoint.Question{
		Send: func(ctx context.Context) (model.Response, error) {
			t := c.dialect.now()
			ask := c.stream
			if t.whole {
				ask = c.whole
			}
			res, err := ask(ctx, t.request(c.Options(), r))
			if err == nil && t.toolsInText && len(r.Tools) > 0 {
				callsInText(&res)
			}
			return res, err
		},
		Adapt: func(f endpoint.Refusal) bool { return c.dialect.drop(f, r) },
		Tried: r.Tried,
	})
}
