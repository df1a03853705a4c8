package fakemodel

import (
	"cmp"
	"encoding/json"
	"fmt"
)

type messagesBody struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	System   any    `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	OutputConfig struct {
		Format any `json:"format"`
	} `json:"output_config"`
}

func (b messagesBody) request() Request {
	r := Request{API: Messages, Model: b.Model, Stream: b.Stream, System: joined(b.System),
		Schema: b.answerTool() != "" || b.OutputConfig.Format != nil}
	for _, m := range b.Messages {
		role := m.Role
		if blocks, ok := m.Content.([]any); ok && len(blocks) > 0 {
			if first, ok := blocks[0].(object); ok && first["type"] == "tool_result" {
				role = "tool"
			}
		}
		r.Turns = append(r.Turns, Turn{role, joined(m.Content)})
	}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	return r
}

// answerTool is the tool a request forces, which is how a shape of the answer
// is asked for in this protocol: the last tool when any must be called.
func (b messagesBody) answerTool() string {
	switch {
	case b.ToolChoice.Type == "tool":
		return b.ToolChoice.Name
	case b.ToolChoice.Type == "any" && len(b.Tools) > 0:
		return b.Tools[len(b.Tools)-1].Name
	}
	return ""
}

var messagesStops = map[string]string{"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refuse": "refusal"}

func (b messagesBody) answer(n int, p Reply) answer {
	p = b.forced(n, p)
	stop := cmp.Or(messagesStops[p.Stop], p.Stop)
	usage := object{"input_tokens": p.Usage.Input - p.Usage.Cached, "output_tokens": p.Usage.Output,
		"cache_read_input_tokens": p.Usage.Cached, "cache_creation_input_tokens": 0}
	head := object{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": b.Model, "stop_sequence": nil}
	var a answer
	a.whole = encode(with(head, object{"content": messagesBlocks(p), "stop_reason": stop, "usage": usage}))

	early := with(usage, object{"output_tokens": 1})
	a.add("message_start", object{"type": "message_start",
		"message": with(head, object{"content": []any{}, "stop_reason": nil, "usage": early})})
	a.add("ping", object{"type": "ping"})
	i := 0
	block := func(start object, deltas []object) {
		a.add("content_block_start", object{"type": "content_block_start", "index": i, "content_block": start})
		for _, d := range deltas {
			a.add("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d})
		}
		a.add("content_block_stop", object{"type": "content_block_stop", "index": i})
		i++
	}
	deltas := func(kind, field, text string) (out []object) {
		for _, part := range pieces(text, piecesPerText) {
			out = append(out, object{"type": kind, field: part})
		}
		return out
	}
	if p.Reasoning != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""},
			append(deltas("thinking_delta", "thinking", p.Reasoning), object{"type": "signature_delta", "signature": "signed"}))
	}
	if text := p.Text + p.Refusal; text != "" {
		block(object{"type": "text", "text": ""}, deltas("text_delta", "text", text))
	}
	for _, c := range p.Calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, deltas("input_json_delta", "partial_json", c.Raw))
	}
	a.add("message_delta", object{"type": "message_delta",
		"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": p.Usage.Output}})
	a.add("message_stop", object{"type": "message_stop"})
	return a
}

// forced turns a text that is a JSON object into a call of the tool the request
// forces, as a model would; other text stays text.
func (b messagesBody) forced(n int, p Reply) Reply {
	tool := b.answerTool()
	if tool == "" || len(p.Calls) > 0 || p.Refusal != "" {
		return p
	}
	var v object
	if json.Unmarshal([]byte(p.Text), &v) != nil {
		return p
	}
	p.Calls, p.Text = []Call{{ID: fmt.Sprintf("toolu_%d", n), Name: tool, Raw: p.Text}}, ""
	if p.Stop == "end" {
		p.Stop = "tools"
	}
	return p
}

func messagesBlocks(p Reply) []any {
	out := []any{}
	if p.Reasoning != "" {
		out = append(out, object{"type": "thinking", "thinking": p.Reasoning, "signature": "signed"})
	}
	if text := p.Text + p.Refusal; text != "" {
		out = append(out, object{"type": "text", "text": text})
	}
	for _, c := range p.Calls {
		out = append(out, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": jsonOr(c.Raw)})
	}
	return out
}

// jsonOr is the value a text encodes, or the text itself.
func jsonOr(raw string) any {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return raw
	}
	return v
}
