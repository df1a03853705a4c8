package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

var (
	errNoStream = errors.New("the server does not stream")
	errNoEnd    = errors.New("the answer ends in the middle")
	errNoChoice = errors.New("the answer holds no choice")
)

// maxCalls bounds the tool calls of one answer; no model asks for as many.
const maxCalls = 256

// whole asks for the answer in one piece.
func (c *Client) whole(ctx context.Context, p openai.ChatCompletionNewParams) (model.Response, error) {
	got, err := c.service.New(ctx, p)
	if err != nil {
		return model.Response{}, err
	}
	var res model.Response
	usage(&res, got.Usage)
	if hasError([]byte(got.RawJSON())) {
		return res, &endpoint.Reported{JSON: []byte(got.RawJSON())}
	}
	if len(got.Choices) == 0 {
		return res, errNoChoice
	}
	m := got.Choices[0].Message
	a := collected{limit: c.Options().MaxAnswerBytes, finish: got.Choices[0].FinishReason}
	a.text.WriteString(m.Content)
	a.refusal.WriteString(m.Refusal)
	a.reason(m.RawJSON())
	for i, call := range m.ToolCalls {
		a.call(int64(i), call.ID, call.Function.Name, call.Function.Arguments, call.RawJSON())
	}
	return a.response(res)
}

// stream asks for the answer as it is made, and puts it together.
func (c *Client) stream(ctx context.Context, p openai.ChatCompletionNewParams) (model.Response, error) {
	s := c.service.NewStreaming(ctx, p)
	defer s.Close()
	a := collected{limit: c.Options().MaxAnswerBytes}
	var res model.Response
	chunks := 0
	for ; s.Next(); chunks++ {
		chunk := s.Current()
		if chunk.JSON.Usage.Valid() {
			// Some servers repeat the sum with every chunk; the last one counts.
			usage(&res, chunk.Usage)
		}
		if len(chunk.Choices) == 0 {
			continue
		}
		choice := chunk.Choices[0]
		a.text.WriteString(choice.Delta.Content)
		a.refusal.WriteString(choice.Delta.Refusal)
		a.reason(choice.Delta.RawJSON())
		for _, call := range choice.Delta.ToolCalls {
			a.call(call.Index, call.ID, call.Function.Name, call.Function.Arguments, call.RawJSON())
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
		if a.size() > a.limit {
			return res, endpoint.ErrTooLarge
		}
	}
	if err := s.Err(); err != nil {
		var reported *ssestream.StreamError
		if errors.As(err, &reported) {
			return res, &endpoint.Reported{JSON: reported.Event.Data}
		}
		return res, err
	}
	if chunks == 0 && endpoint.IsJSON(ctx) {
		return res, errNoStream
	}
	if a.finish == "" {
		return res, errNoEnd
	}
	return a.response(res)
}

// hasError tells whether a body that came with status 200 is an error.
func hasError(body []byte) bool {
	var v struct {
		Error   any   `json:"error"`
		Choices []any `json:"choices"`
	}
	return json.Unmarshal(body, &v) == nil && v.Error != nil && len(v.Choices) == 0
}

// usage takes over what the server counts. DeepSeek names its cache its own
// way, and OpenRouter adds a price.
func usage(res *model.Response, u openai.CompletionUsage) {
	var more struct {
		Cost *float64 `json:"cost"`
		Hit  int64    `json:"prompt_cache_hit_tokens"`
	}
	if raw := u.RawJSON(); raw != "" && json.Unmarshal([]byte(raw), &more) == nil {
		res.Cost = more.Cost
	}
	res.Usage.InputTokens, res.Usage.OutputTokens = max(0, u.PromptTokens), max(0, u.CompletionTokens)
	res.Usage.CachedTokens = min(max(0, u.PromptTokensDetails.CachedTokens, more.Hit), res.Usage.InputTokens)
}

// collected is an answer being put together.
type collected struct {
	limit   int64
	text    strings.Builder
	refusal strings.Builder
	thought strings.Builder
	calls   []*call
	finish  string
}

type call struct {
	index    int64
	id, name string
	input    strings.Builder
	extra    json.RawMessage
}

func (a *collected) size() int64 {
	n := a.text.Len() + a.refusal.Len() + a.thought.Len()
	for _, c := range a.calls {
		n += c.input.Len()
	}
	return int64(n)
}

// reason keeps the reasoning a server sends beside the text, in the one form
// that a server is known to want back.
func (a *collected) reason(raw string) {
	if !strings.Contains(raw, `"reasoning_content"`) {
		return
	}
	var v struct {
		Reasoning string `json:"reasoning_content"`
	}
	if json.Unmarshal([]byte(raw), &v) == nil {
		a.thought.WriteString(v.Reasoning)
	}
}

// call adds a part of a tool call. A part belongs to the call of its index,
// but some servers give every call index 0, so a new id begins a new call.
func (a *collected) call(index int64, id, name, input, raw string) {
	var c *call
	for _, known := range a.calls {
		if known.index == index && (id == "" || known.id == "" || known.id == id) {
			c = known
		}
	}
	if c == nil {
		if len(a.calls) == maxCalls {
			return
		}
		c = &call{index: index}
		a.calls = append(a.calls, c)
	}
	if id != "" {
		c.id = id
	}
	if name != "" {
		c.name = name
	}
	c.input.WriteString(input)
	if strings.Contains(raw, `"extra_content"`) {
		var v struct {
			Extra json.RawMessage `json:"extra_content"`
		}
		if json.Unmarshal([]byte(raw), &v) == nil {
			c.extra = v.Extra
		}
	}
}

func (a *collected) response(res model.Response) (model.Response, error) {
	if a.size() > a.limit {
		return res, endpoint.ErrTooLarge
	}
	res.Text = a.text.String()
	e := echo{}
	signed := false
	for i, c := range a.calls {
		// A tool without arguments is called with none, by some with nothing at all.
		input := cmp.Or(strings.TrimSpace(c.input.String()), "{}")
		res.Calls = append(res.Calls, model.Call{ID: cmp.Or(c.id, fmt.Sprintf("call_%d", i+1)), Name: c.name, Input: json.RawMessage(input)})
		e.Calls = append(e.Calls, c.extra)
		signed = signed || len(c.extra) > 0
	}
	res.Stop = stop(a.finish, len(res.Calls) > 0)
	if refusal := a.refusal.String(); refusal != "" {
		res.Stop = model.StopRefuse
		if res.Text == "" {
			res.Text = refusal
		}
	}
	if !signed {
		e.Calls = nil
	}
	if len(a.calls) > 0 && (signed || a.thought.Len() > 0) {
		e.Reasoning = a.thought.String()
		b, err := json.Marshal(e)
		if err != nil {
			return res, err
		}
		res.Echo = b
	}
	return res, nil
}

// stop reads a finish reason. Some servers say stop although there are calls.
func stop(finish string, calls bool) model.Stop {
	switch finish {
	case "length":
		return model.StopLength
	case "content_filter":
		return model.StopRefuse
	}
	if calls {
		return model.StopTools
	}
	return model.StopEnd
}
