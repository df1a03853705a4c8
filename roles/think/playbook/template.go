package playbook

import (
	"fmt"
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"orch/blackboard/lazyregexp"
)

// Values are the parameters of one plan. A value knows whether it may be put
// into a command as it is.
type Values map[string]Value

// Value is one parameter's value.
type Value struct {
	Text  string
	Type  ParamType
	Own   bool // written in the playbook, not taken from a person's words
	Given bool // taken from the intent
}

var reference = lazyregexp.New(`\$\{([^}]*)\}`)

func (v Values) text(name string) string { return v[name].Text }

// with returns a copy with the playbook's own texts set over it.
func (v Values) with(set map[string]string) Values {
	out := make(Values, len(v)+len(set))
	for name, value := range v {
		out[name] = value
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		value := Value{Type: v[name].Type, Own: true}
		if value.Type == CommandParam {
			value.Text = v.shell(set[name])
		} else {
			value.Text = v.plain(set[name])
		}
		out[name] = value
	}
	return out
}

// plain puts values into a text that no shell reads.
func (v Values) plain(s string) string {
	return reference.ReplaceAllStringFunc(s, func(m string) string { return v[m[2:len(m)-1]].Text })
}

// shell puts values into a command, quoted so that a value stays one word (or,
// for words, as many as it has) whatever it holds.
func (v Values) shell(s string) string {
	return reference.ReplaceAllStringFunc(s, func(m string) string { return v[m[2:len(m)-1]].quoted() })
}

func (v Value) quoted() string {
	switch {
	case v.Type == CommandParam && v.Own:
		return v.Text
	case v.Type == CommandParam, v.Type == WordsParam:
		words := strings.Fields(v.Text)
		for i, w := range words {
			words[i] = quote(w)
		}
		return strings.Join(words, " ")
	}
	return quote(v.Text)
}

var bare = lazyregexp.New(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quote makes one shell word of any text without a NUL.
func quote(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// render puts values into plain data: strings under a key that is a command are
// shell, all others plain text.
func (v Values) render(data any) any {
	switch d := data.(type) {
	case string:
		return v.plain(d)
	case []any:
		out := make([]any, len(d))
		for i, e := range d {
			out[i] = v.render(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(d))
		for key, e := range d {
			if text, ok := e.(string); ok && isCommand(key) {
				out[key] = v.shell(text)
				continue
			}
			out[key] = v.render(e)
		}
		return out
	}
	return data
}

// isCommand tells whether the string under a key is read by a shell.
func isCommand(key string) bool { return key == "command" || key == "run" }

// checkPlain reports a reference to a parameter that does not exist.
func checkPlain(s string, known map[string]bool) error {
	for _, m := range reference.FindAllStringSubmatch(s, -1) {
		if !known[m[1]] {
			return fmt.Errorf("unknown parameter ${%s}", cut(m[1], 40))
		}
	}
	return nil
}

// checkShell reports a command that does not parse, or that holds a reference
// where its quoting would not protect: inside quotes, backquotes, arithmetic or
// a here-document.
func checkShell(s string, known map[string]bool) error {
	if err := checkPlain(s, known); err != nil {
		return err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
	if err != nil {
		return fmt.Errorf("the command does not parse: %s", cut(err.Error(), 120))
	}
	safe := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DblQuoted, *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.TestClause, *syntax.ParamExp:
			return false
		case *syntax.CmdSubst:
			return !n.Backquotes
		case *syntax.Redirect:
			return n.Hdoc == nil
		case *syntax.Word:
			safe += references(n, known)
		}
		return true
	})
	if all := len(reference.FindAllString(s, -1)); safe != all {
		return fmt.Errorf("a ${parameter} stands inside quotes, backquotes, arithmetic or a here-document; it is quoted already, put it outside")
	}
	return nil
}

// references counts the plain ${parameter} parts of a word.
func references(w *syntax.Word, known map[string]bool) int {
	n := 0
	for _, part := range w.Parts {
		p, ok := part.(*syntax.ParamExp)
		if ok && !p.Short && p.Param != nil && known[p.Param.Value] && plainExpansion(p) {
			n++
		}
	}
	return n
}

func plainExpansion(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
}
