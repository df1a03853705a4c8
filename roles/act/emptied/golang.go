package emptied

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strings"
)

// goFile is a parsed file of go.
type goFile struct {
	set  *token.FileSet
	tree *ast.File
	text []byte
}

// parseGo parses a file. Comments are left out: they are no code.
func parseGo(name string, text []byte) (goFile, bool) {
	if text == nil {
		return goFile{}, false
	}
	f := goFile{set: token.NewFileSet(), text: text}
	var err error
	f.tree, err = parser.ParseFile(f.set, name, text, parser.SkipObjectResolution)
	return f, err == nil
}

// goChanges lists the functions that are new or no longer the same, or, where none
// is, the lines. What is not built here no test here can notice.
func goChanges(name string, before, now []byte) []Change {
	f, ok := parseGo(name, now)
	if !ok || !builtHere(name, now) {
		return nil
	}
	had := map[string]string{}
	if b, ok := parseGo(name, before); ok {
		for _, d := range b.functions() {
			had[goName(d)] = b.printed(d)
		}
	}
	var all []Change
	for _, d := range f.functions() {
		was, there := had[goName(d)]
		if there && was == f.printed(d) || idle(d) {
			continue
		}
		size := f.set.Position(d.End()).Line - f.set.Position(d.Pos()).Line + 1
		all = append(all, Change{File: name, Name: goName(d), Size: size, Whole: true, Text: f.empty(d)})
	}
	if b, ok := parseGo(name, before); ok && len(all) == 0 && b.plain(b.tree) != f.plain(f.tree) {
		return hunkChanges(name, before, now)
	}
	return all
}

// functions are those that can be emptied: main and init are what starts the
// program, and no function that a test could call.
func (f goFile) functions() []*ast.FuncDecl {
	var all []*ast.FuncDecl
	for _, d := range f.tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Recv == nil && (fn.Name.Name == "init" || fn.Name.Name == "main" && f.tree.Name.Name == "main") || fn.Name.Name == "_" {
			continue
		}
		all = append(all, fn)
	}
	return all
}

func goName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// printed is a function in one form, however it is laid out.
func (f goFile) printed(d *ast.FuncDecl) string {
	bare := *d
	bare.Doc = nil
	return f.plain(&bare)
}

func (f goFile) plain(node any) string {
	var out bytes.Buffer
	_ = printer.Fprint(&out, token.NewFileSet(), node) // of a tree that was parsed
	return strings.Join(strings.Fields(out.String()), " ")
}

// idle tells whether a function does no more than an emptied one.
func idle(d *ast.FuncDecl) bool {
	if len(d.Body.List) == 0 {
		return true
	}
	ret, ok := d.Body.List[0].(*ast.ReturnStmt)
	return ok && !slices.ContainsFunc(ret.Results, func(e ast.Expr) bool { return !zero(e) })
}

func zero(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "nil" || x.Name == "false"
	case *ast.BasicLit:
		return x.Value == "0" || x.Value == `""` || x.Value == "``"
	}
	return false
}

// empty is the file in which a function returns zero values before it does
// anything. The rest of its body stays, so that what it uses is still used.
func (f goFile) empty(d *ast.FuncDecl) []byte {
	var results []string
	named := false
	if d.Type.Results != nil {
		for _, r := range d.Type.Results.List {
			named = named || len(r.Names) > 0
			results = append(results, string(f.text[f.set.Position(r.Type.Pos()).Offset:f.set.Position(r.Type.End()).Offset]))
		}
	}
	body := " if true { return };"
	if len(results) > 0 && !named {
		var vars, names strings.Builder
		for i, t := range results {
			fmt.Fprintf(&vars, "var zero%d %s; ", i, strings.Join(strings.Fields(t), " "))
			fmt.Fprintf(&names, ", zero%d", i)
		}
		body = " if true { " + vars.String() + "return " + names.String()[2:] + " };"
	}
	at := f.set.Position(d.Body.Lbrace).Offset + 1
	return slices.Concat(f.text[:at], []byte(body), f.text[at:])
}
