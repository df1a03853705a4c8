package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// defaultMaxTokens is sent when nobody says; the protocol demands a number.
const defaultMaxTokens = 8192

// request is a question in these terms. The provider's cache works on prefixes
// in the order tools, system, turns; each is marked at its end.
func (t terms) request(o endpoint.Options, r model.Request) request {
	p := request{Model: o.Model, Stream: !t.whole,
		MaxTokens: int64(cmp.Or(r.MaxOutputTokens, o.MaxOutputTokens, defaultMaxTokens))}
	if t.maxTokens > 0 {
		p.MaxTokens = min(p.MaxTokens, t.maxTokens)
	}
	for _, given := range r.Tools {
		p.Tools = append(p.Tools, offer(given.Name, given.Description, given.Input))
	}
	system := r.System
	if r.Schema != nil {
		system = t.ask(&p, r)
	}
	if system != "" {
		p.System = []block{textBlock(system)}
	}
	p.Messages = messages(r.Turns)
	if !t.noCache {
		markForCache(&p)
	}
	return p
}

// ask asks for an answer of the wanted shape, and returns the system text.
func (t terms) ask(p *request, r model.Request) string {
	if t.noTool {
		return join(r.System, "Answer with one JSON value and nothing else. It must fit this JSON Schema:\n"+string(r.Schema.JSON))
	}
	name := answerTool(r)
	p.Tools = append(p.Tools, offer(name, "Gives the final answer. Call it once, when the answer is complete.", r.Schema.JSON))
	switch {
	case t.noForce:
		return join(r.System, "Give the final answer by calling the tool "+name+".")
	case len(r.Tools) > 0:
		p.ToolChoice = &toolChoice{Type: "any"}
	default:
		p.ToolChoice = &toolChoice{Type: "tool", Name: name, OnlyOne: true}
	}
	return r.System
}

func join(a, b string) string { return strings.TrimSpace(a + "\n\n" + b) }

// answerTool is the name of the tool that takes the answer, unlike that of any
// other tool.
func answerTool(r model.Request) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, r.Schema.Name)
	name = "answer_" + name[:min(len(name), 48)]
	for _, t := range r.Tools {
		if t.Name == name {
			return name + "_final"
		}
	}
	return name
}

// offer describes a tool. Its input is always an object.
func offer(name, description string, schema json.RawMessage) tool {
	t := tool{Name: name, Description: description}
	if json.Unmarshal(schema, &t.Input) != nil || t.Input == nil {
		t.Input = map[string]json.RawMessage{}
	}
	t.Input["type"] = json.RawMessage(`"object"`)
	return t
}

func textBlock(text string) block { return block{Type: "text", Text: endpoint.Text(text)} }

func messages(turns []model.Turn) []message {
	out := []message{}
	for _, turn := range turns {
		m := message{Role: "user"}
		switch turn.By {
		case model.Assistant:
			m = message{Role: "assistant", Content: echoBlocks(turn.Echo)}
			if strings.TrimSpace(turn.Text) != "" {
				// The protocol refuses an answer that ends in white space.
				m.Content = append(m.Content, textBlock(strings.TrimRight(turn.Text, " \t\r\n")))
			}
			for _, c := range turn.Calls {
				m.Content = append(m.Content, block{Type: "tool_use", ID: endpoint.Text(c.ID), Name: endpoint.Text(c.Name), Input: validInput(c.Input)})
			}
		case model.ToolSays:
			for _, r := range turn.Results {
				m.Content = append(m.Content, block{Type: "tool_result", ToolUseID: r.CallID, IsError: r.Failed,
					Content: []block{textBlock(cmp.Or(r.Text, "(no output)"))}})
			}
		default:
			m.Content = []block{textBlock(cmp.Or(turn.Text, "(empty)"))}
		}
		if len(m.Content) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// validInput is the input of a call as it goes back: the protocol takes only
// objects, so what the model got wrong goes back inside one.
func validInput(input json.RawMessage) json.RawMessage {
	var v map[string]json.RawMessage
	switch {
	case len(input) == 0:
		return json.RawMessage("{}")
	case json.Unmarshal(input, &v) == nil && v != nil:
		return input
	case string(bytes.TrimSpace(input)) == "null":
		return json.RawMessage("{}")
	}
	b, err := json.Marshal(map[string]string{"malformed": string(input)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// markForCache marks the ends of the three parts. The mark on the last turn
// makes the next request of the same conversation hit.
func markForCache(p *request) {
	mark := &cacheMark{Type: "ephemeral"}
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].Cache = mark
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].Cache = mark
	}
	n := len(p.Messages)
	if n < 3 {
		// A single question is not asked again with the same beginning.
		return
	}
	blocks := p.Messages[n-1].Content
	switch last := &blocks[len(blocks)-1]; last.Type {
	case "thinking", "redacted_thinking": // take no mark
	default:
		last.Cache = mark
	}
}
