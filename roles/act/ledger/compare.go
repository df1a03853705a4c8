package ledger

import (
	"fmt"
	"slices"

	"orch/roles/act/weaken"
)

// The kinds of findings that come of a comparison.
const (
	FailsUnheeded    weaken.Kind = "fails_unheeded"
	FailsAsItWas     weaken.Kind = "fails_as_it_was"
	InterfaceChanged weaken.Kind = "interface_changed"
)

// mostNamed bounds the findings of one kind in one suite; the rest is counted.
const mostNamed = 20

// Place is where a test stands at the base.
type Place struct {
	File string
	Line int
}

// Runs are what the comparison of a submission is made of, whose own run passed.
type Runs struct {
	Base Ledger  // of the base, with its own tests
	Own  Ledger  // of the submission, with its own tests
	Over *Ledger // of the submission with the tests of the base; nil: no test differs
	// At says where a test of the base stands.
	At func(Name) Place
}

// Compare lists what is wrong now with each test that passed at the base and
// binds, and which tests fail although the run as a whole passed.
func Compare(r Runs) []weaken.Finding {
	c := comparison{Runs: r}
	c.compare()
	return c.found
}

func (c *comparison) compare() {
	lost := map[Name]bool{}
	for _, n := range c.Base.All(Passed) { // a test comes before its subtests
		if c.Base.IsShaky(n) || c.Own.Why(n.Suite) != "" {
			continue
		}
		if n != n.Top() && lost[n.Top()] {
			continue
		}
		lost[n] = c.own(n)
	}
	for _, n := range Leaves(c.Own.All(Failed)) {
		if c.Base.Of(n) != Failed && !c.Base.IsShaky(n) {
			c.say(FailsUnheeded, n, "let the command fail when a test does", "the test %s fails, and the command passes all the same", n.Test)
		}
	}
	c.over(lost)
}

// Lost are the tests that findings of a comparison are about.
func (r Runs) Lost() []Name {
	c := comparison{Runs: r}
	c.compare()
	return c.names
}

type comparison struct {
	Runs
	found []weaken.Finding
	names []Name
	named map[string]int // findings by suite and kind
}

// own says what is wrong with a test in the submission's own run.
func (c *comparison) own(n Name) bool {
	switch c.Own.Of(n) {
	case "":
		c.say(weaken.DeletedTest, n, "bring the test back, or let the reviewer accept by name that it is gone",
			"the test %s passed at the base and is missing now", n.Test)
	case Skipped:
		c.say(weaken.SkippedTest, n, "let the test run", "the test %s passed at the base and is skipped now", n.Test)
	default:
		return false
	}
	return true
}

// over says which tests no longer hold as they were at the base.
func (c *comparison) over(lost map[Name]bool) {
	if c.Over == nil {
		return
	}
	var failing []Name
	gone := map[string]int{}
	for _, n := range c.Base.All(Passed) {
		switch {
		case c.Base.IsShaky(n) || lost[n] || lost[n.Top()]:
		case c.Over.Why(n.Suite) != "" && c.Over.Of(n) == "":
			gone[n.Suite]++
		case c.Over.Of(n) != Passed && c.Own.Of(n) == Passed:
			failing = append(failing, n)
		}
	}
	for _, n := range Leaves(failing) {
		what := "fails"
		if c.Over.Of(n) != Failed {
			what = "does not run"
		}
		c.say(FailsAsItWas, n, "keep what the test demanded at the base, unless the spec demands another",
			"the test %s as it was at the base %s with the submitted code", n.Test, what)
	}
	for _, suite := range c.Over.Broken() {
		if n := gone[suite]; n > 0 {
			at := c.At(Name{Suite: suite})
			c.found = append(c.found, weaken.Finding{Kind: InterfaceChanged, File: at.File, Line: max(at.Line, 1), Sure: true,
				What: fmt.Sprintf("interface changed: %d tests of %s not comparable, since they do not run with the submitted code as they were at the base (%s)", n, suite, c.Over.Why(suite)),
				Fix:  "keep the interface that the tests of the base use, or let the reviewer accept the change by name"})
		}
	}
}

func (c *comparison) say(k weaken.Kind, n Name, fix, format string, args ...any) {
	if c.named == nil {
		c.named = map[string]int{}
	}
	c.names = append(c.names, n)
	key := string(k) + " " + n.Suite
	c.named[key]++
	f := weaken.Finding{Kind: k, Subject: n.Test, What: fmt.Sprintf(format, args...), Sure: true, Fix: fix}
	at := c.At(n)
	if c.named[key] > mostNamed {
		f.Subject, f.What = "", fmt.Sprintf("more than %d tests of %s are named here; so it is with others of it", mostNamed, n.Suite)
		if slices.ContainsFunc(c.found, func(o weaken.Finding) bool { return o.Kind == k && o.What == f.What }) {
			return
		}
		at = c.At(Name{Suite: n.Suite})
	}
	f.File, f.Line = at.File, max(at.Line, 1)
	c.found = append(c.found, f)
}
