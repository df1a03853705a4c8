// Package anthropic asks models that are served over the Messages protocol, by
// Anthropic and by others that speak it.
//
// It owns the translation of a model.Request and the answer, streamed or
// whole: a wanted shape of the answer becomes a tool the model must call, and
// the parts that stay the same between requests are marked for the provider's
// cache. It promises what package endpoint promises. It never sends what the
// request does not hold, and never reads the environment.
package anthropic

import (
	"context"
	"strings"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// BaseURL is where requests go when the options name no place.
const BaseURL = "https://api.anthropic.com"

// Client asks one model. It may be used from several goroutines.
type Client struct {
	*endpoint.Endpoint
	dialect *dialect
}

var _ model.Client = (*Client)(nil)

// New returns a client. Close it when done. A base URL may end in /v1.
func New(o endpoint.Options) (*Client, error) {
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	e, err := endpoint.New(endpoint.Protocol{Name: "anthropic", BaseURL: BaseURL, Path: "/v1/messages",
		Auth:    func(key string) (string, string) { return "X-Api-Key", key },
		Headers: map[string]string{"Anthropic-Version": "2023-06-01"}}, o)
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
			if err == nil && r.Schema != nil {
				answerFromTool(&res, answerTool(r))
			}
			return res, err
		},
		Adapt: func(f endpoint.Refusal) bool { return c.dialect.drop(f, r) },
		Tried: r.Tried,
	})
}
