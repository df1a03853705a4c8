package view

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/message"
)

func formTask() blackboard.Task {
	t := plainTask("F-001", blackboard.Unclaimed)
	t.Intent, t.DoneWhen, t.Targets, t.HumanNotes = "write the page", "it is there", []string{"docs"}, []string{"ask Ann"}
	return t
}

func TestEditForm(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"nothing":      {"intent", "intent", ""},
		"intent":       {"intent: write the page", "intent: write two pages", `intent "write the page" → "write two pages"`},
		"several":      {"done_when: it is there\nscope: \"\"", "done_when:\nscope: |\n  a\n  b", `done_when "it is there" → "", scope "" → "a\nb\n"`},
		"priority":     {"priority: 100", "priority: 1", "priority 100 → 1"},
		"targets":      {"  - docs", "  - docs/a.md\n  - src", `targets ["docs"] → ["docs/a.md","src"]`},
		"depends":      {"depends_on: []", "depends_on: [F-000]", `depends_on [] → ["F-000"]`},
		"note":         {"  - ask Ann", "  - ask Ann\n  - 42", `human_notes ["ask Ann"] → ["ask Ann","42"]`},
		"no notes":     {"human_notes:\n  - ask Ann", "human_notes:", `human_notes ["ask Ann"] → []`},
		"order":        {"scope: \"\"\n", "", "line 0"},
		"empty intent": {"intent: write the page", "intent: ' '", "line 4: intent: is empty"},
		"no number":    {"priority: 100", "priority: soon", "line 8: priority: is not a whole number"},
		"too high":     {"priority: 100", "priority: 1000001", "line 8: priority: is not a whole number from 0 to 1000000"},
		"absolute":     {"- docs", "- /etc", `line 11: targets: "/etc" is outside the project`},
		"outside":      {"- docs", "- docs/../../x", "is outside the project"},
		"drive":        {"- docs", `- 'C:\x'`, "is outside the project"},
		"twice":        {"- docs", "- docs\n  - docs", `line 12: targets: "docs" is there twice`},
		"itself":       {"depends_on: []", "depends_on: [F-001]", `"F-001" is the task itself`},
		"empty note":   {"- ask Ann", "- ''", "an entry is empty"},
		"other field":  {"priority: 100", "priority: 100\nstatus: MERGED", "line 9: status: is not a field that can be edited"},
		"no YAML":      {"targets:", "targets: ]", "this is no YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			form := string(EditableYAML(formTask()))
			if strings.Count(form, c.old) < 1 {
				t.Fatalf("%q is not in\n%s", c.old, form)
			}
			edits, err := ParseEdited(formTask(), []byte(strings.Replace(form, c.old, c.new, 1)))
			var got []string
			for _, e := range edits {
				got = append(got, fmt.Sprintf("%s %s → %s", e.Field, e.Old, e.New))
				if e.Task != "F-001" {
					t.Errorf("edit of %s", e.Task)
				}
			}
			text := strings.Join(got, ", ")
			if err != nil {
				if !errors.As(err, new(*EditError)) {
					t.Errorf("got a %T", err)
				}
				text = err.Error()
			}
			if name == "order" {
				c.want = "scope: is missing"
			}
			if text != c.want && (err == nil || !strings.Contains(text, c.want)) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestAnEmptyFormChangesNothing(t *testing.T) {
	for _, data := range []string{"", "\n", "# only\n  # comments\n", "\ufeff\r\n"} {
		if edits, err := ParseEdited(formTask(), []byte(data)); err != nil || edits != nil {
			t.Errorf("%q: %v, %v", data, edits, err)
		}
	}
}

// Every task can be opened in the form and saved as it is, however odd.
func TestAnUntouchedFormChangesNothing(t *testing.T) {
	list := rapid.SliceOfN(stringGen(), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		task := plainTask(stringGen().Draw(t, "id"), blackboard.Unclaimed)
		task.Intent, task.DoneWhen, task.Scope = stringGen().Draw(t, "intent"), stringGen().Draw(t, "done"), stringGen().Draw(t, "scope")
		task.Priority = rapid.Int().Draw(t, "priority")
		task.Targets, task.HumanNotes = list.Draw(t, "targets"), list.Draw(t, "notes")
		for _, id := range list.Draw(t, "depends") {
			task.DependsOn = append(task.DependsOn, message.TaskID(id))
		}
		form := EditableYAML(task)
		if edits, err := ParseEdited(task, form); err != nil || len(edits) > 0 {
			t.Fatalf("%v, %v from\n%s", edits, err, form)
		}
	})
}

func FuzzParseEdited(f *testing.F) {
	form := string(EditableYAML(formTask()))
	for _, seed := range []string{form, strings.Replace(form, "100", "!!int \"1\"", 1), "intent: &a x\nscope: *a", "- a", "%YAML 1.2\n---\na: b", "{", "? [a]\n: b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		edits, err := ParseEdited(formTask(), data)
		if err != nil && !errors.As(err, new(*EditError)) {
			t.Fatalf("a %T: %v", err, err)
		}
		for _, e := range edits {
			if string(e.Old) == string(e.New) {
				t.Fatalf("an edit that changes nothing: %s %s", e.Field, e.New)
			}
		}
	})
}
