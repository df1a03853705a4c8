package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"orch/roles/think/model"
)

// schemaText asks in words for what response_format asks for.
func schemaText(s *model.Schema) string {
	return "Answer with one JSON value and nothing else. It must fit this JSON Schema:\n" + string(s.JSON)
}

// toolsText offers tools in words, to models whose server knows no tools.
func toolsText(tools []model.Tool) string {
	var b strings.Builder
	b.WriteString("You can use tools. To use some, answer with nothing but one JSON object of this form:\n" +
		`{"tool_calls":[{"name":"the tool","input":{…}}]}` +
		"\nThe results come in the next message. When you need no more tools, answer as you are asked to, without tool_calls.\n" +
		"The tools, each with the JSON Schema of its input:\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "- %s: %s\n  input: %s\n", t.Name, t.Description, t.Input)
	}
	return b.String()
}

type textCall struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func callsText(calls []model.Call) string {
	if len(calls) == 0 {
		return ""
	}
	var list []textCall
	for _, c := range calls {
		list = append(list, textCall{c.Name, json.RawMessage(validInput(c.Input))})
	}
	b, err := json.Marshal(map[string]any{"tool_calls": list})
	if err != nil {
		return ""
	}
	return string(b)
}

func resultsText(results []model.Result) string {
	var b strings.Builder
	for i, r := range results {
		fmt.Fprintf(&b, "Result of tool call %d:\n%s\n\n", i+1, resultText(r))
	}
	return strings.TrimSpace(b.String())
}

// callsInText takes the calls out of an answer of the form toolsText asks for.
// An answer of any other form is left alone: it is the caller's to judge.
func callsInText(r *model.Response) {
	at := strings.Index(r.Text, "{")
	if at < 0 || !strings.Contains(r.Text, `"tool_calls"`) {
		return
	}
	var v struct {
		Calls []textCall `json:"tool_calls"`
	}
	if json.NewDecoder(strings.NewReader(r.Text[at:])).Decode(&v) != nil || len(v.Calls) == 0 {
		return
	}
	for i, c := range v.Calls {
		r.Calls = append(r.Calls, model.Call{ID: fmt.Sprintf("text_%d", i+1), Name: c.Name, Input: c.Input})
	}
	r.Text, r.Stop = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(r.Text[:at]), "```json")), model.StopTools
}
