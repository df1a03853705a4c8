package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxReasons bounds how many mismatches are named at once.
const maxReasons = 8

// mismatches collects why a value does not fit, each reason with its place.
type mismatches struct {
	all []string
}

func (m *mismatches) add(place []string, format string, args ...any) {
	where := "the value"
	if len(place) > 0 {
		where = strings.Join(place, ".")
	}
	why := fmt.Sprintf("%.100s: %.200s", where, fmt.Sprintf(format, args...))
	if len(m.all) < maxReasons && !slices.Contains(m.all, why) {
		m.all = append(m.all, why)
	}
}

// check holds a value against a schema. What is of the wrong type or none of
// the values allowed is not looked at further.
func (m *mismatches) check(s *shape, v any, place []string) {
	switch {
	case len(s.Type) > 0 && !s.Type.allow(v):
		m.add(place, "got %s, want %s", typeOf(v), strings.Join(s.Type, " or "))
		return
	case s.Const.given && !equal(s.Const.value, v):
		m.add(place, "value must be %s", show(s.Const.value))
		return
	case s.Enum != nil && !slices.ContainsFunc(s.Enum, func(one scalar) bool { return equal(one.value, v) }):
		m.add(place, "value must be one of %s", showAll(s.Enum))
		return
	}
	if s.refers != nil {
		m.check(s.refers, v, place)
	}
	switch v := v.(type) {
	case map[string]any:
		m.object(s, v, place)
	case []any:
		m.list(s, v, place)
	case string:
		m.size("Length", utf8.RuneCountInString(v), s.MinLength, s.MaxLength, place)
	case json.Number:
		if s.Minimum != nil && compare(v, *s.Minimum) < 0 {
			m.add(place, "minimum: got %s, want %s", v, *s.Minimum)
		}
	}
	for _, part := range s.AllOf {
		m.check(part, v, place)
	}
	if s.If != nil && s.Then != nil && s.If.fits(v) {
		m.check(s.Then, v, place)
	}
}

func (s *shape) fits(v any) bool {
	m := mismatches{}
	m.check(s, v, nil)
	return len(m.all) == 0
}

func (m *mismatches) object(s *shape, object map[string]any, place []string) {
	var missing []string
	for _, name := range s.Required {
		if _, there := object[name]; !there {
			missing = append(missing, quote(name))
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		m.add(place, "missing property %s", missing[0])
	default:
		m.add(place, "missing properties %s", strings.Join(missing, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if v, there := object[name]; there {
			m.check(s.Properties[name], v, append(place[:len(place):len(place)], name))
		}
	}
}

func (m *mismatches) list(s *shape, list []any, place []string) {
	m.size("Items", len(list), s.MinItems, s.MaxItems, place)
	if s.Items == nil {
		return
	}
	for i, v := range list {
		m.check(s.Items, v, append(place[:len(place):len(place)], strconv.Itoa(i)))
		if len(m.all) == maxReasons {
			return // no more are named
		}
	}
}

func (m *mismatches) size(of string, got int, least, most *int, place []string) {
	if least != nil && got < *least {
		m.add(place, "min%s: got %d, want %d", of, got, *least)
	}
	if most != nil && got > *most {
		m.add(place, "max%s: got %d, want %d", of, got, *most)
	}
}

// allow tells whether a value is of one of the types.
func (n names) allow(v any) bool {
	kind := typeOf(v)
	if slices.Contains(n, kind) {
		return true
	}
	number, ok := v.(json.Number)
	if !ok || !slices.Contains(n, "integer") {
		return false
	}
	r, ok := rational(number)
	return ok && r.IsInt() // 1.0 and 1e3 are integers
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// rational is a number's exact value; ok is false for one with an exponent of
// millions.
func rational(n json.Number) (r *big.Rat, ok bool) { return new(big.Rat).SetString(n.String()) }

// compare orders two numbers; those that are too large for that count as equal.
func compare(a, b json.Number) int {
	x, xok := rational(a)
	y, yok := rational(b)
	if !xok || !yok {
		return 0
	}
	return x.Cmp(y)
}

// equal compares a scalar with any value.
func equal(one, v any) bool {
	a, isNumber := one.(json.Number)
	b, also := v.(json.Number)
	if isNumber && also {
		x, xok := rational(a)
		y, yok := rational(b)
		return xok && yok && x.Cmp(y) == 0
	}
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return one == v
}

func show(v any) string {
	if text, ok := v.(string); ok {
		return quote(text)
	}
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}

func showAll(all []scalar) string {
	shown := make([]string, len(all))
	for i, one := range all {
		shown[i] = show(one.value)
	}
	return strings.Join(shown, ", ")
}

func quote(text string) string { return "'" + text + "'" }
