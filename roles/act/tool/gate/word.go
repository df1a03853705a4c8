package gate

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxAlternatives bounds the values one word may have before it counts as unknown.
const maxAlternatives = 64

// field is one value of an argument. A field with glob holds a pattern.
type field struct {
	text string
	glob bool
}

// arg is one argument of a command: every value it may have, or none that is
// known. An unknown argument that is not quoted may also be several, or none.
type arg struct {
	alts  []field
	split bool   // may become several arguments
	src   string // as written, for people
}

func known(text string) arg { return arg{alts: []field{{text: text}}, src: text} }

func unknown(src string) arg { return arg{src: src, split: true} }

func (a arg) known() bool { return len(a.alts) > 0 }

// lit is the argument's only value; ok is false when it has none or several.
func (a arg) lit() (string, bool) {
	if len(a.alts) == 1 && !a.alts[0].glob {
		return a.alts[0].text, true
	}
	return "", false
}

// piece is a possible value of a part of a word.
type piece struct {
	text     string
	glob     bool // unquoted and with pattern characters
	expanded bool // from an unquoted expansion: white space separates
}

// args evaluates the words of a command.
func (a *analysis) args(words []*syntax.Word, st *state) []arg {
	var out []arg
	for _, w := range words {
		for _, b := range a.braces(w) {
			if b == nil {
				out = append(out, unknown(source(w)))
				continue
			}
			out = append(out, a.word(b, st)...)
		}
		if len(out) > 4*maxAlternatives {
			return append(out, unknown("…"))
		}
	}
	return out
}

// braces expands {a,b}; a nil word stands for too many or a sequence.
func (a *analysis) braces(w *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: slices.Clone(w.Parts)} // the tree itself stays as it is
	if a.dialect != Bash || !syntax.SplitBraces(split) {
		return []*syntax.Word{w}
	}
	var out []*syntax.Word
	for word, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(out) == maxAlternatives {
			return []*syntax.Word{nil}
		}
		out = append(out, word)
	}
	return out
}

// word evaluates one word into the arguments it becomes.
func (a *analysis) word(w *syntax.Word, st *state) []arg {
	src := source(w)
	if allPositional(w) && st.positional != nil {
		return st.positional
	}
	alts := a.parts(w.Parts, st, false)
	if alts == nil {
		u := unknown(src)
		u.split = !quotedWhole(w)
		return []arg{u}
	}
	if len(alts) == 1 {
		fields := splitFields(alts[0], st.ifsChanged)
		out := make([]arg, 0, len(fields))
		for _, f := range fields {
			if f == nil {
				return []arg{unknown(src)}
			}
			out = append(out, arg{alts: []field{*f}, src: src})
		}
		return out
	}
	one := arg{src: src}
	for _, alt := range alts {
		fields := splitFields(alt, st.ifsChanged)
		if len(fields) != 1 || fields[0] == nil {
			return []arg{unknown(src)}
		}
		one.alts = append(one.alts, *fields[0])
	}
	return []arg{one}
}

// allPositional recognises "$@" and "$*" alone.
func allPositional(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || p.Param.Value == "*") && plain(p)
}

func quotedWhole(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			return false
		}
	}
	return true
}

// parts returns every value the parts can have together; nil when unknown.
func (a *analysis) parts(parts []syntax.WordPart, st *state, quoted bool) [][]piece {
	alts := [][]piece{nil}
	for i, p := range parts {
		values := a.part(p, st, quoted, i == 0)
		if len(values) == 0 || len(values)*len(alts) > maxAlternatives {
			return nil
		}
		next := make([][]piece, 0, len(values)*len(alts))
		for _, alt := range alts {
			for _, v := range values {
				next = append(next, append(append([]piece{}, alt...), v...))
			}
		}
		alts = next
	}
	return alts
}

func (a *analysis) part(p syntax.WordPart, st *state, quoted, first bool) [][]piece {
	switch p := p.(type) {
	case *syntax.Lit:
		return one(a.literal(p.Value, st, quoted, first))
	case *syntax.SglQuoted:
		if !p.Dollar {
			return one([]piece{{text: p.Value}})
		}
		text, ok := ansiC(p.Value)
		if !ok {
			return nil
		}
		return one([]piece{{text: text}})
	case *syntax.DblQuoted:
		alts := a.parts(p.Parts, st, true)
		for i := range alts { // even when empty it is a field
			alts[i] = append(alts[i], piece{})
		}
		return alts
	case *syntax.ParamExp:
		return a.param(p, st, quoted)
	case *syntax.CmdSubst:
		return a.substValue(p, st, quoted)
	case *syntax.ProcSubst:
		return one([]piece{{text: procSubst}})
	}
	return nil // arithmetic, extended globs and what other shells have
}

func one(p []piece) [][]piece {
	if p == nil {
		return nil
	}
	return [][]piece{p}
}

// literal undoes backslashes, and sets quoted and unquoted runs apart.
func (a *analysis) literal(text string, st *state, quoted, first bool) []piece {
	out := []piece{}
	if first && !quoted && strings.HasPrefix(text, "~") {
		name, rest, _ := strings.Cut(text, "/")
		home, ok := st.vars["HOME"]
		if name != "~" || !ok || len(home.alts) != 1 {
			return nil // another user's home, or one that is not known
		}
		out = append(out, piece{text: home.alts[0]})
		if text = strings.TrimPrefix(text, "~"); rest == "" && text == "" {
			return out
		}
	}
	var run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			s := run.String()
			out = append(out, piece{text: s, glob: !quoted && isPattern(s)})
			run.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) || (quoted && !strings.ContainsRune("$`\"\\\n", rune(text[i+1]))) {
			run.WriteByte(c)
			continue
		}
		i++
		if text[i] == '\n' {
			continue
		}
		flush()
		out = append(out, piece{text: text[i : i+1]})
	}
	flush()
	return out
}

// source is a node as written, shortened for people.
func source(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n) != nil {
		return "…"
	}
	s := strings.TrimSpace(b.String())
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// base is the name of a program without its directories.
func base(program string) string { return path.Base(program) }

// isPattern tells whether the shell would look for files that match.
func isPattern(s string) bool {
	if strings.ContainsAny(s, "*?") {
		return true
	}
	_, rest, ok := strings.Cut(s, "[")
	return ok && strings.Contains(rest, "]")
}
