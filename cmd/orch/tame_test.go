package main

import "testing"

func TestATerminalIsToldNothingByTexts(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ünïcode, 日本語\n\tand a tab\r": "plain, ünïcode, 日本語\n\tand a tab\r",
		"\x1b[31mred\x1b[0m \x1b[2K":         "\x1b[31mred\x1b[0m \x1b[2K",
		"\x1b]0;owned\x07":                   "?]0;owned?",
		"\x1b[2J\x1b[H\x1b[10;10H":           "?[2J?[H?[10;10H",
		"a\u009b31mb":                        "a?31mb",
		"back\b\b\x7f":                       "back???",
		"price: £5 \u202egnp.exe":            "price: £5 ?gnp.exe",
		"\x1b":                               "?",
	} {
		if got := string(taming([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
