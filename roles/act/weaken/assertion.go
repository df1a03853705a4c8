package weaken

import (
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// literals are values written out: the text of strings, and numbers.
var literals = lazyregexp.New("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`|\\b\\d[\\d_.]*\\b")

// assertions compares what each test asserted before and asserts now. Tests
// that are gone are not looked at again.
func (x *inspection) assertions(f file, lang language, gone map[string]bool, renamed map[string]string) {
	type side struct{ removed, added []line }
	tests := map[string]*side{}
	var order []string
	for i, l := range f.lines {
		if l.op == ' ' || gone[l.inside] && l.op == '-' || !lang.asserts(l.text) && !lang.condition(l.text) {
			continue
		}
		if lang.condition(l.text) && !f.fails(lang, i) {
			continue
		}
		if f.new == "" && l.inside == "" {
			continue // it went with its file, and was in no test
		}
		in := l.inside
		if now, ok := renamed[in]; ok && l.op == '-' {
			in = now
		}
		t := tests[in]
		if t == nil {
			t = &side{}
			tests[in] = t
			order = append(order, in)
		}
		if l.op == '-' {
			t.removed = append(t.removed, l)
		} else {
			t.added = append(t.added, l)
		}
	}
	for _, name := range order {
		x.compare(f, lang, tests[name].removed, tests[name].added)
	}
}

// fails tells whether the lines after a condition of a Go test fail it.
func (f file) fails(lang language, i int) bool {
	seen := 0
	for j := i + 1; j < len(f.lines) && seen < 3; j++ {
		if l := f.lines[j]; l.op == f.lines[i].op || l.op == ' ' {
			if seen++; lang.asserts(l.text) {
				return true
			}
		}
	}
	return false
}

// compare matches removed assertions with added ones: the same text first,
// then those that changed together, in order.
func (x *inspection) compare(f file, lang language, removed, added []line) {
	used := make([]bool, len(added))
	var rest []line
	for _, r := range removed {
		if !take(added, used, func(a line) bool { return normal(a.text) == normal(r.text) }) {
			rest = append(rest, r)
		}
	}
	for _, r := range rest {
		same := func(a line) bool {
			return a.block == r.block && lang.condition(a.text) == lang.condition(r.text)
		}
		i := index(added, used, same)
		if i < 0 {
			i = index(added, used, func(a line) bool {
				return lang.condition(a.text) == lang.condition(r.text) && shape(a.text) == shape(r.text)
			})
		}
		switch {
		case i >= 0:
			used[i] = true
			x.changed(f, lang, r, added[i], len(added) > len(removed))
		case x.added[normal(r.text)] > 0:
			x.added[normal(r.text)]-- // it stands in another test now
		default:
			// A test that moved, or was rewritten and asserts no less often, is for a reviewer.
			x.say(RemovedAssertion, f, r, f.surely(r) && len(added) < len(removed) && !x.moved[r.inside], "%s", normal(r.text))
		}
	}
}

func index(list []line, used []bool, fits func(line) bool) int {
	for i, l := range list {
		if !used[i] && fits(l) {
			return i
		}
	}
	return -1
}

func take(list []line, used []bool, fits func(line) bool) bool {
	i := index(list, used, fits)
	if i >= 0 {
		used[i] = true
	}
	return i >= 0
}

// shape is an assertion without the values written out in it.
func shape(text string) string { return literals.ReplaceAllString(normal(text), "·") }

// changed judges an assertion that took the place of another. Where a test
// asserts more often than before, one may have become several.
func (x *inspection) changed(f file, lang language, before, now line, more bool) {
	was, is := lang.strength(before.text), lang.strength(now.text)
	plain := true // of several clauses only a reviewer can tell
	if lang.condition(before.text) {
		switch clauses(before.text, now.text) {
		case stricter:
			return
		case weaker:
			is = was - 1
		case unrelated:
			plain = !strings.Contains(before.text+now.text, "||") && !strings.Contains(before.text+now.text, "&&")
		}
	}
	switch {
	case is < was:
		x.say(LoosenedAssertion, f, now, f.surely(before) && (plain && !more || lang.trivial.MatchString(now.text)), "it was: %s", normal(before.text))
	case onlyWords(lang, before.text, now.text):
	case shape(before.text) == shape(now.text):
		x.say(ChangedExpectation, f, now, false, "it was: %s", normal(before.text))
	}
}

// How a condition that fails a test became another.
const (
	unrelated = iota
	stricter
	weaker
)

// clauses compares the conditions under which a Go test fails: with a clause
// less to be met too, or one more that suffices, it fails more often.
func clauses(before, now string) int {
	for op, fewer := range map[string]int{"&&": stricter, "||": weaker} {
		a, b := split(before, op), split(now, op)
		if len(a) == len(b) || len(a) > 1 && len(b) > 1 && strings.Contains(before+now, theOther[op]) {
			continue
		}
		switch {
		case within(b, a):
			return fewer
		case within(a, b):
			return stricter + weaker - fewer
		}
	}
	return unrelated
}

var theOther = map[string]string{"&&": "||", "||": "&&"}

func split(condition, op string) []string {
	text := strings.TrimSuffix(strings.TrimPrefix(normal(condition), "if "), " {")
	if i := strings.LastIndex(text, "; "); i >= 0 {
		text = text[i+2:]
	}
	return strings.Split(text, " "+op+" ")
}

// within tells whether every part of a is one of b.
func within(a, b []string) bool {
	for _, part := range a {
		if !slices.Contains(b, part) {
			return false
		}
	}
	return true
}

var prints = re(`\b\w+\.(?:Error|Errorf|Fatal|Fatalf)\(`)

// onlyWords tells whether only the words that a failure prints have changed: in
// Go, what is given to t.Errorf.
func onlyWords(lang language, before, now string) bool {
	return lang.decl == golang.decl && prints.MatchString(before) && prints.MatchString(now) && !strings.Contains(now, "if ")
}

// data finds changes of files that tests compare with.
func (x *inspection) data(f file) {
	for _, l := range f.lines {
		if l.op == '-' {
			x.sayOf("", ChangedExpectation, f, l, false, "what tests compare with has changed: %s", clip(normal(l.text)))
			return
		}
	}
}

func clip(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}
