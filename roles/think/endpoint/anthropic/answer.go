package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

var (
	errNoAnswer = errors.New("the answer has no content and no reason to have stopped")
	errPaused   = errors.New("the server paused the answer and asks to be called again")
)

// maxBlocks bounds the blocks of one answer.
const maxBlocks = 1024

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
	if got.StopReason == "" {
		if len(got.Error) > 0 && string(got.Error) != "null" {
			return res, &endpoint.Reported{JSON: body}
		}
		return res, errNoAnswer
	}
	a := collected{limit: c.Options().MaxAnswerBytes, stop: string(got.StopReason)}
	for _, b := range got.Content {
		if p := a.begin(b); p != nil && b.Type == "tool_use" {
			p.input.Write(b.Input)
		}
	}
	return a.response(res)
}

// stream asks for the answer as it is made, and puts it together.
func (c *Client) stream(ctx context.Context, r request) (model.Response, error) {
	a := collected{limit: c.Options().MaxAnswerBytes, at: map[endpoint.Count]*part{}}
	var res model.Response
	err := c.Stream(ctx, r, func(e endpoint.Event) error {
		switch {
		case e.Name == "error":
			return &endpoint.Reported{JSON: bytes.Clone(e.Data)}
		case e.Name == "", e.Name == "ping", len(e.Data) == 0:
			return nil // every event of the protocol has a name
		}
		var got event
		if err := endpoint.Decode(e.Data, &got); err != nil {
			return err
		}
		a.event(&res, got)
		if a.size() > a.limit {
			return endpoint.ErrTooLarge
		}
		return nil
	})
	switch {
	case err != nil:
		return res, err
	case a.stop == "":
		return res, endpoint.ErrNoEnd
	}
	return a.response(res)
}

// event adds one event of a stream. Unknown events are passed over.
func (a *collected) event(res *model.Response, e event) {
	switch e.Type {
	case "message_start":
		e.Message.Usage.count(res)
	case "content_block_start":
		if p := a.begin(e.Block); p != nil {
			a.at[e.Index] = p
		}
	case "content_block_delta":
		if p := a.at[e.Index]; p != nil {
			p.text.WriteString(string(e.Delta.Text))
			p.thinking.WriteString(string(e.Delta.Thinking))
			p.input.WriteString(string(e.Delta.Input))
			p.signature.WriteString(string(e.Delta.Signature))
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.stop = string(e.Delta.StopReason)
		}
		// The sums so far; what a server leaves out stays as it was.
		if e.Usage.Input > 0 {
			e.Usage.count(res)
		} else if e.Usage.Output != nil {
			res.Usage.OutputTokens = int64(*e.Usage.Output)
		}
	}
}

// count takes over what the server counts.
func (u usage) count(res *model.Response) {
	res.Usage.InputTokens, res.Usage.CachedTokens = int64(u.Input+u.Read+u.Written), int64(u.Read)
	if u.Output != nil {
		res.Usage.OutputTokens = int64(*u.Output)
	}
}

// collected is an answer being put together.
type collected struct {
	limit int64
	parts []*part
	at    map[endpoint.Count]*part
	stop  string
}

// part is a block being put together.
type part struct {
	block
	text, thinking, signature, input strings.Builder
}

// begin adds a block, or returns nil for one of a kind that is not for us.
func (a *collected) begin(b block) *part {
	switch b.Type {
	case "text", "tool_use", "thinking", "redacted_thinking":
	default:
		return nil
	}
	if len(a.parts) == maxBlocks {
		return nil
	}
	p := &part{block: b}
	p.text.WriteString(string(b.Text))
	if b.Thinking != nil {
		p.thinking.WriteString(string(*b.Thinking))
	}
	if b.Signature != nil {
		p.signature.WriteString(string(*b.Signature))
	}
	a.parts = append(a.parts, p)
	return p
}

func (a *collected) size() int64 {
	n := 0
	for _, p := range a.parts {
		n += p.text.Len() + p.thinking.Len() + p.signature.Len() + p.input.Len() + len(p.Data)
	}
	return int64(n)
}

func (a *collected) response(res model.Response) (model.Response, error) {
	if a.size() > a.limit {
		return res, endpoint.ErrTooLarge
	}
	var text strings.Builder
	var thoughts []thought
	for _, p := range a.parts {
		switch p.Type {
		case "text":
			text.WriteString(p.text.String())
		case "tool_use":
			input := p.input.String()
			if strings.TrimSpace(input) == "" {
				input = "{}"
			}
			res.Calls = append(res.Calls, model.Call{ID: string(p.ID), Name: string(p.Name), Input: json.RawMessage(input)})
		case "thinking":
			thoughts = append(thoughts, thought{Thinking: p.thinking.String(), Signature: p.signature.String()})
		case "redacted_thinking":
			thoughts = append(thoughts, thought{Redacted: string(p.Data)})
		}
	}
	res.Text = text.String()
	switch a.stop {
	case "max_tokens", "model_context_window_exceeded":
		res.Stop = model.StopLength
	case "refusal":
		res.Stop = model.StopRefuse
	case "pause_turn":
		// Only tools that run at the provider pause, and none is ever asked for.
		return res, errPaused
	default:
		res.Stop = model.StopEnd
		if len(res.Calls) > 0 {
			res.Stop = model.StopTools
		}
	}
	return res, keep(&res, thoughts)
}

// answerFromTool makes the answer of the call that carries it.
func answerFromTool(res *model.Response, name string) {
	for i, c := range res.Calls {
		if c.Name != name {
			continue
		}
		if len(res.Calls) > 1 {
			// It also asks for other tools, so it does not know its answer yet.
			res.Calls = append(res.Calls[:i:i], res.Calls[i+1:]...)
			return
		}
		res.Text, res.Calls, res.Echo = string(c.Input), nil, nil
		if res.Stop == model.StopTools {
			res.Stop = model.StopEnd
		}
		return
	}
}
