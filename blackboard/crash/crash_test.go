package crash

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPanicInAGoroutineIsHandled(t *testing.T) {
	got := make(chan any)
	Handle(func(cause any) {
		got <- cause
		select {} // as a process that ends
	})
	t.Cleanup(func() { end.Store(nil) })
	Go(func() { panic("here") })
	if cause := <-got; cause != "here" {
		t.Errorf("handled %v", cause)
	}
	done := make(chan bool)
	Go(func() { close(done) })
	<-done
}

func TestAPanicNobodyHandlesGoesOn(t *testing.T) {
	defer func() {
		if cause := recover(); cause != "here" {
			t.Errorf("recovered %v", cause)
		}
	}()
	Safe(func() { panic("here") })()
}

// TestEveryGoroutineIsStartedSafely: whatever the product starts beside itself
// goes through this package, or a panic in it ends with the runtime's exit 2.
func TestEveryGoroutineIsStartedSafely(t *testing.T) {
	const top = "../.."
	started := 0
	err := filepath.WalkDir(top, func(file string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, file)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (rel == ".git" || rel == "scripts" || rel == "examples" || rel == "blackboard/crash" ||
			rel == "roles/think/fakemodel" || entry.Name() == "internal" || strings.HasSuffix(rel, "test") && rel != "."):
			return fs.SkipDir
		case !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: start it with crash.Go", set.Position(n.Pos()))
			case *ast.CallExpr:
				on, name := called(n.Fun)
				if on == "crash" {
					started++
				} else if (name == "Go" || name == "AfterFunc") && !safe(n.Args) {
					t.Errorf("%s: wrap the function with crash.Safe", set.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil || started < 20 {
		t.Fatalf("found %d goroutines: %v", started, err)
	}
}

// called is the function that an expression names, and what it is called on.
func called(f ast.Expr) (on, name string) {
	s, ok := f.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if x, ok := s.X.(*ast.Ident); ok {
		on = x.Name
	}
	return on, s.Sel.Name
}

func safe(args []ast.Expr) bool {
	call, ok := args[len(args)-1].(*ast.CallExpr)
	if !ok {
		return false
	}
	on, name := called(call.Fun)
	return on == "crash" && name == "Safe"
}
