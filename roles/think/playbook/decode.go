package playbook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"orch/blackboard/lazyregexp"
)

// maxFileBytes bounds a playbook file; nothing a person writes comes near it.
const maxFileBytes = 256 << 10

// Decode reads one playbook strictly: unknown fields, duplicates, anchors and
// anything the format does not allow are a *DecodeError with file and line.
func Decode(file string, data []byte) (*Playbook, error) {
	if len(data) > maxFileBytes {
		return nil, &DecodeError{File: file, What: fmt.Sprintf("the file has %d bytes", len(data)), Allowed: fmt.Sprintf("at most %d bytes", maxFileBytes)}
	}
	root, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	w := walker{file: file, lines: map[string]int{}}
	if err := w.node("", root, reflect.TypeFor[Playbook]()); err != nil {
		return nil, err
	}
	p := &Playbook{file: file}
	if err := root.Decode(p); err != nil {
		return nil, yamlError(file, err)
	}
	sum := sha256.Sum256(data)
	p.hash = hex.EncodeToString(sum[:])
	if err := validate(p, w.lines); err != nil {
		return nil, err
	}
	return p, nil
}

func parse(file string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &DecodeError{File: file, What: "the file is empty"}
		}
		return nil, yamlError(file, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &DecodeError{File: file, Line: more.Line, What: "the file holds more than one document", Allowed: "one playbook a file"}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, &DecodeError{File: file, Line: doc.Line, What: "a playbook is a mapping of fields to values"}
	}
	return doc.Content[0], nil
}

var yamlLine = lazyregexp.New(`line (\d+): `)

// yamlError turns the library's "yaml: line 3: …" into ours.
func yamlError(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	e := &DecodeError{File: file, What: cut(text, 200)}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		e.Line, _ = strconv.Atoi(m[1]) // the pattern admits digits only; an overflow leaves 0, "no line"
		e.What = cut(strings.Replace(text, m[0], "", 1), 200)
	}
	return e
}

// walker checks a document against the shape of a Go type and notes the line of
// every field, so that later checks can name it.
type walker struct {
	file  string
	lines map[string]int
}

func (w *walker) fail(n *yaml.Node, what, allowed string) error {
	return &DecodeError{File: w.file, Line: n.Line, What: what, Allowed: allowed}
}

func (w *walker) node(at string, n *yaml.Node, t reflect.Type) error {
	w.lines[at] = n.Line
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return w.fail(n, "anchors and aliases are not supported", "the value itself")
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Strings](), t == reflect.TypeFor[Duration]():
		return w.leaf(n)
	case t.Kind() == reflect.Struct:
		return w.mapping(at, n, t)
	case t.Kind() == reflect.Slice:
		return w.list(at, n, t)
	case t.Kind() == reflect.Map, t.Kind() == reflect.Interface:
		return w.free(at, n, t.Kind() == reflect.Map)
	}
	if n.Kind != yaml.ScalarNode {
		return w.fail(n, fmt.Sprintf("%s is a %s", at, kindName(n)), "a single value")
	}
	return nil
}

func (w *walker) leaf(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		return w.fail(n, "a mapping where a text is expected", "a string or a list of strings")
	}
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode || c.Anchor != "" {
			return w.fail(c, fmt.Sprintf("a %s where a text is expected", kindName(c)), "a string")
		}
	}
	return nil
}

func (w *walker) mapping(at string, n *yaml.Node, t reflect.Type) error {
	if n.Kind != yaml.MappingNode {
		return w.fail(n, fmt.Sprintf("%s is a %s", orFile(at), kindName(n)), "a mapping with "+strings.Join(fieldNames(t), ", "))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field, ok := fieldByTag(t, key.Value)
		if !ok {
			return w.fail(key, fmt.Sprintf("unknown field %q in %s", cut(key.Value, 40), orFile(at)), strings.Join(fieldNames(t), ", "))
		}
		if seen[key.Value] {
			return w.fail(key, fmt.Sprintf("the field %q is given twice", key.Value), "each field once")
		}
		seen[key.Value] = true
		if err := w.node(join(at, key.Value), value, field.Type); err != nil {
			return err
		}
		w.lines[join(at, key.Value)] = key.Line
	}
	return nil
}

func (w *walker) list(at string, n *yaml.Node, t reflect.Type) error {
	if n.Kind != yaml.SequenceNode {
		return w.fail(n, fmt.Sprintf("%s is a %s", at, kindName(n)), "a list")
	}
	for i, c := range n.Content {
		if err := w.node(fmt.Sprintf("%s[%d]", at, i), c, t.Elem()); err != nil {
			return err
		}
	}
	return nil
}

// free accepts any plain data: what a tool or a check takes is its own business.
func (w *walker) free(at string, n *yaml.Node, mapping bool) error {
	if mapping && n.Kind != yaml.MappingNode {
		return w.fail(n, fmt.Sprintf("%s is a %s", at, kindName(n)), "a mapping")
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return w.fail(n, "anchors and aliases are not supported", "the value itself")
	}
	for i, c := range n.Content {
		w.lines[fmt.Sprintf("%s/%d", at, i)] = c.Line
		if err := w.free(fmt.Sprintf("%s/%d", at, i), c, false); err != nil {
			return err
		}
	}
	return nil
}

func fieldByTag(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" && tag == name {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" {
			names = append(names, tag)
		}
	}
	sort.Strings(names)
	return names
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	case yaml.AliasNode:
		return "alias"
	}
	return "single value"
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func orFile(at string) string {
	if at == "" {
		return "a playbook"
	}
	return at
}
