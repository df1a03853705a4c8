package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"pgregory.net/rapid"

	"orch/prompts"
)

// The reasons are those of a library that passes the official tests of JSON
// Schema.
func TestSchemaSaysWhatTheLibrarySays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t, 3)
		schema["$defs"] = map[string]any{"def": drawSchema(t, 1)}
		text, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := compileBoth(t, text)
		agree(t, ours, theirs, text, schema)
	})
}

// So are those about what is said in answer to the prompts.
func TestPromptSchemasSayWhatTheLibrarySays(t *testing.T) {
	pages, err := fs.Glob(prompts.Roles(), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, name := range pages {
		page, err := fs.ReadFile(prompts.Roles(), name)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.LastIndex(page, []byte("\n```json\n"))
		if at < 0 {
			continue
		}
		known++
		text, _, _ := bytes.Cut(page[at+len("\n```json\n"):], []byte("\n```"))
		t.Run(name, func(t *testing.T) {
			var schema map[string]any
			if err := json.Unmarshal(text, &schema); err != nil {
				t.Fatal(err)
			}
			ours, theirs := compileBoth(t, text)
			rapid.Check(t, func(t *rapid.T) { agree(t, ours, theirs, text, schema) })
		})
	}
	if known < 10 {
		t.Errorf("only %d prompts with a schema were found", known)
	}
}

// agree compares reasons for values made after a schema, with faults.
func agree(t *rapid.T, ours *Schema, theirs *jsonschema.Schema, text []byte, schema map[string]any) {
	defs, _ := schema["$defs"].(map[string]any)
	for range 3 {
		value, err := json.Marshal(drawValue(t, schema, defs, 6))
		if err != nil {
			t.Fatal(err)
		}
		got := mismatches{}
		v, err := decodeAny(value)
		if err != nil {
			t.Fatal(err)
		}
		got.check(ours.root, v, nil)
		want := libraryReasons(t, theirs, value)
		if len(want) >= maxReasons { // which of them are named is open
			if len(got.all) != maxReasons {
				t.Fatalf("%s\nfor %s:\nours   %q\ntheirs %q", text, value, got.all, want)
			}
			continue
		}
		slices.Sort(got.all)
		if !slices.Equal(got.all, want) {
			t.Fatalf("%s\nfor %s:\nours   %q\ntheirs %q", text, value, got.all, want)
		}
		if refused := ours.Check(value) != nil; refused != (len(want) > 0) {
			t.Fatalf("%s\nfor %s: refused: %v", text, value, refused)
		}
	}
}

func compileBoth(t rapid.TB, text []byte) (*Schema, *jsonschema.Schema) {
	ours, err := Compile("drawn", text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("test:drawn", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("test:drawn")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return ours, s
}

// libraryReasons are all mismatches that have no further cause, sorted.
func libraryReasons(t *rapid.T, s *jsonschema.Schema, value []byte) []string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Validate(doc)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	printer := message.NewPrinter(language.English)
	all := map[string]bool{}
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 {
			place := "the value"
			if len(e.InstanceLocation) > 0 {
				place = strings.Join(e.InstanceLocation, ".")
			}
			words := strings.ReplaceAll(e.ErrorKind.LocalizedString(printer), "<nil>", "null")
			all[fmt.Sprintf("%.100s: %.200s", place, words)] = true
		}
	}
	walk(invalid)
	var sorted []string
	for why := range all {
		sorted = append(sorted, why)
	}
	slices.Sort(sorted)
	return sorted
}

var propertyNames = []string{"a", "b", "c"}

// drawSchema makes a schema of the keywords there are.
func drawSchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	maybe := func(name string, draw func() any) {
		if rapid.IntRange(0, 3).Draw(t, name) == 0 {
			s[name] = draw()
		}
	}
	small := func() any { return rapid.IntRange(0, 4).Draw(t, "small") }
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(propertyNames), 1, 3, rapid.ID)
	maybe("type", func() any { return rapid.SampledFrom(typeNames).Draw(t, "type") })
	maybe("type", func() any {
		from := rapid.IntRange(0, len(typeNames)-2).Draw(t, "from")
		if typeNames[from] == "number" { // the library says number and integer whatever the order
			from++
		}
		return typeNames[from : from+2]
	})
	maybe("required", func() any { return some.Draw(t, "names") })
	for _, name := range []string{"minItems", "maxItems", "minLength", "maxLength", "minimum"} {
		maybe(name, small)
	}
	maybe("const", func() any { return drawScalar(t) })
	maybe("enum", func() any { return []any{"a", drawScalar(t)} })
	if depth == 0 {
		return s
	}
	part := func() any {
		if depth > 1 && rapid.IntRange(0, 3).Draw(t, "refers") == 0 {
			return map[string]any{"$ref": "#/$defs/def"}
		}
		return drawSchema(t, depth-1)
	}
	maybe("properties", func() any {
		all := map[string]any{}
		for _, name := range some.Draw(t, "names") {
			all[name] = part()
		}
		return all
	})
	maybe("items", part)
	maybe("allOf", func() any { return []any{part(), part()} })
	maybe("if", part)
	maybe("then", part)
	return s
}

