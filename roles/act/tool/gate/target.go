package gate

// Each path that a command names is one of these to it. All take the program
// for the report, and judge every value the argument may have.

// write judges a path that will be written. With replace its present content
// is lost.
func (a *analysis) write(program string, target arg, st *state, replace bool) {
	a.readOnly = a.readOnly && harmless(target)
	for _, f := range target.alts {
		for _, p := range st.paths(f.text) {
			a.made[p] = true
		}
	}
	a.each(program, "writes to", target, st, true, func(e Entry) {
		a.writesTo(e)
		if replace && e.Exists && !e.Dir && !e.Created {
			a.lost(Overwrite, program, a.rel(e.Real), "%s overwrites %s, which this goal did not create")
		}
	})
}

// writesTo notes what changes; what is thrown away with the step does not count.
func (a *analysis) writesTo(e Entry) {
	if !e.Scratch && !device(e.Real) && len(a.writes) < maxFindings {
		a.writes = append(a.writes, e.Real)
	}
}

// harmless: writing there is not even an effect.
func harmless(target arg) bool {
	for _, f := range target.alts {
		if f.glob || !device(f.text) {
			return false
		}
	}
	return target.known()
}

// remove judges a path that will be gone afterwards.
func (a *analysis) remove(program string, target arg, st *state) {
	a.readOnly = false
	a.each(program, "deletes", target, st, false, func(e Entry) {
		a.writesTo(e)
		if e.Exists && !e.Created {
			a.lost(Delete, program, a.rel(e.Real), "%s deletes %s, which this goal did not create")
		}
	})
}

// change judges a path whose attributes change, or that is made if missing.
func (a *analysis) change(program string, target arg, st *state) {
	a.readOnly = false
	a.each(program, "changes", target, st, true, func(Entry) {})
}

// each calls judge for every entry inside the workspace that the target may
// mean, and reports what is outside, protected, or not known.
func (a *analysis) each(program, verb string, target arg, st *state, follow bool, judge func(Entry)) {
	if !target.known() {
		a.report(Unknown, program, target.src, "%s %s something that can not be known beforehand: %s", program, verb, target.src)
		return
	}
	for _, f := range target.alts {
		if f.text == "" {
			continue
		}
		if st.lost && f.text[0] != '/' {
			a.report(Unknown, program, f.text, "%s %s %s, but in which directory can not be known beforehand", program, verb, f.text)
			continue
		}
		for _, p := range st.paths(f.text) {
			for _, q := range a.matching(program, verb, p, f.glob, st) {
				a.judge(program, verb, q, st, follow, judge)
			}
		}
	}
}

// matching are the paths a pattern stands for now; what a later file may add
// to them is made by this command.
func (a *analysis) matching(program, verb, p string, glob bool, st *state) []string {
	if !glob {
		return st.seen(p)
	}
	paths, ok := a.facts.Glob(p)
	if !ok {
		a.report(Unknown, program, p, "%s %s more than can be listed: %s", program, verb, a.rel(p))
		return nil
	}
	return paths
}

func (a *analysis) judge(program, verb, p string, st *state, follow bool, judge func(Entry)) {
	e := a.inspect(p, st, follow)
	switch {
	case e.Scratch:
	case !e.Inside:
		a.lost(Outside, program, e.Real, "%s "+verb+" %s, outside the workspace")
	case a.protected(e):
		a.lost(Protected, program, a.rel(e.Real), "%s "+verb+" %s, which belongs to orch or git")
	default:
		judge(e)
	}
}

// isDir tells whether the target is, or may be, a directory now.
func (a *analysis) isDir(target arg, st *state) bool {
	for _, f := range target.alts {
		for _, p := range st.paths(f.text) {
			if e := a.inspect(p, st, true); e.Dir {
				return true
			}
		}
	}
	return false
}

// within is a name inside a directory argument, as cp and mv make it.
func within(dir, file arg) arg {
	if len(dir.alts) != 1 || dir.alts[0].glob || !file.known() {
		return arg{src: dir.src + "/" + file.src}
	}
	out := arg{src: dir.src + "/" + file.src}
	for _, f := range file.alts {
		if f.glob {
			return arg{src: out.src}
		}
		out.alts = append(out.alts, field{text: dir.alts[0].text + "/" + base(f.text)})
	}
	return out
}
