package weaken

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Inspect lists what a diff does to tests, by file and line. A task that is
// exempt from tests need not bring any, but may not change code either.
func Inspect(diff []byte, exemptFromTests bool) ([]Finding, error) {
	files, err := parse(diff)
	if err != nil {
		return nil, err
	}
	x := inspection{files: files, added: map[string]int{}, moved: map[string]bool{}}
	x.index()
	for _, f := range files {
		x.file(f)
		x.hidden(f)
	}
	x.missing(exemptFromTests)
	slices.SortStableFunc(x.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
	})
	return x.found, nil
}

// OwnFiles finds, among the paths a change touches, those of orch itself. What
// was merged there would be in the way of the board that is there, or part of
// its settings and hooks.
func OwnFiles(paths []string) []Finding {
	var found []Finding
	for _, p := range paths {
		if p == ".orch" || strings.HasPrefix(p, ".orch/") {
			found = append(found, Finding{Kind: OrchFiles, File: p, Line: 1, What: "the change touches what belongs to orch", Sure: true})
		}
	}
	return found
}

// inspection is one look at one diff.
type inspection struct {
	files  []file
	added  map[string]int  // tests and normalised assertions that the diff adds, anywhere
	quoted map[string]bool // values that tests of the diff have written out
	moved  map[string]bool // tests that stand elsewhere now
	found  []Finding
}

func (x *inspection) say(k Kind, f file, l line, sure bool, format string, args ...any) {
	x.sayOf(l.subject(), k, f, l, sure, format, args...)
}

func (x *inspection) sayOf(subject string, k Kind, f file, l line, sure bool, format string, args ...any) {
	at := Finding{Kind: k, File: f.name(), Subject: subject, Line: l.newNo, What: fmt.Sprintf(format, args...), Sure: sure}
	if l.op == '-' {
		at.Line = l.oldNo
		if f.old != "" {
			at.File = f.old
		}
	}
	x.found = append(x.found, at)
}

// subject is the test that a line is in, or else the line itself.
func (l line) subject() string {
	if l.inside != "" {
		return l.inside
	}
	return clip(normal(l.text))
}

// holdsTests tells whether a file is there for tests, or may have some inside.
func holdsTests(f file) bool {
	return IsTestFile(f.name()) || f.old != "" && IsTestFile(f.old) || languageOf(f.name()).inCode
}

// surely tells whether a line belongs to a test, and not to the program beside it.
func (f file) surely(l line) bool {
	return l.inside != "" || IsTestFile(f.name()) || f.old != "" && IsTestFile(f.old)
}

// index notes what the diff adds, so that what only moved is not missed.
func (x *inspection) index() {
	x.quoted = map[string]bool{}
	for _, f := range x.files {
		if !holdsTests(f) {
			continue
		}
		lang := languageOf(f.name())
		for i, l := range f.lines {
			if f.surely(l) {
				for _, lit := range literals.FindAllString(l.text, -1) {
					x.quoted[lit] = true
				}
			}
			if l.op != '+' {
				continue
			}
			if name := f.declares(lang, i); name != "" {
				x.added["test "+name]++
			}
			if lang.asserts(l.text) || lang.condition(l.text) {
				x.added[normal(l.text)]++
			}
		}
	}
}

func normal(text string) string { return strings.Join(strings.Fields(text), " ") }

func (x *inspection) file(f file) {
	if !holdsTests(f) {
		x.selection(f)
		x.special(f)
		return
	}
	lang := languageOf(f.name())
	gone, renamed := x.deleted(f, lang)
	x.skipped(f, lang)
	x.assertions(f, lang, gone, renamed)
	if !IsTestFile(f.name()) {
		x.special(f)
	} else if !IsSource(f.name()) {
		x.data(f)
	}
}