func drawScalar(t *rapid.T) any {
	return rapid.SampledFrom([]any{nil, true, false, 0, 1, 3, 1.5, 2.0, -1, "", "a", "b", "äöü", "long text"}).Draw(t, "scalar")
}

// drawValue makes a value, more often than not one that a schema is about.
func drawValue(t *rapid.T, schema any, defs map[string]any, depth int) any {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		s, _ = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	kind, _ := s["type"].(string)
	if s["properties"] != nil && kind == "" {
		kind = "object"
	}
	if enum, ok := s["enum"].([]any); ok && rapid.Bool().Draw(t, "enum") {
		return rapid.SampledFrom(enum).Draw(t, "one")
	}
	if kind == "" || rapid.IntRange(0, 9).Draw(t, "astray") == 0 {
		kind = rapid.SampledFrom([]string{"", "array", "object"}).Draw(t, "kind")
	}
	switch {
	case depth > 0 && kind == "array":
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawValue(t, s["items"], defs, depth-1))
		}
		return list
	case depth > 0 && kind == "object":
		object := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		names := slices.Clone(propertyNames)
		for name := range properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if rapid.IntRange(0, 3).Draw(t, name) > 0 {
				object[name] = drawValue(t, properties[name], defs, depth-1)
			}
		}
		return object
	case kind == "string":
		return rapid.SampledFrom([]any{"", "a", "some text", "äöü"}).Draw(t, "text")
	}
	return drawScalar(t)
}

func TestCompileRefusesWhatItWouldNotCheck(t *testing.T) {
	for _, c := range []struct{ schema, says string }{
		{`{"pattern":"^a"}`, "pattern"},
		{`{"type":"text"}`, `no type "text"`},
		{`{"enum":[["a"]]}`, "cannot be demanded"},
		{`{"allOf":[null]}`, "null is no schema"},
		{`{"$ref":"#/$defs/none"}`, "does not point inside"},
		{`{"allOf":[{"$ref":"#"}]}`, "refers to itself"},
		{`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"if":{"$ref":"#/$defs/a"}}}}`, "refers to itself"},
		{`{} {}`, "something follows"},
	} {
		if _, err := Compile("s", []byte(c.schema)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want it to say %q", c.schema, err, c.says)
		}
	}
}

// A schema may refer to itself for a part of the value.
func TestASchemaMayRecurse(t *testing.T) {
	s, err := Compile("tree", []byte(`{"type":"object","required":["name"],"properties":{"below":{"items":{"$ref":"#"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(json.RawMessage(`{"name":"a","below":[{"name":"b","below":[]}]}`)); err != nil {
		t.Error(err)
	}
	err = s.Check(json.RawMessage(`{"name":"a","below":[{"name":"b","below":[{}]}]}`))
	if err == nil || !strings.Contains(err.Error(), "below.0.below.0: missing property 'name'") {
		t.Errorf("it says %v", err)
	}
}

func TestNumbersAreComparedExactly(t *testing.T) {
	s, err := Compile("n", []byte(`{"type":"integer","minimum":3}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, fits := range []string{"3", "3.0", "1e3", "30e-1", "99999999999999999999999999"} {
		if err := s.Check(json.RawMessage(fits)); err != nil {
			t.Errorf("%s: %v", fits, err)
		}
	}
	for _, not := range []string{"3.1", "2.9999999999999999999", "2", "-1", "3.00000000000000000001", "1e9999999999"} {
		if s.Check(json.RawMessage(not)) == nil {
			t.Errorf("%s fits", not)
		}
	}
}
