package gate

import (
	"slices"
	"strings"
)

// shellHandlers are the programs and builtins that run shell code, or change
// what the shell knows.
func shellHandlers() map[string]handler {
	return map[string]handler{
		"sh": shell, "bash": shell, "dash": shell, "ash": shell, "ksh": shell, "mksh": shell, "zsh": shell, "rbash": shell, "fish": foreignShell, "csh": foreignShell, "tcsh": foreignShell, "pwsh": foreignShell, "nu": foreignShell, "elvish": foreignShell, "xonsh": foreignShell,
		"eval": eval, "source": sourced, ".": sourced, "trap": trap, "alias": alias, "env": envRun, "xargs": xargs, "command": commandRun,
		"cd": cd, "pushd": cd, "popd": popd, "set": set, "shift": set, "read": reads, "mapfile": reads, "readarray": reads, "getopts": reads, "unset": reads, "printf": printf,
		"hash": rebinds, "enable": rebinds, "find": find, "gfind": find, "fd": fd, "fdfind": fd, "parallel": parallel, "watch": joined, "flock": flock, "script": scriptRun, "entr": entr,
		"kill": kill, "pkill": killNamed, "killall": killNamed, "skill": killNamed, "fuser": fuser,
	}
}

// shell runs sh -c CODE, sh FILE, or sh with code on its input.
func shell(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "coO", longs: []string{"--rcfile", "--init-file"}, first: true}.parse(stackedC(c.args))
	for _, f := range o.values("--rcfile", "--init-file") {
		a.report(Unknown, c.name, f.src, "%s reads %s before it starts", c.name, f.src)
	}
	if codes := o.values("-c"); len(codes) > 0 {
		a.argCode(c.name, codes[0], st, c.name)
		return
	}
	if len(o.ops) == 0 || o.has("-s") {
		a.codeFromInput(c.name, st)
		return
	}
	a.shellFile(c.name, o.ops[0], st)
}

// stackedC takes -lc and -ec apart: the c comes last and takes the next argument.
func stackedC(args []arg) []arg {
	out := slices.Clone(args)
	for i, x := range out {
		text, ok := x.lit()
		if !ok || len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		if !strings.HasPrefix(text, "--") && text[0] == '-' && strings.ContainsRune(text[1:], 'c') {
			out[i] = known("-c")
			for i+1 < len(out) { // bash -c -e CODE: options may still follow
				next, ok := out[i+1].lit()
				if !ok || !strings.HasPrefix(next, "-") || next == "-" {
					break
				}
				out = slices.Delete(out, i+1, i+2)
			}
			break
		}
	}
	return out
}

// codeFromInput judges a shell that reads its code from a pipe or a redirection.
func (a *analysis) codeFromInput(program string, st *state) {
	switch in := st.stdin; {
	case in.known:
		a.subCode(in.text, st, program)
	case in.what != "":
		a.report(InlineCode, program, in.what, "%s runs what comes from: %s", program, in.what)
	}
}

func (a *analysis) shellFile(program string, file arg, st *state) {
	name, ok := file.lit()
	if !ok || st.lost && !strings.HasPrefix(name, "/") {
		a.report(Unknown, program, file.src, "%s runs a script that can not be known beforehand: %s", program, file.src)
		return
	}
	if device(name) {
		a.report(InlineCode, program, name, "%s runs code that is made while it runs", program)
		return
	}
	if !a.ownScript(name, "", st) {
		a.readOnly = false
	}
}

// foreignShell: code in a language the gate does not read.
func foreignShell(a *analysis, c invocation, st *state) {
	a.report(InlineCode, c.name, c.name, "%s has a language of its own that is not read", c.name)
}

func eval(a *analysis, c invocation, st *state) {
	words := make([]string, 0, len(c.args))
	for _, x := range c.args {
		text, ok := x.lit()
		if !ok {
			a.report(Unknown, c.name, x.src, "eval runs code that can not be known beforehand: %s", x.src)
			st.forget()
			return
		}
		words = append(words, text)
	}
	a.evalHere(strings.Join(words, " "), st)
}

func sourced(a *analysis, c invocation, st *state) {
	if len(c.args) > 0 {
		a.shellFile(c.name, c.args[0], st)
	}
	st.forget()
}

