package agent

import (
	"context"
	"encoding/json"
	"strings"

	"orch/roles/think/agent/cli"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
)

var _ model.Client = (*Agent)(nil)

// Complete asks the agent one question; it may only look. Tools of a request
// are refused: an agent has its own.
func (a *Agent) Complete(ctx context.Context, q model.Request) (model.Response, error) {
	if len(q.Tools) > 0 {
		return model.Response{}, &model.Error{Kind: model.BadRequest, Model: a.Model(), Account: a.Account(), Detail: "an agent acts with its own tools and takes none"}
	}
	t := Task{Access: cli.Read, Role: q.Role, System: q.System, Input: q.Input, Schema: q.Schema}
	if looks(q.Role) {
		t.Dir = a.world.Workspace
	}
	inline := q.Schema != nil && !(a.set.kind == Exec && a.set.preset.SchemaArg && strict(q.Schema.JSON))
	if inline {
		t.Schema = nil
	}
	t.Prompt = render(q, inline)
	if a.set.json() {
		t.Prompt = a.request(t, q)
	}
	res, err := a.runner.Run(ctx, t)
	out := model.Response{Text: res.Text, Stop: model.StopEnd, Usage: res.Usage, Cost: res.Cost, Session: res.Session}
	out.Usage.Model = a.Model()
	return out, err
}

// looks tells which thinking roles may see the workspace; a judge sees its
// evidence and nothing else.
func looks(role string) bool {
	switch prompt.Role(role) {
	case prompt.Planner, prompt.PlannerCode, prompt.PlannerWake, prompt.PlanReviewer, prompt.Perceiver:
		return true
	}
	return false
}

// json tells whether the command reads JSON.
func (s settings) json() bool { return s.preset.Name == "command" && s.format == "json" }

// request is the JSON a command reads.
func (a *Agent) request(t Task, q model.Request) string {
	r := cli.Request{Version: 1, Role: q.Role, Prompt: t.Prompt, System: q.System, Input: q.Input, Dir: t.Dir, Access: t.Access}
	if q.Schema != nil {
		r.Schema = q.Schema.JSON
	}
	raw, err := json.Marshal(r)
	if err != nil { // Input or Schema is no JSON: the texts say the same
		r.Input, r.Schema = nil, nil
		raw, _ = json.Marshal(r) // strings always encode
	}
	return string(raw)
}

// render makes one text of a request, the stable part first.
func render(q model.Request, inline bool) string {
	var b strings.Builder
	if q.System != "" {
		b.WriteString(q.System + "\n\n")
	}
	for _, t := range q.Turns {
		switch {
		case len(q.Turns) == 1:
		case t.By == model.Assistant:
			b.WriteString("## Your answer was\n\n")
		default:
			b.WriteString("## You are asked\n\n")
		}
		b.WriteString(t.Text + "\n\n")
		for _, r := range t.Results {
			b.WriteString(r.Text + "\n\n")
		}
	}
	b.WriteString("Change nothing: you are asked for an answer, not for an action.\n")
	if inline {
		b.WriteString("Your last message must be one JSON value that fits this JSON Schema, and nothing else:\n\n" + string(q.Schema.JSON) + "\n")
	}
	return b.String()
}

// strict tells whether a schema may be given to a program that insists on the
// strict form: every object closed, every property required.
func strict(raw json.RawMessage) bool {
	var node any
	return json.Unmarshal(raw, &node) == nil && strictNode(node)
}

func strictNode(node any) bool {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			if !strictNode(item) {
				return false
			}
		}
	case map[string]any:
		if props, ok := n["properties"].(map[string]any); ok {
			required, _ := n["required"].([]any)
			if n["additionalProperties"] != false || len(required) != len(props) {
				return false
			}
		}
		for _, v := range n {
			if !strictNode(v) {
				return false
			}
		}
	}
	return true
}
