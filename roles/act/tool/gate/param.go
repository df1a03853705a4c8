package gate

import (
	"mvdan.cc/sh/v3/syntax"
)

// Paths that stand for what has no name before the command runs.
const (
	procSubst = "/dev/fd/63"       // <(…) and >(…)
	tempName  = "/\x01mktemp/made" // what mktemp makes: new, and the command's own
)

// plain tells whether an expansion is just a variable's value.
func plain(p *syntax.ParamExp) bool {
	return p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// param evaluates a variable, with the default operators; everything else that
// can be done to a value is not followed.
func (a *analysis) param(p *syntax.ParamExp, st *state, quoted bool) [][]piece {
	if p.Param == nil {
		return nil
	}
	name := p.Param.Value
	v, ok := st.lookup(name)
	if plain(p) {
		if !ok {
			return nil
		}
		return v.pieces(quoted)
	}
	exp := p.Exp
	p2 := *p
	p2.Exp = nil
	if exp == nil || !plain(&p2) {
		return nil
	}
	switch exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !ok || exp.Word == nil {
			return nil // the value from outside, or the default
		}
		other := a.parts(exp.Word.Parts, st, quoted)
		if other == nil {
			return nil
		}
		return append(v.pieces(quoted), other...)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if ok {
			return v.pieces(quoted)
		}
	}
	return nil
}

func (v variable) pieces(quoted bool) [][]piece {
	out := make([][]piece, len(v.alts))
	for i, s := range v.alts {
		out[i] = []piece{{text: s, glob: !quoted && isPattern(s), expanded: !quoted}}
	}
	return out
}

// substValue is the output of the few commands whose output is known.
func (a *analysis) substValue(c *syntax.CmdSubst, st *state, quoted bool) [][]piece {
	if len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) > 0 {
		return nil
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return nil
	}
	name := call.Args[0].Lit()
	if st.funcs[name] != nil {
		return nil
	}
	switch {
	case name == "pwd" && len(call.Args) == 1 && len(st.dirs) == 1:
		return variable{alts: st.dirs}.pieces(quoted)
	case name == "mktemp" && a.plainMktemp(call.Args[1:]):
		return variable{alts: []string{tempName}}.pieces(quoted)
	}
	return nil
}

// plainMktemp: a template or directory of its own would name another place.
func (a *analysis) plainMktemp(args []*syntax.Word) bool {
	for _, w := range args {
		if s := w.Lit(); s != "-d" && s != "-q" && s != "-t" {
			return false
		}
	}
	return true
}