// deleted finds tests that are gone, and returns them. One that was renamed
// where it stands, or that stands elsewhere now, is not gone.
func (x *inspection) deleted(f file, lang language) (gone map[string]bool, renamed map[string]string) {
	gone, renamed = map[string]bool{}, map[string]string{}
	names := map[int][]string{} // declarations that a block adds and that have no other of that name
	for i, l := range f.lines {
		if name := f.declares(lang, i); l.op == '+' && name != "" {
			names[l.block] = append(names[l.block], name)
		}
	}
	for i, l := range f.lines {
		name := f.declares(lang, i)
		if l.op != '-' || name == "" {
			continue
		}
		switch {
		case x.added["test "+name] > 0:
			x.added["test "+name]--
			x.moved[name] = !slices.Contains(names[l.block], name)
			names[l.block] = slices.DeleteFunc(names[l.block], func(n string) bool { return n == name })
		case len(names[l.block]) > 0 && f.new != "":
			renamed[name], names[l.block] = names[l.block][0], names[l.block][1:]
		default:
			gone[name] = true
			x.say(DeletedTest, f, l, true, "the test %q is gone", name)
		}
	}
	x.deletedWhole(f, lang)
	return gone, renamed
}

// deletedWhole finds test files that are gone of which no single test is seen:
// a script is a test as a whole.
func (x *inspection) deletedWhole(f file, lang language) {
	if f.new != "" || len(f.lines) == 0 || !IsTestFile(f.old) || !IsSource(f.old) {
		return
	}
	for i := range f.lines {
		if lang.decl != other.decl || f.declares(lang, i) != "" {
			return // its tests are seen one by one
		}
	}
	x.sayOf("", DeletedTest, f, f.lines[0], true, "the test %s is gone", f.old)
}

// skipped finds what keeps tests from running. A new test may skip itself
// under a condition.
func (x *inspection) skipped(f file, lang language) {
	fresh := map[string]bool{}
	for i, l := range f.lines {
		if name := f.declares(lang, i); name != "" && l.op == '+' {
			fresh[name] = true
		}
	}
	for i, l := range f.lines {
		if l.op != '+' || strings.HasPrefix(strings.TrimSpace(l.text), lang.comment) && !strings.Contains(l.text, "build") {
			continue
		}
		switch {
		case lang.skip.MatchString(literals.ReplaceAllString(l.text, "·")):
			if fresh[l.inside] && x.conditional(f, i) {
				continue
			}
			x.say(SkippedTest, f, l, true, "%s", normal(l.text))
		case normal(l.text) == "return" && i > 0 && f.declares(lang, i-1) != "":
			x.say(SkippedTest, f, l, true, "the test %q returns before it does anything", l.inside)
		case lang.inCode && strings.Contains(l.text, "#[should_panic") && !fresh[x.next(f, lang, i)]:
			x.say(LoosenedAssertion, f, l, true, "a test may now panic: %s", normal(l.text))
		}
	}
}

var branches = re(`^\s*(?:if|unless)\b`)

// conditional tells whether the line before is a condition.
func (x *inspection) conditional(f file, i int) bool {
	return strings.Contains(f.lines[i].text, "skipif") || i > 0 && branches.MatchString(f.lines[i-1].text)
}

// next is the test that the lines after i declare.
func (x *inspection) next(f file, lang language, i int) string {
	for j := i; j < len(f.lines) && j < i+5; j++ {
		if name := f.declares(lang, j); name != "" {
			return name
		}
	}
	return ""
}

// missing finds code that came without tests.
func (x *inspection) missing(exempt bool) {
	var first *file
	for i, f := range x.files {
		changed := slices.ContainsFunc(f.lines, func(l line) bool { return l.op == '+' && strings.TrimSpace(l.text) != "" })
		switch lang := languageOf(f.name()); {
		case !changed:
		case IsTestFile(f.name()):
			return
		case lang.inCode && slices.ContainsFunc(f.lines, func(l line) bool { return l.op == '+' && l.inside != "" }):
			return
		case IsCodeFile(f.name()) && first == nil:
			first = &x.files[i]
		}
	}
	if first == nil {
		return
	}
	i := slices.IndexFunc(first.lines, func(l line) bool { return l.op == '+' })
	what := "code changed and no test did"
	if exempt {
		what = "the task is exempt from tests, but code changed"
	}
	x.found = append(x.found, Finding{Kind: MissingTests, File: first.name(), Line: first.lines[i].newNo, What: what, Sure: true, Whole: true})
}
