package fakemodel

import (
	"cmp"
	"fmt"
)

type responsesBody struct {
	Model        string `json:"model"`
	Stream       bool   `json:"stream"`
	Instructions string `json:"instructions"`
	Input        any    `json:"input"`
	Tools        []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"tools"`
	Text struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
}

func (b responsesBody) request() Request {
	r := Request{API: Responses, Model: b.Model, Stream: b.Stream, System: b.Instructions, Schema: b.Text.Format.Type == "json_schema"}
	items, ok := b.Input.([]any)
	if !ok {
		r.Turns = append(r.Turns, Turn{"user", joined(b.Input)})
	}
	for _, item := range items {
		m, _ := item.(object)
		role, _ := m["role"].(string)
		switch m["type"] {
		case "function_call", "custom_tool_call", "local_shell_call", "reasoning":
			role = "assistant"
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
			role = "tool"
		}
		if role == "system" || role == "developer" {
			r.System += "\n" + joined(m)
			continue
		}
		r.Turns = append(r.Turns, Turn{cmp.Or(role, "user"), joined(m)})
	}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, cmp.Or(t.Name, t.Type))
	}
	return r
}

func (b responsesBody) answer(n int, p Reply) answer {
	id := fmt.Sprintf("resp_%d", n)
	status := "completed"
	var details any
	if p.Stop == "length" {
		status, details = "incomplete", object{"reason": "max_output_tokens"}
	}
	usage := object{"input_tokens": p.Usage.Input, "output_tokens": p.Usage.Output, "total_tokens": p.Usage.Input + p.Usage.Output,
		"input_tokens_details":  object{"cached_tokens": p.Usage.Cached},
		"output_tokens_details": object{"reasoning_tokens": 0}}
	head := object{"id": id, "object": "response", "created_at": 1_700_000_000, "model": b.Model,
		"error": nil, "incomplete_details": nil, "parallel_tool_calls": true, "tools": []any{}, "metadata": object{}}
	items := responsesItems(id, p)
	done := with(head, object{"status": status, "incomplete_details": details, "output": items, "usage": usage})

	var a answer
	a.whole = encode(done)
	seq := 0
	send := func(kind string, v object) {
		a.add(kind, with(v, object{"type": kind, "sequence_number": seq}))
		seq++
	}
	started := with(head, object{"status": "in_progress", "output": []any{}, "usage": nil})
	send("response.created", object{"response": started})
	send("response.in_progress", object{"response": started})
	for i, item := range items {
		m := item.(object)
		open := with(m, object{"status": "in_progress"})
		if m["type"] == "message" {
			open["content"] = []any{}
		} else {
			open["arguments"] = ""
		}
		send("response.output_item.added", object{"output_index": i, "item": open})
		if m["type"] == "message" {
			responsesText(send, i, m, p.Text+p.Refusal)
		} else {
			at := object{"item_id": m["id"], "output_index": i}
			send("response.function_call_arguments.delta", with(at, object{"delta": m["arguments"]}))
			send("response.function_call_arguments.done", with(at, object{"arguments": m["arguments"]}))
		}
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	send("response."+status, object{"response": done})
	return a
}

func responsesText(send func(string, object), i int, item object, text string) {
	at := object{"item_id": item["id"], "output_index": i, "content_index": 0}
	send("response.content_part.added", with(at, object{"part": object{"type": "output_text", "text": "", "annotations": []any{}}}))
	for _, part := range pieces(text, piecesPerText) {
		send("response.output_text.delta", with(at, object{"delta": part}))
	}
	send("response.output_text.done", with(at, object{"text": text}))
	send("response.content_part.done", with(at, object{"part": object{"type": "output_text", "text": text, "annotations": []any{}}}))
}

func responsesItems(id string, p Reply) []any {
	out := []any{}
	if text := p.Text + p.Refusal; text != "" || len(p.Calls) == 0 {
		out = append(out, object{"type": "message", "id": "msg_" + id, "status": "completed", "role": "assistant",
			"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}}})
	}
	for i, c := range p.Calls {
		out = append(out, object{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", id, i), "call_id": c.ID,
			"name": c.Name, "arguments": c.Raw, "status": "completed"})
	}
	return out
}
