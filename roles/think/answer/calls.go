package answer

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"orch/blackboard/lazyregexp"
)

// Call is a tool call that a model wrote into its text, because its server
// does not know the model's notation or offers no calls at all.
type Call struct {
	Name  string
	Input json.RawMessage // an object; values that notation leaves open are strings
}

// maxCalls bounds how many calls one text may hold.
const maxCalls = 64

// Calls lists the tool calls a text begins with, in the notations models are
// known to fall back to. It stops at the first JSON value that is no call: what
// follows was not written in wait for a result. known tells which names are tools.
func Calls(text string, known func(name string) bool) []Call {
	if len(text) > MaxBytes {
		return nil
	}
	text = visible(text)
	calls := marked(text, known)
	if len(calls) > 0 {
		return calls
	}
	for _, v := range find(text).values {
		some := callsIn(v, known)
		if len(some) == 0 {
			break
		}
		calls = append(calls, some...)
	}
	return calls[:min(len(calls), maxCalls)]
}

// callsIn reads a JSON value as a call or a list of calls; nil if any part of it is none.
func callsIn(value json.RawMessage, known func(string) bool) []Call {
	if value[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return nil
		}
		var all []Call
		for _, v := range list {
			some := callsIn(v, known)
			if len(some) != 1 {
				return nil
			}
			all = append(all, some...)
		}
		return all
	}
	var object map[string]json.RawMessage
	if value[0] != '{' || json.Unmarshal(value, &object) != nil {
		return nil
	}
	args := arguments(object)
	if args == nil {
		return nil
	}
	if inner, ok := object["function"]; ok && inner[0] == '{' {
		object = nil // or the keys of both would be mixed
		if json.Unmarshal(inner, &object) != nil {
			return nil
		}
	}
	var name string
	for _, key := range []string{"name", "tool", "tool_name", "function"} {
		if raw, ok := object[key]; ok && json.Unmarshal(raw, &name) != nil {
			return nil
		}
	}
	if !known(name) {
		return nil
	}
	if args[0] == '"' {
		var packed string
		if json.Unmarshal(args, &packed) != nil {
			return nil
		}
		unpacked, err := Relax(packed)
		if err != nil {
			return nil
		}
		args = unpacked
	}
	if args[0] != '{' {
		return nil
	}
	return []Call{{name, args}}
}

var (
	// <function=shell>…</function> (Qwen, Functionary), <invoke name="shell">…</invoke> (Claude, MiniMax,
	// with ｜DSML｜ DeepSeek)
	functionMark = lazyregexp.New(`(?s)<function=([\w.-]+)>(.*?)</function>`)
	invokeMark   = lazyregexp.New(`(?s)<(?:[|｜]+DSML[|｜]+)?invoke\s+name=["“]([\w.-]+)["”]\s*>(.*?)</(?:[|｜]+DSML[|｜]+)?invoke>`)
	// <parameter=command>ls</parameter>, <parameter name="command" string="true">ls</parameter>
	parameterMark = lazyregexp.New(`(?s)<parameter=([\w.-]+)>(.*?)</parameter>`)
	namedMark     = lazyregexp.New(`(?s)<(?:[|｜]+DSML[|｜]+)?parameter\s+name=["“]([\w.-]+)["”][^>]*>(.*?)</(?:[|｜]+DSML[|｜]+)?parameter>`)
	// [TOOL_CALLS]shell[ARGS]{…} (Mistral), …<｜tool▁sep｜>shell ```json {…} (DeepSeek)
	namedJSON = lazyregexp.New("(?:\\[TOOL_CALLS\\]|<｜tool▁sep｜>)\\s*([\\w.-]+)\\s*(?:\\[ARGS\\])?\\s*(?:```json)?\\s*\\{")
)

// marked finds calls whose name stands in a mark.
func marked(text string, known func(string) bool) []Call {
	var calls []Call
	for _, form := range []struct{ call, parameter *lazyregexp.Regexp }{{functionMark, parameterMark}, {invokeMark, namedMark}} {
		for _, m := range form.call.FindAllStringSubmatch(text, maxCalls) {
			if !known(m[1]) {
				continue
			}
			if input, ok := parameters(m[2], form.parameter); ok {
				calls = append(calls, Call{m[1], input})
			}
		}
	}
	for _, m := range namedJSON.FindAllStringSubmatchIndex(text, maxCalls) {
		r := reader{text: text, at: m[1] - 1}
		if name := text[m[2]:m[3]]; known(name) {
			if input, err := r.whole(); err == nil {
				calls = append(calls, Call{name, input})
			}
		}
	}
	return calls
}

// parameters reads the body of a marked call: JSON, or a mark for each parameter.
func parameters(body string, mark *lazyregexp.Regexp) (json.RawMessage, bool) {
	if input, err := Relax(body); err == nil && input[0] == '{' {
		return input, true
	}
	found := mark.FindAllStringSubmatch(body, -1)
	if len(found) == 0 {
		return nil, false
	}
	input := map[string]string{}
	for _, p := range found {
		if _, twice := input[p[1]]; twice {
			return nil, false
		}
		input[p[1]] = strings.TrimSuffix(strings.TrimPrefix(p[2], "\n"), "\n")
	}
	raw, err := json.Marshal(input)
	return raw, err == nil
}

// visible is a text without its reasoning.
func visible(text string) string {
	var out strings.Builder
	for at := 0; at < len(text); {
		if end, what := reasoning(text, at); what != notReasoning {
			if what == orphan {
				out.Reset()
			}
			at = end
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		out.WriteString(text[at : at+size])
		at += size
	}
	return out.String()
}
