package fakemodel

import (
	"cmp"
	"fmt"
	"strings"
)

type geminiBody struct {
	System   any `json:"systemInstruction"`
	Contents []struct {
		Role  string `json:"role"`
		Parts []any  `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Schema     any `json:"responseSchema"`
		JSONSchema any `json:"responseJsonSchema"`
	} `json:"generationConfig"`
	model  string
	stream bool
}

// geminiPath splits /v1beta/models/NAME:ACTION.
func geminiPath(path string) (model, action string, ok bool) {
	_, rest, ok := strings.Cut(path, "/models/")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

func (b geminiBody) request() Request {
	r := Request{API: Gemini, Model: b.model, Stream: b.stream, System: joined(b.System),
		Schema: b.Config.Schema != nil || b.Config.JSONSchema != nil}
	for _, c := range b.Contents {
		role := map[string]string{"model": "assistant", "function": "tool"}[c.Role]
		for _, part := range c.Parts {
			if m, ok := part.(object); ok && m["functionResponse"] != nil {
				role = "tool"
			}
		}
		r.Turns = append(r.Turns, Turn{cmp.Or(role, "user"), joined(c.Parts)})
	}
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			r.Tools = append(r.Tools, f.Name)
		}
	}
	return r
}

var geminiStops = map[string]string{"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "refuse": "SAFETY"}

func (b geminiBody) answer(n int, p Reply) answer {
	usage := object{"promptTokenCount": p.Usage.Input, "candidatesTokenCount": p.Usage.Output,
		"cachedContentTokenCount": p.Usage.Cached, "totalTokenCount": p.Usage.Input + p.Usage.Output}
	head := object{"modelVersion": b.model, "responseId": fmt.Sprintf("gen_%d", n)}
	candidate := func(parts []any, stop any) object {
		c := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		if stop != nil {
			c["finishReason"] = stop
		}
		return c
	}
	var parts []any
	var a answer
	for _, part := range pieces(p.Text+p.Refusal, piecesPerText) {
		v := object{"text": part}
		parts = append(parts, v)
		a.add("", with(head, object{"candidates": []any{candidate([]any{v}, nil)}}))
	}
	calls := []any{}
	for _, c := range p.Calls {
		calls = append(calls, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": jsonOr(c.Raw)}})
	}
	if len(calls) == 0 {
		// The protocol ends every answer with a part, if only an empty one.
		calls = append(calls, object{"text": ""})
	}
	stop := cmp.Or(geminiStops[p.Stop], p.Stop)
	a.add("", with(head, object{"candidates": []any{candidate(calls, stop)}, "usageMetadata": usage}))
	a.whole = encode(with(head, object{"candidates": []any{candidate(append(parts, calls...), stop)}, "usageMetadata": usage}))
	return a
}
