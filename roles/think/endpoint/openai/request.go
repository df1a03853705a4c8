package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// request is a question in these terms.
func (t terms) request(o endpoint.Options, r model.Request) request {
	p := request{Model: o.Model, Stream: !t.whole}
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
	case t.noMaxTokens:
	case t.oldMaxTokens:
		p.MaxTokens = limit
	default:
		p.MaxCompletionTokens = limit
	}
	if p.Stream && !t.noUsage {
		p.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	return p
}

func join(a, b string) string { return strings.TrimSpace(a + "\n\n" + b) }

func (t terms) format(s *model.Schema) *responseFormat {
	switch {
	case t.noFormat:
		return nil
	case t.jsonOnly:
		return &responseFormat{Type: "json_object"}
	}
	return &responseFormat{Type: "json_schema",
		JSONSchema: &jsonSchema{Name: s.Name, Schema: s.JSON, Strict: !t.noStrict && closed(s.JSON)}}
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

func tools(list []model.Tool) []tool {
	var out []tool
	for _, t := range list {
		var object map[string]json.RawMessage
		parameters := t.Input
		if json.Unmarshal(t.Input, &object) != nil || object == nil {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, tool{Type: "function", Function: description{Name: t.Name, Description: t.Description, Parameters: parameters}})
	}
	return out
}

func (t terms) messages(system string, turns []model.Turn) []message {
	out := []message{}
	say := func(role, text string) { out = append(out, message{Role: role, Content: &text}) }
	if system != "" && !t.noSystem {
		say("system", system)
		system = ""
	}
	for _, turn := range turns {
		switch {
		case turn.By == model.Assistant && t.toolsInText:
			say("assistant", join(turn.Text, callsText(turn.Calls)))
		case turn.By == model.Assistant:
			out = append(out, assistant(turn))
		case turn.By == model.ToolSays && t.toolsInText:
			say("user", resultsText(turn.Results))
		case turn.By == model.ToolSays:
			for _, r := range turn.Results {
				text := resultText(r)
				out = append(out, message{Role: "tool", Content: &text, ToolCallID: r.CallID})
			}
		case system != "":
			say("user", join(system, turn.Text))
			system = ""
		default:
			say("user", turn.Text)
		}
	}
	if system != "" {
		say("user", system)
	}
	return out
}

func assistant(turn model.Turn) message {
	e := readEcho(turn.Echo)
	m := message{Role: "assistant", Reasoning: e.Reasoning}
	if turn.Text != "" || len(turn.Calls) == 0 {
		m.Content = &turn.Text
	}
	for i, c := range turn.Calls {
		call := toolCall{ID: endpoint.Text(c.ID), Type: "function",
			Function: function{Name: endpoint.Text(c.Name), Arguments: endpoint.Text(validInput(c.Input))}}
		if i < len(e.Calls) && string(e.Calls[i]) != "null" { // of the calls, not all need be signed
			call.Extra = e.Calls[i]
		}
		m.ToolCalls = append(m.ToolCalls, call)
	}
	return m
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
