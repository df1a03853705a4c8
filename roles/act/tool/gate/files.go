package gate

import (
	"path"
	"strings"
)

// fileHandlers are the programs that change files by what they are told.
func fileHandlers() map[string]handler {
	return map[string]handler{
		"rm": remover("", nil), "unlink": remover("", nil), "rmdir": remover("", nil), "srm": remover("", nil), "trash": remover("", nil), "trash-put": remover("", nil),
		"shred": remover("ns", []string{"--iterations", "--size", "--random-source"}),
		"cp":    copier(false), "install": copier(false), "mv": copier(true), "rsync": rsync, "ln": linker, "link": linker,
		"tee": tee, "truncate": truncate, "dd": dd, "sed": sed, "split": outputs("", nil), "csplit": outputs("", nil), "patch": patch,
		"chmod": attribute(""), "chown": attribute(""), "chgrp": attribute(""), "chattr": attribute(""), "xattr": attribute(""),
		"setfacl": attribute("mxM", "--modify", "--remove"), "touch": attribute("rdt", "--reference", "--date"),
		"mkdir": attribute("m", "--mode"), "mkfifo": attribute("m", "--mode"), "mknod": attribute("m", "--mode"),
		"sort": outputs("o", []string{"--output"}), "tar": tar, "bsdtar": tar, "gtar": tar, "unzip": unzip, "zip": zip, "cpio": extracts, "7z": extracts, "7za": extracts, "unrar": extracts,
		"gzip": compress, "gunzip": compress, "bzip2": compress, "bunzip2": compress, "xz": compress, "unxz": compress, "zstd": compress, "lzma": compress, "compress": compress,
		"uniq": secondOperand, "ed": editor, "ex": editor, "vi": editor, "vim": editor, "nvim": editor, "emacs": editor, "nano": editor,
		"rename": renames, "mmv": renames, "prename": renames, "dos2unix": inPlace, "unix2dos": inPlace, "sponge": tee,
	}
}

func remover(shorts string, longs []string) handler {
	return func(a *analysis, c invocation, st *state) {
		for _, t := range (syntaxOf{shorts: shorts, longs: longs}).parse(c.args).ops {
			a.remove(c.name, t, st)
		}
	}
}

// copier judges cp, install and mv: the target is overwritten, and mv's
// sources are gone from where they were.
func copier(moves bool) handler {
	return func(a *analysis, c invocation, st *state) {
		shorts := "tS"
		if c.name == "install" {
			shorts = "tSmog"
		}
		o := syntaxOf{shorts: shorts, longs: []string{"--target-directory", "--suffix", "--mode", "--owner", "--group"}}.parse(c.args)
		if c.name == "install" && o.has("-d") {
			for _, t := range o.ops {
				a.change(c.name, t, st)
			}
			return
		}
		sources, into := o.ops, o.values("-t", "--target-directory")
		if len(into) == 0 {
			if len(o.ops) < 2 {
				if o.vague {
					a.report(Unknown, c.name, "arguments", "%s is given arguments that can not be known beforehand", c.name)
				}
				return
			}
			sources, into = o.ops[:len(o.ops)-1], o.ops[len(o.ops)-1:]
		}
		if moves {
			for _, s := range sources {
				a.remove(c.name, s, st)
			}
		}
		a.copyTo(c.name, sources, into[0], o, st)
		if o.has("-l", "--link", "-s", "--symbolic-link") {
			a.linked(sources, into[0], st)
		}
	}
}

func (a *analysis) copyTo(program string, sources []arg, to arg, o options, st *state) {
	keeps := o.has("-n", "--no-clobber")
	dir := a.isDir(to, st) || len(sources) > 1 || len(o.values("-t", "--target-directory")) > 0
	if !to.known() || !dir || o.has("-T", "--no-target-directory") {
		a.write(program, to, st, !keeps)
		return
	}
	for _, s := range sources {
		a.copyInto(program, s, to, keeps, st)
	}
}

// copyInto judges one source that lands under its own name in a directory. A
// directory merged into an existing one may overwrite anything in it.
func (a *analysis) copyInto(program string, source, dir arg, keeps bool, st *state) {
	if name, ok := source.lit(); ok && (base(name) == "." || base(name) == "..") {
		a.fill(program, dir, st)
		return
	}
	target := within(dir, source)
	if source.known() && source.alts[0].glob { // each match lands under its own name
		for _, f := range a.expandGlobs(source, st) {
			if !f.glob {
				a.copyInto(program, known(f.text), dir, keeps, st)
			}
		}
		return
	}
	if target.known() && a.isDir(target, st) {
		a.fill(program, target, st)
		return
	}
	a.write(program, target, st, !keeps)
}

