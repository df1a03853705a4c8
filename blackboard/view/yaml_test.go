package view

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// nasty are strings that YAML likes to take for something else.
var nasty = []string{
	"", " ", "a", "yes", "No", "on", "OFF", "null", "~", "Null", "true", "False", "y", "N", "0", "-1", "1_000", "0x1F", "0o17", "1e3", ".5",
	".inf", "-.INF", ".nan", "12:30:45", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "<<", "=", "- a", "-", "?", "? a",
	"a: b", "a:", ":a", "a #b", "#b", "a#b", "[", "]", "{}", "&a", "*a", "!a", "|", ">", "'", "\"", "%a", "@a", "`a", "---", "...", "--- a",
	"a\n", "a\nb", "a\nb\n", "a\n\n", "\na", " a\nb", "a\n  b\nc", "a \nb", "a\n\nb", "\t", "a\tb", "a\n\tb", "\ta\nb", "a\r\nb", "\r", "\x00", "\x1b[0m", "\u0085",
	"\u2028x", "\ufeff", "a\ufeff", "你好", "你好: 世界", "你好 # 世界", "汉字\n第二行", "é", "👩‍👩‍👧", "\u202e evil", "\u00a0", "\\", "a\\nb", "C:\\x", "/etc: ", "a ", "1.2.3", "123abc",
	"0190a1b2-0000-7000-8000-00000000b0a2", "12345678-1234-1234-1234-123456789012", "1e5", "1e5e", "e", "\ufffd", "a\u0300", "\U0001F600", "# checksum: sha256:00", strings.Repeat("ab ", 700), strings.Repeat("ab", 700),
}

func stringGen() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(nasty), rapid.String(), rapid.StringMatching(`[ \n:#a0-]{0,6}`))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 3).Draw(t, "pieces"), "")
	})
}

// wantBack checks that yaml.v3 reads what was meant.
func wantBack(t rapid.TB, value string, list []string) {
	t.Helper()
	e := &emitter{}
	e.str(0, "str", value)
	e.open(0, "in")
	e.str(4, value+"k", value)
	e.list(4, "list\n", list)
	e.open(0, "items")
	for _, v := range list {
		e.item(2, func(n int) {
			e.str(n, v, v)
			e.str(n, "x"+v, v)
		})
	}
	e.str(0, "end", "end")
	var got struct {
		Str   any              `yaml:"str"`
		In    map[any]any      `yaml:"in"`
		Items []map[any]string `yaml:"items"`
		End   string           `yaml:"end"`
	}
	if err := yaml.Unmarshal(e.b, &got); err != nil {
		t.Fatalf("%v in\n%.2000s", err, e.b)
	}
	if got.Str != value || got.In[value+"k"] != value || got.End != "end" {
		t.Fatalf("%q came back as %#v in\n%.2000s", value, got, e.b)
	}
	back, ok := got.In["list\n"].([]any)
	if !ok || len(back) != len(list) || len(got.Items) != len(list) {
		t.Fatalf("%q came back as %#v in\n%s", list, got, e.b)
	}
	for i, v := range list {
		if back[i] != v || got.Items[i][v] != v || got.Items[i]["x"+v] != v {
			t.Fatalf("%q came back as %#v in\n%s", v, got.Items[i], e.b)
		}
	}
}

func TestNastyStringsComeBack(t *testing.T) {
	for _, s := range nasty {
		wantBack(t, s, []string{s})
		wantBack(t, "x", []string{"a", s, s})
	}
}

func TestStringsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wantBack(t, stringGen().Draw(t, "value"), rapid.SliceOfN(stringGen(), 0, 3).Draw(t, "list"))
	})
}

func TestWhatIsNotUTF8IsShownAsReplaced(t *testing.T) {
	e := &emitter{}
	e.str(0, "a", "x\xffy")
	if got, want := string(e.b), "a: \"x\\ufffdy\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Other YAML readers than yaml.v3 take more words for bools and more digits for
// numbers: these must be quoted, ordinary text must not.
func TestQuotes(t *testing.T) {
	for s, plain := range map[string]bool{
		"y": false, "yes": false, "Off": false, "12:30": false, "1_0": false, "0o7": false, "2026-01-01": false, "1e5": false,
		"fix the parser, then stop": true, "go test ./...": true, "a:b": true, "12 apples": true, "docs/x.md": true,
		"你好，世界": true, "0190a1b2-0000-7000-8000-00000000b0a2": true, "it's": true, "UNCLAIMED": true,
	} {
		if isPlain(s) != plain {
			t.Errorf("isPlain(%q) = %v", s, !plain)
		}
	}
}

func FuzzStringComesBack(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		wantBack(t, s, []string{s})
	})
}
