package gate

import (
	"slices"
	"strings"
	"sync"

	"orch/blackboard/lazyregexp"
)

// codeOptions are the options of each interpreter that take code, and those
// that take other values.
var codeOptions = sync.OnceValue(func() map[string]codeOption {
	return map[string]codeOption{
		"python": {"c", "mWX", nil}, "pypy": {"c", "mWX", nil}, "pypy3": {"c", "mWX", nil},
		"node": {"ep", "rC", []string{"--eval", "--print", "--import", "--require", "--loader", "--experimental-loader"}},
		"perl": {"eE", "IMm", nil}, "ruby": {"e", "IrC", nil}, "php": {"rBRE", "dfc", []string{"--run"}},
		"lua": {"e", "l", nil}, "luajit": {"e", "l", nil}, "tclsh": {"", "", nil}, "R": {"e", "f", nil}, "Rscript": {"e", "", nil}, "julia": {"eE", "LJp", []string{"--eval", "--print"}},
		"deno": {"", "", nil}, "bun": {"ep", "", []string{"--eval", "--print"}}, "osascript": {"e", "l", nil}, "guile": {"c", "", nil}, "sqlite3": {"", "", nil}, "groovy": {"e", "", nil}, "elixir": {"e", "", nil}, "erl": {"", "", nil}, "ghc": {"e", "", nil}, "scala": {"e", "", nil}, "swift": {"e", "", nil}, "expect": {"c", "f", nil}, "gdb": {"", "", nil}, "lldb": {"o", "", nil}, "octave": {"", "", nil}, "jshell": {"", "", nil}, "irb": {"", "", nil}, "psql": {"c", "f", nil}, "mysql": {"e", "", nil}, "mongosh": {"", "", nil}, "redis-cli": {"", "", nil},
	}
})

type codeOption struct {
	code, other string
	longs       []string
}

// always are interpreters whose whole use is code or statements that are not read.
var always = []string{"expect", "gdb", "lldb", "psql", "mysql", "mongosh", "redis-cli", "sqlite3", "osascript", "jshell", "irb"}

// interpret judges an interpreter: a file of the project runs unread, code on
// the command line or from a pipe only when it is plainly harmless.
func interpret(a *analysis, c invocation, st *state) {
	opt := codeOptions()[c.name]
	o := syntaxOf{shorts: opt.code + opt.other, longs: opt.longs, first: true}.parse(c.args)
	if slices.Contains(always, c.name) && !o.has("--version", "--help") {
		a.report(InlineCode, c.name, c.name, "%s runs statements that are not read", c.name)
		return
	}
	if c.name == "deno" && len(o.ops) > 0 {
		if verb, _ := o.ops[0].lit(); verb == "eval" {
			a.report(InlineCode, c.name, "eval", "deno runs code given on the command line")
		}
		return
	}
	if c.name == "perl" && o.has("-i") {
		a.report(Overwrite, c.name, "-i", "perl -i changes files in place")
	}
	code := o.values(opt.longs...)
	for _, letter := range opt.code {
		code = append(code, o.values("-"+string(letter))...)
	}
	for _, x := range code {
		if text, ok := x.lit(); !ok || !harmlessCode(c.name, text) {
			a.report(InlineCode, c.name, clip(text), "%s runs code whose effect can not be followed: %s", c.name, clip(x.src))
		}
	}
	if mod, ok := firstLit(o.values("-m")); ok && mod == "pip" && c.name == "python" {
		pip(a, invocation{name: "pip", path: c.path, args: o.ops}, st)
	}
	switch {
	case len(code) > 0 || len(o.values("-m", "-M")) > 0 || o.has("--version", "--help", "-V", "-v"):
	case len(o.ops) == 0:
		a.interpretInput(c.name, st)
	default:
		if name, ok := o.ops[0].lit(); ok && name == "-" {
			a.interpretInput(c.name, st)
		} else if ok && !slices.Contains([]string{"test", "run", "install", "build", "x"}, name) {
			a.ownScript(name, c.name, st)
		} else if !ok {
			a.report(Unknown, c.name, o.ops[0].src, "which script %s runs can not be known beforehand: %s", c.name, o.ops[0].src)
		}
	}
}

func (a *analysis) interpretInput(lang string, st *state) {
	if in := st.stdin; in.what != "" && (!in.known || !harmlessCode(lang, in.text)) {
		a.report(InlineCode, lang, clip(in.what), "%s runs code from its input whose effect can not be followed", lang)
	}
}

func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// language is the interpreter of a #! line, if its code can be judged.
func language(shebang string) string {
	name := interpreter(shebang)
	if v := versioned(name); v != "" {
		name = v
	}
	if _, ok := vocabulary()[name]; ok {
		return name
	}
	return ""
}

