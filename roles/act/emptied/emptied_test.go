package emptied

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func names(all []Change) string {
	var out []string
	for _, c := range all {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

const shapes = `package shapes

import (
	"errors"
	"fmt"
	"strings"
)

type T[K comparable] struct{ m map[K]int }

// Get gets.
func (t *T[K]) Get(k K) (int, error) {
	if n, ok := t.m[k]; ok {
		return n, nil
	}
	return 0, errors.New("none")
}

func Named(s string) (out []string, err error) {
	out = strings.Fields(s)
	return
}

func Pair[A, B any](a A, b B) (A, func(B) (A, error)) { return a, func(B) (A, error) { return a, nil } }

func Wide() (
	struct{ X, Y int },
	map[string][]byte,
) {
	return struct{ X, Y int }{1, 2}, nil
}

func Says() { fmt.Println("x") }

func None() {}

func Nil() error { return nil }

func init() { Says() }
`

// What is emptied still compiles, with nothing else mended, and does nothing.
func TestAnEmptiedFunctionCompiles(t *testing.T) {
	all := Changes("shapes.go", nil, []byte(shapes))
	if got := names(all); got != "T.Get Wide Named Pair Says" {
		t.Errorf("functions %q", got)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.22\n", "shapes.go": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range all {
		if err := os.WriteFile(filepath.Join(dir, "shapes.go"), c.Text, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "vet", ".")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", c.Name, err, out, c.Text)
		}
		if again, ok := At("shapes.go", []byte(shapes), c.Name); !ok || string(again) != string(c.Text) {
			t.Errorf("%s is not found again", c.Name)
		}
	}
}

func TestOnlyWhatChangedIsEmptied(t *testing.T) {
	same := "package a\n\nfunc A() int { return 1 }\n\nfunc B() int { return 2 }\n"
	for name, c := range map[string]struct{ file, before, now, want string }{
		"nothing":             {"a.go", same, same, ""},
		"a comment":           {"a.go", same, strings.Replace(same, "{ return 2 }", "{\n\t// two\n\treturn 2\n}", 1), ""},
		"one":                 {"a.go", same, strings.Replace(same, "2", "3", 1), "B"},
		"another system":      {"a_windows.go", "", same, ""},
		"a tag":               {"a.go", "", "//go:build ignore\n\n" + same, ""},
		"does not parse":      {"a.go", same, "package a\nfunc A( {", ""},
		"python":              {"a.py", "def a():\n    return 1\n\nclass C:\n    def b(self, x=(1,\n        2)):\n        # what it does\n        return x\n", "def a():\n    return 1\n\nclass C:\n    def b(self, x=(1,\n        2)):\n        return x + 1\n", "b"},
		"python, no function": {"a.py", "x = 1\n", "x = 2\n", "lines from 1"},
		"script":              {"a.js", "", "export function f(a) {\n  if (a) {\n    return 1;\n  }\n}\nconst g = async (x) => {\n  await x;\n};\nclass C {\n  m(a) {\n    return a;\n  }\n}\n", "f g m"},
		"another language":    {"a.rb", "def a\n  1\nend\n", "def a\n  2\nend\n", "lines from 2"},
		"another, new":        {"a.rb", "", "def a\n  2\nend\n", ""},
	} {
		before := []byte(c.before)
		if c.before == "" {
			before = nil
		}
		if got := names(Changes(c.file, before, []byte(c.now))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	got := Changes("a.py", nil, []byte("def a():\n    x = 1\n    return x\n"))
	if len(got) != 1 || string(got[0].Text) != "def a():\n    return\n    x = 1\n    return x\n" {
		t.Errorf("%+v", got)
	}
	taken := Changes("a.rb", []byte("a\nb\nc\nd\n"), []byte("a\nB\nc\nd\ne\n"))
	if len(taken) != 2 || string(taken[0].Text) != "a\nb\nc\nd\ne\n" || string(taken[1].Text) != "a\nB\nc\nd\n" {
		t.Errorf("%+v", taken)
	}
}

func TestCodeThatWatchesForItsTestsIsFound(t *testing.T) {
	head := "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"log\"\n)\n\nvar _ testing.TB\nvar _ = os.Getpid\nvar _ = log.Print\n"
	for code, want := range map[string]string{
		"func init() { os.Exit(0) }":                                                     "os.Exit!",
		"var x = func() int { os.Exit(0); return 1 }()":                                  "os.Exit!",
		"func init() { start() }\nfunc start() { deep() }\nfunc deep() { log.Fatal(1) }": "log.Fatal!",
		"func F() bool { return testing.Testing() }":                                     "testing.Testing!",
		"func F() string { return os.Args[0] }":                                          "os.Args!",
		"var tested = os.Args[0]":                                                        "os.Args!",
		"func F() (string, error) { return os.Executable() }":                            "os.Executable!",
		"func F(s string) bool { return s == \"a_test.go\" }":                            "\"a_test.go\"!",
		"func F(s string) bool { return s == \"test\" }":                                 "",
		"func F() { main() }\nfunc main() { println(os.Args) }":                          "os.Args!",
		"func F() { os.Exit(1) }":                                                        "",
		"func F() string { return os.Getenv(\"X\") }":                                    "",
	} {
		text := head + code + "\n"
		if _, err := parser.ParseFile(token.NewFileSet(), "a.go", text, 0); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range Asks("a.go", []byte(head), []byte(text)) {
			got += f.Subject
			if f.Sure {
				got += "!"
			}
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", code, got, want)
		}
		program := strings.Replace(text, "package a", "package main", 1)
		if strings.Contains(code, "main()") && len(Asks("a.go", nil, []byte(program))) > 0 {
			t.Errorf("%s is what a program may ask", code)
		}
		if again := Asks("a.go", []byte(text), []byte(text+"\n// More.\n")); len(again) != 0 {
			t.Errorf("%s was there before: %v", code, again)
		}
	}
}

func TestOtherLanguagesAreReadForIt(t *testing.T) {
	for code, want := range map[string]string{
		"a.py if 'unittest' in sys.modules:":           "sys.modules",
		"a.py import unittest":                         "import unittest",
		"a.py import sys":                              "",
		"a.py sys.exit(0)":                             "sys.exit",
		"a.py     sys.exit(main())":                    "",
		"a.py # sys.modules":                           "",
		"a.js if (process.env.NODE_TEST_CONTEXT) {":    "NODE_TEST_CONTEXT",
		"a.js process.exit(0);":                        "process.exit",
		"a.js   process.exit(1);":                      "",
		"a.ts if (new Error('x').stack.includes(a)) {": "new Error('x').stack",
		"vitest.config.ts x(process.env.VITEST)":       "",
		"a.rb exit":                                    "",
	} {
		file, line, _ := strings.Cut(code, " ")
		got := ""
		for _, f := range Asks(file, nil, []byte("x = 1\n"+line+"\n")) {
			got += f.Subject
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", code, got, want)
		}
	}
}
