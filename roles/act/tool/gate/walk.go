package gate

import (
	"mvdan.cc/sh/v3/syntax"
)

func (a *analysis) stmts(list []*syntax.Stmt, st *state) {
	for _, s := range list {
		a.stmt(s, st)
	}
}

func (a *analysis) stmt(s *syntax.Stmt, st *state) {
	if a.tooMuch(st) {
		return
	}
	outer := st.stdin
	for _, r := range s.Redirs {
		a.redirect(r, st)
	}
	if s.Background || s.Coprocess || s.Disown {
		a.command(s.Cmd, st.clone())
	} else {
		a.command(s.Cmd, st)
	}
	st.stdin = outer
}

// command walks any command. Variables set where it is not known whether the
// shell passes are merged with what they were before.
func (a *analysis) command(cmd syntax.Command, st *state) {
	switch c := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		a.call(c, st)
	case *syntax.DeclClause:
		a.declare(c, st)
	case *syntax.Block:
		a.stmts(c.Stmts, st)
	case *syntax.Subshell:
		a.stmts(c.Stmts, st.clone())
	case *syntax.BinaryCmd:
		a.binary(c, st)
	case *syntax.IfClause:
		a.ifClause(c, st)
	case *syntax.WhileClause:
		a.loop(c, st, func(in *state) { a.stmts(c.Cond, in); a.stmts(c.Do, in) })
	case *syntax.ForClause:
		a.forClause(c, st)
	case *syntax.CaseClause:
		a.substs(c.Word, st)
		before := st.clone()
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				a.substs(p, st)
			}
			branch := before.clone()
			a.stmts(item.Stmts, branch)
			st.merge(branch)
		}
	case *syntax.FuncDecl:
		if c.Name != nil && c.Body != nil {
			st.funcs[c.Name.Value] = c.Body
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			a.stmt(c.Stmt, st)
		}
	case *syntax.CoprocClause:
		a.stmt(c.Stmt, st.clone())
	case *syntax.ArithmCmd, *syntax.LetClause, *syntax.TestClause:
		a.substs(c, st)
		a.unset(c, st)
	default:
		a.report(Unknown, "shell", source(cmd), "this shell construct can not be read: %s", source(cmd))
	}
}

func (a *analysis) binary(c *syntax.BinaryCmd, st *state) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		left, right := st.clone(), st.clone()
		a.stmt(c.X, left)
		right.stdin = a.outputOf(c.X, st)
		a.stmt(c.Y, right)
	case syntax.AndStmt:
		a.and(c, st)
	default: // ||
		a.stmt(c.X, st)
		after := st.clone()
		a.stmt(c.Y, after)
		if !leaves(c.Y) { // else what follows runs only if X succeeded
			st.merge(after)
		}
	}
}

// and walks X && Y, leaves in st what holds whichever of them ran, and returns
// what holds when both succeeded: Y, and what follows in the same chain, only
// runs then.
func (a *analysis) and(c *syntax.BinaryCmd, st *state) *state {
	var good *state
	if x, ok := c.X.Cmd.(*syntax.BinaryCmd); ok && x.Op == syntax.AndStmt && len(c.X.Redirs) == 0 && !c.X.Negated && !c.X.Background {
		good = a.and(x, st)
	} else {
		a.stmt(c.X, st)
		good = st.clone()
	}
	a.stmt(c.Y, good)
	st.merge(good)
	return good
}

// leaves tells whether a statement ends the shell.
func leaves(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && (call.Args[0].Lit() == "exit" || call.Args[0].Lit() == "return")
}

func (a *analysis) ifClause(c *syntax.IfClause, st *state) {
	a.stmts(c.Cond, st)
	other := st.clone()
	a.stmts(c.Then, st)
	if c.Else != nil {
		if len(c.Else.Cond) == 0 {
			a.stmts(c.Else.Then, other)
		} else {
			a.ifClause(c.Else, other)
		}
	}
	st.merge(other)
}

// loop walks a body once, knowing nothing of what any round of it may set.
func (a *analysis) loop(n syntax.Node, st *state, body func(*state)) {
	a.unset(n, st)
	in := st.clone()
	body(in)
	st.merge(in)
}

func (a *analysis) forClause(c *syntax.ForClause, st *state) {
	a.substs(c.Loop, st)
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select {
		a.loop(c, st, func(in *state) { a.stmts(c.Do, in) })
		return
	}
	value := arg{src: "$" + iter.Name.Value}
	items := a.args(iter.Items, st)
	if !iter.InPos.IsValid() {
		items = st.positional
	}
	for _, item := range items {
		if !item.known() {
			value.alts = nil
			break
		}
		value.alts = append(value.alts, a.expandGlobs(item, st)...)
	}
	if len(value.alts) > maxAlternatives {
		value.alts = nil
	}
	a.unset(c, st)
	in := st.clone()
	in.set(iter.Name.Value, value)
	a.stmts(c.Do, in)
	st.merge(in)
}

// expandGlobs turns patterns into what they match now, and also keeps a
// pattern that matches nothing, as the shell does.
func (a *analysis) expandGlobs(item arg, st *state) []field {
	var out []field
	for _, f := range item.alts {
		if !f.glob || st.lost {
			out = append(out, f)
			continue
		}
		for _, p := range st.paths(f.text) {
			paths, ok := a.facts.Glob(p)
			if !ok || len(paths) > maxAlternatives {
				return make([]field, maxAlternatives+1) // more than is followed
			}
			if len(paths) == 0 {
				out = append(out, f)
			}
			for _, q := range paths {
				out = append(out, field{text: q})
			}
		}
	}
	return out
}

// substs walks the commands in substitutions anywhere below a node.
func (a *analysis) substs(n syntax.Node, st *state) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			a.stmts(n.Stmts, st.clone())
			return false
		case *syntax.ProcSubst:
			a.stmts(n.Stmts, st.clone())
			return false
		}
		return true
	})
}
