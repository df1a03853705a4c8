package gate

import (
	"slices"
	"strings"
)

// tar writes an archive, or unpacks one over what is there.
func tar(a *analysis, c invocation, st *state) {
	args := c.args
	if first, ok := firstLit(args); ok && first != "" && first[0] != '-' { // the old form: tar xzf FILE
		args = append([]arg{known("-" + first)}, args[1:]...)
	}
	o := syntaxOf{shorts: "fCTXIFbKNVgHL", longs: []string{"--file", "--directory", "--files-from", "--exclude", "--use-compress-program", "--to-command", "--checkpoint-action", "--transform"}}.parse(args)
	for _, code := range append(o.values("-I", "--use-compress-program", "--to-command", "-F", "--info-script", "--new-volume-script", "--rsh-command"), o.values("--checkpoint-action")...) {
		text, ok := code.lit()
		if !ok {
			a.report(Unknown, c.name, code.src, "tar runs a command that can not be known beforehand")
			continue
		}
		a.subCode(strings.TrimPrefix(text, "exec="), st, "sh")
	}
	file := o.values("-f", "--file")
	switch {
	case o.vague:
		a.report(Unknown, c.name, "arguments", "%s is given arguments that can not be known beforehand", c.name)
	case o.has("-t", "--list"):
	case o.has("-x", "--extract", "--get"):
		if !o.has("-O", "--to-stdout") {
			a.unpackInto(c.name, append(o.values("-C", "--directory"), o.values("--one-top-level")...), st)
		}
	default:
		for _, f := range file {
			a.write(c.name, f, st, !o.has("-r", "--append") && !o.has("-u", "--update"))
		}
	}
	if o.has("--remove-files") {
		for _, f := range o.ops {
			a.remove(c.name, f, st)
		}
	}
}

func firstLit(args []arg) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	return args[0].lit()
}

func (a *analysis) unpackInto(program string, dirs []arg, st *state) {
	if len(dirs) == 0 {
		dirs = []arg{known(".")}
	}
	for _, d := range dirs {
		a.fill(program, d, st)
	}
}

func unzip(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "dx"}.parse(c.args)
	if !o.has("-l") && !o.has("-t") && !o.has("-p") && !o.has("-Z") && !o.has("-n") {
		a.unpackInto(c.name, o.values("-d"), st)
	}
}

func zip(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "xinTtb"}.parse(c.args)
	if len(o.ops) > 0 {
		a.write(c.name, o.ops[0], st, true)
	}
	if o.has("-m", "--move") {
		for _, f := range o.ops[min(1, len(o.ops)):] {
			a.remove(c.name, f, st)
		}
	}
}

// extracts judges unpackers whose options are not followed.
func extracts(a *analysis, c invocation, st *state) {
	first, _ := firstLit(c.args)
	if slices.Contains([]string{"l", "t", "-t", "lb", "v"}, first) {
		return
	}
	a.fill(c.name, known("."), st)
}

// compress replaces each file by another one.
func compress(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "SbT"}.parse(c.args)
	if o.has("-c", "--stdout", "-k", "--keep", "-l", "--list", "-t", "--test") {
		return
	}
	for _, f := range o.ops {
		a.remove(c.name, f, st)
	}
}

// rsync merges into its last operand, and may delete there.
func rsync(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "efBMT", longs: []string{"--rsh", "--filter", "--exclude", "--include", "--exclude-from", "--files-from", "--log-file"}}.parse(c.args)
	for _, code := range o.values("-e", "--rsh", "--rsync-path") {
		if text, ok := code.lit(); !ok {
			a.report(Unknown, c.name, code.src, "rsync runs a command that can not be known beforehand")
		} else {
			a.subCode(text, st, "sh")
		}
	}
	if o.has("-n", "--dry-run") || len(o.ops) < 2 {
		return
	}
	for _, t := range o.ops {
		if text, _ := t.lit(); strings.Contains(text, ":") {
			a.report(Outside, c.name, text, "rsync speaks with another machine: %s", text)
			return
		}
	}
	a.fill(c.name, o.ops[len(o.ops)-1], st)
	if o.has("--remove-source-files") {
		for _, s := range o.ops[:len(o.ops)-1] {
			a.remove(c.name, s, st)
		}
	}
}

