package code

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/weaken"
)

// The gates of a draft.
const (
	GateSpecRef      = "spec_ref"
	GateDoneWhen     = "done_when"
	GateScope        = "scope"
	GateDependencies = "depends_on"
	GateTests        = "tests"
)

// Basis is what drafts are held against.
type Basis struct {
	// SpecExists tells whether a file of the project is there, by its path
	// relative to the root. Nil leaves the question out.
	SpecExists func(path string) bool
	// Known tells whether a task, not among the drafts, may be depended on.
	Known func(message.TaskID) bool
}

// Gated lists the drafts that miss a gate, with every gate they miss. A plan
// is committed only when the list is empty.
func Gated(drafts []message.SubTask, b Basis) []message.TaskGated {
	circle := inCircle(drafts)
	var out []message.TaskGated
	for _, t := range drafts {
		var missing []message.Gate
		miss := func(gate, format string, args ...any) {
			missing = append(missing, message.Gate{Gate: gate, Why: fmt.Sprintf(format, args...)})
		}
		if why := specProblem(t.SpecRef, b.SpecExists); why != "" {
			miss(GateSpecRef, "%s", why)
		}
		if why := DoneWhenProblem(t.DoneWhen); why != "" {
			miss(GateDoneWhen, "%s", why)
		}
		if len(words(t.Scope)) == 0 {
			miss(GateScope, "it does not say what is in scope")
		}
		for _, dep := range t.DependsOn {
			if !hasDraft(drafts, dep) && (b.Known == nil || !b.Known(dep)) {
				miss(GateDependencies, "it depends on %s, which does not exist", dep)
			}
		}
		if circle[t.ID] {
			miss(GateDependencies, "it depends on itself, in a circle")
		}
		if why := testsProblem(t); why != "" {
			miss(GateTests, "%s", why)
		}
		if len(missing) > 0 {
			out = append(out, message.TaskGated{Task: t.ID, Missing: missing})
		}
	}
	return out
}

// Violations are the gates as the plan validator says them to a planner.
func Violations(gated []message.TaskGated, slot func(message.TaskID) string) []message.Violation {
	var all []message.Violation
	for _, g := range gated {
		for _, m := range g.Missing {
			all = append(all, message.Violation{Rule: "gate_" + m.Gate, What: slot(g.Task), Because: m.Why})
		}
	}
	return all
}

// SpecPath is the file of a spec_ref, without its anchor.
func SpecPath(ref string) string {
	file, _, _ := strings.Cut(ref, "#")
	return strings.TrimSpace(file)
}

// specProblem says what is wrong with a spec_ref. Anchors are not looked at:
// keeping them right is a person's.
func specProblem(ref string, exists func(string) bool) string {
	file := SpecPath(ref)
	clean := path.Clean(strings.ReplaceAll(file, `\`, "/"))
	switch {
	case file == "":
		return "it names no spec"
	case path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(clean, ":"):
		return fmt.Sprintf("%q is not a path inside the project", file)
	case exists != nil && !exists(clean):
		return fmt.Sprintf("the spec %q does not exist", file)
	}
	return ""
}

func hasDraft(drafts []message.SubTask, id message.TaskID) bool {
	return slices.ContainsFunc(drafts, func(t message.SubTask) bool { return t.ID == id })
}

// inCircle finds the drafts that wait for themselves.
func inCircle(drafts []message.SubTask) map[message.TaskID]bool {
	deps := map[message.TaskID][]message.TaskID{}
	for _, t := range drafts {
		deps[t.ID] = t.DependsOn
	}
	circle := map[message.TaskID]bool{}
	for _, t := range drafts {
		seen := map[message.TaskID]bool{}
		next := slices.Clone(t.DependsOn)
		for len(next) > 0 && !circle[t.ID] {
			id := next[len(next)-1]
			next = next[:len(next)-1]
			if circle[t.ID] = id == t.ID; !seen[id] {
				seen[id] = true
				next = append(next, deps[id]...)
			}
		}
	}
	return circle
}

// testVerbs begin the intent of a task that is nothing but tests for another.
var testVerbs = []string{"add", "write", "create", "implement", "extend", "improve", "increase"}

// testsProblem sees that a task which changes code brings its tests, and that
// nobody makes a task of tests alone.
func testsProblem(t message.SubTask) string {
	code, tests, docs := kindsOf(t.Targets)
	if t.ExemptFromTests {
		if code > 0 {
			return "it is exempt from tests, but changes code: only documentation, configuration and specs are exempt"
		}
		return ""
	}
	w := words(t.Intent)
	if len(w) > 1 && slices.Contains(testVerbs, w[0]) && onlyTests(w[1:]) && (code == 0 && docs == 0) {
		return "it only adds tests: they belong to the task whose work they test"
	}
	if code > 0 && tests == 0 {
		return "its targets name code and no place for its tests"
	}
	return ""
}

// onlyTests tells whether what follows the verb is about tests: "unit tests
// for the parser", not "a parser with tests".
func onlyTests(w []string) bool {
	for i, word := range w {
		switch word {
		case "test", "tests", "testing", "coverage", "cases":
			if i+1 == len(w) {
				return true
			}
			switch w[i+1] {
			case "for", "of", "to", "that", "which", "covering", "around", "on", "in":
				return true
			}
			if w[i+1] == "coverage" || w[i+1] == "cases" {
				continue
			}
			return false // a test server, a test helper: something to be made
		case "the", "a", "an", "some", "more", "missing", "unit", "integration", "regression", "end", "to", "e2e", "automated":
			continue
		}
		return false
	}
	return false
}

// kindsOf counts targets that are files of code, that may hold tests, and that
// are documentation, configuration or data. A directory or a glob may hold
// anything, and so counts as a place for tests and not as code.
func kindsOf(targets []string) (code, tests, docs int) {
	for _, target := range targets {
		target = strings.ReplaceAll(target, `\`, "/")
		base := path.Base(target)
		ext := strings.ToLower(path.Ext(base))
		switch {
		case weaken.IsTestFile(target), strings.ContainsAny(target, "*?[{"), strings.HasSuffix(target, "/"), ext == "":
			tests++
		case weaken.IsCodeFile(target):
			code++
		default:
			docs++
		}
	}
	return code, tests, docs
}
