package message

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

//go:generate env ORCH_UPDATE_DOCS=1 go test -run TestMessagesDocIsCurrent .

// TestMessagesDocIsCurrent compares docs/messages.md with the catalogue and
// the doc comments in this package; with ORCH_UPDATE_DOCS=1 it writes the page.
func TestMessagesDocIsCurrent(t *testing.T) {
	want := catalogueMarkdown(t)
	path := filepath.Join("..", "..", "docs", "messages.md")
	if os.Getenv("ORCH_UPDATE_DOCS") == "1" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/messages.md is not current: run go generate ./blackboard/message")
	}
}

// source is what the package's own files say about its types.
type source struct {
	structs map[string]*ast.StructType
	docs    map[string]string
	order   []string
}

func readSource(t *testing.T) source {
	t.Helper()
	src := source{structs: map[string]*ast.StructType{}, docs: map[string]string{}}
	set := token.NewFileSet()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			src.add(d)
		}
	}
	return src
}

func (src *source) add(d ast.Decl) {
	gen, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range gen.Specs {
		ts, ok := spec.(*ast.TypeSpec)
		if !ok || !ts.Name.IsExported() {
			continue
		}
		doc := ts.Doc.Text()
		if doc == "" {
			doc = gen.Doc.Text()
		}
		src.docs[ts.Name.Name] = oneLine(doc)
		if st, ok := ts.Type.(*ast.StructType); ok {
			src.structs[ts.Name.Name] = st
			src.order = append(src.order, ts.Name.Name)
		}
	}
}

func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func catalogueMarkdown(t *testing.T) string {
	t.Helper()
	src := readSource(t)
	var b strings.Builder
	b.WriteString(docHead)
	bodies := map[string]bool{}
	for _, e := range Catalogue() {
		name := string(e.Type)
		bodies[name] = true
		fmt.Fprintf(&b, "\n### %s\n\n%s → %s; changes %s\n\n%s\n", name, sourceNames(e.Sources), roleNames(e.To), partNames(e.Changes), src.docs[name])
		src.fields(t, &b, name)
	}
	b.WriteString("\n## Anomalies\n\n| kind | details it must carry | may be logged by |\n|---|---|---|\n")
	for _, kind := range AnomalyKinds() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", kind, strings.Join(AnomalyFields(kind), ", "), roleNames(AnomalyLoggers(kind)))
	}
	b.WriteString("\n## Shapes inside them\n")
	for _, name := range src.order {
		if bodies[name] || name == "Message" || name == "Entry" || name == "Source" {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", name, src.docs[name])
		src.fields(t, &b, name)
	}
	return b.String()
}

// fields writes the table of a struct's fields. Each must have a json name.
func (src *source) fields(t *testing.T, b *strings.Builder, name string) {
	st := src.structs[name]
	if st == nil {
		t.Fatalf("%s is not a struct of this package", name)
	}
	if st.Fields.NumFields() == 0 {
		return
	}
	b.WriteString("\n| field | type | |\n|---|---|---|\n")
	for _, f := range st.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		field, options, _ := strings.Cut(tag, ",")
		if field == "" {
			t.Fatalf("a field of %s has no json name", name)
		}
		doc := oneLine(f.Comment.Text() + " " + f.Doc.Text())
		if strings.Contains(options, "omitempty") {
			doc = strings.TrimSuffix("optional; "+doc, "; ")
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", field, typeName(f.Type), doc)
	}
}

func typeName(e ast.Expr) string {
	s := types.ExprString(e)
	s = strings.ReplaceAll(s, "*", "?")
	for from, to := range map[string]string{"json.RawMessage": "JSON", "time.Time": "time"} {
		s = strings.ReplaceAll(s, from, to)
	}
	if rest, ok := strings.CutPrefix(s, "[]"); ok {
		s = rest + "[]"
	}
	return "`" + s + "`"
}

func roleNames(roles []Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// sourceNames says who sends a type; a door that is not the obvious one is named.
func sourceNames(sources []Source) string {
	var parts []string
	for _, s := range sources {
		part := roleNames(s.Roles)
		if s.Door == DoorAgent {
			part = "an agent below " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func partNames(parts []Part) string {
	if len(parts) == 0 {
		return "nothing"
	}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

const docHead = `# Messages

Generated from the types and the table in ` + "`blackboard/message/table.go`" + `; a test
keeps it current. What a role may say, what a step's socket takes, and what the
auditor checks are read from the same table.

Every line of ` + "`.orch/log.jsonl`" + ` is one message: an envelope with a payload.
The heading is its ` + "`type`" + `; below it stands who may send it to whom, and which
parts of the board it changes. An append outside of this is refused and logged as
BoundaryViolation.

A message comes through one of four doors. ` + "`process`" + `: orch's own code, a supervisor,
a step or a resident, speaks for itself. ` + "`agent`" + `: a command below a step, an agent or
a test suite that it runs, speaks through the step's socket; it can only ask and
claim. ` + "`person`" + `: a command that a person typed. ` + "`board`" + `: the board speaks about what
it refused or repaired. Below a heading, "human" stands for the person's door, "board"
for the board's, "an agent below" for the agent's, and every other role for ` + "`process`" + `.

In the tables ` + "`?`" + ` marks what may be null, ` + "`[]`" + ` a list, which may be empty and is
never null. A payload with a field that is not listed is refused. Fields that
end in ` + "`_ms`" + ` are milliseconds; times are RFC 3339, UTC; costs are US dollars.

## Envelope

| field | type | |
|---|---|---|
| seq | ` + "`uint64`" + ` | position in the log, from 1, without gaps |
| ts | ` + "`time`" + ` | never earlier than the message before |
| id | ` + "`ID`" + ` | UUIDv7 |
| from, to | ` + "`Role`" + ` | sender and addressee |
| type | ` + "`Type`" + ` | what the payload is |
| goal | ` + "`GoalID`" + ` | empty for what concerns the whole board |
| subject | ` + "`string`" + ` | the task, plan, agent or goal it is about |
| cause | ` + "`ID`" + ` | the message it answers; empty for what starts by itself |
| agent | ` + "`AgentID`" + ` | the process that speaks: <role>-<n> |
| fence | ` + "`Fence`" + ` | the claim under which it is said; 0 when none is needed |
| door | ` + "`Door`" + ` | process, agent, person or board; absent in records of before there were doors |
| payload | ` + "`JSON`" + ` | the fields below |
| synced | ` + "`uint64`" + ` | highest seq the writer knew durable |
| prev, hash | ` + "`string`" + ` | the chain: SHA-256 of the line before, and of this one up to here |

## Types
`
