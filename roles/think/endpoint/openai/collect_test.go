package openai

import (
	"encoding/json"
	"testing"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// Servers differ in how they stream the parts of tool calls.
func TestPartsOfToolCalls(t *testing.T) {
	type part struct {
		index           endpoint.Count
		id, name, input endpoint.Text
	}
	for name, c := range map[string]struct {
		parts []part
		want  []model.Call
	}{
		"as documented": {[]part{{0, "a", "x", ""}, {0, "", "", `{"k":`}, {0, "", "", `1}`}, {1, "b", "y", `{}`}},
			[]model.Call{{ID: "a", Name: "x", Input: []byte(`{"k":1}`)}, {ID: "b", Name: "y", Input: []byte(`{}`)}}},
		"mixed": {[]part{{0, "a", "x", `{`}, {1, "b", "y", `{`}, {0, "", "", `}`}, {1, "", "", `}`}},
			[]model.Call{{ID: "a", Name: "x", Input: []byte(`{}`)}, {ID: "b", Name: "y", Input: []byte(`{}`)}}},
		"every index 0": {[]part{{0, "a", "x", `{"k":1}`}, {0, "b", "x", `{"k":2}`}},
			[]model.Call{{ID: "a", Name: "x", Input: []byte(`{"k":1}`)}, {ID: "b", Name: "x", Input: []byte(`{"k":2}`)}}},
		"id repeated": {[]part{{0, "a", "x", `{"k"`}, {0, "a", "x", `:1}`}},
			[]model.Call{{ID: "a", Name: "x", Input: []byte(`{"k":1}`)}}},
		"no id, no input": {[]part{{0, "", "x", ""}},
			[]model.Call{{ID: "call_1", Name: "x", Input: []byte(`{}`)}}},
	} {
		a := collected{limit: 1 << 20, finish: "tool_calls"}
		for _, p := range c.parts {
			a.call(toolCall{Index: p.index, ID: p.id, Function: function{Name: p.name, Arguments: p.input}})
		}
		got, err := a.response(model.Response{})
		if err != nil || got.Stop != model.StopTools || len(got.Calls) != len(c.want) {
			t.Errorf("%s: %v %+v", name, err, got)
			continue
		}
		for i, w := range c.want {
			if g := got.Calls[i]; g.ID != w.ID || g.Name != w.Name || string(g.Input) != string(w.Input) {
				t.Errorf("%s: call %d is %s %s %s, want %s %s %s", name, i, g.ID, g.Name, g.Input, w.ID, w.Name, w.Input)
			}
		}
	}
}

func TestSignaturesComeBack(t *testing.T) {
	var s said
	if err := endpoint.Decode([]byte(`{"tool_calls":[
		{"index":0,"id":"a","function":{"name":"x","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s1"}}},
		{"index":1,"id":"b","function":{"name":"y","arguments":"{}"}}]}`), &s); err != nil {
		t.Fatal(err)
	}
	a := collected{limit: 1 << 20}
	a.add(s, "tool_calls")
	got, err := a.response(model.Response{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(assistant(model.Turn{By: model.Assistant, Calls: got.Calls, Echo: got.Echo}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"tool_calls":[{"id":"a","function":{"arguments":"{}","name":"x"},"type":"function","extra_content":{"google":{"thought_signature":"s1"}}},{"id":"b","function":{"arguments":"{}","name":"y"},"type":"function"}],"role":"assistant"}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}
