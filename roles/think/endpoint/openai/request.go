package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// params is a request in these terms.
func (t terms) params(o endpoint.Options, r model.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: o.Model}
	system := r.System
	if !t.toolsInText {
		p.Tools = tools(r.Tools)
	} else if len(r.Tools) > 0 {
		system = join(system, toolsText(r.Tools))
	}
	if r.Schema != nil {
		if t.jsonOnly || t.noFormat {
			system = join(system, schemaText(r.Schema))
		}
		p.ResponseFormat = t.format(r.Schema)
	}
	p.Messages = t.messages(system, r.Turns)
	limit := int64(cmp.Or(r.MaxOutputTokens, o.MaxOutputTokens))
	switch {
	case limit == 0 || t.noMaxTokens:
	case t.oldMaxTokens:
		p.MaxTokens = openai.Int(limit)
	default:
		p.MaxCompletionTokens = openai.Int(limit)
	}
	if !t.whole && !t.noUsage {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	return p
}

func join(a, b string) string { return strings.TrimSpace(a + "\n\n" + b) }

func (t terms) format(s *model.Schema) (f openai.ChatCompletionNewParamsResponseFormatUnion) {
	switch {
	case t.noFormat:
	case t.jsonOnly:
		f.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	default:
		f.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: s.Name, Schema: s.JSON}}
		if !t.noStrict && closed(s.JSON) {
			f.OfJSONSchema.JSONSchema.Strict = openai.Bool(true)
		}
	}
	return f
}

// closed tells whether a schema is one that strict mode takes: each object
// lists all its properties as required and allows no others.
func closed(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && closedValue(v)
}

func closedValue(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !closedValue(e) {
				return false
			}
		}
	case map[string]any:
		props, object := v["properties"].(map[string]any)
		if object || v["type"] == "object" {
			required, _ := v["required"].([]any)
			if v["additionalProperties"] != false || len(required) != len(props) {
				return false
			}
		}
		for _, e := range v {
			if !closedValue(e) {
				return false
			}
		}
	}
	return true
}

func tools(list []model.Tool) []openai.ChatCompletionToolUnionParam {
	var out []openai.ChatCompletionToolUnionParam
	for _, t := range list {
		f := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			f.Description = openai.String(t.Description)
		}
		if json.Unmarshal(t.Input, &f.Parameters) != nil || f.Parameters == nil {
			f.Parameters = shared.FunctionParameters{"type": "object", "properties": map[string]any{}}
		}
		out = append(out, openai.ChatCompletionFunctionTool(f))
	}
	return out
}

func (t terms) messages(system string, turns []model.Turn) []openai.ChatCompletionMessageParamUnion {
	var out []openai.ChatCompletionMessageParamUnion
	if system != "" && !t.noSystem {
		out, system = append(out, openai.SystemMessage(system)), ""
	}
	for _, turn := range turns {
		switch turn.By {
		case model.Assistant:
			out = append(out, t.assistant(turn))
		case model.ToolSays:
			if t.toolsInText {
				out = append(out, openai.UserMessage(resultsText(turn.Results)))
				continue
			}
			for _, r := range turn.Results {
				out = append(out, openai.ToolMessage(resultText(r), r.CallID))
			}
		default:
			text := turn.Text
			if system != "" {
				text, system = join(system, text), ""
			}
			out = append(out, openai.UserMessage(text))
		}
	}
	if system != "" {
		out = append(out, openai.UserMessage(system))
	}
	return out
}

func (t terms) assistant(turn model.Turn) openai.ChatCompletionMessageParamUnion {
	if t.toolsInText {
		return openai.AssistantMessage(join(turn.Text, callsText(turn.Calls)))
	}
	m := openai.ChatCompletionAssistantMessageParam{}
	if turn.Text != "" || len(turn.Calls) == 0 {
		m.Content.OfString = openai.String(turn.Text)
	}
	e := readEcho(turn.Echo)
	for i, c := range turn.Calls {
		f := &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.ID,
			Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: validInput(c.Input)}}
		if i < len(e.Calls) && len(e.Calls[i]) > 0 && string(e.Calls[i]) != "null" {
			f.SetExtraFields(map[string]any{"extra_content": e.Calls[i]})
		}
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: f})
	}
	if e.Reasoning != "" {
		m.SetExtraFields(map[string]any{"reasoning_content": e.Reasoning})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &m}
}

// validInput is the input of a call as it goes back to the server. Several
// servers fail on a conversation whose earlier input is no JSON, so what the
// model got wrong goes back as a string inside JSON.
func validInput(input json.RawMessage) string {
	if len(input) == 0 {
		return "{}"
	}
	if json.Valid(input) {
		return string(input)
	}
	b, err := json.Marshal(map[string]string{"malformed": string(input)})
	if err != nil {
		return "{}"
	}
	return string(b)
}

func resultText(r model.Result) string {
	if r.Failed {
		return "failed: " + r.Text
	}
	return r.Text
}

// echo is what some servers want back with a turn that called tools: DeepSeek
// its reasoning, Google a signature for each call.
type echo struct {
	Reasoning string            `json:"reasoning,omitempty"`
	Calls     []json.RawMessage `json:"calls,omitempty"`
}

func readEcho(b json.RawMessage) (e echo) {
	if len(b) > 0 && json.Unmarshal(b, &e) != nil {
		return echo{}
	}
	return e
}
