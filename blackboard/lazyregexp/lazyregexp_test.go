package lazyregexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestManyMayUseItFirst(t *testing.T) {
	r := New(`^a+$`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !r.MatchString("aaa") || r.MatchString("b") {
				t.Error("it does not match what it should")
			}
		})
	}
	all.Wait()
}

func TestAMalformedOnePanicsWhenUsed(t *testing.T) {
	r := New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a malformed expression was used")
		}
	}()
	r.MatchString("")
}

// Nothing else compiles them before they are needed, so here all are that any
// package has.
func TestEveryExpressionIsWellFormed(t *testing.T) {
	found := 0
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "examples"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || filepath.Dir(path) == filepath.Join(root, "roles", "lazyregexp"):
			return nil
		}
		found += compileAll(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 100 {
		t.Errorf("only %d expressions were found", found)
	}
}

// compileAll compiles what a file gives to New, or to a function re.
func compileAll(t *testing.T, path string) (found int) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if !isNew(call.Fun) {
			return true
		}
		where := files.Position(call.Pos())
		if name, ok := call.Args[0].(*ast.Ident); ok && strings.HasSuffix(where.Filename, "language.go") && name.Name == "s" {
			return true // the function re itself
		}
		text, ok := constant(call.Args[0])
		if !ok {
			t.Errorf("%s: an expression that is not written down as it is cannot be looked at", where)
			return true
		}
		found++
		if _, err := regexp.Compile(text); err != nil {
			t.Errorf("%s: %v", where, err)
		}
		return true
	})
	return found
}

func isNew(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		pkg, ok := fun.X.(*ast.Ident)
		return ok && pkg.Name == "lazyregexp" && fun.Sel.Name == "New"
	case *ast.Ident:
		return fun.Name == "re"
	}
	return false
}

// constant is the value of a string literal, or of several joined by +.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, ok := constant(e.X)
		b, also := constant(e.Y)
		return a + b, ok && also && e.Op == token.ADD
	}
	return "", false
}
