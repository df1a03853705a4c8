package check

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/roles/act/process"
)

func world(t *testing.T, files map[string]string) Env {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Env{Workspace: dir, WallMS: 120_000, Process: process.Spec{Env: os.Environ(), GraceMS: 200, NoCgroup: true}}
}

// want is how a verdict must be: "pass", "logical" or an environmental kind.
func verify(t *testing.T, name, yaml, want, evidence string, env Env) {
	t.Helper()
	c, err := DecodeYAML([]byte(yaml))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	v := Run(t.Context(), c, env)
	got := "pass"
	if !v.Pass {
		if got = string(v.Class); v.Class == Environmental {
			got = string(v.Kind)
		}
	}
	if got != want || !strings.Contains(v.Evidence, evidence) {
		t.Errorf("%s: got %s (%q), want %s with %q", name, got, v.Evidence, want, evidence)
	}
}

func TestRunChecks(t *testing.T) {
	env := world(t, map[string]string{"sub/x": "y"})
	for name, c := range map[string][3]string{
		"passes":              {"run: {command: 'echo hi; true'}", "pass", "hi"},
		"fails":               {"run: {command: 'echo sorry; exit 3'}", "logical", "exit 3, want 0\nsorry"},
		"wanted exit":         {"run: {command: 'exit 3', exit: 3}", "pass", "exit 3"},
		"unwanted success":    {"run: {command: 'true', exit: 1}", "logical", "exit 0, want 1"},
		"argv":                {"run: {argv: [echo, 'a b']}", "pass", "a b"},
		"in a directory":      {"run: {command: 'cat x', dir: sub}", "pass", "y"},
		"stdout matches":      {"run: {command: 'echo one; echo two', stdout: {matches: '^two$'}}", "pass", "two"},
		"stdout lacks":        {"run: {command: 'echo one', stdout: {contains: two}}", "logical", `does not contain "two"`},
		"stderr is separate":  {"run: {command: 'echo bad >&2', stdout: {not_contains: bad}}", "pass", "bad"},
		"stderr unwanted":     {"run: {command: 'echo bad >&2', stderr: {not_matches: bad}}", "logical", `stderr matches "bad"`},
		"no such command":     {"run: {command: 'no-such-program-here'}", "tool", "exit 127"},
		"no such program":     {"run: {argv: [no-such-program-here]}", "tool", "can not run"},
		"not executable":      {"run: {command: './sub/x'}", "permission", "exit 126"},
		"too slow":            {"run: {command: 'sleep 30', wall_ms: 200}", "none", "time limit reached (200ms, set by wall_ms of the check)"},
		"kills itself":        {"run: {command: 'kill -9 $$'}", "none", "SIGKILL"},
		"refused":             {"run: {command: 'echo \"dial tcp: connection refused\"; exit 1'}", "transient", "connection refused"},
		"a test that says so": {"run: {command: 'echo connection refused; echo \"--- FAIL: TestX\"; exit 1'}", "logical", "FAIL"},
	} {
		verify(t, name, c[0], c[1], c[2], env)
	}
	env.WallMS = 200
	verify(t, "slower than any may be", "run: {command: 'sleep 30', wall_ms: 5000}", "none", "time limit reached (200ms, set by limits.check_wall_ms)", env)
}

func TestFileChecks(t *testing.T) {
	env := world(t, map[string]string{"a.txt": "hello\nworld\n"})
	if err := os.Symlink("/etc/passwd", filepath.Join(env.Workspace, "out")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][3]string{
		"exists":         {"file: {path: a.txt}", "pass", "12 bytes"},
		"missing":        {"file: {path: b.txt}", "logical", "does not exist"},
		"absent":         {"file: {path: b.txt, absent: true}", "pass", "absent"},
		"not absent":     {"file: {path: a.txt, exists: false}", "logical", "a.txt exists"},
		"contains":       {"file: {path: a.txt, contains: world}", "pass", "as it should be"},
		"matches":        {"file: {path: a.txt, matches: '^wor'}", "pass", "as it should be"},
		"does not":       {"file: {path: a.txt, not_contains: hello}", "logical", `contains "hello"`},
		"hash":           {"file: {path: a.txt, sha256: 4a1e67f2fe1d1cc7b31d0ca2ec441da4778203a036a77da10344c85e24ff0f92}", "pass", "4a1e67f2"},
		"wrong hash":     {"file: {path: a.txt, sha256: 0000000000000000000000000000000000000000000000000000000000000000}", "logical", "has SHA-256"},
		"link leads out": {"file: {path: out, contains: root}", "tool", "can not run"},
	} {
		verify(t, name, c[0], c[1], c[2], env)
	}
}

