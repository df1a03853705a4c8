package chore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindSecret(t *testing.T) {
	for _, c := range []struct{ line, rule string }{
		{"aws = AKIAQWERTYUIOPASDFGH", "aws-access-key"},
		{"ghp_" + strings.Repeat("a1", 20), "github-token"},
		{"xoxb-123456789012-abcdef", "slack-token"},
		{"AIza" + strings.Repeat("b", 35), "google-api-key"},
		{"sk-ant-" + strings.Repeat("c", 40), "model-api-key"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----", "private-key"},
		{"-----BEGIN PRIVATE KEY-----", "private-key"},
		{"postgres://ann:s3cr3tpw@db/x", "url-password"},
		{`password = "hunter2hunter2"`, "assignment"},
		{`"apiKey": "q8Zr4tY1uI0p"`, "assignment"},
		{`password = "changeme-please"`, ""},
		{`password = "${PASSWORD}"`, ""},
		{`api_key: "<your key>"`, ""},
		{"postgres://user:${PASS}@db/x", ""},
		{"the password is in the vault", ""},
		{"password := readPassword()", ""},
		{"-----BEGIN PUBLIC KEY-----", ""},
		{"skip-this-word-because-it-is-long-enough-to-look", ""},
	} {
		rule, value, ok := findSecret(c.line)
		if rule != c.rule || ok != (c.rule != "") {
			t.Errorf("%q: %q %v, want %q", c.line, rule, ok, c.rule)
		}
		if ok && c.rule != "private-key" && strings.Contains(mask(rule, value), value) {
			t.Errorf("%q is not masked", c.line)
		}
	}
}

func TestRecogniseLicence(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and", "MIT"},
		{"                                 Apache License\n                           Version 2.0, January 2004", "Apache-2.0"},
		{"GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007", "GPL-3.0"},
		{"GNU AFFERO GENERAL PUBLIC LICENSE Version 3", "AGPL-3.0"},
		{"all rights reserved", ""},
	} {
		if got := recognise(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{"Hello, World!": "hello-world", "Ünïcode & spaces": "ünïcode--spaces", "`code` in_it": "code-in_it", " A  B ": "a--b"} {
		if got := slugOf(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestAnchors(t *testing.T) {
	d := parseMarkdown([]byte("# Twice\n\n# Twice\n\n## *Em* and `code`\n\n<a name=\"old\"></a>\n\n```\n# not a heading\n```\n\n[x](y \"t\") ![i](i.png) <https://a.b>\n"))
	for _, want := range []string{"twice", "twice-1", "em-and-code", "old"} {
		if !d.has(want) {
			t.Errorf("no anchor %q in %v", want, d.anchors)
		}
	}
	if d.has("not-a-heading") || len(d.links) != 3 || d.links[0].line != 13 {
		t.Errorf("links %v, anchors %v", d.links, d.anchors)
	}
}

func TestConflictLine(t *testing.T) {
	for text, want := range map[string]int{"a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n": 2, "Title\n=======\n": 0, "<<<<<<< x\n": 0, ">>>>>>> y\n": 0} {
		if got := conflictLine([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestGuard: what a formatter may do to a test passes, anything else does not.
func TestGuard(t *testing.T) {
	const goTest = "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\nt.Log(1)}\n"
	for _, c := range []struct {
		name, file, before, after string
		ok                        bool
	}{
		{"unchanged", "a_test.go", goTest, goTest, true},
		{"gofmt", "a_test.go", goTest, "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Log(1)\n}\n", true},
		{"weakened", "a_test.go", goTest, strings.Replace(goTest, "t.Log(1)", "t.Skip()", 1), false},
		{"deleted", "a_test.go", goTest, "", false},
		{"python formatted", "test_a.py", "assert f('x',1)\n", "assert f(\n    \"x\",\n    1,\n)\n", true},
		{"python weakened", "test_a.py", "assert f(1)\n", "f(1)\n", false},
		{"golden file", "testdata/out.txt", "a\n", "b\n", false},
		{"test script", "package.json", `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"true"}}`, false},
		{"dependency", "package.json", `{"scripts":{"test":"jest"}}`, `{"scripts": {"test": "jest"}, "dependencies": {"x": "1"}}`, true},
		{"make target", "Makefile", "test:\n\tgo test\n", "test:\n\ttrue\n", false},
		{"snapshot", "src/__snapshots__/a.snap", "1", "2", false},
		{"code", "a.go", "package m\n", "package m // other\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, c.file, c.before)
			if code, _, stderr := do(t, dir, "test-guard", "--out", ".orch/t.json", "snapshot"); code != 0 {
				t.Fatal(stderr)
			}
			if c.after == "" {
				if err := os.Remove(filepath.Join(dir, c.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				put(t, dir, c.file, c.after)
			}
			// A second snapshot must not replace the first.
			if code, _, stderr := do(t, dir, "test-guard", "--out", ".orch/t.json", "snapshot"); code != 0 {
				t.Fatal(stderr)
			}
			if code, _, stderr := do(t, dir, "test-guard", "--from", ".orch/t.json", "verify"); (code == 0) != c.ok {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}

func TestGuardWithoutSnapshotFails(t *testing.T) {
	if code, _, stderr := do(t, t.TempDir(), "test-guard", "--from", "none.json", "verify"); code != 1 || !strings.Contains(stderr, "snapshot") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
