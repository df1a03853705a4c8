package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

var errNoChoice = errors.New("the answer holds no choice")

// maxCalls bounds the tool calls of one answer; no model asks for as many.
const maxCalls = 256

// whole asks for the answer in one piece.
func (c *Client) whole(ctx context.Context, r request) (model.Response, error) {
	var res model.Response
	body, err := c.Whole(ctx, r)
	if err != nil {
		return res, err
	}
	var got answer
	if err := endpoint.Decode(body, &got); err != nil {
		return res, err
	}
	got.Usage.count(&res)
	if len(got.Choices) == 0 {
		if got.failed() {
			return res, &endpoint.Reported{JSON: body}
		}
		return res, errNoChoice
	}
	a := collected{limit: c.Options().MaxAnswerBytes}
	first := got.Choices[0]
	for i := range first.Message.ToolCalls {
		first.Message.ToolCalls[i].Index = endpoint.Count(i)
	}
	a.add(first.Message, first.Finish)
	return a.response(res)
}

// stream asks for the answer as it is made, and puts it together.
func (c *Client) stream(ctx context.Context, r request) (model.Response, error) {
	a := collected{limit: c.Options().MaxAnswerBytes}
	var res model.Response
	err := c.Stream(ctx, r, func(e endpoint.Event) error {
		var chunk answer
		if err := endpoint.Decode(e.Data, &chunk); err != nil {
			return err
		}
		if chunk.failed() || e.Name == "error" {
			return &endpoint.Reported{JSON: bytes.Clone(e.Data)}
		}
		// Some servers repeat the sum with every chunk; the last one counts.
		chunk.Usage.count(&res)
		if len(chunk.Choices) > 0 {
			a.add(chunk.Choices[0].Delta, chunk.Choices[0].Finish)
		}
		if a.size() > a.limit {
			return endpoint.ErrTooLarge
		}
		return nil
	})
	switch {
	case err != nil:
		return res, err
	case a.finish == "":
		return res, endpoint.ErrNoEnd
	}
	return a.response(res)
}

// failed tells whether an answer that came with status 200 is an error.
func (a *answer) failed() bool { return len(a.Error) > 0 && string(a.Error) != "null" }

// count takes over what the server counts, if it says.
func (u *usage) count(res *model.Response) {
	if u == nil {
		return
	}
	res.Cost = u.Cost
	res.Usage.InputTokens, res.Usage.OutputTokens = int64(u.Prompt), int64(u.Completion)
	res.Usage.CachedTokens = min(int64(max(u.Details.Cached, u.CacheHit)), res.Usage.InputTokens)
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
	index    endpoint.Count
	id, name string
	input    strings.Builder
	extra    json.RawMessage
}

func (a *collected) size() int64 {
	n := a.text.Len() + a.refusal.Len() + a.thought.Len()
	for _, c := range a.calls {
		n += c.input.Len() + len(c.extra)
	}
	return int64(n)
}

// add takes the next part of the answer. Reasoning beside the text is kept in
// the one form that a server is known to want back.
func (a *collected) add(s said, finish endpoint.Text) {
	a.text.WriteString(string(s.Content))
	a.refusal.WriteString(string(s.Refusal))
	a.thought.WriteString(string(s.Reasoning))
	for _, part := range s.ToolCalls {
		a.call(part)
	}
	if finish != "" {
		a.finish = string(finish)
	}
}

// call adds a part of a tool call. A part belongs to the call of its index,
// but some servers give every call index 0, so a new id begins a new call.
func (a *collected) call(part toolCall) {
	id := string(part.ID)
	var c *call
	for _, known := range a.calls {
		if known.index == part.Index && (id == "" || known.id == "" || known.id == id) {
			c = known
		}
	}
	if c == nil {
		if len(a.calls) == maxCalls {
			return
		}
		c = &call{index: part.Index}
		a.calls = append(a.calls, c)
	}
	if id != "" {
		c.id = id
	}
	if part.Function.Name != "" {
		c.name = string(part.Function.Name)
	}
	c.input.WriteString(string(part.Function.Arguments))
	if len(part.Extra) > 0 && string(part.Extra) != "null" {
		c.extra = part.Extra
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
