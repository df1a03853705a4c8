package playbook

import (
	"errors"
	"strings"
	"testing"
)

const small = `name: small
describe: a playbook for tests
match:
  words: [[tidy], [room]]
params:
  - name: dir
    type: path
    pattern: 'in (\S+)'
    default: "."
  - name: cmd
    type: command
    default: "ls -l"
  - name: note
    pattern: 'noting "([^"]*)"'
task_criteria:
  - criterion: the room is tidy
    check: {run: {command: "test -e ${dir}"}}
subtasks:
  - slot: sweep
    intent: sweep ${dir}
    sequence: 1
    criteria:
      - criterion: it is swept
        check: {run: {command: "${cmd} ${dir}"}}
    approaches:
      - name: broom
        target: floor
        steps:
          - run: ${cmd} ${dir} ${note}
`

func TestDecode(t *testing.T) {
	p, err := Decode("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.ID(), "small@") || len(p.ID()) != len("small@")+12 {
		t.Errorf("ID = %q", p.ID())
	}
}

// TestDecodeRefuses changes one thing of a good file and wants the line named.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		line           int
		what, allowed  string
	}{
		{"unknown field", "describe:", "descrive:", 2, `unknown field "descrive"`, "describe"},
		{"unknown nested field", "        target: floor", "        targett: floor", 27, `unknown field "targett"`, "when_seen"},
		{"twice", "describe: a", "name: b\ndescribe: a", 2, "given twice", "once"},
		{"bad name", "name: small", "name: Small One", 1, "the name", "hyphens"},
		{"no describe", "describe: a playbook for tests", "describe: ''", 2, "has no describe", "not empty"},
		{"no match", "match:\n  words: [[tidy], [room]]", "match: {}", 3, "neither words nor patterns", "patterns"},
		{"bad type", "type: path", "type: folder", 7, "folder", "string, words, int, path, command"},
		{"bad pattern", `'in (\S+)'`, `'in (\S+'`, 8, "missing closing", "Go's syntax"},
		{"reserved parameter", "name: note", "name: orch", 13, "exists already", "goal_dir"},
		{"default is a reference", `default: "."`, `default: "${cmd}"`, 9, "${cmd}", "goal_dir"},
		{"no check", `    check: {run: {command: "test -e ${dir}"}}`, "", 16, "without a check", "judged by code"},
		{"unknown parameter", "sweep ${dir}", "sweep ${room}", 20, "${room}", "${dir}"},
		{"reference in quotes", `- run: ${cmd} ${dir} ${note}`, `- run: ls "${dir}"`, 29, "outside", ""},
		{"reference in backquotes", `- run: ${cmd} ${dir} ${note}`, "- run: echo `ls ${dir}`", 29, "outside", ""},
		{"reference in single quotes", `- run: ${cmd} ${dir} ${note}`, `- run: ls '${dir}'`, 29, "outside", ""},
		{"reference in arithmetic", `- run: ${cmd} ${dir} ${note}`, `- run: echo $((${dir}+1))`, 29, "outside", ""},
		{"reference in a here-document", `- run: ${cmd} ${dir} ${note}`, "- run: \"cat <<X\\n${dir}\\nX\"", 29, "outside", ""},
		{"reference in a comment", `- run: ${cmd} ${dir} ${note}`, "- run: \"ls # ${dir}\"", 29, "outside", ""},
		{"expansion tricks", `- run: ${cmd} ${dir} ${note}`, `- run: ls ${dir:-x}`, 29, "unknown parameter", ""},
		{"not a command", `- run: ${cmd} ${dir} ${note}`, `- run: "ls ("`, 29, "does not parse", ""},
		{"run and input", `- run: ${cmd} ${dir} ${note}`, "- run: ls\n            input: {command: ls}", 29, "either run or input", ""},
		{"sequence", "sequence: 1", "sequence: 0", 21, "sequence 0", "1 or more"},
		{"target outside", "    sequence: 1", "    targets: [../x]\n    sequence: 1", 21, "../x", "inside"},
		{"bad label", "name: broom", "name: Broom!", 26, "Broom!", "format:gofmt"},
		{"anchor", "describe: a playbook for tests", "describe: &a x", 2, "anchors", "itself"},
		{"two documents", "name: small", "--- {}\n---\nname: small", 0, "", ""},
		{"example does not match", "match:", "examples: wash the car\nmatch:", 3, "does not match", "fits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(small, c.old, c.new, 1)
			if text == small {
				t.Fatal("the change does not apply")
			}
			_, err := Decode("small.yaml", []byte(text))
			var bad *DecodeError
			if !errors.As(err, &bad) {
				t.Fatalf("err = %v, want *DecodeError", err)
			}
			if c.line > 0 && bad.Line != c.line {
				t.Errorf("line %d, want %d (%v)", bad.Line, c.line, err)
			}
			if !strings.Contains(bad.Error(), c.what) || !strings.Contains(bad.Hint(), c.allowed) {
				t.Errorf("error: %v\nhint: %s\nwant %q and %q", bad, bad.Hint(), c.what, c.allowed)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("name: [a]\n"))
	f.Add([]byte("&a [*a]"))
	f.Add([]byte("match: {words: {a: b}}"))
	f.Add([]byte("subtasks: [{approaches: [{steps: [{run: '${x}'}]}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode("f.yaml", data)
		if err != nil {
			var bad *DecodeError
			if !errors.As(err, &bad) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		if p.Name == "" || len(p.Subtasks) == 0 || len(p.TaskCriteria) == 0 {
			t.Fatal("accepted an unusable playbook")
		}
	})
}
