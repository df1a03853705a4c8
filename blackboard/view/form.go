package view

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"orch/blackboard"
	"orch/blackboard/message"
)

const formPreamble = `# Change what is below, save and close. To leave all as it is, save an empty file.
# Lines with # at the start are comments and are not kept.
`

// EditableYAML is the form in which orch task edit shows a task to a person.
func EditableYAML(t blackboard.Task) []byte {
	name := string(t.ID)
	if !isPlain(name) {
		name = string(appendQuoted(nil, name))
	}
	e := &emitter{b: []byte("# " + name + ", " + string(t.Status) + "\n" + formPreamble)}
	e.str(0, FieldIntent, t.Intent)
	e.str(0, FieldDoneWhen, t.DoneWhen)
	e.str(0, FieldScope, t.Scope)
	e.b = append(e.b, "# lower is more urgent, 100 is the default\n"...)
	e.num(0, FieldPriority, int64(t.Priority))
	e.b = append(e.b, "# paths it may change, relative to the project\n"...)
	e.list(0, FieldTargets, t.Targets)
	e.list(0, FieldDependsOn, ids(t.DependsOn))
	e.list(0, FieldHumanNotes, t.HumanNotes)
	return e.b
}

// formField is one field of the form: what it was, how it is read, and what may
// be wrong with a new value. What was wrong before may stay.
type formField struct {
	name  string
	old   any
	read  func(n *yaml.Node, name string) (any, error)
	check func(n *yaml.Node, name string) error
}

// ParseEdited reads the form back and returns what changed, in the order of the
// form; nothing for an empty file. An error is an *EditError with the line.
func ParseEdited(old blackboard.Task, data []byte) ([]message.Edit, error) {
	if empty(data) {
		return nil, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	root := doc.Content[0]
	fields := formFields(old)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		if !slices.ContainsFunc(fields, func(f formField) bool { return f.name == key.Value }) {
			return nil, &EditError{Line: key.Line, Field: key.Value, Why: "is not a field that can be edited"}
		}
	}
	var edits []message.Edit
	for _, f := range fields {
		n := child(root, f.name)
		if n == nil {
			return nil, &EditError{Field: f.name, Why: "is missing; to empty a field leave its name and remove the value"}
		}
		now, err := f.read(n, f.name)
		if err != nil {
			return nil, err
		}
		e, changed, err := edit(old.ID, f.name, f.old, now)
		if err == nil && changed {
			err = f.check(n, f.name)
		}
		if err != nil {
			return nil, err
		}
		if changed {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// empty tells whether a form holds nothing but comments.
func empty(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		if line = strings.Trim(line, " \t\r\n\uFEFF"); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

func formFields(t blackboard.Task) []formField {
	return []formField{
		{FieldIntent, t.Intent, readText, func(n *yaml.Node, name string) error {
			if strings.TrimSpace(n.Value) == "" || isNull(n) {
				return &EditError{Line: n.Line, Field: name, Why: "is empty; a task needs one"}
			}
			return nil
		}},
		{FieldDoneWhen, t.DoneWhen, readText, noCheck},
		{FieldScope, t.Scope, readText, noCheck},
		{FieldPriority, t.Priority, readNumber, checkPriority},
		{FieldTargets, full(t.Targets), readTexts, func(n *yaml.Node, name string) error {
			return wrongEntry(n, name, unique(wrongTarget))
		}},
		{FieldDependsOn, full(ids(t.DependsOn)), readTexts, func(n *yaml.Node, name string) error {
			return wrongEntry(n, name, unique(func(id string) string {
				if id == string(t.ID) {
					return "is the task itself"
				}
				return ""
			}))
		}},
		{FieldHumanNotes, full(t.HumanNotes), readTexts, func(n *yaml.Node, name string) error {
			return wrongEntry(n, name, anything)
		}},
	}
}

func readText(n *yaml.Node, name string) (any, error)   { return text(n, name) }
func readTexts(n *yaml.Node, name string) (any, error)  { return texts(n, name) }
func readNumber(n *yaml.Node, name string) (any, error) { return wholeNumber(n, name) }
func noCheck(*yaml.Node, string) error                  { return nil }

func wholeNumber(n *yaml.Node, name string) (int, error) {
	p, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil {
		return 0, &EditError{Line: n.Line, Field: name, Why: "is not a whole number"}
	}
	return p, nil
}

func checkPriority(n *yaml.Node, name string) error {
	if p, err := strconv.Atoi(n.Value); err != nil || p < 0 || p > MaxPriority {
		return &EditError{Line: n.Line, Field: name, Why: fmt.Sprintf("is not a whole number from 0 to %d", MaxPriority)}
	}
	return nil
}

// unique adds to wrong that no entry may be there twice.
func unique(wrong func(string) string) func(string) string {
	seen := map[string]bool{}
	return func(s string) string {
		if seen[s] {
			return "is there twice"
		}
		seen[s] = true
		return wrong(s)
	}
}

// wrongTarget refuses what would let a task act outside its project.
func wrongTarget(target string) string {
	slashed := strings.ReplaceAll(target, `\`, "/")
	clean := path.Clean(slashed)
	drive := len(target) > 1 && target[1] == ':'
	if path.IsAbs(slashed) || drive || clean == ".." || strings.HasPrefix(clean, "../") {
		return "is outside the project; targets are relative paths in it"
	}
	return ""
}

func ids(tasks []message.TaskID) []string {
	out := make([]string, len(tasks))
	for i, id := range tasks {
		out[i] = string(id)
	}
	return out
}
