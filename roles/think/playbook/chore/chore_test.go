package chore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// do runs a chore in dir and returns what it said.
func do(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	var out, errs bytes.Buffer
	code = Main(args, &out, &errs)
	return code, out.String(), errs.String()
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"nothing"}, {"find-files"}, {"find-files", "--kind", "nicest"}, {"find-files", "--top", "0", "--kind", "largest"},
		{"report"}, {"verify"}, {"test-guard"}, {"test-guard", "destroy"}, {"link-check", "--bogus"}} {
		code, _, stderr := do(t, t.TempDir(), args...)
		if code != 2 || !strings.HasPrefix(stderr, "error: ") || !strings.Contains(stderr, "\nhint: ") {
			t.Errorf("%v: exit %d, %q", args, code, stderr)
		}
	}
}

func TestMissingDirectoryFails(t *testing.T) {
	code, _, stderr := do(t, t.TempDir(), "find-files", "--kind", "largest", "--dir", "nowhere")
	if code != 1 || !strings.Contains(stderr, "nowhere") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// TestVerifyFindsTheLie: a part that claims something else than the tree shows
// does not hold.
func TestVerifyFindsTheLie(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "big", "123456789")
	put(t, dir, "small", "1")
	put(t, dir, "same1", "equal")
	put(t, dir, "same2", "equal")
	put(t, dir, "x.go", "// TODO: a\n// FIXME: b\n")
	put(t, dir, "doc.md", "[a](gone.md)\n")
	put(t, dir, "key.py", "token = 1\nsecret = 'abcdefgh12345'\n")
	for _, c := range []struct {
		name string
		args []string
		lie  func(p *Part)
	}{
		{"larger file left out", []string{"find-files", "--kind", "largest", "--top", "2"}, func(p *Part) { p.Items = p.Items[1:] }},
		{"file made up", []string{"find-files", "--kind", "oldest", "--top", "2"}, func(p *Part) { p.Items[0].Path = "none" }},
		{"fewer files than there are", []string{"find-files", "--kind", "largest"}, func(p *Part) { p.Scanned.Files-- }},
		{"not equal", []string{"find-files", "--kind", "duplicates"}, func(p *Part) { p.Items[1].Path = "big" }},
		{"sets not counted", []string{"find-files", "--kind", "duplicates"}, func(p *Part) { p.Count = 0 }},
		{"todo not counted", []string{"todo-report"}, func(p *Part) { p.Count-- }},
		{"link that is not broken", []string{"link-check"}, func(p *Part) { p.Items[0].Text = "x.go" }},
		{"document not read", []string{"link-check"}, func(p *Part) { p.Scanned.Files = 0 }},
		{"secret on another line", []string{"repo-health", "--kind", "secrets"}, func(p *Part) { p.Items[0].Line = 1 }},
		{"secret given away", []string{"repo-health", "--kind", "secrets"}, func(p *Part) { p.Items[0].Text = "abcdefgh12345" }},
		{"oversized file left out", []string{"repo-health", "--kind", "blobs", "--limit-bytes", "9"}, func(p *Part) { p.Items = nil }},
		{"licence made up", []string{"repo-health", "--kind", "licence"}, func(p *Part) { p.Items = []Item{{Path: "LICENSE", What: "MIT", OK: true}} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "part.json")
			if code, _, stderr := do(t, dir, append(c.args, "--out", out)...); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if code, _, stderr := do(t, dir, "verify", out); code != 0 {
				t.Fatalf("the truth does not hold: %s", stderr)
			}
			p, err := readPart(out)
			if err != nil {
				t.Fatal(err)
			}
			c.lie(p)
			if err := writePart(out, p); err != nil {
				t.Fatal(err)
			}
			if code, _, stderr := do(t, dir, "verify", out); code != 1 || !strings.Contains(stderr, "does not hold") {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}

func TestReportIsVerified(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "x.go", "// TODO: a\n")
	for _, args := range [][]string{{"todo-report", "--out", ".orch/p.json", "--skip", "r.md"}, {"report", "--out", "r.md", ".orch/p.json", "absent.json"}, {"verify", "--out", "r.md", ".orch/p.json"}} {
		if code, _, stderr := do(t, dir, args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "r.md"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "r.md", strings.Replace(string(text), "x.go:1", "y.go:1", 1))
	if code, _, stderr := do(t, dir, "verify", "--out", "r.md", ".orch/p.json"); code != 1 || !strings.Contains(stderr, "leaves out") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestNameSurvivesAnyBytes(t *testing.T) {
	for _, name := range []Name{"plain", "ünï", "a\nb", "\xff\xfe bad", ""} {
		data, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		var back Name
		if err := json.Unmarshal(data, &back); err != nil || back != name {
			t.Errorf("%q became %q (%s): %v", name, back, data, err)
		}
	}
}

func TestHugeTreeStaysBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 3000 {
		put(t, dir, fmt.Sprintf("d%d/f%d", i%30, i), strings.Repeat("x", i%97))
	}
	for _, kind := range []string{"largest", "oldest", "duplicates"} {
		if code, _, stderr := do(t, dir, "find-files", "--kind", kind, "--top", "5", "--out", filepath.Join(t.TempDir(), "p")); code != 0 {
			t.Errorf("%s: exit %d: %s", kind, code, stderr)
		}
	}
	code, out, _ := do(t, dir, "find-files", "--kind", "largest", "--top", "5", "--json")
	var p Part
	if err := json.Unmarshal([]byte(out), &p); code != 0 || err != nil || len(p.Items) != 5 || p.Items[0].Size != 96 || p.Scanned.Files != 3000 {
		t.Errorf("exit %d, %v, %d items, %+v", code, err, len(p.Items), p.Scanned)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a/f", "x")
	if err := os.Symlink("..", filepath.Join(dir, "a", "loop")); err != nil {
		t.Logf("no symbolic links here: %v", err) // the count below is then of plain files only
	}
	code, out, _ := do(t, dir, "find-files", "--kind", "largest", "--json")
	var p Part
	if err := json.Unmarshal([]byte(out), &p); code != 0 || err != nil || p.Scanned.Files != 1 {
		t.Errorf("exit %d, %v, %+v", code, err, p.Scanned)
	}
}

func TestWebLinks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/busy":
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	put(t, dir, "doc.md", fmt.Sprintf("[a](%s/ok) [b](%s/gone) [c](%s/busy)\n", server.URL, server.URL, server.URL))
	code, out, stderr := do(t, dir, "link-check", "--http", "--json")
	var p Part
	if err := json.Unmarshal([]byte(out), &p); code != 0 || err != nil || p.Count != 1 || !strings.Contains(p.Items[0].Text, "/gone (status 410)") {
		t.Errorf("exit %d, %v: %s%s", code, err, out, stderr)
	}
}
