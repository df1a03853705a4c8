package view

import (
	"strconv"

	"gopkg.in/yaml.v3"
)

// change is one place where a person's file says something else than the view
// it was made from.
type change struct {
	path []string
	line int        // in the person's file
	new  *yaml.Node // nil: removed
	old  *yaml.Node // nil: added
}

// differences compares what two files mean; order of keys, quotes and comments
// mean nothing.
func differences(base, theirs *yaml.Node) []change {
	var d differ
	d.node(nil, base.Content[0], theirs.Content[0])
	return d.found
}

type differ struct{ found []change }

func (d *differ) add(path []string, line int, old, now *yaml.Node) {
	d.found = append(d.found, change{path: append([]string(nil), path...), line: line, old: old, new: now})
}

func (d *differ) node(path []string, a, b *yaml.Node) {
	switch {
	case a.Kind != b.Kind:
		d.add(path, b.Line, a, b)
	case a.Kind == yaml.MappingNode:
		d.mapping(path, a, b)
	case a.Kind == yaml.SequenceNode && len(a.Content) == len(b.Content) && !atField(path, "human_notes"):
		for i := range a.Content {
			d.node(append(path, strconv.Itoa(i)), a.Content[i], b.Content[i])
		}
	case !sameValue(a, b):
		d.add(path, b.Line, a, b)
	}
}

func (d *differ) mapping(path []string, a, b *yaml.Node) {
	theirs := make(map[string]*yaml.Node, len(b.Content)/2)
	for i := 0; i+1 < len(b.Content); i += 2 {
		theirs[b.Content[i].Value] = b.Content[i+1]
	}
	for i := 0; i+1 < len(a.Content); i += 2 {
		key, old := a.Content[i].Value, a.Content[i+1]
		at := append(path, key)
		if now, ok := theirs[key]; ok {
			d.node(at, old, now)
			delete(theirs, key)
		} else {
			d.add(at, b.Line, old, nil)
		}
	}
	for i := 0; i+1 < len(b.Content); i += 2 { // in the order of the file
		if now, ok := theirs[b.Content[i].Value]; ok {
			d.add(append(path, b.Content[i].Value), b.Content[i].Line, nil, now)
		}
	}
}

// sameValue compares two nodes as YAML values.
func sameValue(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode {
		return sameScalar(a, b)
	}
	for i := range a.Content {
		if !sameValue(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

func sameScalar(a, b *yaml.Node) bool {
	tag := a.ShortTag()
	if tag != b.ShortTag() {
		return false
	}
	if a.Value == b.Value || tag == "!!null" {
		return true
	}
	switch tag {
	case "!!int":
		x, errX := strconv.ParseInt(a.Value, 0, 64)
		y, errY := strconv.ParseInt(b.Value, 0, 64)
		return errX == nil && errY == nil && x == y
	case "!!float":
		x, errX := strconv.ParseFloat(a.Value, 64)
		y, errY := strconv.ParseFloat(b.Value, 64)
		return errX == nil && errY == nil && x == y
	}
	return false
}

// atField tells whether path is a field of a task.
func atField(path []string, field string) bool {
	return len(path) == 3 && path[0] == "tasks" && path[2] == field
}