func TestJSONChecks(t *testing.T) {
	env := world(t, map[string]string{"d.json": `{"a":{"b":[{"c":3},{"c":"x"}]},"odd key":true,"n":null,"big":1e3}`, "bad.json": "{"})
	for name, c := range map[string][3]string{
		"number":         {"json: {file: d.json, path: 'a.b[0].c', op: '==', value: 3}", "pass", "is 3"},
		"string":         {"json: {file: d.json, path: 'a.b[1].c', op: '!=', value: y}", "pass", `"x"`},
		"less":           {"json: {file: d.json, path: 'a.b[0].c', op: '<', value: 3}", "logical", "want < 3"},
		"at most":        {"json: {file: d.json, path: 'a.b[0].c', op: '<=', value: 3.0}", "pass", ""},
		"same number":    {"json: {file: d.json, path: big, op: '==', value: 1000}", "pass", ""},
		"odd key":        {`json: {file: d.json, path: '["odd key"]', op: '==', value: true}`, "pass", "true"},
		"null":           {"json: {file: d.json, path: n, op: '==', value: null}", "pass", "null"},
		"exists":         {"json: {file: d.json, path: a.x, op: exists}", "logical", "want true"},
		"exists not":     {"json: {file: d.json, path: a.x, op: exists, value: false}", "pass", ""},
		"length":         {"json: {file: d.json, path: a.b, op: length, value: 2}", "pass", ""},
		"contains":       {"json: {file: d.json, path: a, op: contains, value: b}", "pass", ""},
		"no such path":   {"json: {file: d.json, path: 'a.b[7]', op: '==', value: 1}", "logical", "there is no"},
		"no order":       {"json: {file: d.json, path: a, op: '<', value: 1}", "logical", "no order"},
		"not json":       {"json: {file: bad.json, path: a, op: exists}", "logical", "not JSON"},
		"no file":        {"json: {file: none.json, path: a, op: exists}", "logical", "does not exist"},
		"command":        {"json: {command: 'echo \"{\\\"ok\\\":true}\"', path: ok, op: '==', value: true}", "pass", ""},
		"whole":          {"json: {command: 'echo 5', path: ., op: '>=', value: 5}", "pass", ""},
		"broken command": {"json: {command: 'exit 4', path: ., op: exists}", "logical", "exit 4"},
	} {
		verify(t, name, c[0], c[1], c[2], env)
	}
}

func TestHTTPChecks(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Write([]byte("hello"))
		}
	}))
	env := world(t, nil)
	for name, c := range map[string][3]string{
		"ok":          {"http: {url: '" + s.URL + "/', body: {contains: hello}}", "pass", "status 200"},
		"body":        {"http: {url: '" + s.URL + "/', body: {contains: bye}}", "logical", "does not contain"},
		"wrong":       {"http: {url: '" + s.URL + "/gone'}", "logical", "status 404"},
		"wanted 404":  {"http: {url: '" + s.URL + "/gone', status: 404}", "pass", "404"},
		"rate limits": {"http: {url: '" + s.URL + "/busy'}", "transient", "status 429"},
	} {
		verify(t, name, c[0], c[1], c[2], env)
	}
	s.Close()
	verify(t, "refused", "http: {url: '"+s.URL+"/'}", "transient", "refused", env)
}

