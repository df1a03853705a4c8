package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Fields of a task that a person can edit, as message.Edit names them.
const (
	FieldIntent     = "intent"
	FieldDoneWhen   = "done_when"
	FieldScope      = "scope"
	FieldPriority   = "priority"
	FieldTargets    = "targets"
	FieldDependsOn  = "depends_on"
	FieldHumanNotes = "human_notes"
	FieldStatus     = "status"
)

// MaxPriority bounds priorities; lower is more urgent, 100 is the default.
const MaxPriority = 1_000_000

// wish is one change a person made, read and allowed, not yet merged.
type wish struct {
	task  message.TaskID
	name  string // of the task in the file
	field string
	line  int

	priority, oldPriority int
	notes, oldNotes       []string
}

func (w wish) at() string { return "tasks." + w.name + "." + w.field }

// wishes reads what a person changed; everything that is not allowed to change
// is an *EditError.
func wishes(found []change, shown *yaml.Node, base State) ([]wish, error) {
	var list []wish
	for _, c := range found {
		w, err := wishOf(c, shown, base)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	// The status of a task comes last: nothing else of an abandoned one can change.
	slices.SortStableFunc(list, func(a, b wish) int {
		if a.task != b.task {
			return cmp.Compare(a.task, b.task)
		}
		return cmp.Compare(last(a), last(b))
	})
	return list, nil
}

func last(w wish) int {
	if w.field == FieldStatus {
		return 1
	}
	return 0
}

func wishOf(c change, shown *yaml.Node, base State) (wish, error) {
	refuse := func(why string) (wish, error) {
		return wish{}, &EditError{Line: c.line, Field: strings.Join(c.path, "."), Why: why}
	}
	switch {
	case len(c.path) == 2 && c.path[0] == "tasks" && c.old == nil:
		return refuse("tasks cannot be added here; use: orch task add")
	case c.new == nil:
		return refuse("was removed; what can be emptied is emptied by leaving the key")
	case c.old == nil:
		return refuse("is not a key of this file")
	case len(c.path) != 3 || c.path[0] != "tasks":
		return refuse("cannot be edited here")
	}
	w := wish{task: idOf(shown, c.path[1]), name: c.path[1], field: c.path[2], line: c.line}
	t, ok := base.Task(w.task)
	if !ok {
		return refuse("there is no such task")
	}
	var err error
	switch w.field {
	case FieldHumanNotes:
		w.oldNotes = t.HumanNotes
		if w.notes, err = texts(c.new, w.at()); err == nil {
			err = wrongEntry(c.new, w.at(), anything)
		}
	case FieldPriority:
		w.oldPriority = t.Priority
		if w.priority, err = wholeNumber(c.new, w.at()); err == nil {
			err = checkPriority(c.new, w.at())
		}
	case FieldStatus:
		if c.new.Value != string(blackboard.Abandoned) || t.Status != blackboard.Blocked {
			return refuse(fmt.Sprintf("cannot go from %s to %s by hand; only BLOCKED to ABANDONED can", t.Status, oneLine(c.new.Value)))
		}
	default:
		return refuse("cannot be edited here; use: orch task edit " + string(w.task))
	}
	return w, err
}

// idOf is the id of the task that a view shows under a name.
func idOf(shown *yaml.Node, name string) message.TaskID {
	if task := child(child(shown, "tasks"), name); task != nil {
		if id := child(task, "id"); id != nil {
			return message.TaskID(id.Value)
		}
	}
	return message.TaskID(name)
}

func oneLine(s string) string { return clip(strconv.Quote(s), 40) }

// merge turns wishes into edits of the current state. What it says already
// needs none, so that the same file can be merged again; what somebody else
// changed meanwhile is a conflict, an *EditError.
func merge(list []wish, now State) ([]message.Edit, error) {
	var edits []message.Edit
	for _, w := range list {
		t, ok := now.Task(w.task)
		if !ok {
			return nil, w.conflict("the task is gone meanwhile")
		}
		var old, new any
		switch w.field {
		case FieldPriority:
			if t.Priority != w.oldPriority && t.Priority != w.priority {
				return nil, w.conflict(fmt.Sprintf("you changed it from %d to %d, meanwhile it became %d", w.oldPriority, w.priority, t.Priority))
			}
			old, new = t.Priority, w.priority
		case FieldStatus:
			if t.Status != blackboard.Blocked && t.Status != blackboard.Abandoned {
				return nil, w.conflict(fmt.Sprintf("the task is not BLOCKED any more but %s", t.Status))
			}
			old, new = t.Status, blackboard.Abandoned
		case FieldHumanNotes:
			old, new = full(t.HumanNotes), full(mergeNotes(w.oldNotes, w.notes, t.HumanNotes))
		}
		e, changed, err := edit(w.task, w.field, old, new)
		if err != nil {
			return nil, err
		}
		if changed {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

func (w wish) conflict(why string) error {
	return &EditError{Line: w.line, Field: w.at(), Why: why + "; look at the new file and edit again"}
}

// edit makes one Edit; changed is false if old and new are the same.
func edit(task message.TaskID, field string, old, new any) (e message.Edit, changed bool, err error) {
	e = message.Edit{Task: task, Field: field}
	if e.Old, err = json.Marshal(old); err != nil {
		return e, false, fmt.Errorf("encode the edit of %s: %w", field, err)
	}
	if e.New, err = json.Marshal(new); err != nil {
		return e, false, fmt.Errorf("encode the edit of %s: %w", field, err)
	}
	return e, string(e.Old) != string(e.New), nil
}

// full makes an empty list of none, so that it is never null.
func full(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// mergeNotes takes over what a person made of base in theirs. If others noted
// something meanwhile, both stay: notes have no conflicts. A note is what it
// says, so that one added by both sides, or by the same file again, is there
// once.
func mergeNotes(base, theirs, now []string) []string {
	if slices.Equal(base, now) {
		return theirs
	}
	removed := minus(base, theirs)
	merged := minus(now, removed)
	return append(merged, minus(minus(theirs, base), merged)...)
}

// minus is a without what is in b.
func minus(a, b []string) []string {
	var rest []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			rest = append(rest, s)
		}
	}
	return rest
}
