package auditor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Query picks findings. The zero Query picks all.
//
//	query = term { "or" term }
//	term  = fact { "and" fact }
//	fact  = "not" fact | "(" query ")" | field op value
//	op    = "=" | "!=" | "~" | "<" | "<=" | ">" | ">="
//
// "~" is "contains", without regard to case. A value is a word, or anything in
// single or double quotes. Fields are those of QueryFields.
type Query struct{ fits func(Finding) bool }

// Fits tells whether a finding is picked.
func (q Query) Fits(f Finding) bool { return q.fits == nil || q.fits(f) }

// QueryFields lists what a query can ask about, in the order of docs/audit.md.
func QueryFields() []string {
	return []string{"id", "kind", "severity", "goal", "subject", "role", "agent", "message", "trips", "seq", "evidence", "first", "last"}
}

// ParseQuery reads a query; empty text is the zero Query.
func ParseQuery(text string) (Query, error) {
	tokens, err := tokenise(text)
	if err != nil || len(tokens) == 0 {
		return Query{}, err
	}
	p := &parser{tokens: tokens}
	fits, err := p.either(0)
	if err == nil && p.at < len(p.tokens) {
		err = fmt.Errorf("%q is too much", p.tokens[p.at].text)
	}
	return Query{fits}, err
}

type token struct {
	text   string
	quoted bool
}

func tokenise(text string) (out []token, err error) {
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		n := 0
		switch c := rest[0]; {
		case c == '\'' || c == '"':
			end := strings.IndexByte(rest[1:], c)
			if end < 0 {
				return nil, fmt.Errorf("the quote of %s is not closed", rest)
			}
			out = append(out, token{rest[1 : 1+end], true})
			rest = rest[end+2:]
			continue
		case strings.ContainsRune("()", rune(c)):
			n = 1
		case strings.ContainsRune("=!~<>", rune(c)):
			n = 1
			if len(rest) > 1 && rest[1] == '=' && c != '~' && c != '=' {
				n = 2
			}
		default:
			n = strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()=!~<>'\"", r) })
			if n < 0 {
				n = len(rest)
			}
		}
		out = append(out, token{rest[:n], false})
		rest = rest[n:]
	}
	return out, nil
}

type parser struct {
	tokens []token
	at     int
}

func (p *parser) word(w string) bool {
	if p.at < len(p.tokens) && !p.tokens[p.at].quoted && strings.EqualFold(p.tokens[p.at].text, w) {
		p.at++
		return true
	}
	return false
}

// maxDepth bounds how deep a query nests.
const maxDepth = 100

func (p *parser) either(depth int) (func(Finding) bool, error) {
	return p.joined(depth, "or", p.both, func(a, b bool) bool { return a || b })
}

func (p *parser) both(depth int) (func(Finding) bool, error) {
	return p.joined(depth, "and", p.fact, func(a, b bool) bool { return a && b })
}

func (p *parser) joined(depth int, word string, part func(int) (func(Finding) bool, error), join func(a, b bool) bool) (func(Finding) bool, error) {
	left, err := part(depth)
	for err == nil && p.word(word) {
		var right func(Finding) bool
		first := left
		right, err = part(depth)
		left = func(f Finding) bool { return join(first(f), right(f)) }
	}
	return left, err
}

func (p *parser) fact(depth int) (func(Finding) bool, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("more than %d levels", maxDepth)
	}
	if p.word("not") {
		fact, err := p.fact(depth + 1)
		return func(f Finding) bool { return !fact(f) }, err
	}
	if p.word("(") {
		inner, err := p.either(depth + 1)
		if err == nil && !p.word(")") {
			err = fmt.Errorf("a parenthesis is not closed")
		}
		return inner, err
	}
	if p.at+3 > len(p.tokens) {
		return nil, fmt.Errorf("a field, an operator and a value are wanted at the end")
	}
	field, op, value := p.tokens[p.at], p.tokens[p.at+1], p.tokens[p.at+2]
	p.at += 3
	return compile(strings.ToLower(field.text), op.text, value.text)
}

var operators = []string{"=", "!=", "~", "<", "<=", ">", ">="}

func compile(field, op, value string) (func(Finding) bool, error) {
	if !slices.Contains(QueryFields(), field) {
		return nil, fmt.Errorf("there is no field %q; known: %s", field, strings.Join(QueryFields(), ", "))
	}
	if !slices.Contains(operators, op) {
		return nil, fmt.Errorf("%q is no operator; known: %s", op, strings.Join(operators, " "))
	}
	switch field {
	case "seq", "evidence":
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil || op == "~" {
			return nil, fmt.Errorf("%s %s %q: a number and a comparison are wanted", field, op, value)
		}
		return func(f Finding) bool {
			if field == "evidence" {
				return ordered(op, compareNumbers(uint64(f.Evidence), n))
			}
			return slices.ContainsFunc(f.Seqs, func(s uint64) bool { return ordered(op, compareNumbers(s, n)) })
		}, nil
	case "first", "last":
		at, err := time.Parse(time.RFC3339, value)
		if err != nil || op == "~" {
			return nil, fmt.Errorf("%s %s %q: a time such as 2026-01-31T12:00:00Z and a comparison are wanted", field, op, value)
		}
		return func(f Finding) bool {
			ts := f.LastTS
			if field == "first" {
				ts = f.FirstTS
			}
			return ordered(op, ts.Compare(at))
		}, nil
	}
	if op != "=" && op != "!=" && op != "~" {
		return nil, fmt.Errorf("%s is text: =, != or ~", field)
	}
	return func(f Finding) bool {
		have := textOf(f, field)
		if op == "~" {
			return strings.Contains(strings.ToLower(have), strings.ToLower(value))
		}
		return strings.EqualFold(have, value) == (op == "=")
	}, nil
}

func textOf(f Finding, field string) string {
	return map[string]string{
		"id": f.ID, "kind": string(f.Kind), "severity": string(f.Severity), "goal": string(f.Goal), "subject": f.Subject,
		"role": string(f.Role), "agent": string(f.Agent), "message": f.Message, "trips": strconv.FormatBool(f.Trips),
	}[field]
}

func compareNumbers(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ordered applies an operator to how two values compare.
func ordered(op string, c int) bool {
	switch op {
	case "=":
		return c == 0
	case "!=":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}
