package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

var (
	errNoStream = errors.New("the server does not stream")
	errNoEnd    = errors.New("the answer ends in the middle")
	errNoAnswer = errors.New("the answer has no content and no reason to have stopped")
	errPaused   = errors.New("the server paused the answer and asks to be called again")
)

// maxBlocks bounds the blocks of one answer.
const maxBlocks = 1024

// whole asks for the answer in one piece.
func (c *Client) whole(ctx context.Context, p anthropic.MessageNewParams) (model.Response, error) {
	got, err := c.service.New(ctx, p)
	if err != nil {
		return model.Response{}, reported(err)
	}
	var res model.Response
	count(&res, got.Usage.InputTokens, got.Usage.CacheReadInputTokens, got.Usage.CacheCreationInputTokens, got.Usage.OutputTokens)
	if got.StopReason == "" {
		if isError([]byte(got.RawJSON())) {
			return res, &endpoint.Reported{JSON: []byte(got.RawJSON())}
		}
		return res, errNoAnswer
	}
	a := collected{limit: c.Options().MaxAnswerBytes, stop: string(got.StopReason)}
	for _, b := range got.Content {
		n := a.begin(b.Type, b.ID, b.Name, b.RawJSON())
		if n == nil {
			continue
		}
		n.text.WriteString(b.Text)
		n.thinking.WriteString(b.Thinking)
		n.signature = b.Signature
		if b.Type == "tool_use" {
			n.input.Write(b.Input)
		}
	}
	return a.response(res)
}

// stream asks for the answer as it is made, and puts it together.
func (c *Client) stream(ctx context.Context, p anthropic.MessageNewParams) (model.Response, error) {
	s := c.service.NewStreaming(ctx, p)
	defer s.Close()
	a := collected{limit: c.Options().MaxAnswerBytes, at: map[int64]*block{}}
	var res model.Response
	events := 0
	for ; s.Next(); events++ {
		a.event(&res, s.Current())
		if a.size() > a.limit {
			return res, endpoint.ErrTooLarge
		}
	}
	if err := s.Err(); err != nil {
		return res, reported(err)
	}
	switch {
	case events == 0 && endpoint.IsJSON(ctx):
		return res, errNoStream
	case a.stop == "":
		return res, errNoEnd
	}
	return a.response(res)
}

// event adds one event of a stream. Unknown events are passed over.
func (a *collected) event(res *model.Response, e anthropic.MessageStreamEventUnion) {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		count(res, u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case "content_block_start":
		b := e.ContentBlock
		if n := a.begin(b.Type, b.ID, b.Name, b.RawJSON()); n != nil {
			n.text.WriteString(b.Text)
			n.thinking.WriteString(b.Thinking)
			a.at[e.Index] = n
		}
	case "content_block_delta":
		if n := a.at[e.Index]; n != nil {
			n.text.WriteString(e.Delta.Text)
			n.thinking.WriteString(e.Delta.Thinking)
			n.input.WriteString(e.Delta.PartialJSON)
			n.signature += e.Delta.Signature
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.stop = string(e.Delta.StopReason)
		}
		// The sums so far; what a server leaves out stays as it was.
		if e.Usage.JSON.OutputTokens.Valid() {
			res.Usage.OutputTokens = max(0, e.Usage.OutputTokens)
		}
		if e.Usage.InputTokens > 0 {
			count(res, e.Usage.InputTokens, e.Usage.CacheReadInputTokens, e.Usage.CacheCreationInputTokens, e.Usage.OutputTokens)
		}
	}
}

// count takes over what the server counts. Its input leaves the cache out.
func count(res *model.Response, input, read, written, output int64) {
	input, read, written = max(0, input), max(0, read), max(0, written)
	res.Usage.InputTokens, res.Usage.CachedTokens = input+read+written, read
	res.Usage.OutputTokens = max(0, output)
}

// reported is an error the server sent inside a stream, taken out of the
// SDK's error, which also holds the request.
func reported(err error) error {
	var sent *anthropic.Error
	if errors.As(err, &sent) {
		return &endpoint.Reported{JSON: []byte(sent.RawJSON())}
	}
	return err
}

func isError(body []byte) bool {
	var v struct {
		Error any `json:"error"`
	}
	return json.Unmarshal(body, &v) == nil && v.Error != nil
}

// collected is an answer being put together.
type collected struct {
	limit  int64
	blocks []*block
	at     map[int64]*block
	stop   string
}

type block struct {
	kind, id, name        string
	text, thinking, input strings.Builder
	signature             string
	raw                   string
}

// begin adds a block, or returns nil for one of a kind that is not for us.
func (a *collected) begin(kind, id, name, raw string) *block {
	switch kind {
	case "text", "tool_use", "thinking", "redacted_thinking":
	default:
		return nil
	}
	if len(a.blocks) == maxBlocks {
		return nil
	}
	b := &block{kind: kind, id: id, name: name}
	if kind == "redacted_thinking" {
		b.raw = raw
	}
	a.blocks = append(a.blocks, b)
	return b
}

func (a *collected) size() int64 {
	n := 0
	for _, b := range a.blocks {
		n += b.text.Len() + b.thinking.Len() + b.input.Len() + len(b.raw)
	}
	return int64(n)
}

func (a *collected) response(res model.Response) (model.Response, error) {
	if a.size() > a.limit {
		return res, endpoint.ErrTooLarge
	}
	var text strings.Builder
	var thoughts []thought
	for _, b := range a.blocks {
		switch b.kind {
		case "text":
			text.WriteString(b.text.String())
		case "tool_use":
			input := b.input.String()
			if strings.TrimSpace(input) == "" {
				input = "{}"
			}
			res.Calls = append(res.Calls, model.Call{ID: b.id, Name: b.name, Input: json.RawMessage(input)})
		case "thinking":
			thoughts = append(thoughts, thought{Thinking: b.thinking.String(), Signature: b.signature})
		case "redacted_thinking":
			thoughts = append(thoughts, thought{Redacted: dataOf(b.raw)})
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
