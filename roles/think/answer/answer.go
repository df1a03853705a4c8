// Package answer reads what a model said as the JSON value it was asked for.
//
// It owns the one parser for every model's answer: reasoning is left out,
// fences, labels and prose around the value are skipped, harmless slips of
// notation (a trailing comma, a comment, single quotes, punctuation of another
// script) are read as meant, and of several values the first that fits the
// schema is taken.
//
// It promises never to panic, whatever the text, to use time proportional to
// the text's length, and never to accept by default: a value that is cut off,
// that names a key twice, or that does not fit the schema is refused with a
// reason that can be shown to the model. What would have to be guessed (a missing
// comma, a quote inside a quoted text) is refused as well.
//
// It never asks a model, and never looks inside a value for another one that
// would fit, except in the few wrappers listed at unwrap.
package answer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// MaxBytes is the longest text that is read.
const MaxBytes = 8 << 20

// Kind tells refusals apart.
type Kind string

// Kinds of refusals.
const (
	Empty      Kind = "empty"       // nothing was said
	TooLarge   Kind = "too-large"   // longer than MaxBytes
	Unfinished Kind = "unfinished"  // it ends inside its reasoning
	NoValue    Kind = "no-value"    // prose only
	Truncated  Kind = "truncated"   // a value begins and does not end
	Broken     Kind = "broken"      // a value that is not JSON, however kindly read
	WrongShape Kind = "wrong-shape" // JSON that does not fit the schema
)

// Error is a refusal.
type Error struct {
	Kind Kind
	Why  string // in words that can be shown to the model
}

func (e *Error) Error() string { return "the answer can not be used: " + e.Why }

// Parse finds the value a model was asked for and decodes it. An error is
// always an *Error, except that a value which fits the schema but not the Go
// type is refused as WrongShape too.
func Parse(text string, schema *Schema, into any) error {
	all, err := Values(text, schema)
	if err != nil {
		return err
	}
	return decode(all[0], into)
}

func decode(value json.RawMessage, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return &Error{Kind: WrongShape, Why: err.Error()}
	}
	return nil
}

// Values lists every value in the text that fits the schema, in order, as
// strict JSON. There is at least one, or an error. A role for which a wrong
// reading is worse than none can demand that all of them agree.
func Values(text string, schema *Schema) ([]json.RawMessage, error) {
	return values(text, schema, 0)
}

// maxNesting bounds how often an answer may be wrapped in a text of its own.
const maxNesting = 3

func values(text string, schema *Schema, depth int) ([]json.RawMessage, error) {
	if len(text) > MaxBytes {
		return nil, &Error{TooLarge, fmt.Sprintf("it has %d bytes, at most %d are read", len(text), MaxBytes)}
	}
	if trimSpace(text) == "" {
		return nil, &Error{Empty, "it is empty"}
	}
	found := find(text)
	var fit []json.RawMessage
	var refusal error
	for _, v := range found.values {
		got, err := fits(v, schema, depth)
		fit = append(fit, got...)
		if err != nil && refusal == nil {
			refusal = err
		}
	}
	switch {
	case len(fit) > 0:
		return fit, nil
	case found.refusal != nil && (refusal == nil || found.refusal.Kind != NoValue):
		return nil, found.refusal
	}
	return nil, refusal
}

// fits tries a value, then what it wraps.
func fits(value json.RawMessage, schema *Schema, depth int) ([]json.RawMessage, error) {
	refusal := schema.Check(value)
	if refusal == nil {
		return []json.RawMessage{value}, nil
	}
	if depth >= maxNesting {
		return nil, refusal
	}
	inner, isText := unwrap(value, schema.name)
	switch {
	case inner == nil:
		return nil, refusal
	case isText:
		var text string
		if json.Unmarshal(inner, &text) != nil {
			return nil, refusal
		}
		if got, err := values(text, schema, depth+1); err == nil {
			return got, nil
		}
		return nil, refusal
	}
	if got, err := fits(inner, schema, depth+1); err == nil {
		return got, nil
	}
	return nil, refusal
}

// unwrap returns what a value merely packs: the one element of a list, the
// value under a key that says "answer", the arguments of a tool call, or a text
// that is JSON again. nil if it packs nothing.
func unwrap(value json.RawMessage, name string) (inner json.RawMessage, isText bool) {
	switch value[0] {
	case '"':
		return value, true
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || len(list) != 1 {
			return nil, false
		}
		return list[0], false
	case '{':
	default:
		return nil, false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil {
		return nil, false
	}
	if args := arguments(object); args != nil {
		return args, args[0] == '"'
	}
	if len(object) == 1 {
		for key, v := range object {
			if wraps(key, name) {
				return v, v[0] == '"'
			}
		}
	}
	return nil, false
}

// arguments are those of a tool call that was written as an answer.
func arguments(object map[string]json.RawMessage) json.RawMessage {
	var args json.RawMessage
	named := false
	for key, v := range object {
		switch key {
		case "name", "tool", "tool_name", "function":
			if v[0] == '{' { // {"type": "function", "function": {"name": …, "arguments": …}}
				var inner map[string]json.RawMessage
				if key != "function" || json.Unmarshal(v, &inner) != nil || inner["function"] != nil {
					return nil
				}
				return arguments(inner)
			}
			named = true
		case "arguments", "parameters", "input", "args":
			if args != nil {
				return nil
			}
			args = v
		case "type", "id":
		default:
			return nil
		}
	}
	if !named {
		return nil
	}
	return args
}

func wraps(key, name string) bool {
	switch key {
	case "answer", "final_answer", "response", "result", "json", "data", name:
		return true
	}
	return false
}

// Relax reads one JSON value with the same kindness as Parse and returns it as
// strict JSON. Nothing but white space may stand around it.
func Relax(text string) (json.RawMessage, error) {
	text = trimSpace(text)
	if len(text) > MaxBytes {
		return nil, &Error{TooLarge, fmt.Sprintf("it has %d bytes, at most %d are read", len(text), MaxBytes)}
	}
	if text == "" {
		return nil, &Error{Empty, "it is empty"}
	}
	if json.Valid([]byte(text)) && !twice(text) {
		return json.RawMessage(text), nil
	}
	r := reader{text: text}
	value, err := r.whole()
	if err != nil {
		return nil, err
	}
	if trimSpace(text[r.at:]) != "" {
		return nil, &Error{Broken, "something follows the value"}
	}
	return value, nil
}

// trimSpace trims what is white space to any model: byte order marks and
// zero-width characters included.
func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\v', '\f', 0x85, 0xA0, 0x3000, 0xFEFF, 0x200B, 0x200C, 0x200D, 0x2060, 0x2028, 0x2029:
		return true
	}
	return false
}
