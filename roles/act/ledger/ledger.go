package ledger

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Result is what became of a test.
type Result string

// The results.
const (
	Passed  Result = "pass"
	Failed  Result = "fail"
	Skipped Result = "skip"
)

// Name is what a test is known by: the package, file or binary it is in, as its
// runner calls that, and its own name there.
type Name struct {
	Suite string `json:"suite"`
	Test  string `json:"test"`
}

func (n Name) String() string { return strings.TrimPrefix(n.Suite+": "+n.Test, ": ") }

// Top is the test that a subtest is part of, as go names them, or the test itself.
func (n Name) Top() Name {
	n.Test, _, _ = strings.Cut(n.Test, "/")
	return n
}

// Ledger is what the runners of one run said. The zero value is an empty one.
type Ledger struct {
	runners map[string]bool // that were seen
	tests   map[Name]Result
	broken  map[string]string // suite → why none of its tests could run, or why it failed with none of them named
	shaky   map[Name]bool     // passed and failed on the same tree
}

// Saw notes that a runner ran, whether or not it had any tests.
func (l *Ledger) Saw(runner string) {
	if l.runners == nil {
		l.runners = map[string]bool{}
	}
	l.runners[runner] = true
}

// Add notes a test. A failure stands, and so does a pass over a skip: then it ran.
func (l *Ledger) Add(n Name, r Result) {
	if l.tests == nil {
		l.tests = map[Name]Result{}
	}
	if have, ok := l.tests[n]; !ok || rank(r) > rank(have) {
		l.tests[n] = r
	}
}

func rank(r Result) int { return slices.Index([]Result{Skipped, Passed, Failed}, r) }

// NotCompiled is why a suite is broken whose tests, or what they test, do not
// compile.
const NotCompiled = "it does not compile"

// Break notes that a suite could not run, or failed outside of its tests.
func (l *Ledger) Break(suite, why string) {
	if l.broken == nil {
		l.broken = map[string]string{}
	}
	if _, ok := l.broken[suite]; !ok {
		l.broken[suite] = why
	}
}

// Shake notes that a test gives different results on the same tree.
func (l *Ledger) Shake(n Name) {
	if l.shaky == nil {
		l.shaky = map[Name]bool{}
	}
	l.shaky[n] = true
}

// Join adds what another ledger of the same run holds.
func (l *Ledger) Join(other Ledger) {
	for r := range other.runners {
		l.Saw(r)
	}
	for n, r := range other.tests {
		l.Add(n, r)
	}
	for s, why := range other.broken {
		l.Break(s, why)
	}
	for n := range other.shaky {
		l.Shake(n)
	}
}

// Known tells whether a runner was seen whose tests have names.
func (l Ledger) Known() bool { return len(l.runners) > 0 }

// Of is the result of a test; empty when it did not run at all.
func (l Ledger) Of(n Name) Result { return l.tests[n] }

// IsShaky tells whether a test is known to give different results on this tree.
func (l Ledger) IsShaky(n Name) bool { return l.shaky[n] || l.shaky[n.Top()] }

// Ran counts the tests that ran: those that passed or failed.
func (l Ledger) Ran() int { return len(l.All(Passed)) + len(l.All(Failed)) }

// Empty tells whether runners ran and no test did, and nothing else explains it.
func (l Ledger) Empty() bool { return l.Known() && l.Ran() == 0 && len(l.broken) == 0 }

// All lists the tests with a result, in order.
func (l Ledger) All(r Result) []Name {
	var all []Name
	for n, have := range l.tests {
		if have == r {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, compareNames)
	return all
}

// Broken lists the suites that could not run or failed outside of their tests.
func (l Ledger) Broken() []string {
	var all []string
	for s := range l.broken {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// Why says why a suite is broken; empty when it is not.
func (l Ledger) Why(suite string) string { return l.broken[suite] }

func compareNames(a, b Name) int {
	return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Test, b.Test))
}

// Leaves leaves out tests that failed only because a subtest of theirs did.
func Leaves(all []Name) []Name {
	return slices.DeleteFunc(slices.Clone(all), func(n Name) bool {
		return slices.ContainsFunc(all, func(o Name) bool { return o.Suite == n.Suite && strings.HasPrefix(o.Test, n.Test+"/") })
	})
}

// Tops are the tests that a list of tests and subtests is about, each once.
func Tops(all []Name) []Name {
	var out []Name
	for _, n := range all {
		if t := n.Top(); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// stored is the form in which a ledger is kept.
type stored struct {
	Runners []string          `json:"runners"`
	Tests   []entry           `json:"tests"`
	Broken  map[string]string `json:"broken,omitempty"`
}

type entry struct {
	Name
	Result Result `json:"result"`
	Shaky  bool   `json:"shaky,omitempty"`
}

// MarshalJSON writes the ledger in one order.
func (l Ledger) MarshalJSON() ([]byte, error) {
	s := stored{Runners: []string{}, Tests: []entry{}, Broken: l.broken}
	for r := range l.runners {
		s.Runners = append(s.Runners, r)
	}
	slices.Sort(s.Runners)
	for n, r := range l.tests {
		s.Tests = append(s.Tests, entry{n, r, l.shaky[n]})
	}
	slices.SortFunc(s.Tests, func(a, b entry) int { return compareNames(a.Name, b.Name) })
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Ledger) UnmarshalJSON(raw []byte) error {
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	*l = Ledger{}
	for _, r := range s.Runners {
		l.Saw(r)
	}
	for _, e := range s.Tests {
		l.Add(e.Name, e.Result)
		if e.Shaky {
			l.Shake(e.Name)
		}
	}
	for suite, why := range s.Broken {
		l.Break(suite, why)
	}
	return nil
}
