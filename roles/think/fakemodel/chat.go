package fakemodel

import (
	"cmp"
	"fmt"
)

type chatBody struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role      string `json:"role"`
		Content   any    `json:"content"`
		ToolCalls []any  `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (b chatBody) request() Request {
	r := Request{API: Chat, Model: b.Model, Stream: b.Stream, Schema: b.ResponseFormat.Type == "json_schema"}
	for _, m := range b.Messages {
		text := joined(m.Content)
		if len(m.ToolCalls) > 0 {
			text += "\n" + joined(m.ToolCalls)
		}
		if m.Role == "system" || m.Role == "developer" {
			r.System += text + "\n"
			continue
		}
		r.Turns = append(r.Turns, Turn{m.Role, text})
	}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	return r
}

var chatStops = map[string]string{"end": "stop", "tools": "tool_calls", "length": "length", "refuse": "content_filter"}

func (b chatBody) answer(n int, p Reply) answer {
	head := object{"id": fmt.Sprintf("chatcmpl-%d", n), "created": 1_700_000_000, "model": b.Model}
	usage := object{"prompt_tokens": p.Usage.Input, "completion_tokens": p.Usage.Output,
		"total_tokens":          p.Usage.Input + p.Usage.Output,
		"prompt_tokens_details": object{"cached_tokens": p.Usage.Cached}}
	if p.Cost != nil {
		usage["cost"] = *p.Cost
	}
	stop := cmp.Or(chatStops[p.Stop], p.Stop)
	if p.Refusal != "" {
		stop = "stop"
	}
	var a answer
	a.whole = encode(with(head, object{"object": "chat.completion", "usage": usage,
		"choices": []any{object{"index": 0, "finish_reason": stop, "message": chatMessage(p)}}}))
	chunk := func(delta object, finish any) {
		a.add("", with(head, object{"object": "chat.completion.chunk",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}))
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	for _, part := range pieces(p.Reasoning, piecesPerText) {
		chunk(object{"reasoning_content": part}, nil)
	}
	for _, part := range pieces(p.Text, piecesPerText) {
		chunk(object{"content": part}, nil)
	}
	for _, part := range pieces(p.Refusal, piecesPerText) {
		chunk(object{"refusal": part}, nil)
	}
	for i, c := range p.Calls {
		chunk(object{"tool_calls": []any{object{"index": i, "id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, part := range pieces(c.Raw, 2) {
			chunk(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": part}}}}, nil)
		}
	}
	chunk(object{}, stop)
	if b.StreamOptions.IncludeUsage {
		a.add("", with(head, object{"object": "chat.completion.chunk", "choices": []any{}, "usage": usage}))
	}
	a.events = append(a.events, event{"", []byte("[DONE]")})
	return a
}

func chatMessage(p Reply) object {
	m := object{"role": "assistant", "content": p.Text}
	if p.Reasoning != "" {
		m["reasoning_content"] = p.Reasoning
	}
	if p.Refusal != "" {
		m["refusal"], m["content"] = p.Refusal, nil
	}
	var calls []any
	for _, c := range p.Calls {
		calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Raw}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

// with is a and b in one object.
func with(a, b object) object {
	out := object{}
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}
