//go:build unix

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"orch/roles/act/process"
	"orch/roles/act/tool/gate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workspace is a project with a few files; it returns its real path.
func workspace(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "ws")
	for name, text := range map[string]string{
		"main.go": "package main\n\nfunc main() {}\n", "docs/a.md": "alpha\nbeta\n", ".git/config": "x", ".orch/log.jsonl": "needle\n", "src/b.txt": "needle here\nand Needle\n",
		"../secret.txt": "secret", "bin.dat": "a\x00b needle",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.txt", filepath.Join(root, "leak.txt")); err != nil {
		t.Fatal(err)
	}
	return root
}

func box(t *testing.T, root string, change func(*Options)) *Box {
	t.Helper()
	opt := Options{Workspace: root, Scratch: t.TempDir(), Process: process.Spec{Env: append(process.ScrubEnv(os.Environ()), "LC_ALL=C"), WallMS: 120_000, GraceMS: 100}}
	if change != nil {
		change(&opt)
	}
	b, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func call(tool Name, input any) Call {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return Call{Tool: tool, Input: raw}
}

func sh(command string) Call { return call(Shell, ShellInput{Command: command}) }

func do(b *Box, c Call) Result { return b.Do(context.Background(), c) }

func exists(root, name string) bool {
	_, err := os.Lstat(filepath.Join(root, name))
	return err == nil
}

func TestShell(t *testing.T) {
	root := workspace(t)
	b := box(t, root, nil)
	r := do(b, sh("echo first; echo err >&2; echo last; exit 3"))
	if r.Exit != 3 || string(r.Output) != "first\nerr\nlast\n" || r.Head != "first" || !strings.HasSuffix(r.Tail, "last") || r.Denied != "" {
		t.Errorf("result %+v, output %q", r, r.Output)
	}
	if r := do(b, call(Shell, ShellInput{Command: "pwd", Dir: "docs"})); strings.TrimSpace(string(r.Output)) != filepath.Join(root, "docs") {
		t.Errorf("in a directory: %q", r.Output)
	}
	if r := do(b, call(Shell, ShellInput{Command: "sleep 60", TimeoutMS: 200})); r.Exit != -1 || r.Ended == "" {
		t.Errorf("a hanging command: %+v", r)
	}
	if r := do(b, call(Shell, ShellInput{Command: "ls", Dir: "../"})); r.Denial == nil {
		t.Error("a directory outside the workspace was accepted")
	}
}

func TestRefusedCallsHaveNoEffect(t *testing.T) {
	root := workspace(t)
	b := box(t, root, nil)
	for _, c := range []Call{
		sh("rm main.go"), sh("touch new.txt; rm main.go"), sh("echo x > docs/a.md"), sh("touch ../out.txt"), sh("echo x > leak.txt"),
		call(WriteFile, WriteFileInput{"main.go", "x"}), call(WriteFile, WriteFileInput{"../out.txt", "x"}), call(WriteFile, WriteFileInput{".git/hooks/x", "x"}),
		call(EditFile, EditFileInput{Path: "leak.txt", Old: "secret", New: "x"}), call(EditFile, EditFileInput{Path: ".orch/log.jsonl", Old: "needle", New: "x"}),
		call(ReadFile, ReadFileInput{Path: "leak.txt"}), call(ReadFile, ReadFileInput{Path: "/etc/passwd"}), call(Grep, GrepInput{Pattern: "x", Path: ".."}), call(Glob, GlobInput{Pattern: "*", Dir: "/"}),
	} {
		r := do(b, c)
		if r.Denial == nil || r.Denial.Kind != DeniedGate || r.Exit != -1 || !strings.HasPrefix(r.Denied, "[denied] ") || r.Denial.Needs.ID == "" || !strings.Contains(r.Denial.Hint, r.Denial.Needs.ID) {
			t.Errorf("%s: %+v", c.Input, r)
			continue
		}
		if bytes.Contains(r.Output, []byte("secret\n")) {
			t.Errorf("%s told the secret", c.Input)
		}
	}
	if exists(root, "new.txt") || exists(root, "../out.txt") || !exists(root, "main.go") {
		t.Error("a refused call had an effect")
	}
	r := do(b, sh("rm main.go"))
	allowing := box(t, root, func(o *Options) { o.Rules = []gate.Rule{r.Denial.Needs} })
	if r := do(allowing, sh("rm main.go")); r.Exit != 0 || exists(root, "main.go") {
		t.Errorf("after permission: %+v", r)
	}
	deny := gate.NewRule("", gate.Program, "touch")
	deny.Effect = gate.Deny
	if r := do(box(t, root, func(o *Options) { o.Rules = []gate.Rule{deny} }), sh("touch x")); r.Denial == nil || r.Denial.Kind != DeniedRule || exists(root, "x") {
		t.Errorf("a denied program: %+v", r)
	}
}

func TestWhatTheGoalMadeItMayLose(t *testing.T) {
	root := workspace(t)
	b := box(t, root, nil)
	for _, c := range []Call{
		call(WriteFile, WriteFileInput{"made/x.txt", "1"}), call(WriteFile, WriteFileInput{"made/x.txt", "2"}), sh("echo 3 > made/x.txt"), sh("touch made/y.txt && rm made/y.txt"), sh("rm -rf made"),
	} {
		if r := do(b, c); r.Exit != 0 {
			t.Fatalf("%s: %+v", c.Input, r)
		}
	}
	if exists(root, "made") {
		t.Error("it is still there")
	}
	// a second name of an old file is not a new file
	if r := do(b, sh("ln main.go second.go")); r.Exit != 0 {
		t.Fatalf("ln: %+v", r)
	}
	if r := do(b, sh("echo lost > second.go")); r.Denial == nil {
		t.Error("an old file was overwritten through a hard link")
	}
}

// TestTheGoalsOwnFilesAreFree: a command fills the folder of the goal's files as
// it likes, and nothing else that is orch's.
func TestTheGoalsOwnFilesAreFree(t *testing.T) {
	root := workspace(t)
	files := filepath.Join(root, ".orch", "goals", "g", "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		t.Fatal(err)
	}
	b := box(t, root, func(o *Options) { o.Files = files })
	for _, command := range []string{"echo one > .orch/goals/g/files/a", "echo two > .orch/goals/g/files/a", "mv .orch/goals/g/files/a .orch/goals/g/files/b"} {
		if r := do(b, sh(command)); r.Denied != "" || r.Exit != 0 {
			t.Errorf("%s: exit %d, %s", command, r.Exit, r.Denied)
		}
	}
	for _, command := range []string{"echo x > .orch/goals/g/x", "echo x > .orch/goals/g/files/../x", "rm -r .orch/goals/g/files"} {
		if r := do(b, sh(command)); r.Denied == "" {
			t.Errorf("%s: allowed", command)
		}
	}
}

func TestFileTools(t *testing.T) {
	root := workspace(t)
	b := box(t, root, nil)
	tests := []struct {
		name string
		call Call
		exit int
		want string
	}{
		{"read", call(ReadFile, ReadFileInput{Path: "docs/a.md"}), 0, "alpha\nbeta\n"},
		{"read absolute", call(ReadFile, ReadFileInput{Path: filepath.Join(root, "docs/a.md")}), 0, "alpha\nbeta\n"},
		{"read a part", call(ReadFile, ReadFileInput{Path: "main.go", Offset: 3, Limit: 1}), 0, "func main() {}\n"},
		{"read past the end", call(ReadFile, ReadFileInput{Path: "main.go", Offset: 30}), 0, ""},
		{"read nothing", call(ReadFile, ReadFileInput{Path: "nope"}), 1, "error: read nope: "},
		{"read a directory", call(ReadFile, ReadFileInput{Path: "docs"}), 1, "not a file"},
		{"read a binary", call(ReadFile, ReadFileInput{Path: "bin.dat"}), 1, "not a text file"},
		{"edit", call(EditFile, EditFileInput{Path: "docs/a.md", Old: "beta", New: "gamma"}), 0, "replaced 1"},
		{"edited", call(ReadFile, ReadFileInput{Path: "docs/a.md", Limit: 2}), 0, "alpha\ngamma\n"},
		{"edit what is not there", call(EditFile, EditFileInput{Path: "docs/a.md", Old: "beta", New: "x"}), 1, "not in it"},
		{"edit twice", call(EditFile, EditFileInput{Path: "docs/a.md", Old: "a", New: "x"}), 1, "times"},
		{"edit all", call(EditFile, EditFileInput{Path: "docs/a.md", Old: "a", New: "A", All: true}), 0, "replaced 4"},
		{"glob", call(Glob, GlobInput{Pattern: "**/*.{md,txt}"}), 0, "docs/a.md\nsrc/b.txt\n"},
		{"glob below", call(Glob, GlobInput{Pattern: "*", Dir: "docs"}), 0, "a.md\n"},
		{"glob nothing", call(Glob, GlobInput{Pattern: "*.zzz"}), 0, "nothing found\n"},
		{"grep leaves out .orch and binaries", call(Grep, GrepInput{Pattern: "needle"}), 0, "src/b.txt:1:needle here\n"},
		{"grep ignoring case", call(Grep, GrepInput{Pattern: "needle$", IgnoreCase: true}), 0, "src/b.txt:2:and Needle\n"},
		{"grep one file", call(Grep, GrepInput{Pattern: "^package", Path: "main.go"}), 0, "main.go:1:package main\n"},
		{"grep by glob", call(Grep, GrepInput{Pattern: "a", Glob: "*.go"}), 0, "main.go:1:package main\nmain.go:3:func main() {}\n"},
		{"write", call(WriteFile, WriteFileInput{"n/e/w", "hi"}), 0, "wrote 2 bytes to n/e/w"},
		{"unknown field", Call{Tool: ReadFile, Input: json.RawMessage(`{"file":"x"}`)}, 1, `unknown field "file"`},
		{"no path", Call{Tool: ReadFile, Input: json.RawMessage(`{}`)}, 1, "path is missing"},
		{"two values", Call{Tool: ReadFile, Input: json.RawMessage(`{"path":"x"}{}`)}, 1, "more than one"},
		{"no JSON", Call{Tool: ReadFile, Input: json.RawMessage(`x`)}, 1, "input of read_file"},
		{"unknown tool", Call{Tool: "teleport", Input: json.RawMessage(`{}`)}, 1, "there are shell, read_file"},
		{"bad regexp", call(Grep, GrepInput{Pattern: "("}), 1, "missing closing"},
		{"bad glob", call(Glob, GlobInput{Pattern: "["}), 1, "not a valid"},
		{"no search", call(WebSearch, SearchInput{"x"}), 1, "no web search is configured"},
	}
	for _, tt := range tests {
		r := do(b, tt.call)
		whole := tt.exit == 0 && !strings.HasPrefix(tt.want, "replaced") && !strings.HasPrefix(tt.want, "wrote")
		if r.Exit != tt.exit || !strings.Contains(string(r.Output), tt.want) || (whole && string(r.Output) != tt.want) {
			t.Errorf("%s: exit %d, output %q, want %d %q", tt.name, r.Exit, r.Output, tt.exit, tt.want)
		}
	}
}

func TestRepeatedCallsAreRefused(t *testing.T) {
	root := workspace(t)
	b := box(t, root, nil)
	same := sh("cat main.go; exit 1")
	for i := 1; i <= 2; i++ {
		if r := do(b, same); r.Denial != nil {
			t.Fatalf("call %d refused: %+v", i, r.Denial)
		}
	}
	r := do(b, same)
	if r.Denial == nil || r.Denial.Kind != DeniedRepeat || r.Denial.Hint == "" {
		t.Fatalf("the third identical call: %+v", r)
	}
	if r := do(b, sh("cat   main.go;  exit 1")); r.Denial == nil {
		t.Error("spacing makes another call")
	}
	if r := do(b, sh("cat main.go; exit 2")); r.Denial != nil {
		t.Error("another call was refused")
	}
	if err := os.WriteFile(filepath.Join(root, "outside-edit.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := do(b, same); r.Denial != nil {
		t.Error("refused although the workspace changed")
	}
	n := 0
	counting := box(t, root, func(o *Options) {
		o.Redact = func(p []byte) []byte { n++; return fmt.Appendf(nil, "%d", n) }
	})
	for i := 1; i <= 5; i++ {
		if r := do(counting, same); r.Denial != nil {
			t.Errorf("call %d with a result of its own was refused", i)
		}
	}
}

func TestEditBetweenIdenticalFailuresIsNoRepeat(t *testing.T) {
	root := workspace(t)
	b := box(t, root, nil)
	for i := range 5 {
		if r := do(b, sh("false")); r.Denial != nil {
			t.Fatalf("run %d refused after an edit: %+v", i, r.Denial)
		}
		if r := do(b, call(WriteFile, WriteFileInput{"try.txt", strings.Repeat("x", i)})); r.Exit != 0 {
			t.Fatal(string(r.Output))
		}
	}
}

func TestMustNot(t *testing.T) {
	root := workspace(t)
	b := box(t, root, func(o *Options) {
		o.MustNot = MustNot{Approaches: []string{"shell:touch", "glob"}, Targets: []string{"docs/a.md", "ls docs"}}
	})
	for _, c := range []Call{sh("touch x"), sh("cd docs && touch x"), sh("timeout 5 touch x"), call(Glob, GlobInput{Pattern: "*"}), call(ReadFile, ReadFileInput{Path: "./docs//a.md"}), sh("ls   docs")} {
		if r := do(b, c); r.Denial == nil || r.Denial.Kind != DeniedMustNot {
			t.Errorf("%s: %+v", c.Input, r)
		}
	}
	if exists(root, "x") {
		t.Error("a forbidden approach was used")
	}
	if r := do(b, sh("ls src")); r.Denied != "" {
		t.Errorf("refused: %s", r.Denied)
	}
}

func TestTargetAndIdempotent(t *testing.T) {
	root := workspace(t)
	b := box(t, root, nil)
	tests := []struct {
		call             Call
		approach, target string
		idempotent       bool
	}{
		{sh("go  test   ./..."), "shell:go", "go test ./...", false},
		{sh("cd x && FOO=1 npm test"), "shell:npm", "cd x && FOO=1 npm test", false},
		{sh("timeout 5 /usr/bin/python3 a.py"), "shell:python", "timeout 5 /usr/bin/python3 a.py", false},
		{sh("ls -l | wc -l"), "shell:ls", "ls -l | wc -l", true},
		{sh("echo a \\\r\nb"), "shell:sh", "echo a \\\r\nb", false}, // not echo a b
		{sh("echo 'unclosed"), "shell:sh", "echo 'unclosed", false},
		{call(Shell, ShellInput{Command: "ls", Dir: "docs/"}), "shell:ls", "cd docs && ls", true},
		{call(ReadFile, ReadFileInput{Path: filepath.Join(root, "docs", "a.md")}), "read_file", "docs/a.md", true},
		{call(WriteFile, WriteFileInput{"./a//b", ""}), "write_file", "a/b", false},
		{call(EditFile, EditFileInput{Path: "a", Old: "x", New: "y"}), "edit_file", "a", false},
		{call(Glob, GlobInput{Pattern: "*.go", Dir: "src"}), "glob", "src/*.go", true},
		{call(Fetch, FetchInput{"HTTPS://Example.com/a#b"}), "fetch", "https://example.com/a", true},
		{call(WebSearch, SearchInput{" Go  Context "}), "web_search", "go context", true},
		{Call{Tool: Shell, Input: json.RawMessage(` {} `)}, "shell", "{}", false},
	}
	for _, tt := range tests {
		approach, target := b.Target(tt.call)
		if approach != tt.approach || target != tt.target {
			t.Errorf("%s: %q on %q, want %q on %q", tt.call.Input, approach, target, tt.approach, tt.target)
		}
		if got := b.Idempotent(tt.call); got != tt.idempotent {
			t.Errorf("%s: idempotent %v", tt.call.Input, got)
		}
	}
}

func TestOutputIsRedactedAndBounded(t *testing.T) {
	root := workspace(t)
	b := box(t, root, func(o *Options) {
		o.KeepBytes = 2000
		o.Redact = func(p []byte) []byte { return bytes.ReplaceAll(p, []byte("hunter2"), []byte("[redacted]")) }
	})
	r := do(b, sh("echo hunter2; seq 1 5000; echo hunter2"))
	if bytes.Contains(r.Output, []byte("hunter2")) || len(r.Output) > 2000 || !r.Truncated || r.Head != "[redacted]" || !strings.HasSuffix(r.Tail, "[redacted]") || utf8.RuneCountInString(r.Tail) > 120 {
		t.Errorf("%d bytes, head %q, tail %q", len(r.Output), r.Head, r.Tail)
	}
	if err := os.WriteFile(filepath.Join(root, "s.txt"), []byte("hunter2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := do(b, call(ReadFile, ReadFileInput{Path: "s.txt"})); string(r.Output) != "[redacted]" {
		t.Errorf("read: %q", r.Output)
	}
}

// What is kept of a long output begins and ends at a line, so that no secret
// is cut in two and passes unrecognised.
func TestSecretsAreNotCutInTwo(t *testing.T) {
	root := workspace(t)
	for size := 980; size < 1030; size++ {
		b := box(t, root, func(o *Options) {
			o.Process.KeepBytes = 2000
			o.Redact = func(p []byte) []byte { return bytes.ReplaceAll(p, []byte("hunter2secret"), []byte("***")) }
		})
		pad := strings.Repeat("x", size)
		r := do(b, sh("echo "+pad+"; echo hunter2secret; seq 1 2000; echo hunter2secret; echo "+pad))
		if bytes.Contains(r.Output, []byte("hunt")) || bytes.Contains(r.Output, []byte("secret")) {
			t.Fatalf("size %d: part of a secret was kept", size)
		}
		if !r.Truncated || !bytes.Contains(r.Output, []byte("left out")) {
			t.Fatalf("size %d: %+v", size, r)
		}
	}
}

func TestFetchAndSearch(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
			fmt.Fprint(w, "page "+r.URL.Query().Get("q"))
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/big":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	root := workspace(t)
	b := box(t, root, func(o *Options) {
		o.KeepBytes, o.Search = 1000, Search{Endpoint: srv.URL + "/ok?q={query}"}
	})
	if r := do(b, call(Fetch, FetchInput{srv.URL + "/ok"})); r.Exit != 0 || !strings.HasPrefix(string(r.Output), "200 OK") || !strings.HasSuffix(string(r.Output), "page ") {
		t.Errorf("ok: %+v %q", r, r.Output)
	}
	if r := do(b, call(Fetch, FetchInput{srv.URL + "/none"})); r.Exit != 1 || r.Infra != "" {
		t.Errorf("404: %+v", r)
	}
	if r := do(b, call(Fetch, FetchInput{srv.URL + "/big"})); len(r.Output) > 1000 || !r.Truncated {
		t.Errorf("big: %d bytes", len(r.Output))
	}
	for _, p := range []string{"/loop", "/metadata", "/file"} {
		if r := do(b, call(Fetch, FetchInput{srv.URL + p})); r.Exit != 1 || r.Infra == "" {
			t.Errorf("%s: %+v", p, r)
		}
	}
	for _, u := range []string{"file:///etc/passwd", "ftp://x/y", "http://", "x", "http://me:pw@host/"} {
		if r := do(b, call(Fetch, FetchInput{u})); r.Exit != 1 {
			t.Errorf("%s: %+v", u, r)
		}
	}
	if r := do(b, call(WebSearch, SearchInput{"a&b c"})); !strings.HasSuffix(string(r.Output), "page a&b c") {
		t.Errorf("search: %q", r.Output)
	}
	byCommand := box(t, root, func(o *Options) { o.Search = Search{Command: []string{"echo", "q={query}"}} })
	if r := do(byCommand, call(WebSearch, SearchInput{"a; rm -rf /"})); string(r.Output) != "q=a; rm -rf /\n" {
		t.Errorf("search by command: %q", r.Output)
	}
	srv.Close()
	if r := do(b, call(Fetch, FetchInput{srv.URL + "/ok?gone"})); r.Infra == "" {
		t.Errorf("an unreachable server: %+v", r)
	}
}

func TestBaseline(t *testing.T) {
	root := workspace(t)
	base := TakeBaseline(root)
	raw, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	var again Baseline
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"main.go": false, "docs": false, "docs/new.md": true, "new": true, "new/x/y": true, ".": false, "..": false, "../x": false, ".git/hooks/x": false, ".orch/x": false, ".git": false, "leak.txt": false, "doc": true, "src/b.txt": false,
	} {
		if got := again.Created(filepath.Join(root, path)); got != want {
			t.Errorf("created %s: %v", path, got)
		}
	}
	if (Baseline{Root: root}).Created(filepath.Join(root, "x")) {
		t.Error("an incomplete baseline says that something is new")
	}
}

func TestFingerprintSeesChanges(t *testing.T) {
	root := workspace(t)
	take := func() string {
		fp, err := Fingerprint(root)
		if err != nil {
			t.Fatal(err)
		}
		return fp
	}
	seen := []string{take()}
	if take() != seen[0] {
		t.Error("it changes by itself")
	}
	if err := os.WriteFile(filepath.Join(root, ".orch", "more"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if take() != seen[0] {
		t.Error("it sees .orch")
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(root, "n"), nil, 0o644) },
		func() error { return os.Chmod(filepath.Join(root, "n"), 0o755) },
		func() error { return os.WriteFile(filepath.Join(root, "n"), []byte("x"), 0o755) },
		func() error { return os.Remove(filepath.Join(root, "n")) },
		func() error { return os.Mkdir(filepath.Join(root, "d"), 0o755) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		fp := take()
		if fp == seen[len(seen)-1] {
			t.Error("a change was not seen")
		}
		seen = append(seen, fp)
	}
}

func TestCutForModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + strings.Repeat("é", rapid.IntRange(0, 300).Draw(t, "more"))
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		got := CutForModel(text, limit)
		if n := utf8.RuneCountInString(got); n > limit && utf8.RuneCountInString(text) > limit {
			t.Fatalf("%d characters, want at most %d", n, limit)
		}
		if !utf8.ValidString(got) {
			t.Fatal("not valid UTF-8")
		}
		if utf8.RuneCountInString(text) <= limit && got != strings.ToValidUTF8(text, "\uFFFD") {
			t.Fatal("a short text was cut")
		}
	})
	long := "BEGIN" + strings.Repeat("x", 10_000) + "END"
	got := CutForModel(long, ModelChars)
	if !strings.HasPrefix(got, "BEGIN") || !strings.HasSuffix(got, "END") || !strings.Contains(got, "left out") {
		t.Errorf("%q", got[:50])
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	for name, opt := range map[string]Options{
		"no workspace": {}, "missing workspace": {Workspace: "/no/such/dir"}, "bad rule": {Workspace: t.TempDir(), Rules: []gate.Rule{{Action: "x"}}}, "missing scratch": {Workspace: t.TempDir(), Scratch: "/no/such/dir"},
	} {
		if _, err := New(opt); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if !slices.Contains(Names(), Shell) || (slices.Contains(Names(), AppleScript) != onMac) {
		t.Errorf("tools %v", Names())
	}
}

func FuzzDecodeCall(f *testing.F) {
	f.Add("shell", `{"command":"ls"}`)
	f.Add("grep", `{"pattern":"("}`)
	f.Add("fetch", `{"url":"http://[::1"}`)
	b, err := New(Options{Workspace: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, input string) {
		c := Call{Tool: Name(name), Input: json.RawMessage(input)}
		approach, _ := b.Target(c)
		if approach == "" && name != "" {
			t.Error("no approach")
		}
		if act, err := decode(c); err == nil {
			b.judge(act)
		} else if b.Idempotent(c) {
			t.Error("what can not be read counts as idempotent")
		}
	})
}
