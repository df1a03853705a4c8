package gate

import (
	"slices"
	"strings"
	"sync"
)

// wrapper is a program that runs another one given in its arguments.
type wrapper struct {
	shorts string // options that take a value
	longs  []string
	skip   int // operands before the program
}

var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"nohup": {}, "setsid": {}, "time": {shorts: "fo", longs: []string{"--format", "--output"}}, "nice": {shorts: "n", longs: []string{"--adjustment"}},
		"ionice": {shorts: "cnpPu"}, "chrt": {shorts: "TPD", skip: 1}, "taskset": {shorts: "", skip: 1}, "timeout": {shorts: "ks", longs: []string{"--kill-after", "--signal"}, skip: 1}, "gtimeout": {shorts: "ks", skip: 1},
		"stdbuf": {shorts: "ioe"}, "builtin": {}, "exec": {shorts: "a"}, "busybox": {}, "toybox": {}, "unbuffer": {}, "caffeinate": {shorts: "tw"},
		"xvfb-run": {shorts: "ensfp"}, "strace": {shorts: "eopsauPEIOSX"}, "ltrace": {shorts: "eopsauFnl"}, "chronic": {}, "dbus-run-session": {}, "arch": {}, "linux32": {}, "linux64": {},
		"numactl": {shorts: "CNmip"}, "prlimit": {}, "coproc": {}, "noglob": {}, "nocorrect": {}, "cgexec": {shorts: "g"}, "winpty": {}, "direnv": {skip: 2}, "dotenv": {shorts: "ef"}, "poetry": {}, "pipenv": {}, "uv": {}, "bundle": {},
	}
})

// otherUser are programs that run another one as another user or in another root.
var otherUser = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"sudo": {shorts: "ugpChDrtTUR", longs: []string{"--user", "--group", "--prompt", "--chdir", "--host"}}, "doas": {shorts: "uC"}, "pkexec": {longs: []string{"--user"}},
		"su": {shorts: "gGsTw", skip: 1}, "runuser": {shorts: "ugGsT"}, "run0": {}, "chroot": {skip: 1}, "unshare": {shorts: "SGR"}, "nsenter": {shorts: "tSG"}, "setpriv": {}, "gosu": {skip: 1}, "su-exec": {skip: 1}, "systemd-run": {shorts: "pMHut"}, "capsh": {},
	}
})

// wrapped judges the program inside a wrapper.
func (w wrapper) wrapped(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: w.shorts, longs: w.longs, first: true}.parse(c.args)
	for _, f := range o.values("-o", "--output") {
		if c.name == "time" || c.name == "strace" || c.name == "ltrace" {
			a.write(c.name, f, st, true)
		}
	}
	if len(o.ops) > w.skip {
		a.run(o.ops[w.skip:], st)
	}
}

func asOtherUser(a *analysis, c invocation, st *state) {
	a.report(Privilege, c.name, c.name, "%s runs a command as another user or outside this system's root", c.name)
	otherUser()[c.name].wrapped(a, c, st)
	for _, code := range (syntaxOf{shorts: "c", longs: []string{"--command"}}).parse(c.args).values("-c", "--command") {
		a.argCode(c.name, code, st, "sh")
	}
}

// runners are project tools where only "run" and "exec" lead to a program.
var runners = []string{"poetry", "pipenv", "uv", "bundle"}

func runner(a *analysis, c invocation, st *state) {
	o := syntaxOf{first: true}.parse(c.args)
	if len(o.ops) > 1 {
		if verb, _ := o.ops[0].lit(); verb == "run" || verb == "exec" {
			inner := syntaxOf{shorts: "p", longs: []string{"--with", "--python", "--package", "--extra"}, first: true}.parse(o.ops[1:])
			a.run(inner.ops, st)
		}
	}
}

// argCode reads an argument that is shell code.
func (a *analysis) argCode(program string, code arg, st *state, shell string) {
	if !code.known() {
		a.report(Unknown, program, code.src, "%s runs code that can not be known beforehand: %s", program, code.src)
		return
	}
	for _, f := range code.alts {
		if shell == "" { // runs in this very shell
			a.evalHere(f.text, st)
			continue
		}
		a.subCode(f.text, st, shell)
	}
}

func (a *analysis) evalHere(src string, st *state) {
	if a.tooMuch(st) {
		return
	}
	a.code(src, st, a.dialect)
}

// env sets variables, then runs.
func envRun(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "uCS", longs: []string{"--unset", "--chdir", "--split-string"}, first: true}.parse(c.args)
	for _, code := range o.values("-S", "--split-string") {
		rest := code
		if text, ok := code.lit(); ok {
			words := []string{text}
			for _, x := range o.ops {
				words = append(words, quoteWord(x))
			}
			rest = known(strings.Join(words, " "))
		}
		a.argCode(c.name, rest, st, "sh")
	}
	in := st
	if dirs := o.values("-C", "--chdir"); len(dirs) > 0 {
		in = st.clone()
		in.chdir(dirs[0], a)
	}
	for i, x := range o.ops {
		text, ok := x.lit()
		name, value, set := strings.Cut(text, "=")
		if !ok || !set {
			if !ok && strings.Contains(x.src, "=") && !strings.HasPrefix(x.src, "$") && x.known() {
				continue
			}
			if len(o.values("-S", "--split-string")) == 0 {
				a.readOnly = a.readOnly || false
				a.run(o.ops[i:], in)
			}
			return
		}
		a.sensitive(name, known(value), in)
	}
}

func quoteWord(x arg) string {
	if text, ok := x.lit(); ok {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return `"$unknown"`
}

// xargs runs a program with arguments from its input.
func xargs(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "aEIdLnPs", longs: []string{"--arg-file", "--delimiter", "--replace", "--max-args", "--max-procs", "--max-lines", "--max-chars"}, first: true}.parse(c.args)
	more := unknown("the arguments from xargs")
	if len(o.ops) == 0 {
		return // echo
	}
	args := slices.Clone(o.ops)
	if marks := o.values("-I", "--replace"); len(marks) > 0 || o.has("-i") {
		mark := "{}"
		if len(marks) > 0 {
			mark, _ = marks[0].lit()
		}
		for i, x := range args {
			if text, ok := x.lit(); ok && mark != "" && strings.Contains(text, mark) {
				args[i] = arg{src: x.src}
			}
		}
		a.run(args, st)
		return
	}
	a.run(append(args, more), st)
}

// command -v only looks; command NAME runs.
func commandRun(a *analysis, c invocation, st *state) {
	o := syntaxOf{first: true}.parse(c.args)
	if o.has("-v") || o.has("-V") {
		return
	}
	a.run(o.ops, st)
}
