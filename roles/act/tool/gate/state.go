package gate

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variable is what a shell variable may hold.
type variable struct{ alts []string }

// input is where a command's standard input comes from.
type input struct {
	known bool   // text is all of it
	text  string // from a here-document, or an echo
	what  string // for people; empty when nothing feeds it
}

// link is a second name that the command itself gave to a path.
type link struct{ from, to string }

// state is what is known at a point of the command. A variable that is not in
// vars may hold anything.
type state struct {
	vars       map[string]variable
	positional []arg // nil: not known
	dirs       []string
	lost       bool // the working directory may also be another
	funcs      map[string]*syntax.Stmt
	links      []link
	stdin      input
	ifsChanged bool
	depth      int // of calls and of code in code
}

func newState(dir string, vars map[string]string) *state {
	st := &state{vars: map[string]variable{}, dirs: []string{path.Clean(dir)}, funcs: map[string]*syntax.Stmt{}}
	for k, v := range vars {
		st.vars[k] = variable{alts: []string{v}}
	}
	return st
}

func (st *state) clone() *state {
	c := *st
	c.vars, c.funcs = maps.Clone(st.vars), maps.Clone(st.funcs)
	c.dirs, c.links = slices.Clone(st.dirs), slices.Clone(st.links)
	return &c
}

// merge makes st what holds whether st or o came about.
func (st *state) merge(o *state) {
	for name, v := range st.vars {
		w, ok := o.vars[name]
		for _, s := range w.alts {
			if !slices.Contains(v.alts, s) {
				v.alts = append(slices.Clone(v.alts), s)
			}
		}
		if !ok || len(v.alts) > maxAlternatives {
			delete(st.vars, name)
			continue
		}
		st.vars[name] = v
	}
	if !slices.EqualFunc(st.positional, o.positional, func(a, b arg) bool { return slices.Equal(a.alts, b.alts) }) {
		st.positional = nil
	}
	for _, d := range o.dirs {
		if !slices.Contains(st.dirs, d) {
			st.dirs = append(st.dirs, d)
		}
	}
	for _, l := range o.links {
		if !slices.Contains(st.links, l) {
			st.links = append(st.links, l)
		}
	}
	maps.Copy(st.funcs, o.funcs)
	st.lost = st.lost || o.lost || len(st.dirs) > 8
	st.ifsChanged = st.ifsChanged || o.ifsChanged
}

// forget drops all that is known of variables and the directory: code that was
// not read may have changed them.
func (st *state) forget() {
	st.vars, st.positional, st.lost = map[string]variable{}, nil, true
}

func (st *state) lookup(name string) (variable, bool) {
	switch name {
	case "PWD":
		return variable{st.dirs}, !st.lost
	case "@", "*":
		return variable{}, false
	}
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		i := int(name[0] - '1')
		if i >= len(st.positional) || !st.positional[i].known() || slices.ContainsFunc(st.positional[:i+1], func(a arg) bool { return !a.known() }) {
			return variable{}, false
		}
		var v variable
		for _, f := range st.positional[i].alts {
			if f.glob {
				return variable{}, false
			}
			v.alts = append(v.alts, f.text)
		}
		return v, true
	}
	v, ok := st.vars[name]
	return v, ok
}

// set gives a variable its values; an unknown argument makes it unknown.
func (st *state) set(name string, value arg) {
	if name == "IFS" {
		st.ifsChanged = true
	}
	var v variable
	for _, f := range value.alts {
		v.alts = append(v.alts, f.text)
	}
	if len(v.alts) == 0 {
		delete(st.vars, name)
		return
	}
	st.vars[name] = v
}

// chdir moves to one of several directories; unknown ones make the place lost.
func (st *state) chdir(to arg, a *analysis) {
	if !to.known() {
		st.lost = true
		return
	}
	var dirs []string
	for _, f := range to.alts {
		if f.glob || f.text == "-" || (st.lost && !path.IsAbs(f.text)) {
			st.lost = true
			return
		}
		for _, d := range st.paths(f.text) {
			dirs = append(dirs, path.Clean(d)) // as the shell sees it
			if e := a.inspect(d, st, true); e.Real != "" && e.Real != path.Clean(d) {
				dirs = append(dirs, e.Real) // as the system does
			}
		}
	}
	st.dirs, st.lost = dirs, len(dirs) > 8
}

// paths are the absolute paths a name may mean here.
func (st *state) paths(name string) []string {
	if path.IsAbs(name) {
		return []string{tidy(name)}
	}
	out := make([]string, 0, len(st.dirs))
	for _, d := range st.dirs {
		out = append(out, tidy(d+"/"+name))
	}
	return out
}

// tidy cleans a path, except that one with ".." is left for Facts to walk:
// what is above a symbolic link is not what is written before it.
func tidy(p string) string {
	if strings.Contains(p, "..") {
		return p
	}
	return path.Clean(p)
}
