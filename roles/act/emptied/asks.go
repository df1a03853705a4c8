package emptied

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"orch/roles/act/weaken"
)

// askers are calls and names by which a program of go learns that it is tested,
// what program it is, or who calls it.
var askers = []string{"testing.Testing", "testing.Short", "testing.Verbose", "testing.CoverMode", "flag.Lookup", "flag.VisitAll", "os.Executable", "os.Args",
	"debug.ReadBuildInfo", "debug.Stack", "debug.PrintStack", "runtime.Stack", "runtime.Caller", "runtime.Callers", "runtime.CallersFrames"}

// telling are parts of texts that only programs of tests have to do with.
var telling = []string{"_test.go", ".test", "-test.", "/proc/self"}

// enders end the process.
var enders = []string{"os.Exit", "syscall.Exit", "syscall.Exec", "syscall.Kill", "log.Fatal", "log.Fatalf", "log.Fatalln", "runtime.Goexit", "unix.Exec", "unix.Exit"}

// Asks finds, in a file of code that is no test, what is new of how a program
// could make its tests say what it likes: by ending the process when it starts,
// before any test has run, or by finding out that it is tested. What function main
// itself asks of its arguments is left out.
func Asks(file string, before, now []byte) []weaken.Finding {
	if path.Ext(file) != ".go" {
		return nil
	}
	f, ok := parseGo(file, now)
	if !ok {
		return nil
	}
	var had []weaken.Finding
	if b, ok := parseGo(file, before); ok {
		had = b.asks(file)
	}
	return slices.DeleteFunc(f.asks(file), func(n weaken.Finding) bool {
		return slices.ContainsFunc(had, func(h weaken.Finding) bool { return h.ID() == n.ID() && h.Sure == n.Sure })
	})
}

func (f goFile) asks(file string) (all []weaken.Finding) {
	starts := f.atStart()
	say := func(n ast.Node, subject, what, fix string) {
		all = append(all, weaken.Finding{Kind: weaken.SpecialCase, File: file, Subject: subject, Line: f.set.Position(n.Pos()).Line, What: what, Sure: true, Fix: fix})
	}
	for _, d := range f.tree.Decls {
		fn, _ := d.(*ast.FuncDecl)
		main := fn != nil && fn.Recv == nil && fn.Name.Name == "main" && f.tree.Name.Name == "main"
		ast.Inspect(d, func(n ast.Node) bool {
			name := named(n)
			early := slices.ContainsFunc(starts, func(s ast.Node) bool { return s.Pos() <= d.Pos() && d.End() <= s.End() })
			switch {
			case early && slices.Contains(enders, name):
				say(n, name, "the program calls "+name+" when it starts, before any test runs", "end the process from main, if at all")
			case slices.Contains(askers, name) && !(main && name == "os.Args"), tells(n):
				say(n, name, "the program asks "+name+", by which it can tell that it is tested", "let the program behave the same whether it is tested or not")
			}
			return true
		})
	}
	return all
}

// tells tells whether a node is a text that only programs of tests have to do with.
func tells(n ast.Node) bool {
	lit, ok := n.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && slices.ContainsFunc(telling, func(t string) bool { return strings.Contains(lit.Value, t) })
}

// named is a name with its package, such as os.Exit, or a text.
func named(n ast.Node) string {
	switch x := n.(type) {
	case *ast.SelectorExpr:
		return selected(x)
	case *ast.BasicLit:
		return x.Value
	}
	return ""
}

// selected is a name with its package, such as os.Exit.
func selected(s *ast.SelectorExpr) string {
	if id, ok := s.X.(*ast.Ident); ok {
		return id.Name + "." + s.Sel.Name
	}
	return ""
}

// atStart are the parts of a file that run when its program starts: what gives
// variables of the package their values, init, and the functions of the file that
// these call.
func (f goFile) atStart() []ast.Node {
	bodies := map[string]*ast.FuncDecl{}
	var starts []ast.Node
	for _, d := range f.tree.Decls {
		switch x := d.(type) {
		case *ast.GenDecl:
			if x.Tok == token.VAR {
				starts = append(starts, x)
			}
		case *ast.FuncDecl:
			if x.Recv == nil && x.Name.Name == "init" {
				starts = append(starts, x)
			} else if x.Recv == nil && x.Body != nil {
				bodies[x.Name.Name] = x
			}
		}
	}
	for i := 0; i < len(starts); i++ {
		ast.Inspect(starts[i], func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if id, ok := call.Fun.(*ast.Ident); ok && bodies[id.Name] != nil {
				starts = append(starts, bodies[id.Name])
				delete(bodies, id.Name)
			}
			return true
		})
	}
	return starts
}
