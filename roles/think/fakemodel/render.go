package fakemodel

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// event is one server-sent event. Protocols without names leave name empty.
type event struct {
	name string
	data []byte
}

func (e event) bytes() []byte {
	var b strings.Builder
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: ")
	b.Write(e.data)
	b.WriteString("\n\n")
	return []byte(b.String())
}

// answer is a reply in the shapes of one protocol.
type answer struct {
	events []event
	whole  []byte
}

// object is a JSON object. Its keys come out sorted, so answers are stable.
type object = map[string]any

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		// Replies hold only what YAML or a test put there; what JSON cannot
		// say is a mistake in the script.
		return fmt.Appendf(nil, `{"error":{"message":%q}}`, "the script's reply is no JSON: "+err.Error())
	}
	return b
}

func (a *answer) add(name string, v any) { a.events = append(a.events, event{name, encode(v)}) }

// settled fills in what a reply leaves open.
func (p Reply) settled(n int) Reply {
	if p.Fault.Kind == Huge && p.Text == "" {
		size := p.Fault.Bytes
		if size == 0 {
			size = 10 << 20
		}
		p.Text = strings.Repeat("all work and no play. ", size/22+1)[:size]
	}
	if p.JSON != nil && p.Text == "" {
		p.Text = string(encode(p.JSON))
	}
	calls := make([]Call, len(p.Calls))
	for i, c := range p.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", n, i+1)
		}
		if c.Raw == "" {
			c.Raw = "{}"
			if c.Input != nil {
				c.Raw = string(encode(c.Input))
			}
		}
		calls[i] = c
	}
	p.Calls = calls
	if p.Stop == "" {
		switch {
		case p.Refusal != "":
			p.Stop = "refuse"
		case len(p.Calls) > 0:
			p.Stop = "tools"
		default:
			p.Stop = "end"
		}
	}
	if p.Usage == (Usage{}) {
		p.Usage = Usage{Input: 100, Output: 10}
	}
	return p
}

// pieces cuts a text in at most limit parts, never inside a character.
func pieces(text string, limit int) []string {
	if text == "" {
		return nil
	}
	size := max(1, (len(text)+limit-1)/limit)
	var out []string
	for len(text) > 0 {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// piecesPerText is into how many events a text is cut, so that a fault in the
// middle has a middle.
const piecesPerText = 4

// joined is every string inside a JSON value, one below the other: what a
// condition of a rule is looked for in.
func joined(v any) string {
	var parts []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			parts = append(parts, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case object:
			for _, k := range []string{"text", "content", "thinking", "name", "input", "arguments", "function", "output", "parts", "functionCall", "functionResponse", "args", "response", "result", "tool_calls"} {
				walk(v[k])
			}
			if _, text := v["text"]; !text && v["type"] == nil && v["parts"] == nil && v["content"] == nil && v["function"] == nil && v["functionCall"] == nil && v["functionResponse"] == nil {
				parts = append(parts, string(encode(v)))
			}
		}
	}
	walk(v)
	return strings.Join(parts, "\n")
}
