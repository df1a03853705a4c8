package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// defaultMaxTokens is sent when nobody says; the protocol demands a number.
const defaultMaxTokens = 8192

// params is a request in these terms. The provider's cache works on prefixes
// in the order tools, system, turns; each is marked at its end.
func (t terms) params(o endpoint.Options, r model.Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: anthropic.Model(o.Model),
		MaxTokens: int64(cmp.Or(r.MaxOutputTokens, o.MaxOutputTokens, defaultMaxTokens))}
	if t.maxTokens > 0 {
		p.MaxTokens = min(p.MaxTokens, t.maxTokens)
	}
	for _, tool := range r.Tools {
		p.Tools = append(p.Tools, toolParam(tool.Name, tool.Description, tool.Input))
	}
	system := r.System
	if r.Schema != nil {
		system = t.ask(&p, r)
	}
	if system != "" {
		p.System = []anthropic.TextBlockParam{{Text: system}}
	}
	p.Messages = messages(r.Turns)
	if !t.noCache {
		markForCache(&p)
	}
	return p
}

// ask asks for an answer of the wanted shape, and returns the system text.
func (t terms) ask(p *anthropic.MessageNewParams, r model.Request) string {
	if t.noTool {
		return join(r.System, "Answer with one JSON value and nothing else. It must fit this JSON Schema:\n"+string(r.Schema.JSON))
	}
	name := answerTool(r)
	p.Tools = append(p.Tools, toolParam(name, "Gives the final answer. Call it once, when the answer is complete.", r.Schema.JSON))
	switch {
	case t.noForce:
		return join(r.System, "Give the final answer by calling the tool "+name+".")
	case len(r.Tools) > 0:
		p.ToolChoice.OfAny = &anthropic.ToolChoiceAnyParam{}
	default:
		p.ToolChoice = anthropic.ToolChoiceParamOfTool(name)
		p.ToolChoice.OfTool.DisableParallelToolUse = anthropic.Bool(true)
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

func toolParam(name, description string, schema json.RawMessage) anthropic.ToolUnionParam {
	t := &anthropic.ToolParam{Name: name}
	if description != "" {
		t.Description = anthropic.String(description)
	}
	var v map[string]any
	if json.Unmarshal(schema, &v) == nil {
		t.InputSchema.Properties = v["properties"]
		if list, ok := v["required"].([]any); ok {
			for _, e := range list {
				if name, ok := e.(string); ok {
					t.InputSchema.Required = append(t.InputSchema.Required, name)
				}
			}
		}
		delete(v, "type")
		delete(v, "properties")
		delete(v, "required")
		t.InputSchema.ExtraFields = v
	}
	return anthropic.ToolUnionParam{OfTool: t}
}

func messages(turns []model.Turn) []anthropic.MessageParam {
	var out []anthropic.MessageParam
	for _, turn := range turns {
		var blocks []anthropic.ContentBlockParamUnion
		switch turn.By {
		case model.Assistant:
			blocks = echoBlocks(turn.Echo)
			if strings.TrimSpace(turn.Text) != "" {
				// The protocol refuses an answer that ends in white space.
				blocks = append(blocks, anthropic.NewTextBlock(strings.TrimRight(turn.Text, " \t\r\n")))
			}
			for _, c := range turn.Calls {
				blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, validInput(c.Input), c.Name))
			}
		case model.ToolSays:
			for _, r := range turn.Results {
				blocks = append(blocks, anthropic.NewToolResultBlock(r.CallID, cmp.Or(r.Text, "(no output)"), r.Failed))
			}
		default:
			blocks = append(blocks, anthropic.NewTextBlock(cmp.Or(turn.Text, "(empty)")))
		}
		switch {
		case len(blocks) == 0:
		case turn.By == model.Assistant:
			out = append(out, anthropic.NewAssistantMessage(blocks...))
		default:
			out = append(out, anthropic.NewUserMessage(blocks...))
		}
	}
	return out
}

// validInput is the input of a call as it goes back: the protocol takes only
// objects, so what the model got wrong goes back inside one.
func validInput(input json.RawMessage) any {
	var v map[string]any
	if len(input) == 0 || json.Unmarshal(input, &v) == nil && v != nil {
		if v == nil {
			v = map[string]any{}
		}
		return v
	}
	return map[string]any{"malformed": string(input)}
}

// markForCache marks the ends of the three parts. The mark on the last turn
// makes the next request of the same conversation hit.
func markForCache(p *anthropic.MessageNewParams) {
	mark := anthropic.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = mark
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	}
	n := len(p.Messages)
	if n < 3 {
		// A single question is not asked again with the same beginning.
		return
	}
	blocks := p.Messages[n-1].Content
	if at := blocks[len(blocks)-1].GetCacheControl(); at != nil {
		*at = mark
	}
}
