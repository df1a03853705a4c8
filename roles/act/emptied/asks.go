package emptied

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
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
	look := func(text []byte) []weaken.Finding { return askedIn(file, text) }
	if path.Ext(file) == ".go" {
		look = func(text []byte) []weaken.Finding {
			f, ok := parseGo(file, text)
			if !ok {
				return nil
			}
			return f.asks(file)
		}
	}
	had := look(before)
	return slices.DeleteFunc(look(now), func(n weaken.Finding) bool {
		return slices.ContainsFunc(had, func(h weaken.Finding) bool { return h.ID() == n.ID() })
	})
}

// What a program asks and how it ends, in languages that are read line by line.
// An end counts where it stands at the top of a file.
var (
	asked = map[string]*lazyregexp.Regexp{
		"python": lazyregexp.New(`\bsys\.modules\b|\bsys\.argv\[0\]|\bsys\.orig_argv\b|\bsys\._getframe\b|\binspect\.(?:stack|currentframe)\b|\btraceback\.(?:extract_stack|format_stack)\b|PYTEST_\w+|\b(?:import|from)\s+(?:unittest|pytest)\b|/proc/self|\b_?test_\w*\.py\b`),
		"script": lazyregexp.New(`\bNODE_TEST_CONTEXT\b|\bnpm_lifecycle_\w+|\bprocess\.execArgv\b|\bprocess\.argv\[1\]|\bmodule\.parent\b|\bnew Error\([^)]*\)\.stack\b|\bcaptureStackTrace\b|\bJEST_WORKER_ID\b|\bVITEST\w*\b|['"]node:test['"]|\.(?:test|spec)\.[mc]?[jt]s\b|/proc/self`),
	}
	ended = map[string]*lazyregexp.Regexp{
		"python": lazyregexp.New(`^(?:os\._exit|sys\.exit|exit|quit|raise SystemExit|atexit\.register)\b`),
		"script": lazyregexp.New(`^(?:process\.(?:exit|kill|reallyExit|on\(['"]exit)|setImmediate\(.*exit)\b`),
	}
	kinds = map[string]string{".py": "python", ".js": "script", ".mjs": "script", ".cjs": "script", ".ts": "script", ".mts": "script", ".cts": "script", ".jsx": "script", ".tsx": "script"}
)

// askedIn is what a file of another language than go asks.
func askedIn(file string, text []byte) (all []weaken.Finding) {
	kind := kinds[strings.ToLower(path.Ext(file))]
	if kind == "" || text == nil || strings.Contains(path.Base(file), ".config.") {
		return nil
	}
	for i, line := range split(text) {
		say := func(subject, what, fix string) {
			all = append(all, weaken.Finding{Kind: weaken.SpecialCase, File: file, Subject: subject, Line: i + 1, What: what, Sure: true, Fix: fix})
		}
		line = strings.TrimRight(line, "\r\n")
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "//") || strings.HasPrefix(bare, "# ") {
			continue
		}
		if word := asked[kind].FindString(line); word != "" {
			say(word, "the program asks "+word+", by which it can tell that it is tested", "let the program behave the same whether it is tested or not")
		}
		if word := ended[kind].FindString(line); word != "" {
			say(word, "the program calls "+word+" when it is loaded, before any test runs", "end the process from where it is started, if at all")
		}
	}
	return all
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
