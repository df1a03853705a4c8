package view

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// EditError says where an edit cannot be taken in, and why.
type EditError struct {
	Line  int    // in the person's file, from 1; 0 if it is about the whole
	Field string // as tasks.F-001.priority; may be empty
	Why   string
}

func (e *EditError) Error() string {
	text := e.Why
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Line > 0 {
		text = "line " + strconv.Itoa(e.Line) + ": " + text
	}
	return text
}

// Bounds of a person's file.
const (
	maxEditBytes = 64 << 20
	maxDepth     = 64
)

// parse reads one YAML mapping strictly: what is ambiguous or clever is
// refused. An error is an *EditError.
func parse(data []byte) (root *yaml.Node, err error) {
	if len(data) > maxEditBytes {
		return nil, &EditError{Why: fmt.Sprintf("the file has %d bytes, more than the %d that are read", len(data), maxEditBytes)}
	}
	defer func() {
		if p := recover(); p != nil { // the parser gives up like that on some inputs
			root, err = nil, &EditError{Why: fmt.Sprintf("this is no YAML: %v", p)}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, yamlError(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &EditError{Line: more.Line, Why: "the file holds more than one document"}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, &EditError{Why: "the file is not a mapping of keys and values"}
	}
	if err := check(doc.Content[0], "", 0); err != nil {
		return nil, err
	}
	return &doc, nil
}

// yamlError turns "yaml: line 3: text" into an EditError of that line.
func yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &EditError{Why: "this is no YAML: " + text}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, what, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			e.Line, e.Why = line, "this is no YAML: "+what
		}
	}
	return e
}

// check refuses what would make two readers see different things.
func check(n *yaml.Node, path string, depth int) error {
	if depth > maxDepth {
		return &EditError{Line: n.Line, Field: path, Why: "nested too deep"}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return &EditError{Line: n.Line, Field: path, Why: "aliases are not understood here; write the value"}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			if err := check(c, path+"["+strconv.Itoa(i)+"]", depth+1); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		return checkMapping(n, path, depth)
	}
	return nil
}

func checkMapping(n *yaml.Node, path string, depth int) error {
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return &EditError{Line: key.Line, Field: path, Why: "a key is not a plain word"}
		}
		at := join(path, key.Value)
		if seen[key.Value] {
			return &EditError{Line: key.Line, Field: at, Why: "the key is there twice"}
		}
		seen[key.Value] = true
		if err := check(value, at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// child is the value of a key, nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// isNull tells whether nothing was written for a value.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// text reads a scalar as its letters, whatever YAML takes it for: a note may be
// the word yes.
func text(n *yaml.Node, path string) (string, error) {
	switch {
	case isNull(n):
		return "", nil
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!binary":
		return "", &EditError{Line: n.Line, Field: path, Why: `is not a text; put it between quotes if it holds ": "`}
	}
	return n.Value, nil
}

// texts reads a list of scalars.
func texts(n *yaml.Node, path string) ([]string, error) {
	if isNull(n) {
		return []string{}, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, &EditError{Line: n.Line, Field: path, Why: `is not a list; begin each entry with "- "`}
	}
	list := make([]string, 0, len(n.Content))
	for i, c := range n.Content {
		s, err := text(c, path+"["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// wrongEntry finds the first entry of a list that is empty or that wrong says
// something about.
func wrongEntry(n *yaml.Node, path string, wrong func(string) string) error {
	for _, c := range n.Content {
		why := ""
		if strings.TrimSpace(c.Value) == "" || isNull(c) {
			why = "an entry is empty; remove its line"
		} else if what := wrong(c.Value); what != "" {
			why = oneLine(c.Value) + " " + what
		}
		if why != "" {
			return &EditError{Line: c.Line, Field: path, Why: why}
		}
	}
	return nil
}

func anything(string) string { return "" }

// comments collects the lines of all comments in a file.
func comments(n *yaml.Node, into map[string]bool) {
	for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		for line := range strings.SplitSeq(c, "\n") {
			if line = strings.Trim(line, "# \t\r"); line != "" && !strings.HasPrefix(line, "checksum: ") {
				into[line] = true
			}
		}
	}
	for _, c := range n.Content {
		comments(c, into)
	}
}

// newComments are the lines of comments that the base does not have, sorted.
func newComments(base, theirs *yaml.Node) []string {
	old, now := map[string]bool{}, map[string]bool{}
	comments(base, old)
	comments(theirs, now)
	var fresh []string
	for line := range now {
		if !old[line] {
			fresh = append(fresh, line)
		}
	}
	slices.Sort(fresh)
	return fresh
}
