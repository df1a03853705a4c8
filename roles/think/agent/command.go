package agent

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"orch/blackboard/lazyregexp"
)

// commandOf is the shell line in the input of an agent's tool call, empty if it
// holds none. Agents write it as a line or as words, and often have a shell run
// it; then it is what that shell is given.
func commandOf(input json.RawMessage) string {
	var in struct {
		Command any `json:"command"`
		Cmd     any `json:"cmd"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	for _, v := range []any{in.Command, in.Cmd} {
		switch v := v.(type) {
		case string:
			if v != "" {
				return unwrapped(v)
			}
		case []any:
			if words := stringsIn(v); len(words) > 0 {
				return lineOf(words)
			}
		}
	}
	return ""
}

func stringsIn(list []any) []string {
	var words []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil
		}
		words = append(words, s)
	}
	return words
}

// lineOf quotes words, so that the line means what they mean.
func lineOf(words []string) string {
	if script, ok := scriptIn(words); ok {
		return script
	}
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			q = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" // a line that is refused is refused
		}
		quoted = append(quoted, q)
	}
	return strings.Join(quoted, " ")
}

var (
	shells     = []string{"sh", "bash", "zsh", "dash"}
	scriptFlag = lazyregexp.New(`^-[lie]*c$`)
)

// scriptIn is the line in words such as bash -lc LINE.
func scriptIn(words []string) (string, bool) {
	if len(words) == 3 && slices.Contains(shells, path.Base(words[0])) && scriptFlag.MatchString(words[1]) {
		return words[2], true
	}
	return "", false
}

// unwrapped is the line inside one that only has a shell run it.
func unwrapped(line string) string {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return line
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || s.Background || s.Negated || len(call.Assigns) > 0 {
		return line
	}
	var words []string
	for _, w := range call.Args {
		text, ok := literal(w)
		if !ok {
			return line
		}
		words = append(words, text)
	}
	if script, ok := scriptIn(words); ok {
		return script
	}
	return line
}

// literal is the text of a word in which the shell replaces nothing.
func literal(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, "*?[\\~{")
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 {
			if lit, ok := p.Parts[0].(*syntax.Lit); ok {
				return lit.Value, !strings.Contains(lit.Value, `\`)
			}
		}
	}
	return "", false
}