// vocabulary is what code may call, import and take from objects to count as
// harmless: it reads, computes and prints.
var vocabulary = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"python": strings.Fields(`print len range sorted reversed sum min max abs round int float str bool list dict set tuple zip enumerate any all repr chr ord hex bin divmod pow
		json sys re math datetime collections itertools string platform statistics textwrap decimal fractions random time
		load loads dumps stdin argv version version_info platform maxsize read readline readlines splitlines split join strip lstrip rstrip startswith endswith lower upper title
		get keys values items append extend index count sort format encode decode match search findall sub fullmatch group groups Counter defaultdict OrderedDict most_common
		sqrt floor ceil log exp sin cos pi e mean median date today now isoformat strftime timedelta days total_seconds python_version system machine`),
		"node": strings.Fields(`console log error JSON parse stringify Object keys values entries Math floor ceil round max min abs sqrt random pow length map filter reduce forEach join split slice trim
		includes startsWith endsWith toString toFixed toUpperCase toLowerCase parseInt parseFloat Number String Boolean Array isArray from sort reverse push concat indexOf version versions argv platform arch
		Date now toISOString name scripts dependencies devDependencies process`),
	}
})

// taboo words are never harmless, however they are used.
var taboo = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"python": {"exec", "eval", "compile", "open", "input", "breakpoint", "getattr", "setattr", "delattr", "globals", "locals", "vars", "import_module", "modules", "class", "lambda", "def"},
		"node":   {"eval", "Function", "global", "globalThis", "constructor", "import", "new", "child_process", "mainModule", "binding", "fs", "class", "this", "with"},
	}
})

var (
	identifier = lazyregexp.New(`[\p{L}_$][\p{L}\p{N}_$]*`)
	called     = lazyregexp.New(`([\p{L}_$][\p{L}\p{N}_$]*)\s*\(`)
	member     = lazyregexp.New(`\.\s*([\p{L}_$][\p{L}\p{N}_$]*)`)
	pyImport   = lazyregexp.New(`\b(?:import|from)\s+([\w.]+(?:\s*,\s*[\w.]+)*)`)
	nodeJSON   = lazyregexp.New(`require\(\s*['"]\.{1,2}/[\w./-]+\.json['"]\s*\)`)
	oddCall    = lazyregexp.New(`[\])}'"]\s*\(|[@` + "`" + `\\]|__`)
)

// harmlessCode errs towards asking: every word that is called, imported or
// taken from an object must be known, and no word may be dangerous, not even
// in a string.
func harmlessCode(lang, code string) bool {
	if lang == "pypy" || lang == "pypy3" {
		lang = "python"
	}
	words, ok := vocabulary()[lang]
	if !ok || len(code) > 4000 {
		return false
	}
	if lang == "node" {
		code = nodeJSON.ReplaceAllString(code, "json")
	}
	if oddCall.MatchString(code) {
		return false
	}
	for _, w := range identifier.FindAllString(code, -1) {
		if slices.Contains(taboo()[lang], w) {
			return false
		}
	}
	for _, re := range []*lazyregexp.Regexp{called, member} {
		for _, m := range re.FindAllStringSubmatch(code, -1) {
			if w := m[1]; !slices.Contains(words, w) && !slices.Contains([]string{"if", "for", "while", "in", "and", "or", "not", "return"}, w) {
				return false
			}
		}
	}
	for _, m := range pyImport.FindAllStringSubmatch(code, -1) {
		for w := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return r == ',' || r == ' ' || r == '.' }) {
			if !slices.Contains(words, w) {
				return false
			}
		}
	}
	return true
}

// awk programs can write files, run commands and read their output.
var awkDanger = lazyregexp.New(`system|getline|>|\||-i\b|@|close|fflush`)

func awk(a *analysis, c invocation, st *state) {
	o := syntaxOf{shorts: "Fvfi", longs: []string{"--file", "--include", "--exec", "--source", "--assign", "--field-separator"}, first: true}.parse(c.args)
	for _, i := range o.values("-i", "--include") {
		a.report(Overwrite, c.name, i.src, "awk -i may change files in place")
	}
	programs := append(o.values("-e", "--source"), o.ops[:min(1, len(o.ops))]...)
	if files := o.values("-f", "--file"); len(files) > 0 {
		programs = nil
		for _, f := range files {
			if name, ok := f.lit(); !ok || a.ownScript(name, "awk", st) {
				a.report(InlineCode, c.name, f.src, "awk runs a script that is not read: %s", f.src)
			}
		}
	}
	for _, p := range programs {
		text, ok := p.lit()
		// a comparison is no redirection: take those out before looking
		plainText := strings.NewReplacer(">=", "", "||", "", "$0>", "", "NR>", "", "NF>", "").Replace(text)
		plainText = comparison.ReplaceAllString(plainText, "")
		if !ok || awkDanger.MatchString(plainText) {
			a.report(InlineCode, c.name, clip(text), "the awk program may write files or run commands: %s", clip(p.src))
		}
	}
}

// comparison is a field or variable compared with a number, before a brace or
// the end: there awk prints nothing that could be redirected.
var comparison = lazyregexp.New(`(?:^|[('&;}])\s*[$\w\[\]]+\s*>\s*[\d.]+`)
