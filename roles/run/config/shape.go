package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// misfit is the first place where a document is not of the shape of Config.
type misfit struct {
	line int
	what string
}

// shape compares a node with the type that the value at path has; nil means it fits.
func shape(n *yaml.Node, t reflect.Type, path string) *misfit {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Tag == "!!null" { // "limits:" and nothing below it sets nothing
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shape(n, t.Elem(), path)
	case reflect.Struct:
		return fields(n, t, path)
	case reflect.Map:
		return entries(n, t, path)
	case reflect.Slice:
		return items(n, t, path)
	}
	if n.Kind == yaml.ScalarNode && n.Decode(reflect.New(t).Interface()) == nil && !cutShort(n, t) {
		return nil
	}
	return &misfit{n.Line, fmt.Sprintf("%s is %s, allowed: %s", path, shown(n), wanted(t, path))}
}

// cutShort says whether decoding the number would drop a fraction.
func cutShort(n *yaml.Node, t reflect.Type) bool {
	var f float64
	return t.Kind() != reflect.Float64 && t.Kind() != reflect.String && n.Decode(&f) == nil && f != math.Trunc(f)
}

func fields(n *yaml.Node, t reflect.Type, path string) *misfit {
	if n.Kind != yaml.MappingNode {
		return &misfit{n.Line, fmt.Sprintf("%s is %s, allowed: keys with values, of %s", section(path), shown(n), strings.Join(names(t), ", "))}
	}
	for key, value := range pairs(n) {
		at := slices.Index(names(t), key.Value)
		if at < 0 {
			return &misfit{key.Line, fmt.Sprintf("unknown key %q in %s; known: %s", key.Value, section(path), strings.Join(names(t), ", "))}
		}
		if bad := shape(value, t.Field(at).Type, below(path, key.Value)); bad != nil {
			return bad
		}
	}
	return nil
}

func entries(n *yaml.Node, t reflect.Type, path string) *misfit {
	if n.Kind != yaml.MappingNode {
		return &misfit{n.Line, fmt.Sprintf("%s is %s, allowed: names with values", path, shown(n))}
	}
	for key, value := range pairs(n) {
		if bad := shape(value, t.Elem(), below(path, key.Value)); bad != nil {
			return bad
		}
	}
	return nil
}

func items(n *yaml.Node, t reflect.Type, path string) *misfit {
	if n.Kind != yaml.SequenceNode {
		return &misfit{n.Line, fmt.Sprintf("%s is %s, allowed: a list", path, shown(n))}
	}
	for i, item := range n.Content {
		if bad := shape(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); bad != nil {
			return bad
		}
	}
	return nil
}

// pairs yields the keys of a mapping with their values, without what is merged in.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Tag != "!!merge" && !yield(key, n.Content[i+1]) {
				return
			}
		}
	}
}

// names lists the yaml names of a section's fields.
func names(t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		all = append(all, yamlName(t.Field(i)))
	}
	return all
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func section(path string) string {
	if path == "" {
		return "the configuration"
	}
	return path
}

// shown says what a node is, as a person wrote it.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	const most = 60
	text := []rune(n.Value)
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return fmt.Sprintf("%q", string(text))
}

// wanted says what a single value may be.
func wanted(t reflect.Type, path string) string {
	kind := "one word or text"
	switch t.Kind() {
	case reflect.Bool:
		kind = "true or false"
	case reflect.Int, reflect.Int64:
		kind = "a whole number"
	case reflect.Float64:
		kind = "a number"
	}
	for _, k := range Keys() {
		switch {
		case k.Path != path || k.Range() == "":
		case len(k.Values) > 0:
			return k.Range()
		default:
			return strings.TrimSpace(fmt.Sprintf("%s, %s %s", kind, k.Range(), k.Unit))
		}
	}
	return kind
}
