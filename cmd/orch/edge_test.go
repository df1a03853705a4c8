package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const testMark = "\x1b0123456789ab"

// throughEdge is what an edge makes of writes, cut as they are.
func throughEdge(e *edge, parts ...string) string {
	var out bytes.Buffer
	e.to = &out
	for _, p := range parts {
		if n, err := e.Write([]byte(p)); n != len(p) || err != nil {
			panic(fmt.Sprint(n, err))
		}
	}
	e.flush()
	return out.String()
}

func TestOnlyOrchStylesATerminal(t *testing.T) {
	t.Parallel()
	p := paint{testMark}
	for in, want := range map[string]string{
		p.red("no") + "\x1b[31mred\x1b[0m \x1b[2K": "\x1b[31mno\x1b[0m" + `\u001b[31mred\u001b[0m \u001b[2K`,
		testMark + "k" + p.bold("a\rb"):            "\r\x1b[2K\x1b[1m" + `a\rb` + "\x1b[0m",
		testMark + "2J" + testMark + "1;1;1m x":    "2J1;1;1m x",
		"\x1b0123":                                 `\u001b0123`,
		"می‌خواهم":                                 "می‌خواهم",
		"\x1b" + testMark + "1m":                   `\u001b` + "\x1b[1m",
	} {
		if got := throughEdge(&edge{mark: testMark}, in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := throughEdge(&edge{mark: testMark}, strings.Split(in, "")...); got != want {
			t.Errorf("%q byte by byte: %q, want %q", in, got, want)
		}
	}
	if got := throughEdge(&edge{}, testMark+"1m"); strings.Contains(got, "\x1b") {
		t.Errorf("what is no terminal was styled: %q", got)
	}
}

// TestAnEdgeCutsNothingApart: it makes no difference how text is cut into writes.
func TestAnEdgeCutsNothingApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "é", "👩‍👩‍👧", "\x1b", "\x1b[1m", testMark + "1m", testMark + "k", testMark[:5], "\u202e", "\x9b", "\xe2\x80", "\n", "m"})
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		whole, parts := throughEdge(&edge{mark: testMark}, text), throughEdge(&edge{mark: testMark}, text[:at], text[at:])
		if whole != parts {
			t.Fatalf("%q at %d: %q, whole: %q", text, at, parts, whole)
		}
	})
}

func TestALongLineIsCutOnATerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1<<19)
	got := throughEdge(&edge{mark: testMark, cut: "orch show 7 | less -S"}, "before\n"+long[:100_000], long[100_000:]+"\nafter\n")
	lines := strings.Split(got, "\n")
	if len(lines) != 4 || lines[0] != "before" || lines[2] != "after" {
		t.Fatalf("%d lines", len(lines))
	}
	want := fmt.Sprintf("… %d bytes more: orch show 7 | less -S", len(long)-lineBytes)
	if !strings.HasSuffix(lines[1], want) || len(lines[1]) != lineBytes+len(want) {
		t.Errorf("cut to %d bytes that end in %q, want %q", len(lines[1]), lines[1][len(lines[1])-80:], want)
	}
	if got := throughEdge(&edge{}, long); got != long {
		t.Error("what is no terminal was cut")
	}
	for line, want := range map[string]string{
		"show 7": "orch show 7 | less -S", "task show a'b\x1b": `orch task show 'a'\''b\u001b' | less -S`,
		"show 7 --json": "",
	} {
		if got := wholeBy(strings.Split(line, " "), true); got != want {
			t.Errorf("orch %q: %q, want %q", line, got, want)
		}
	}
}

// TestOnlyWhatReadsIsAskedAgain: the advice beside a cut line never is to do
// something a second time.
func TestOnlyWhatReadsIsAskedAgain(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"task ls": "orch task ls | less -S", "log": "orch log | less -S", "state": "orch state | less -S", "prompt coder": "orch prompt coder | less -S",
		"task claim t1": "orch log --json | less -S", "claim t1": "orch log --json | less -S", "goals drop g1": "orch log --json | less -S",
		"config trust": "orch log --json | less -S", "run x": "orch log --json | less -S", "task --dep 1 x": "orch log --json | less -S",
	} {
		args := strings.Split(line, " ")
		out := &edge{to: io.Discard, tty: true, cut: wholeBy(args, false)}
		a := &app{line: args, out: out, err: io.Discard, refuses: func(context.Context) error { return errors.New("not run here") }}
		root := newRoot(a, needed(args))
		root.SetArgs(append([]string{"--dir", t.TempDir()}, args...))
		_ = root.Execute() // what it says is of no interest
		if out.cut != want {
			t.Errorf("orch %s: %q, want %q", line, out.cut, want)
		}
	}
}

// TestNoTextAddsALine: what is put into a line of ours stays in it.
func TestNoTextAddsALine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	forged := "x\nerror: forged"
	say(&out, "%-4s|%v|%q|%d|%s|%*s\n", forged, fmt.Errorf("%s", forged), forged, 3, []byte(forged), 4, "y")
	sayLine(&out, forged)
	say(&out, "error: %s\n", under(7, forged))
	want := `x\nerror: forged|x\nerror: forged|"x\nerror: forged"|3|x\nerror: forged|   y` + "\n" + `x\nerror: forged` + "\nerror: x\n       error: forged\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestThereIsOneWayOut: nothing of this program writes to its streams but
// through an edge, and nothing puts text into a line but through say.
func TestThereIsOneWayOut(t *testing.T) {
	t.Parallel()
	files, err := parser.ParseDir(token.NewFileSet(), ".", func(f os.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil || len(files["main"].Files) < 50 {
		t.Fatal(err)
	}
	for name, file := range files["main"].Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.SelectorExpr:
				if on, ok := x.X.(*ast.Ident); ok && on.Name == "os" && (x.Sel.Name == "Stdout" || x.Sel.Name == "Stderr") && name != "main.go" {
					t.Errorf("%s uses os.%s", name, x.Sel.Name)
				}
			case *ast.CallExpr:
				to, ok := x.Fun.(*ast.SelectorExpr)
				if !ok || to.Sel.Name != "Fprintf" && to.Sel.Name != "Fprintln" || name == "edge.go" {
					return true
				}
				if _, buffer := x.Args[0].(*ast.UnaryExpr); !buffer {
					t.Errorf("%s prints with %s, which lets text add lines; say does not", name, to.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestTheEditorHasTheTerminal: a program that the person works in is given the
// stream itself.
func TestTheEditorHasTheTerminal(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := &app{out: newEdge(f, ""), err: newEdge(f, "")}
	path := f.Name() + ".task"
	if err := a.runEditor(`sh -c 'printf "\033[1mdrawn"'`, path); err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(f.Name())
	if err != nil || string(drawn) != "\x1b[1mdrawn" {
		t.Errorf("the editor drew %q: %v", drawn, err)
	}
}
