package gate

import (
	"slices"
	"strings"
)

// find walks directories, and may delete, run and write.
func find(a *analysis, c invocation, st *state) {
	starts, expr := findStarts(c.args)
	for i := 0; i < len(expr); i++ {
		text, ok := expr[i].lit()
		if !ok {
			if !expr[i].known() && expr[i].split {
				a.report(Unknown, c.name, expr[i].src, "find is given an expression that can not be known beforehand: %s", expr[i].src)
			}
			continue
		}
		switch text {
		case "-delete":
			a.removeBelow(c.name, starts, st)
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(expr) {
				if t, _ := expr[end].lit(); t == ";" || (t == "+" && end > i+1) {
					break
				}
				end++
			}
			a.runOnFound(expr[i+1:end], starts, st)
			i = end
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(expr) {
				a.write(c.name, expr[i+1], st, true)
				i++
			}
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-type", "-newer", "-size", "-mtime", "-mmin", "-user", "-group", "-perm", "-maxdepth", "-mindepth", "-printf":
			i++
		}
	}
}

func findStarts(args []arg) (starts, expr []arg) {
	i := 0
	for ; i < len(args); i++ {
		text, ok := args[i].lit()
		if ok && slices.Contains([]string{"-H", "-L", "-P"}, text) {
			continue
		}
		if ok && (strings.HasPrefix(text, "-") || text == "(" || text == "!" || text == ")") {
			break
		}
		starts = append(starts, args[i])
	}
	if len(starts) == 0 {
		starts = []arg{known(".")}
	}
	return starts, args[i:]
}

// removeBelow judges deleting an unknown part of what is below the starts: it
// is free when all of that was made by this goal.
func (a *analysis) removeBelow(program string, starts []arg, st *state) {
	for _, s := range starts {
		a.remove(program, s, st)
	}
}

// runOnFound judges a program run on what find finds. Where everything below
// the starts is the goal's own, that is as if it were named.
func (a *analysis) runOnFound(cmd []arg, starts []arg, st *state) {
	args := slices.Clone(cmd)
	for i, x := range args {
		text, ok := x.lit()
		if !ok || !strings.Contains(text, "{}") {
			continue
		}
		if text == "{}" && len(starts) == 1 && a.ownTree(starts[0], st) {
			args[i] = starts[0]
			continue
		}
		args[i] = arg{src: "what find finds below " + starts[0].src}
	}
	a.run(args, st)
}

func (a *analysis) ownTree(s arg, st *state) bool {
	name, ok := s.lit()
	if !ok || st.lost {
		return false
	}
	for _, p := range st.paths(name) {
		if e := a.inspect(p, st, true); !e.Created && !e.Scratch {
			return false
		}
	}
	return true
}

// fd runs a program with -x and -X.
func fd(a *analysis, c invocation, st *state) {
	for i, x := range c.args {
		text, ok := x.lit()
		switch {
		case !ok && x.split:
			a.report(Unknown, c.name, x.src, "fd is given arguments that can not be known beforehand: %s", x.src)
		case text == "-x" || text == "-X" || text == "--exec" || text == "--exec-batch":
			inner := slices.Clone(c.args[i+1:])
			placed := false
			for j, y := range inner {
				if t, ok := y.lit(); ok && strings.HasPrefix(t, "{") {
					inner[j], placed = arg{src: "what fd finds"}, true
				}
			}
			if !placed {
				inner = append(inner, arg{src: "what fd finds"})
			}
			a.run(inner, st)
			return
		case strings.HasPrefix(text, "--exec") || (strings.HasPrefix(text, "-x") && len(text) > 2):
			a.report(Unknown, c.name, text, "fd runs a program in a form that is not read: %s", text)
		}
	}
}

// parallel runs a program with arguments from its input or after :::.
func parallel(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "jnNISaLdC", longs: []string{"--jobs", "--colsep", "--arg-file", "--joblog", "--results", "--tmpdir"}, first: true}.parse(c.args)
	var words []string
	for _, x := range o.ops {
		text, ok := x.lit()
		if !ok {
			text = `"$unknown"`
		}
		if strings.HasPrefix(text, ":::") {
			break
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		a.codeFromInput(c.name, st)
		return
	}
	code := strings.NewReplacer("{}", `"$unknown"`, "{.}", `"$unknown"`, "{/}", `"$unknown"`, "{1}", `"$unknown"`).Replace(strings.Join(words, " "))
	inner := st.clone()
	delete(inner.vars, "unknown")
	a.argCode(c.name, known(code+` "$unknown"`), inner, "bash")
}

// kill may signal what the command itself started, by $! and %job.
func kill(a *analysis, c invocation, st *state) {
	a.readOnly = false
	targets := c.args
	for len(targets) > 0 {
		text, ok := targets[0].lit()
		if !ok || !strings.HasPrefix(text, "-") {
			break
		}
		targets = targets[1:]
		switch {
		case text == "-l" || text == "-L" || text == "--list" || text == "--table":
			return
		case (text == "-s" || text == "-n" || text == "--signal") && len(targets) > 0:
			targets = targets[1:]
		}
		if text != "-s" {
			break // a second number after a dash is a process group
		}
	}
	for _, t := range targets {
		text, ok := t.lit()
		own := slices.Contains([]string{"$!", "${!}"}, strings.Trim(t.src, `"`))
		if own || (ok && strings.HasPrefix(text, "%")) || text == "--" {
			continue
		}
		a.report(Kill, c.name, t.src, "%s signals a process that this command may not have started: %s", c.name, t.src)
	}
}

func killNamed(a *analysis, c invocation, st *state) {
	a.report(Kill, c.name, strings.Join(lits(c.args), " "), "%s signals every process of a name, whoever started it", c.name)
}

func fuser(a *analysis, c invocation, st *state) {
	if (syntaxOf{shorts: "n"}).parse(c.args).has("-k", "--kill") {
		killNamed(a, c, st)
	}
}
