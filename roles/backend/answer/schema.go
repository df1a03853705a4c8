package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a compiled JSON Schema with a name.
type Schema struct {
	name     string
	compiled *jsonschema.Schema
}

// Compile reads a JSON Schema, draft 2020-12 unless it says otherwise. It
// fetches nothing: a reference must point inside the schema.
func Compile(name string, schema []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	url := "orch:" + name
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", name, err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	return &Schema{name: name, compiled: compiled}, nil
}

// Name is the schema's name.
func (s *Schema) Name() string { return s.name }

// Check tells why a value does not fit; an *Error of kind WrongShape.
func (s *Schema) Check(value json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return &Error{Broken, "it is not valid JSON: " + err.Error()}
	}
	err = s.compiled.Validate(doc)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return &Error{WrongShape, "it does not fit the schema: " + strings.Join(reasons(invalid), "; ")}
	}
	return &Error{WrongShape, err.Error()}
}

// maxReasons bounds how many mismatches are named at once.
const maxReasons = 8

// reasons lists the mismatches that have no further cause, each with its place.
func reasons(e *jsonschema.ValidationError) []string {
	printer := message.NewPrinter(language.English)
	var all []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			place := "the value"
			if len(e.InstanceLocation) > 0 {
				place = strings.Join(e.InstanceLocation, ".")
			}
			if why := fmt.Sprintf("%.100s: %.200s", place, e.ErrorKind.LocalizedString(printer)); !slices.Contains(all, why) {
				all = append(all, why)
			}
		}
		for _, cause := range e.Causes {
			if len(all) < maxReasons {
				walk(cause)
			}
		}
	}
	walk(e)
	return all
}