// fill judges unpacking or merging into a directory: free in a new one, or in
// one that this goal made.
func (a *analysis) fill(program string, dir arg, st *state) {
	a.readOnly = false
	a.each(program, "writes into", dir, st, true, func(e Entry) {
		if e.Exists && !e.Created {
			a.lost(Overwrite, program, a.rel(e.Real), "%s may overwrite files in %s, which this goal did not create")
		}
	})
}

func linker(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "tS", longs: []string{"--target-directory", "--suffix"}}.parse(c.args)
	if into := o.values("-t", "--target-directory"); len(into) > 0 {
		a.linked(o.ops, into[0], st)
		a.fill(c.name, into[0], st)
		return
	}
	if len(o.ops) == 0 {
		return
	}
	to := known(".")
	sources := o.ops
	if len(o.ops) > 1 {
		to, sources = o.ops[len(o.ops)-1], o.ops[:len(o.ops)-1]
	}
	a.copyTo(c.name, sources, to, o, st)
	a.linked(sources, to, st)
}

// linked remembers the second names a command gives, so that writing through
// one of them counts as writing to what it names.
func (a *analysis) linked(sources []arg, to arg, st *state) {
	for _, s := range sources {
		from, ok := s.lit()
		name, ok2 := to.lit()
		if !ok || !ok2 {
			a.report(Unknown, "ln", to.src, "what %s will name can not be known beforehand", to.src)
			return
		}
		for _, place := range st.paths(name) {
			target := from
			if !path.IsAbs(from) {
				target = tidy(path.Dir(place) + "/" + from)
			}
			st.links = append(st.links, link{from: place, to: target})
			if a.isDir(to, st) || len(sources) > 1 {
				st.links = append(st.links, link{from: place + "/" + base(from), to: target})
			}
			for _, p := range st.paths(from) { // as cp -l and hard links read it
				st.links = append(st.links, link{from: place, to: p})
			}
		}
	}
}

func tee(a *analysis, c invocation, st *state) {
	o := syntaxOf{}.parse(c.args)
	for _, t := range o.ops {
		a.write(c.name, t, st, !o.has("-a", "--append"))
	}
}

func truncate(a *analysis, c invocation, st *state) {
	for _, t := range (syntaxOf{shorts: "sr", longs: []string{"--size", "--reference"}}).parse(c.args).ops {
		a.write(c.name, t, st, true)
	}
}

func dd(a *analysis, c invocation, st *state) {
	for _, x := range c.args {
		text, ok := x.lit()
		if !ok {
			if prefix := strings.Trim(x.src, `"`); !strings.HasPrefix(prefix, "if=") && !strings.HasPrefix(prefix, "bs=") {
				a.write(c.name, arg{src: x.src}, st, true)
			}
			continue
		}
		if to, is := strings.CutPrefix(text, "of="); is {
			a.write(c.name, known(to), st, true)
		}
	}
}

// outputs judges programs that write only what an option names, or, without
// one, files they name themselves in the working directory.
func outputs(shorts string, longs []string) handler {
	return func(a *analysis, c invocation, st *state) {
		o := syntaxOf{shorts: shorts, longs: longs}.parse(c.args)
		if shorts == "" {
			a.fill(c.name, known("."), st)
			return
		}
		for _, t := range o.values(append(longs, "-"+shorts)...) {
			a.write(c.name, t, st, true)
		}
		if o.vague {
			a.report(Unknown, c.name, "arguments", "%s is given arguments that can not be known beforehand", c.name)
		}
	}
}

// attribute judges programs that change or make their operands. A mode or an
// owner among them is taken for a file too: there is none of that name.
func attribute(shorts string, longs ...string) handler {
	return func(a *analysis, c invocation, st *state) {
		for _, t := range (syntaxOf{shorts: shorts, longs: longs}).parse(c.args).ops {
			a.change(c.name, t, st)
		}
	}
}

func secondOperand(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "fsw"}.parse(c.args)
	if len(o.ops) > 1 {
		a.write(c.name, o.ops[1], st, true)
	}
}
