package gate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// invocation is one program with its arguments.
type invocation struct {
	name string // without directories
	path string // as written
	args []arg
}

// handler judges an invocation. Programs without one are run unread.
type handler func(a *analysis, c invocation, st *state)

// call walks a simple command.
func (a *analysis) call(c *syntax.CallExpr, st *state) {
	for _, as := range c.Assigns {
		a.substs(as, st)
	}
	for _, w := range c.Args {
		a.substs(w, st)
	}
	if len(c.Args) == 0 {
		for _, as := range c.Assigns {
			a.assign(as, st)
		}
		return
	}
	for _, as := range c.Assigns { // for this program only
		if as.Name != nil && as.Value != nil {
			a.sensitive(as.Name.Value, a.assigned(as.Value, st), st)
		}
	}
	a.run(a.args(c.Args, st), st)
	for _, w := range c.Args { // ${x:=y} sets x
		a.unset(w, st)
	}
}

// run judges a program with its arguments.
func (a *analysis) run(args []arg, st *state) {
	if a.tooMuch(st) || len(args) == 0 {
		return
	}
	program := args[0]
	if !program.known() {
		a.report(Unknown, "shell", program.src, "which program %s is can not be known beforehand", program.src)
		return
	}
	for _, f := range program.alts {
		if f.glob {
			a.report(Unknown, "shell", f.text, "which program %s is can not be known beforehand", f.text)
			continue
		}
		a.program(f.text, args[1:], st)
	}
}

func (a *analysis) program(as string, args []arg, st *state) {
	if body := st.funcs[as]; body != nil {
		a.function(body, args, st)
		return
	}
	c := invocation{name: base(as), path: as, args: args}
	if v := versioned(c.name); v != "" {
		c.name = v
	}
	if !slices.Contains(silent, c.name) && len(a.programs) < maxFindings {
		a.programs = append(a.programs, c.name)
	}
	if strings.Contains(as, "/") && a.ownScript(as, "", st) {
		return
	}
	if ro, ok := readers()[c.name]; !ok || (ro != nil && !ro(c)) {
		a.readOnly = false
	}
	if h := a.handlerOf(c.name); h != nil {
		h(a, c, st)
	}
}

// silent are programs that say nothing about what a command is for.
var silent = []string{"cd", "export", "set", "true", ":", "test", "[", "pwd", "umask", "shopt", "local", "return", "exit", "read", "shift", "trap"}

// versioned maps python3.12 and its like to the name in the tables.
func versioned(name string) string {
	for _, p := range []string{"python", "perl", "ruby", "php", "lua", "node", "pip"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && strings.Trim(rest, "0123456789.-") == "" {
			return p
		}
	}
	if name == "nodejs" {
		return "node"
	}
	return ""
}

// function walks the body of a function of the command.
func (a *analysis) function(body *syntax.Stmt, args []arg, st *state) {
	outer := st.positional
	st.positional = args
	if args == nil {
		st.positional = []arg{}
	}
	st.depth++
	a.stmt(body, st)
	st.depth--
	st.positional = outer
}

// ownScript judges a program given by its path. One that this goal made is
// read; one that the project came with is run unread, as make is.
// The interpreter is lang, or what the script itself says.
func (a *analysis) ownScript(p, lang string, st *state) bool {
	for _, q := range st.paths(p) {
		if a.made[q] && !device(q) {
			a.report(Unknown, base(p), a.rel(q), "%s is written and run by the same command", a.rel(q))
			return true
		}
		if a.installed(q, st) {
			return false
		}
		e := a.inspect(q, st, true)
		if e.Exists && !e.Dir && (e.Created || (e.Scratch && !device(q))) {
			a.script(q, lang, st)
			return true
		}
	}
	return false
}

// installed tells whether a program belongs to the packages of the project: a
// package manager put it there, and it is run unread as the project's own.
func (a *analysis) installed(p string, st *state) bool {
	e := a.inspect(path.Dir(p), st, true)
	if !e.Inside {
		return false
	}
	if slices.Contains(strings.Split(a.rel(e.Real), "/"), "node_modules") {
		return true
	}
	return a.inspect(path.Dir(e.Real)+"/pyvenv.cfg", st, true).Exists
}

