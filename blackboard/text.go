package blackboard

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"orch/blackboard/message"
)

// TextError refuses words that are no text: JSON would change them without a word.
type TextError struct {
	Field string // as the log names it; empty where there is one text only
	At    int    // of the first byte that is none, from 1
	Byte  byte
}

func (e *TextError) Error() string {
	what := "the text"
	if e.Field != "" {
		what = e.Field
	}
	return fmt.Sprintf("%s is not UTF-8: byte %d is 0x%02x", what, e.At, e.Byte)
}

// Hint names what to do.
func (e *TextError) Hint() string {
	return "write it as UTF-8; iconv -t UTF-8 converts other encodings"
}

// Text returns a *TextError for the first byte that is not UTF-8.
func Text(field, s string) error {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return &TextError{Field: field, At: i + 1, Byte: s[i]}
		}
	}
	return nil
}

// Texts is Text for every string of a body.
func Texts(b message.Body) error { return texts("", reflect.ValueOf(b)) }

func texts(field string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		return Text(field, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return texts(field, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil // JSON, or no text
		}
		for i := range v.Len() {
			if err := texts(field, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if err := texts(field, k); err != nil {
				return err
			}
			if err := texts(field, v.MapIndex(k)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if err := texts(name, v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
