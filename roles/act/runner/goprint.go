package runner

import (
	"encoding/json"
	"io"
	"strings"

	"orch/blackboard/lazyregexp"
)

// goPrinter turns what go test -json writes into what go test would have printed
// without. Packages come in the order in which they started, as they do there.
type goPrinter struct {
	out, err io.Writer
	verbose  bool
	listed   bool // packages were named
	bench    bool

	order  []*goPackage
	failed bool
}

// goPackage is what one package is to show.
type goPackage struct {
	name  string
	text  strings.Builder
	tests map[string]*goShown
	last  string // line outside of any test
	turn  string // the test that said something last
	ended bool
	bad   bool
}

// goShown is what a test has logged so far, which is shown when it failed.
type goShown struct {
	logs strings.Builder
	kind string // of the line read last
}

func newGoPrinter(out, err io.Writer, verbose, listed, bench bool) *goPrinter {
	return &goPrinter{out: out, err: err, verbose: verbose, listed: listed, bench: bench}
}

var (
	goFraming = lazyregexp.New(`^=== (?:RUN|PAUSE|CONT|NAME)\s`)
	goResult  = lazyregexp.New(`^\s*--- (PASS|FAIL|SKIP|BENCH): `)
	goLog     = lazyregexp.New(`^    \S+\.go:\d+: `)
)

const (
	indented = "    "
	goLogged = "log"
)

// line takes one line of go's output.
func (p *goPrinter) line(raw []byte) {
	var e struct{ Action, Package, Test, Output, ImportPath string }
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &e) != nil || e.Action == "" {
		_, _ = p.out.Write(raw)
		return
	}
	switch e.Action {
	case "build-output":
		_, _ = io.WriteString(p.err, e.Output)
	case "start":
		p.of(e.Package)
	case "output":
		p.output(p.of(e.Package), e.Test, e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" && e.Package != "" {
			pkg := p.of(e.Package)
			pkg.ended, pkg.bad = true, e.Action == "fail"
			p.failed = p.failed || pkg.bad
			p.flush()
		}
	}
}

func (p *goPrinter) of(name string) *goPackage {
	for _, pkg := range p.order {
		if pkg.name == name {
			return pkg
		}
	}
	pkg := &goPackage{name: name, tests: map[string]*goShown{}}
	p.order = append(p.order, pkg)
	return pkg
}

// output takes a line that a package or one of its tests wrote.
func (p *goPrinter) output(pkg *goPackage, test, text string) {
	if test == "" {
		pkg.last = text
		pkg.text.WriteString(text)
		return
	}
	if p.verbose {
		p.verbosely(pkg, test, text)
		return
	}
	t := pkg.tests[test]
	if t == nil {
		t = &goShown{}
		pkg.tests[test] = t
	}
	result := goResult.FindStringSubmatch(text)
	switch {
	case goFraming.MatchString(text), text == test+"\n": // the latter of a benchmark
		t.kind = ""
	case result != nil && result[1] == "FAIL":
		p.report(pkg, test, strings.TrimLeft(text, " ")+shift(t.logs.String(), indented))
		t.logs.Reset()
	case result != nil && result[1] != "BENCH":
		t.logs.Reset()
	case goLog.MatchString(text) || t.kind == goLogged && strings.HasPrefix(text, indented+indented):
		t.kind = goLogged
		t.logs.WriteString(strings.TrimPrefix(text, indented))
	default:
		t.kind = ""
		pkg.text.WriteString(text)
	}
}

// report hands what a failed test shows to its parent, or shows it.
func (p *goPrinter) report(pkg *goPackage, test, text string) {
	i := strings.LastIndex(test, "/")
	if i < 0 || pkg.tests[test[:i]] == nil {
		pkg.text.WriteString(text)
		return
	}
	pkg.tests[test[:i]].logs.WriteString(text)
}

// verbosely shows everything, and the lines that go takes out of its JSON: they
// say whose log follows where tests take turns.
func (p *goPrinter) verbosely(pkg *goPackage, test, text string) {
	switch {
	case goFraming.MatchString(text) || strings.HasPrefix(text, "---"):
		pkg.turn = test
	case goLog.MatchString(text) && pkg.turn != test:
		if pkg.turn != "" {
			pkg.text.WriteString("=== NAME  " + test + "\n")
		}
		pkg.turn = test
	}
	pkg.text.WriteString(text)
}

// shift indents each line.
func shift(text, by string) string {
	if text == "" {
		return ""
	}
	return by + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n"+by), by)
}

// flush shows the packages that have ended, up to the first that has not.
func (p *goPrinter) flush() {
	for len(p.order) > 0 && p.order[0].ended {
		p.show(p.order[0])
		p.order = p.order[1:]
	}
}

// show shows a package. Of one that passed, go shows one line where packages
// were named, and everything where not.
func (p *goPrinter) show(pkg *goPackage) {
	text := pkg.text.String()
	if p.listed && !pkg.bad && !p.verbose && !p.bench {
		text = pkg.last
	}
	_, _ = io.WriteString(p.out, text)
}

// end shows what was cut off, and go's last word.
func (p *goPrinter) end() {
	for _, pkg := range p.order {
		_, _ = io.WriteString(p.out, pkg.text.String())
	}
	if p.listed && p.failed {
		_, _ = io.WriteString(p.out, "FAIL\n")
	}
}
