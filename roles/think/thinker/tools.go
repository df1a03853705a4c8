package thinker

import (
	"encoding/json"
	"strconv"
	"sync"

	"orch/roles/act/tool"
	"orch/roles/think/answer"
	"orch/roles/think/model"
)

// field is one field of a tool's input.
type field struct {
	name, kind, says string
	required         bool
}

// toolDoc is what a model is told of a tool.
type toolDoc struct {
	says   string
	fields []field
}

const (
	text    = "string"
	integer = "integer"
	boolean = "boolean"
)

// toolTable describes the tools in the words of their input types.
var toolTable = sync.OnceValue(func() map[tool.Name]toolDoc {
	return map[tool.Name]toolDoc{
		tool.Shell: {"Run a command line in the project. Its exit code and the head and tail of its output come back.", []field{
			{"command", text, "for sh", true}, {"dir", text, "where to run it, inside the project", false},
			{"timeout_ms", integer, "a shorter limit than the usual one, in milliseconds", false}}},
		tool.ReadFile: {"Read a text file.", []field{
			{"path", text, "relative to the project", true}, {"offset", integer, "first line, from 1", false}, {"limit", integer, "how many lines", false}}},
		tool.WriteFile: {"Write a whole file; its directories are made.", []field{
			{"path", text, "relative to the project", true}, {"content", text, "all of it", true}}},
		tool.EditFile: {"Replace text in a file. The old text must occur exactly once, unless all is true.", []field{
			{"path", text, "relative to the project", true}, {"old", text, "exactly as it stands there", true},
			{"new", text, "what takes its place", true}, {"all", boolean, "replace every occurrence", false}}},
		tool.Glob: {"List files by a pattern such as **/*.go.", []field{
			{"pattern", text, "doublestar", true}, {"dir", text, "where to look", false}}},
		tool.Grep: {"Find lines that match a regular expression (RE2).", []field{
			{"pattern", text, "RE2", true}, {"path", text, "a file or directory", false},
			{"glob", text, "only files whose path or name matches", false}, {"ignore_case", boolean, "", false}}},
		tool.Fetch:       {"Get a web page.", []field{{"url", text, "http or https", true}}},
		tool.WebSearch:   {"Search the web, if that is configured.", []field{{"query", text, "", true}}},
		tool.MDFind:      {"Search the project with Spotlight.", []field{{"query", text, "", true}}},
		tool.AppleScript: {"Run an AppleScript; it always needs permission.", []field{{"script", text, "", true}}},
	}
})

// modelTools are the tools as a client takes them.
func modelTools(names []tool.Name) []model.Tool {
	var all []model.Tool
	for _, name := range names {
		doc := toolTable()[name]
		properties, required := map[string]any{}, []string{}
		for _, f := range doc.fields {
			p := map[string]string{"type": f.kind}
			if f.says != "" {
				p["description"] = f.says
			}
			properties[f.name] = p
			if f.required {
				required = append(required, f.name)
			}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
		if err != nil {
			panic(err) // strings always encode
		}
		all = append(all, model.Tool{Name: string(name), Description: doc.says, Input: schema})
	}
	return all
}

// inputOf reads a call's input as kindly as an answer: notation is put right,
// and a number or truth value in quotes is taken out of them where the tool has
// one. What can not be read stays as it is, for the tool layer to refuse.
func inputOf(name string, raw json.RawMessage) json.RawMessage {
	strict, err := answer.Relax(string(raw))
	if err != nil {
		return raw
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(strict, &object) != nil {
		return raw
	}
	changed := false
	set := func(field string, v json.RawMessage) { object[field], changed = v, true }
	for _, f := range toolTable()[tool.Name(name)].fields {
		var s string
		v, there := object[f.name]
		switch {
		case !there:
		case string(v) == "null" && !f.required:
			delete(object, f.name)
			changed = true
		case json.Unmarshal(v, &s) != nil:
		case f.kind == integer:
			if _, err := strconv.ParseInt(s, 10, 64); err == nil {
				set(f.name, json.RawMessage(s))
			}
		case f.kind == boolean && (s == "true" || s == "false"):
			set(f.name, json.RawMessage(s))
		}
	}
	if !changed {
		return strict
	}
	out, err := json.Marshal(object)
	if err != nil {
		return raw
	}
	return out
}