// sed changes files with -i, and its script can write files and run commands.
func sed(a *analysis, c invocation, st *state) {
	args := slices.Clone(c.args)
	for i, x := range args { // BSD's -i '' takes a value, GNU's does not
		if text, ok := x.lit(); ok && text == "-i" && i+1 < len(args) {
			if next, ok := args[i+1].lit(); ok && next == "" {
				args = slices.Delete(args, i+1, i+2)
			}
			break
		}
	}
	o := syntaxOf{shorts: "efl", longs: []string{"--expression", "--file", "--line-length"}}.parse(args)
	scripts, files := o.values("-e", "--expression"), o.ops
	if len(scripts) == 0 && len(o.values("-f", "--file")) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	if len(o.values("-f", "--file")) > 0 {
		a.report(InlineCode, c.name, "sed -f", "sed runs a script that is not read")
	}
	for _, s := range scripts {
		text, ok := s.lit()
		if ok && !harmlessSed(text) || !ok && s.split {
			a.report(InlineCode, c.name, text, "the sed script may write files or run commands: %s", s.src)
		}
	}
	if o.has("-i", "--in-place") || o.vague {
		for _, f := range files {
			a.write(c.name, f, st, true)
		}
	}
}

// harmlessSed: no e and w commands, and no such flags of s. It errs towards
// asking: a script with a w or e where a command could stand is not harmless.
func harmlessSed(script string) bool {
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return r == '\n' || r == ';' || r == '{' || r == '}' }) {
		cmd := strings.TrimLeft(line, " \t0123456789,$!~+")
		if strings.HasPrefix(cmd, "/") { // an address
			if end := strings.LastIndexByte(cmd, '/'); end > 0 {
				cmd = strings.TrimLeft(cmd[end+1:], " \tIM,0123456789$!")
			}
		}
		if cmd == "" {
			continue
		}
		switch cmd[0] {
		case 'e', 'w', 'W', 'r', 'R':
			if cmd[0] != 'r' && cmd[0] != 'R' {
				return false
			}
		case 's':
			if len(cmd) < 2 || strings.Count(cmd, cmd[1:2]) < 3 {
				return len(cmd) >= 2 && !strings.ContainsAny(script, "we")
			}
			flags := cmd[strings.LastIndex(cmd, cmd[1:2])+1:]
			if strings.ContainsAny(flags, "we") {
				return false
			}
		}
	}
	return true
}

func patch(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "pioBdDFrVYz", longs: []string{"--input", "--directory", "--output", "--strip"}}.parse(c.args)
	if o.has("--dry-run") {
		return
	}
	if len(o.ops) > 0 {
		a.write(c.name, o.ops[0], st, true)
		return
	}
	a.report(Overwrite, c.name, "patch", "patch changes files that are named in its input")
}

// editor judges editors run by a script: what they do is not followed.
func editor(a *analysis, c invocation, st *state) {
	for _, f := range (syntaxOf{shorts: "cSu"}).parse(c.args).ops {
		a.write(c.name, f, st, true)
	}
	for _, x := range c.args {
		if text, ok := x.lit(); !ok || strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "+") || text == "-S" || strings.HasPrefix(text, "--cmd") || strings.HasPrefix(text, "--eval") || text == "-s" {
			a.report(InlineCode, c.name, "commands", "%s runs commands that are not read", c.name)
			return
		}
	}
}

func renames(a *analysis, c invocation, st *state) {
	o := options{}
	o = syntaxOf{shorts: "e"}.parse(c.args)
	if !o.has("-n", "--no-act") {
		a.report(Unknown, c.name, c.name, "what %s renames can not be known beforehand", c.name)
	}
}

func inPlace(a *analysis, c invocation, st *state) {
	for _, f := range (syntaxOf{}).parse(c.args).ops {
		a.write(c.name, f, st, true)
	}
}
