package gate

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runsCode are variables whose value some program runs, or loads code from.
var runsCode = []string{
	"BASH_ENV", "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS4", "PAGER", "EDITOR", "VISUAL", "BROWSER", "SUDO_ASKPASS", "SSH_ASKPASS",
	"GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
	"MANPAGER", "LESSOPEN", "RSYNC_RSH", "TAR_OPTIONS", "FZF_DEFAULT_COMMAND",
}

// loadsCode are variables that make other programs load what they name.
var loadsCode = []string{
	"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "GIT_EXEC_PATH", "GIT_DIR", "GIT_WORK_TREE",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_TEMPLATE_DIR",
}

// assign follows one assignment.
func (a *analysis) assign(as *syntax.Assign, st *state) {
	if as.Name == nil {
		return
	}
	name := as.Name.Value
	value := arg{src: "$" + name}
	switch {
	case as.Append || as.Index != nil || as.Array != nil:
	case as.Value == nil:
		value = known("")
	default:
		value = a.assigned(as.Value, st)
	}
	a.sensitive(name, value, st)
	st.set(name, value)
}

// assigned is the value of an assignment: not split, and no pattern.
func (a *analysis) assigned(w *syntax.Word, st *state) arg {
	out := arg{src: source(w)}
	for _, alt := range a.parts(w.Parts, st, false) {
		var b strings.Builder
		for _, p := range alt {
			b.WriteString(p.text)
		}
		out.alts = append(out.alts, field{text: b.String()})
	}
	return out
}

// sensitive judges variables through which a later program runs code.
func (a *analysis) sensitive(name string, value arg, st *state) {
	if slices.Contains(loadsCode, name) || strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
		a.report(Unknown, "shell", name, "setting %s changes what later programs do", name)
		return
	}
	if !slices.Contains(runsCode, name) {
		return
	}
	code, ok := value.lit()
	if !ok {
		a.report(Unknown, "shell", name, "%s is set to a command that can not be known beforehand", name)
		return
	}
	a.subCode(code, st, "sh")
}

// declare follows export, local, declare and their like.
func (a *analysis) declare(c *syntax.DeclClause, st *state) {
	a.substs(c, st)
	for _, as := range c.Args {
		switch {
		case as.Name != nil && as.Naked:
			// a name alone keeps its value, except that local hides it
			if c.Variant.Value == "local" || c.Variant.Value == "declare" || c.Variant.Value == "typeset" {
				delete(st.vars, as.Name.Value)
			}
		case as.Name != nil:
			a.assign(as, st)
		case as.Value != nil && strings.HasPrefix(as.Value.Lit(), "-") && !strings.Contains(as.Value.Lit(), "n"):
			// options, but not -n: a name that stands for another
		default:
			st.forget()
		}
	}
	if c.Variant.Value == "nameref" {
		st.forget()
	}
}

// setters are builtins that set the variables named in their arguments.
var setters = []string{"read", "mapfile", "readarray", "getopts", "printf", "unset", "let", "wait", "select"}

// unset makes unknown every variable that something below the node may set.
func (a *analysis) unset(n syntax.Node, st *state) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false // what they set stays in them
		case *syntax.Assign:
			if n.Name != nil {
				delete(st.vars, n.Name.Value)
			}
		case *syntax.WordIter:
			delete(st.vars, n.Name.Value)
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil {
				delete(st.vars, n.Param.Value)
			}
		case *syntax.BinaryArithm:
			unsetArithm(n.X, st)
		case *syntax.UnaryArithm:
			unsetArithm(n.X, st)
		case *syntax.CallExpr:
			a.unsetByCall(n, st)
		}
		return true
	})
}

func unsetArithm(x syntax.ArithmExpr, st *state) {
	if w, ok := x.(*syntax.Word); ok {
		delete(st.vars, strings.TrimPrefix(w.Lit(), "$"))
	}
}

func (a *analysis) unsetByCall(c *syntax.CallExpr, st *state) {
	if len(c.Args) == 0 {
		return
	}
	name := c.Args[0].Lit()
	switch {
	case name == "eval" || name == "source" || name == "." || name == "" || st.funcs[name] != nil:
		st.forget()
	case name == "cd" || name == "pushd" || name == "popd":
		st.lost = true
	case name == "set" || name == "shift":
		st.positional = nil
	case slices.Contains(setters, name) || name == "builtin" || name == "command":
		for _, w := range c.Args[1:] {
			delete(st.vars, w.Lit())
		}
	}
}
