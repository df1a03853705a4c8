package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Schema is a compiled JSON Schema with a name.
//
// It is of draft 2020-12 and of the keywords that a shape has; a schema with
// any other is refused, so none is ever left out of account. What they mean
// was taken from the specification, and the test asks a library that passes
// its official tests. The library itself stays out of the program: merely to
// have it linked in costs every process more time than its start.
type Schema struct {
	name string
	root *shape
}

// shape is one schema, of the whole or of a part.
type shape struct {
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Defs        map[string]*shape `json:"$defs"`
	Ref         string            `json:"$ref"`
	Type        names             `json:"type"`
	Const       scalar            `json:"const"`
	Enum        []scalar          `json:"enum"`
	Required    []string          `json:"required"`
	Properties  map[string]*shape `json:"properties"`
	Items       *shape            `json:"items"`
	MinItems    *int              `json:"minItems"`
	MaxItems    *int              `json:"maxItems"`
	MinLength   *int              `json:"minLength"` // of characters
	MaxLength   *int              `json:"maxLength"`
	Minimum     *json.Number      `json:"minimum"`
	AllOf       []*shape          `json:"allOf"`
	If          *shape            `json:"if"`
	Then        *shape            `json:"then"`

	refers *shape // what Ref names
}

// names is one name or a list of them.
type names []string

// UnmarshalJSON implements json.Unmarshaler.
func (n *names) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*n = names{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(n))
}

// scalar is a value that is neither a list nor an object.
type scalar struct {
	given bool
	value any
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(raw []byte) error {
	value, err := decodeAny(raw)
	if err != nil {
		return err
	}
	switch value.(type) {
	case []any, map[string]any:
		return errors.New("a list or an object cannot be demanded as a value")
	}
	*s = scalar{given: true, value: value}
	return nil
}

// decodeAny reads one JSON value, with numbers as they are written.
func decodeAny(raw []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the value")
	}
	return value, nil
}

// Compile reads a JSON Schema. It fetches nothing: a reference must point to
// the schema itself ("#") or to one of its definitions ("#/$defs/name").
func Compile(name string, schema []byte) (*Schema, error) {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.DisallowUnknownFields()
	root := &shape{}
	if err := d.Decode(root); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("read schema %s: something follows it", name)
	}
	if err := root.link(root); err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	if err := root.ends(map[*shape]bool{}); err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	return &Schema{name: name, root: root}, nil
}

var typeNames = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

// link finds what is referred to, here and in all parts.
func (s *shape) link(root *shape) error {
	if s == nil {
		return errors.New("null is no schema")
	}
	for _, t := range s.Type {
		if !slices.Contains(typeNames, t) {
			return fmt.Errorf("there is no type %q", t)
		}
	}
	slices.SortFunc(s.Type, func(a, b string) int { return slices.Index(typeNames, a) - slices.Index(typeNames, b) })
	switch def, isDef := strings.CutPrefix(s.Ref, "#/$defs/"); {
	case s.Ref == "#":
		s.refers = root
	case isDef:
		s.refers = root.Defs[def]
	}
	if s.Ref != "" && s.refers == nil {
		return fmt.Errorf("reference %q does not point inside the schema", s.Ref)
	}
	for _, part := range s.parts() {
		if err := part.link(root); err != nil {
			return err
		}
	}
	return nil
}

// parts are the schemas written inside this one.
func (s *shape) parts() []*shape {
	parts := slices.Clone(s.AllOf)
	for _, group := range []map[string]*shape{s.Defs, s.Properties} {
		for _, part := range group {
			parts = append(parts, part)
		}
	}
	for _, part := range []*shape{s.Items, s.If, s.Then} {
		if part != nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// ends refuses a schema that applies itself to the very same value; done are
// those that are known not to, and false those being looked at.
func (s *shape) ends(done map[*shape]bool) error {
	if known, seen := done[s]; seen {
		if !known {
			return errors.New("a schema refers to itself without going deeper into the value")
		}
		return nil
	}
	done[s] = false
	for _, same := range append([]*shape{s.refers, s.If, s.Then}, s.AllOf...) {
		if same == nil {
			continue
		}
		if err := same.ends(done); err != nil {
			return err
		}
	}
	done[s] = true
	for _, part := range s.parts() {
		if err := part.ends(done); err != nil {
			return err
		}
	}
	return nil
}

// Name is the schema's name.
func (s *Schema) Name() string { return s.name }

// Check tells why a value does not fit; an *Error of kind WrongShape.
func (s *Schema) Check(value json.RawMessage) error {
	v, err := decodeAny(value)
	if err != nil {
		return &Error{Broken, "it is not valid JSON: " + err.Error()}
	}
	m := mismatches{}
	if m.check(s.root, v, nil); len(m.all) == 0 {
		return nil
	}
	return &Error{WrongShape, "it does not fit the schema: " + strings.Join(m.all, "; ")}
}
