package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
)

// Message is one line of the log, decoded.
type Message struct {
	Seq     uint64    // position in the log, from 1, without gaps; 0 before it is appended
	TS      time.Time // UTC; never earlier than the message before
	ID      ID
	From    Role
	To      Role
	Goal    GoalID // empty for messages about the whole board
	Subject string // what it is about: a task, plan, agent or goal
	Cause   ID     // the message this one answers; empty for what starts by itself
	Agent   AgentID
	Door    Door  // by which it came; empty in records of before there were doors
	Fence   Fence // the claim under which it is said; 0 when none is needed
	Body    Body
	Hash    string // of its line, as read from the log; empty otherwise
}

// Type is the type of the body.
func (m Message) Type() Type {
	if m.Body == nil {
		return ""
	}
	return m.Body.Type()
}

// Body is the payload of a message: one of the types of this package, by value.
type Body interface{ Type() Type }

// ErrUnknownType is returned for a type that is not in the catalogue.
var ErrUnknownType = errors.New("unknown message type")

// Encode renders a body as JSON. Nil lists become empty ones.
func Encode(b Body) (json.RawMessage, error) {
	v := reflect.New(reflect.TypeOf(b))
	v.Elem().Set(reflect.ValueOf(b))
	fillLists(v.Elem())
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Interface()); err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Type(), err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Decode reads a body of the given type. Unknown fields, null lists, trailing
// data and bodies that fail their own validation are errors.
func Decode(t Type, raw json.RawMessage) (Body, error) {
	e, ok := Lookup(t)
	if !ok {
		return nil, fmt.Errorf("%w %q", ErrUnknownType, t)
	}
	b, err := e.decode(raw)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", t, err)
	}
	return b, nil
}

func decodeInto[T Body](raw json.RawMessage) (Body, error) {
	var v T
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("data after the payload")
	}
	fillLists(reflect.ValueOf(&v).Elem())
	if c, ok := any(v).(interface{ Validate() error }); ok {
		if err := c.Validate(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// fillLists makes every nil slice below v an empty one, so that no list is
// ever written as null. Raw JSON and byte strings are left alone.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fillLists(f)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			fillLists(fresh.Elem())
			v.Set(fresh)
		}
	case reflect.Slice:
		fillSlice(v)
	}
}

func fillSlice(v reflect.Value) {
	elem := v.Type().Elem().Kind()
	if elem == reflect.Uint8 {
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return
	}
	if elem != reflect.Struct && elem != reflect.Slice && elem != reflect.Pointer {
		return
	}
	fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(fresh, v)
	for i := range fresh.Len() {
		fillLists(fresh.Index(i))
	}
	v.Set(fresh)
}
