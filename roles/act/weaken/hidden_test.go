package weaken

import (
	"strings"
	"testing"
)

func TestTextThatDoesNotShowAsItIs(t *testing.T) {
	diff := func(name, line string) []byte {
		return []byte("diff --git a/" + name + " b/" + name + "\n--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1,2 @@\n x\n" + line + "\n")
	}
	for _, c := range []struct {
		name, line  string
		found, sure bool
	}{
		{"a_test.go", "+if x { // \u202e }", true, true},
		{"a_test.go", "+\u2066", true, true},
		{"a_test.go", "-if x { // \u202e }", false, false},
		{"a_test.go", "+größe := \"שלום\"", false, false},
		{"README.md", "+\u202e", true, false},
	} {
		found, err := Inspect(diff(c.name, c.line), false)
		if err != nil {
			t.Fatal(err)
		}
		if (len(found) == 1) != c.found || c.found && (found[0].Kind != HiddenText || found[0].Sure != c.sure || found[0].Line != 2) {
			t.Errorf("%s %q: %+v", c.name, c.line, found)
		}
	}
	// A line that is no source text stops nothing.
	long := append(diff("a.json", "+"+strings.Repeat("x", 17<<20)), diff("b_test.go", "+\u202e")...)
	if found, err := Inspect(long, false); err != nil || len(found) != 1 || found[0].File != "b_test.go" {
		t.Errorf("%v, %+v", err, found)
	}
}