// script reads a script that this goal made.
func (a *analysis) script(p, lang string, st *state) {
	src, ok := a.facts.Source(p)
	shebang := firstLine(src)
	if lang == "" && strings.HasPrefix(src, "#!") && !shellShebang(shebang) {
		lang = cmp.Or(language(shebang), "?")
	}
	switch {
	case !ok:
		a.report(Unknown, base(p), a.rel(p), "what %s does can not be read", a.rel(p))
	case lang != "":
		a.readOnly = false
		if !harmlessCode(lang, src) {
			a.report(InlineCode, base(p), a.rel(p), "%s was made by this goal and its code can not be followed", a.rel(p))
		}
	case strings.ContainsRune(src[:min(len(src), 512)], 0):
		a.report(Unknown, base(p), a.rel(p), "%s was made by this goal and is no script that can be read", a.rel(p))
	default:
		a.subCode(src, st, scriptShell(shebang))
	}
}

func shellShebang(line string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "zsh"}, interpreter(line))
}

func scriptShell(shebang string) string {
	if name := interpreter(shebang); name != "" {
		return name
	}
	return "sh"
}

// interpreter is the program of a #! line.
func interpreter(line string) string {
	f := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(f) == 0 {
		return ""
	}
	if path.Base(f[0]) == "env" && len(f) > 1 {
		return path.Base(f[len(f)-1])
	}
	return path.Base(f[0])
}

// redirect judges one redirection, and notes what feeds standard input.
func (a *analysis) redirect(r *syntax.Redirect, st *state) {
	a.substs(r, st)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		st.stdin = input{what: "a here-document"}
		if r.Hdoc == nil { // cut off by the end of the command: empty
			return
		}
		if text, ok := a.assigned(r.Hdoc, st).lit(); ok {
			st.stdin = input{known: true, text: text, what: "a here-document"}
		}
		return
	case syntax.WordHdoc:
		text, ok := a.assigned(r.Word, st).lit()
		st.stdin = input{known: ok, text: text, what: "a here-string"}
		return
	case syntax.RdrIn:
		st.stdin = a.fileInput(r.Word, st)
		return
	case syntax.DplIn:
		return
	case syntax.DplOut:
		if s := r.Word.Lit(); s == "-" || strings.Trim(s, "0123456789-") == "" {
			return // another descriptor
		}
	}
	for _, t := range a.args([]*syntax.Word{r.Word}, st) {
		if s, ok := t.lit(); ok && (strings.HasPrefix(s, "/dev/tcp/") || strings.HasPrefix(s, "/dev/udp/")) {
			a.report(Outside, "shell", s, "a redirection opens a connection to %s", s)
			continue
		}
		appends := r.Op == syntax.AppOut || r.Op == syntax.AppAll || r.Op == syntax.AppClob || r.Op == syntax.AppAllClob || r.Op == syntax.RdrInOut
		a.write("redirection", t, st, !appends)
	}
}

// fileInput is what < FILE feeds: known when this goal made the file.
func (a *analysis) fileInput(w *syntax.Word, st *state) input {
	in := input{what: source(w)}
	name, ok := a.assigned(w, st).lit()
	if !ok {
		return in
	}
	if name == "/dev/null" {
		return input{known: true, what: name}
	}
	if ps := st.paths(name); len(ps) == 1 && !st.lost {
		in.text, in.known = a.facts.Source(ps[0])
	}
	return in
}

// outputOf is what a statement writes into a pipe, when that is written in it.
func (a *analysis) outputOf(s *syntax.Stmt, st *state) input {
	in := input{what: source(s)}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return in
	}
	switch call.Args[0].Lit() {
	case "echo", "printf":
		var words []string
		for _, x := range a.args(call.Args[1:], st.clone()) {
			text, ok := x.lit()
			if !ok || strings.ContainsAny(text, `\%`) {
				return in
			}
			words = append(words, text)
		}
		in.text, in.known = strings.Join(words, " "), len(s.Redirs) == 0
	case "cat":
		inner := st.clone()
		for _, r := range s.Redirs {
			if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc {
				a.redirect(r, inner)
				in.text, in.known = inner.stdin.text, inner.stdin.known
			}
		}
		if len(call.Args) > 1 {
			in.known = false
		}
	}
	return in
}
