package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWrapBreaksAtSpacesUnderTheHead(t *testing.T) {
	got := wrap("controller  tests: rerun on go test is the wrong approach", 40)
	want := "controller  tests: rerun on go test is|              the wrong approach"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
	if got := wrap("\x1b[36mshort\x1b[0m line", 40); len(got) != 1 {
		t.Errorf("a short line was wrapped: %q", got)
	}
}

func TestWrapLosesNoWordAndKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`(\x1b\[1m)?[a-zé]{1,9}(\x1b\[0m)?`), 1, 40).Draw(t, "words")
		width := rapid.IntRange(2*wrapIndent+1, 120).Draw(t, "width")
		line := strings.Repeat(" ", rapid.IntRange(0, 12).Draw(t, "lead")) + strings.Join(words, " ")
		parts := wrap(line, width)
		for _, p := range parts {
			if widthOf(p) > width {
				t.Fatalf("%q is wider than %d", p, width)
			}
		}
		if back := strings.Fields(strings.Join(parts, " ")); strings.Join(back, " ") != strings.Join(words, " ") {
			t.Fatalf("%q lost words: %q", line, parts)
		}
	})
}
