package answer

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func refusalOf(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e
}

func TestValuesListsAllThatFit(t *testing.T) {
	s := schemas(t)["verdict"]
	all, err := Values(`{"verdict":"pass","evidence":"a"} no, wait: {"verdict":"fail","evidence":"b"} {"x":1}`, s)
	if err != nil || len(all) != 2 || !strings.Contains(string(all[1]), "fail") {
		t.Fatalf("got %s, %v", all, err)
	}
}

func TestTheRefusalSaysWhatToChange(t *testing.T) {
	s := schemas(t)["verdict"]
	for text, want := range map[string]string{
		`{"verdict":"maybe","evidence":"x"}`: "verdict: value must be one of",
		`{"verdict":"pass"}`:                 "missing property 'evidence'",
		`{"verdict":"pass" "evidence":"x"}`:  "a comma or a closing bracket is missing at byte 17",
		`{"verdict":"pass","Verdict":"x"}`:   `the key "Verdict" comes twice`,
		`{"verdict":"pass","evi`:             "cut off",
	} {
		_, err := Values(text, s)
		if e := refusalOf(t, err); !strings.Contains(e.Why, want) {
			t.Errorf("%s: %s, want %q in it", text, e.Why, want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	text := `{"verdict":"pass","evidence":"` + strings.Repeat("x", MaxBytes) + `"}`
	_, err := Values(text, schemas(t)["verdict"])
	if e := refusalOf(t, err); e.Kind != TooLarge {
		t.Fatalf("refused as %s", e.Kind)
	}
	if _, err := Relax(text); refusalOf(t, err).Kind != TooLarge {
		t.Fatal("Relax read it")
	}
	long := `{"verdict":"pass","evidence":"` + strings.Repeat("x", MaxBytes/2) + `"}`
	if all, err := Values("so: "+long, schemas(t)["verdict"]); err != nil || len(all[0]) != len(long) {
		t.Fatalf("half the limit: %v", err)
	}
}

// Every byte is looked at a bounded number of times, whatever the text: a
// quadratic reader would need minutes for each of these.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	s := schemas(t)["verdict"]
	for _, part := range []string{"{", "[", "{x ", "[x ", "{\"", "[\"", "{}", "{a:", "<think>", "</think>", "<", "{{x}}", "[1 ", "{\"a\":1 ", "//", "/*", "\\", "“", "[']", "{'a':'b' ", "｛", "{x {\"a\":[", "{a "} {
		if _, err := Values(strings.Repeat(part, (MaxBytes/16)/len(part)), s); err == nil {
			t.Errorf("%q repeated was accepted", part)
		}
	}
}

func TestRelax(t *testing.T) {
	for text, want := range map[string]string{
		`{"command":"ls"}`:              `{"command":"ls"}`,
		"{'command': 'ls -l', }":        `{"command":"ls -l"}`,
		"{\"command\": \"a\nb\"}":       `{"command":"a\nb"}`,
		"\ufeff[1, 2,]\n":               `[1,2]`,
		`"text"`:                        `"text"`,
		`{"pattern": "\d+"}`:            `{"pattern":"\\d+"}`,
		`{"a": "\u00e9\ud83d\ude00\/"}`: `{"a": "\u00e9\ud83d\ude00\/"}`,
	} {
		got, err := Relax(text)
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "ls", `{"a":1}{"b":2}`, `{"a":1,"A":2}`, `{"a":1} x`, `{"a"`} {
		if got, err := Relax(text); err == nil {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}

func TestDecodingIntoAnotherTypeIsRefused(t *testing.T) {
	var into struct {
		Evidence int `json:"evidence"`
	}
	err := Parse(`{"verdict":"pass","evidence":"x"}`, schemas(t)["verdict"], &into)
	if e := refusalOf(t, err); e.Kind != WrongShape {
		t.Fatalf("refused as %s", e.Kind)
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, text := range []string{"", "{", `{"type": 7}`, `{"$ref": "https://example.com/s.json"}`, `{"$ref": "file:///etc/passwd"}`} {
		if _, err := Compile("s", []byte(text)); err == nil {
			t.Errorf("%q was compiled", text)
		}
	}
}

// What is accepted is strict JSON that fits the schema, whatever the text.
func FuzzValues(f *testing.F) {
	for _, e := range corpus(f) {
		f.Add(e.text())
	}
	known := schemas(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range known {
			all, err := Values(text, s)
			if (err == nil) != (len(all) > 0) {
				t.Fatalf("%d values and error %v", len(all), err)
			}
			for _, v := range all {
				if !json.Valid(v) {
					t.Fatalf("%q is not JSON", v)
				}
				if twice(string(v)) {
					t.Fatalf("%q names a key twice", v)
				}
				if err := s.Check(v); err != nil {
					t.Fatalf("%q was accepted: %v", v, err)
				}
			}
			if err != nil {
				refusalOf(t, err)
			}
		}
		for _, c := range Calls(text, func(string) bool { return true }) {
			if !json.Valid(c.Input) || c.Input[0] != '{' {
				t.Fatalf("the input %q is no object", c.Input)
			}
		}
		if v, err := Relax(text); err == nil && !json.Valid(v) {
			t.Fatalf("%q is not JSON", v)
		}
	})
}
