package gate

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of an analysis. What exceeds one needs permission.
const (
	maxSourceBytes = 256 << 10
	maxSteps       = 20_000
	maxDepth       = 10
	maxFindings    = 50
)

// analysis walks one command and collects what needs permission.
type analysis struct {
	facts    Facts
	tool     string // of a file tool; empty for shell
	dialect  Dialect
	found    []Finding
	programs []string
	readOnly bool
	steps    int
	handlers map[string]handler
	made     map[string]bool // paths the command itself writes, before they are run
	writes   []string        // paths it writes or deletes, symbolic links resolved
}

func newAnalysis(f Facts, tool string) *analysis {
	return &analysis{facts: f, tool: tool, readOnly: true, handlers: handlers(), made: map[string]bool{}}
}

// report notes a finding.
func (a *analysis) report(action Action, program, target, why string, args ...any) {
	a.note(Finding{Action: action, Program: program, Target: target, Why: fmt.Sprintf(why, args...)})
}

// lost notes a finding about one path.
func (a *analysis) lost(action Action, program, p, how string) {
	a.note(Finding{Action: action, Program: program, Target: p, Why: fmt.Sprintf(how, program, p), place: true})
}

func (a *analysis) note(f Finding) {
	a.readOnly = false
	if len(a.found) < maxFindings && !slices.Contains(a.found, f) {
		a.found = append(a.found, f)
	}
}

// tooMuch reports a bound that was exceeded; true means stop.
func (a *analysis) tooMuch(st *state) bool {
	a.steps++
	if a.steps > maxSteps || st.depth > maxDepth {
		a.report(Unknown, "shell", "too much to read", "the command is too long or too deeply nested to be read")
		return true
	}
	return false
}

// code reads shell source and walks it.
func (a *analysis) code(src string, st *state, dialect Dialect) {
	if len(src) > maxSourceBytes {
		a.report(Unknown, "shell", "too much to read", "the command is longer than %d bytes", maxSourceBytes)
		return
	}
	variant := syntax.LangBash
	if dialect == POSIX {
		variant = syntax.LangPOSIX
	}
	file, err := parse(src, variant)
	if err != nil {
		a.report(Unknown, "shell", "syntax", "the shell command can not be read: %s", firstLine(err.Error()))
		return
	}
	outer := a.dialect
	a.dialect = dialect
	st.depth++
	a.stmts(file.Stmts, st)
	st.depth--
	a.dialect = outer
}

// shielded reads a whole command; odd input that the gate is not made for
// needs permission, and never more than that.
func (a *analysis) shielded(src string, st *state, dialect Dialect) {
	defer func() {
		if r := recover(); r != nil {
			a.report(Unknown, "shell", "odd", "%s: %v", oddInput, r)
		}
	}()
	a.code(src, st, dialect)
}

// oddInput begins the reason when reading a command failed; a test looks for it.
const oddInput = "the shell command can not be followed"

// errUnlikeShell refuses what the parser reads otherwise than a shell does.
var errUnlikeShell = errors.New("it holds a carriage return or a NUL, which shells read each in their own way")

// parse shields the gate from a parser that panics on odd input, and from one
// that drops what a shell does not: a backslash before CR LF is no line
// continuation to a shell, so that the next line is a command of its own.
func parse(src string, variant syntax.LangVariant) (file *syntax.File, err error) {
	if strings.ContainsAny(src, "\r\x00") {
		return nil, errUnlikeShell
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parser: %v", r)
		}
	}()
	return syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(src), "")
}

// subCode reads code for another shell, of which it is not known how it
// differs: what either reading finds counts.
func (a *analysis) subCode(src string, st *state, shell string) {
	inner := st.clone()
	inner.positional, inner.stdin = nil, input{}
	inner.depth++
	if a.tooMuch(inner) {
		return
	}
	if shell == "bash" || shell == "zsh" {
		a.code(src, inner, Bash)
		return
	}
	if _, err := parse(src, syntax.LangPOSIX); err == nil {
		programs := len(a.programs)
		a.code(src, inner.clone(), POSIX)
		a.programs = a.programs[:programs] // the second reading finds them again
	}
	a.code(src, inner, Bash)
}

// inspect asks the facts about a path, seen through the links the command
// itself made before.
func (a *analysis) inspect(p string, st *state, follow bool) Entry {
	if temporary(p) {
		return Entry{Real: p, Created: true, Scratch: true}
	}
	if device(p) {
		return Entry{Real: p, Exists: true, Scratch: true}
	}
	return a.facts.Inspect(p, follow)
}

func temporary(p string) bool {
	clean := path.Clean(p)
	return clean == tempName || strings.HasPrefix(clean, tempName+"/")
}

func device(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/") && !strings.Contains(p, "..")
}

// seen are the places a path may mean: itself, and through links of the command.
func (st *state) seen(p string) []string {
	out := []string{p}
	for _, l := range st.links {
		if p == l.from || strings.HasPrefix(p, l.from+"/") {
			out = append(out, tidy(l.to+p[len(l.from):]))
		}
	}
	return out
}

// rel is how rules and people name a path.
func (a *analysis) rel(p string) string {
	root := a.facts.Root()
	if p == root {
		return "."
	}
	if rest, ok := strings.CutPrefix(p, root+"/"); ok {
		return rest
	}
	return p
}

// protected tells whether a path belongs to orch or to git.
func (a *analysis) protected(e Entry) bool {
	rel := a.rel(e.Real)
	if first, _, _ := strings.Cut(rel, "/"); first == ".orch" {
		return true
	}
	return !e.Created && slices.Contains(strings.Split(rel, "/"), ".git")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
