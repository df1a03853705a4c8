package cli

import "testing"

func TestAnAnswerMayHaveTheKeysOfAReply(t *testing.T) {
	for said, want := range map[string]string{
		`{"answer":"unblock","reason":"it is in the spec"}`: `{"answer":"unblock","reason":"it is in the spec"}`,
		`{"answer":{"a":1},"cost_usd":0.5}`:                 `{"a":1}`,
		`{"version":1,"text":"hello"}`:                      `hello`,
		`{"decision":"approved"}`:                           `{"decision":"approved"}`,
		`{"usage":{"input_tokens":1}}`:                      `{"usage":{"input_tokens":1}}`,
	} {
		p := newJSON(NewSeen(nil))
		p.Line([]byte(said))
		p.Exit(0)
		if got := p.(*plain).Text; got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}
