package check

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file moved out of a place is a change of that place, too.
func TestDiffLimitedSeesWhereAFileWasMovedFrom(t *testing.T) {
	env := world(t, map[string]string{"docs/a.md": strings.Repeat("a line of text\n", 20), "src/b.go": "package b\n"})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", env.Workspace, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("mv", "docs/a.md", "src/a.md")
	verify(t, "moved", "git: {diff_limited: ['src/**']}", "logical", "docs/a.md", env)
}

func TestAWantedRedirectionIsNotFollowed(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		}
	}))
	defer s.Close()
	env := world(t, nil)
	verify(t, "redirection wanted", "http: {url: '"+s.URL+"/old', status: 301}", "pass", "301", env)
	verify(t, "page wanted", "http: {url: '"+s.URL+"/old'}", "pass", "200", env)
}

// A secret that the cut goes through is no longer recognised, so it is
// replaced before.
func TestSecretsAreReplacedBeforeTheEvidenceIsCut(t *testing.T) {
	env := world(t, map[string]string{"s.json": `"` + strings.Repeat("x", 190) + `topsecret"`})
	env.Redact = func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "topsecret", "***")) }
	for _, y := range []string{
		"run: {command: 'printf topsecret; printf %0995d 0; exit 1'}",
		"json: {file: s.json, path: ., op: '==', value: 1}",
		"json: {command: 'printf topsecret; printf %0995d 0', path: ., op: exists}",
	} {
		c, err := DecodeYAML([]byte(y))
		if err != nil {
			t.Fatal(err)
		}
		v := Run(t.Context(), c, env)
		for _, part := range []string{"tops", "cret"} {
			if strings.Contains(v.Evidence, part) {
				t.Errorf("%s: part of the secret is shown: %.60q", y, v.Evidence)
			}
		}
	}
}

func TestWhatChecksNothingIsRefused(t *testing.T) {
	for name, y := range map[string]string{
		"empty stdout":   "run: {command: x, stdout: {}}",
		"empty body":     "http: {url: 'http://x/', body: {}}",
		"exists by word": "json: {file: x, path: a, op: exists, value: maybe}",
		"two documents":  "git: {clean: true}\n---\ngit: {clean: true}\n",
		"bad glob":       "git: {diff_limited: ['[']}",
	} {
		if _, err := DecodeYAML([]byte(y)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// An exit of 0 is never evidence that the world was in the way.
func TestUnwantedSuccessIsLogical(t *testing.T) {
	env := world(t, nil)
	verify(t, "success", "run: {command: 'echo connection refused', exit: 1}", "logical", "exit 0, want 1", env)
}

func TestAProgramThatMayNotBeRunIsAPermission(t *testing.T) {
	env := world(t, map[string]string{"x": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(env.Workspace, "x"), 0o644); err != nil {
		t.Fatal(err)
	}
	verify(t, "not executable", "run: {argv: [./x]}", "permission", "can not run", env)
}