func TestGitChecks(t *testing.T) {
	env := world(t, map[string]string{"src/a.go": "package a\n", ".orch/log.jsonl": "x"})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", env.Workspace, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	verify(t, "no repository", "git: {clean: true}", "tool", "can not run", env)
	git("init", "-q", "-b", "main")
	git("add", "src")
	git("commit", "-q", "-m", "one")
	verify(t, "clean, .orch aside", "git: {clean: true}", "pass", "clean", env)
	verify(t, "contains", "git: {branch: main, contains: HEAD}", "pass", "contains", env)
	if err := os.WriteFile(filepath.Join(env.Workspace, "src/ü b.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	verify(t, "not clean", "git: {clean: true}", "logical", "ü b.go", env)
	verify(t, "limited", "git: {diff_limited: ['src/**']}", "pass", "1 changed", env)
	verify(t, "beyond", "git: {diff_limited: ['docs/**']}", "logical", "allowed: docs/**", env)
	git("checkout", "-q", "-b", "side")
	git("add", ".")
	git("commit", "-q", "-m", "two")
	verify(t, "contains not", "git: {branch: main, contains: side}", "logical", "does not contain", env)
	verify(t, "no such branch", "git: {branch: nope, contains: HEAD}", "tool", "can not run", env)
}

func TestUnusableChecksAreRefusedWithWhatIsAllowed(t *testing.T) {
	for name, c := range map[string][2]string{
		"empty":              {`{}`, "exactly one of run, file, json, http, git"},
		"two":                {`{"run":{"command":"x"},"file":{"path":"x"}}`, "exactly one"},
		"unknown":            {`{"shell":{}}`, "unknown field"},
		"typo":               {`{"run":{"comand":"x"}}`, "unknown field"},
		"no command":         {`{"run":{}}`, "either command"},
		"both":               {`{"run":{"command":"x","argv":["x"]}}`, "either command"},
		"leaves":             {`{"file":{"path":"../x"}}`, "inside the workspace"},
		"absolute":           {`{"file":{"path":"/etc/passwd"}}`, "inside the workspace"},
		"pattern":            {`{"run":{"command":"x","stdout":{"matches":"("}}}`, "missing closing"},
		"absent content":     {`{"file":{"path":"x","absent":true,"contains":"y"}}`, "no content"},
		"operator":           {`{"json":{"file":"x","path":"a","op":"~"}}`, "allowed: =="},
		"path":               {`{"json":{"file":"x","path":"a..b","op":"exists"}}`, "want for example"},
		"open bracket":       {`{"json":{"file":"x","path":"a[","op":"exists"}}`, "want for example"},
		"no value":           {`{"json":{"file":"x","path":"a","op":"<"}}`, "needs a value"},
		"url":                {`{"http":{"url":"file:///x"}}`, "not an http"},
		"method":             {`{"http":{"url":"http://x/","method":"POST"}}`, "allowed: GET, HEAD"},
		"option as branch":   {`{"git":{"branch":"-x","contains":"y"}}`, "not a revision"},
		"nothing to look at": {`{"git":{}}`, "give clean"},
		"trailing":           {`{"git":{"clean":true}} x`, "after the check"},
	} {
		_, err := Decode([]byte(c[0]))
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: got %v, want %q", name, err, c[1])
		}
	}
}

func TestClassifyNeverDemotesAndPromotesOnUnmistakableEvidenceOnly(t *testing.T) {
	for _, c := range []struct {
		exit   int
		output string
		class  Class
		kind   Kind
	}{
		{1, "", Logical, KindNone},
		{127, "", Environmental, KindTool},
		{126, "whatever", Environmental, KindPermission},
		{1, "sh: 1: frobnicate: not found", Environmental, KindTool},
		{2, "bash: line 1: x: command not found", Environmental, KindTool},
		{1, "cat: x: No such file or directory", Environmental, KindTool},
		{1, "mkdir: cannot create directory '/x': Permission denied", Environmental, KindPermission},
		{1, "[denied] needs permission", Environmental, KindPermission},
		{1, "curl: (7) Failed to connect: Connection refused", Environmental, KindTransient},
		{1, "read tcp: i/o timeout", Environmental, KindTransient},
		{1, "error: HTTP 503", Environmental, KindTransient},
		{1, "HTTP/1.1 429 Too Many Requests", Environmental, KindTransient},
		{1, "want 503 rows, got 429", Logical, KindNone},
		{1, "page not found in the test of the router", Logical, KindNone},
		{1, "--- FAIL: TestOpen\n open x: permission denied\nFAIL", Logical, KindNone},
		{2, "./main.go:3:2: undefined: connection refused", Logical, KindNone},
		{1, "connection refused\n" + strings.Repeat("then much else\n", lastLines), Logical, KindNone},
	} {
		class, kind := Classify(c.exit, c.output)
		if class != c.class || kind != c.kind {
			t.Errorf("exit %d %q: got %s %s, want %s %s", c.exit, c.output, class, kind, c.class, c.kind)
		}
	}
}

func TestEvidenceIsRedactedAndBounded(t *testing.T) {
	env := world(t, nil)
	env.Redact = func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "s3cret", "***")) }
	c, err := Decode([]byte(`{"run":{"command":"yes s3cret | head -c 200000"}}`))
	if err != nil {
		t.Fatal(err)
	}
	v := Run(t.Context(), c, env)
	if strings.Contains(v.Evidence, "s3cret") || len(v.Evidence) > 2*evidenceChars {
		t.Errorf("evidence of %d bytes: %.80q", len(v.Evidence), v.Evidence)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"run":{"command":"x"}}`))
	f.Add([]byte(`{"json":{"file":"x","path":"a[0][\"k\"].b","op":"length","value":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err == nil && c.Validate() != nil {
			t.Error("decoded but not valid")
		}
		_, _ = DecodeYAML(data) // must not panic
	})
}
