package playbook

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
	"pgregory.net/rapid"
)

// TestQuotedValueStaysOneWord: whatever a person wrote, a value is one word of
// the command and runs nothing. The shell itself says how it reads it: one of a
// library may drop a carriage return that sh does not. Nothing can be run by a
// name, should it not be so.
func TestQuotedValueStaysOneWord(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
		v := Values{"x": {Text: text}}
		cmd := exec.Command("sh", "-c", `printf '%s\0' a `+v.shell("--k=${x}")+" b")
		cmd.Dir, cmd.Env = dir, []string{"PATH=/nowhere"}
		got, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := "a\x00--k=" + text + "\x00b\x00"; string(got) != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

// TestWordsNeverBecomeSyntax: words of a person's command stay words.
func TestWordsNeverBecomeSyntax(t *testing.T) {
	for _, kind := range []ParamType{WordsParam, CommandParam} {
		rapid.Check(t, func(t *rapid.T) {
			text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
			v := Values{"x": {Text: text, Type: kind, Given: true}}
			got, err := shell.Fields(v.shell("${x}"), func(string) string { return "EXPANDED" })
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Fields(text); !slices.Equal(got, want) {
				t.Fatalf("%q became %q", want, got)
			}
		})
	}
}

func TestCommandOfThePlaybookStaysAsItIs(t *testing.T) {
	v := Values{"test": {Type: CommandParam}}.with(map[string]string{"test": `PATH=".venv/bin:$PATH" PYTHONPATH=".:$PYTHONPATH" pytest -q`})
	if got := v.shell("${test}"); got != `PATH=".venv/bin:$PATH" PYTHONPATH=".:$PYTHONPATH" pytest -q` {
		t.Errorf("got %q", got)
	}
}

func TestRenderTellsCommandsFromText(t *testing.T) {
	v := Values{"x": {Text: "a b"}}
	got := v.render(map[string]any{"run": map[string]any{"command": "ls ${x}", "dir": "${x}"}, "file": map[string]any{"path": "${x}/y"}}).(map[string]any)
	run := got["run"].(map[string]any)
	if run["command"] != "ls 'a b'" || run["dir"] != "a b" || got["file"].(map[string]any)["path"] != "a b/y" {
		t.Errorf("got %v", got)
	}
}
