package think

import (
	"strings"
	"testing"
)

func TestWhatOfAScopeCodeCanHoldWorkTo(t *testing.T) {
	for words, want := range map[string]string{
		"docs/":                             "docs",
		"only in src/auth and README.md.":   "src/auth README.md",
		"the files `a/b.go`, (cmd/**/*.go)": "a/b.go cmd/**/*.go",
		"the login service":                 "",
		"redis":                             "",
		"see https://example.com/a":         "",
		"/etc/passwd ~/x ../up":             "",
		"./src ./src":                       "src",
		"":                                  "",
	} {
		if got := strings.Join(ScopeOf(words), " "); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
	c := Constraints{Scope: []string{"src/auth", "README.md", "cmd/**/*.go"}}
	for name, out := range map[string]bool{
		"src/auth": false, "src/auth/x/y.go": false, "src/authz.go": true, "README.md": false, "cmd/a/b/c.go": false, "cmd/a/b.md": true,
		"../README.md": true, "/etc/passwd": true, "src/auth/../main.go": true,
	} {
		if got := c.OutOfScope(name); got != out {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (Constraints{}).OutOfScope("anything") {
		t.Error("no scope forbids nothing")
	}
}