func trap(a *analysis, c invocation, st *state) {
	ops := syntaxOf{}.parse(c.args).ops
	if len(ops) > 1 {
		if text, ok := ops[0].lit(); !ok || text != "-" {
			a.argCode(c.name, ops[0], st.clone(), "")
		}
	}
}

func alias(a *analysis, c invocation, st *state) {
	for _, x := range c.args {
		text, ok := x.lit()
		_, code, set := strings.Cut(text, "=")
		if !ok || set {
			a.argCode(c.name, arg{alts: fieldsOf(code, ok), src: x.src}, st, "sh")
		}
	}
}

func fieldsOf(text string, ok bool) []field {
	if !ok {
		return nil
	}
	return []field{{text: text}}
}

// rebinds judges builtins that make a name stand for another program.
func rebinds(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "pf"}.parse(c.args)
	if o.has("-p") || o.has("-f") {
		a.report(Unknown, c.name, c.name, "%s makes a name stand for another program", c.name)
	}
}

func cd(a *analysis, c invocation, st *state) {
	ops := syntaxOf{}.parse(c.args).ops
	to := known("~")
	if len(ops) > 0 {
		to = ops[0]
	} else if home, ok := st.vars["HOME"]; ok && len(home.alts) == 1 {
		to = known(home.alts[0])
	} else {
		to = unknown("the home directory")
	}
	before := st.clone()
	st.chdir(to, a)
	for _, d := range st.dirs {
		if !a.inspect(d, st, true).Dir && !temporary(d) {
			st.dirs = append(st.dirs, before.dirs...) // it may fail, and the next command run here
			break
		}
	}
}

func popd(_ *analysis, _ invocation, st *state) { st.lost = true }

// set replaces the positional parameters, in part or as a whole.
func set(_ *analysis, c invocation, st *state) {
	if c.name == "set" {
		if first, ok := firstLit(c.args); ok && first == "--" && c.args != nil {
			st.positional = append([]arg{}, c.args[1:]...)
			return
		}
		if first, ok := firstLit(c.args); ok && (strings.HasPrefix(first, "-") || strings.HasPrefix(first, "+")) {
			return
		}
	}
	st.positional = nil
}

// reads judges builtins that set the variables they name.
func reads(_ *analysis, c invocation, st *state) {
	for _, x := range c.args {
		text, ok := x.lit()
		if !ok {
			st.forget()
			return
		}
		delete(st.vars, text)
	}
	delete(st.vars, "REPLY")
	delete(st.vars, "MAPFILE")
	delete(st.vars, "OPTARG")
}

func printf(a *analysis, c invocation, st *state) {
	if first, ok := firstLit(c.args); ok && strings.HasPrefix(first, "-v") {
		reads(a, c, st)
		delete(st.vars, strings.TrimPrefix(first, "-v"))
	}
}

func joined(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "nq", longs: []string{"--interval"}, first: true}.parse(c.args)
	words := make([]string, len(o.ops))
	for i, x := range o.ops {
		text, ok := x.lit()
		if !ok {
			text = quoteWord(x)
		}
		words[i] = text
	}
	a.argCode(c.name, known(strings.Join(words, " ")), st, "sh")
}

func flock(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "wEc", longs: []string{"--timeout", "--wait", "--command"}, first: true}.parse(c.args)
	if len(o.ops) == 0 {
		return
	}
	a.write(c.name, o.ops[0], st, false)
	rest := syntaxOf{shorts: "c", first: true}.parse(o.ops[1:])
	for _, code := range rest.values("-c") {
		a.argCode(c.name, code, st, "sh")
	}
	a.run(rest.ops, st)
}

func scriptRun(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "cEIOBTom", longs: []string{"--command"}}.parse(c.args)
	for _, code := range o.values("-c", "--command") {
		a.argCode(c.name, code, st, "sh")
	}
	for _, f := range append(o.ops, o.values("-I", "-O", "-B", "-T")...) {
		a.write(c.name, f, st, !o.has("-a", "--append"))
	}
	if len(o.ops) == 0 && len(o.values("-O", "-B")) == 0 {
		a.write(c.name, known("typescript"), st, true)
	}
}

func entr(a *analysis, c invocation, st *state) {
	a.run(syntaxOf{first: true}.parse(c.args).ops, st)
}
