package playbook

import (
	"errors"
	"testing"
)

// TestMatching holds what people ask for, and what only sounds like it.
func TestMatching(t *testing.T) {
	lib := shipped(t)
	for _, c := range []struct{ intent, want string }{
		{"make the tests pass", "tests-green"},
		{"Make the tests pass.", "tests-green"},
		{"make all tests green", "tests-green"},
		{"fix the failing tests", "tests-green"},
		{"Fix failing unit tests in this repo", "tests-green"},
		{"the tests are red, fix them", "tests-green"},
		{"get the test suite passing again", "tests-green"},
		{"run the tests", "tests-green"},
		{"run go test and make it work", "tests-green"},
		{"please make `npm test` succeed", "tests-green"},
		{"pytest is failing", "tests-green"},
		{"make test fails", "tests-green"},
		{"CI is broken, get it green", "tests-green"},
		{"our specs fail since yesterday", "tests-green"},
		{"repair the broken test suite", "tests-green"},
		{"write tests for the parser", ""},
		{"add more tests so that coverage passes 80%", ""},
		{"delete the failing tests", ""},
		{"skip the broken tests", ""},
		{"disable all failing tests in the suite", ""},
		{"weaken the tests until they pass", ""},
		{"increase test coverage", ""},
		{"run a load test against staging", ""},
		{"test whether the login page works", ""},
		{"generate a test suite that passes", ""},
		{"refactor the test suite so that it runs faster", ""},

		{"find the largest files", "find-files"},
		{"which are the 10 biggest files under src/?", "find-files"},
		{"list the oldest files", "find-files"},
		{"find duplicate files in ~/Photos", "find-files"},
		{"find duplicates", "find-files"},
		{"what takes up disk space here?", "find-files"},
		{"show identical images", "find-files"},
		{"top 5 largest videos", "find-files"},
		{"delete the largest files", ""},
		{"remove duplicate files", ""},
		{"move old files to archive/", ""},
		{"compress big images", ""},
		{"rename all files", ""},
		{"read the file main.go", ""},

		{"list all TODOs", "todo-report"},
		{"todo report by area", "todo-report"},
		{"find FIXMEs in the code", "todo-report"},
		{"what is left to do in this project?", "todo-report"},
		{"how many todos are there?", "todo-report"},
		{"show every TODO and XXX under roles/", "todo-report"},
		{"list all TODOs and write them to todos.md", "todo-report"},
		{"fix all TODOs", ""},
		{"implement the TODO in parser.go", ""},
		{"build a todo app", ""},
		{"make a report of what users do", ""},

		{"check the health of this repository", "repo-health"},
		{"repo health", "repo-health"},
		{"is this repo healthy?", "repo-health"},
		{"scan for secrets", "repo-health"},
		{"are any passwords or tokens committed?", "repo-health"},
		{"which license does this project have?", "repo-health"},
		{"find oversized blobs in git", "repo-health"},
		{"audit the git hygiene", "repo-health"},
		{"check the health of the repo and write it to health.md", "repo-health"},
		{"write a license for the project, what is usual", ""},
		{"add a license", ""},
		{"rotate the leaked credentials", ""},
		{"remove the secret from the repository history", ""},
		{"explain what this project is about", ""},

		{"check the links in the docs", "link-check"},
		{"find broken links", "link-check"},
		{"are there dead links in README.md?", "link-check"},
		{"link check", "link-check"},
		{"validate all anchors", "link-check"},
		{"verify external urls in docs/", "link-check"},
		{"check the links and write them to links.md", "link-check"},
		{"write a link to the issue tracker", ""},
		{"fix the broken links", ""},
		{"add a link to the README", ""},
		{"find stale symlinks", ""},

		{"", ""},
		{"hello", ""},
		{"translate the README to German", ""},
		{"deploy to production", ""},
		{"upgrade all dependencies", ""},
		{"schreibe ein Gedicht", ""},
		{"\x00\xff", ""},
	} {
		p, err := lib.For("", c.intent)
		got := ""
		if err == nil {
			got = p.Name
		}
		if got != c.want {
			t.Errorf("%q: matched %q, want %q", c.intent, got, c.want)
		}
		var none *NoMatchError
		if c.want == "" && (!errors.As(err, &none) || len(none.Available) != len(lib.list) || none.Hint() == "") {
			t.Errorf("%q: err = %v, want a helpful *NoMatchError", c.intent, err)
		}
	}
}

func TestByName(t *testing.T) {
	lib := shipped(t)
	if p, err := lib.For("link-check", "do something"); err != nil || p.Name != "link-check" {
		t.Errorf("by name: %v, %v", p, err)
	}
	var unknown *UnknownError
	if _, err := lib.For("tests-gren", "make the tests pass"); !errors.As(err, &unknown) {
		t.Errorf("err = %v, want *UnknownError", err)
	}
}

// TestParams holds what the shipped playbooks take from a person's words.
func TestParams(t *testing.T) {
	lib := shipped(t)
	for _, c := range []struct{ intent, param, want string }{
		{"list the 5 largest files in docs", "top", "5"},
		{"list the 5 largest files in docs", "dir", "docs"},
		{"list the largest files", "top", "20"},
		{"list the largest files", "dir", "."},
		{"find the biggest files in ~/Downloads", "dir", "/home/p/Downloads"},
		{"find the biggest files under ./a b/ now", "dir", "a"},
		{`find the biggest files in "a b/ü"`, "dir", "a b/ü"},
		{"find duplicates in the folder Photos", "dir", "Photos"},
		{"find the largest files in the project", "dir", "."},
		{"find the largest files and write them to big files.md", "out", ".orch/goals/g/files/report.md"},
		{`find the largest files and write them to "big files.md"`, "out", "big files.md"},
		{"find the largest files and write them to big.md", "out", "big.md"},
		{"find the largest files", "out", ".orch/goals/g/files/report.md"},
		{"list the top 7 largest files in -rf/", "dir", "./-rf"},
		{"make the tests pass with `npm run test:unit`", "test", "npm run test:unit"},
		{"make the tests pass with `x; rm -rf /`", "test", "x; rm -rf /"},
		{"check the links in docs/, web ones too", "ask", "--http"},
		{"check the links in docs/", "ask", ""},
		{"check the links in docs/", "dir", "docs"},
	} {
		p, err := lib.For("", c.intent)
		if err != nil {
			t.Errorf("%q: %v", c.intent, err)
			continue
		}
		v, err := p.values(c.intent, Workspace(t.TempDir(), nil), builtinValues{Orch: "/orch", Goal: "g", Home: "/home/p"})
		if err != nil {
			t.Errorf("%q: %v", c.intent, err)
			continue
		}
		if got := v.text(c.param); got != c.want {
			t.Errorf("%q: %s = %q, want %q", c.intent, c.param, got, c.want)
		}
	}
}

func TestDeclares(t *testing.T) {
	for words, want := range map[string]bool{
		"remember that the page has a footer": true, "Please note: no tabs": true, "always use yarn": true, "Never push to main": true,
		"from now on use tabs": true, "keep in mind the deadline": true,
		"make the tests pass": false, "notebook cleanup": false, "fix what always fails": false, "alwaysfail": false,
	} {
		if Declares(words) != want {
			t.Errorf("%q: %v", words, !want)
		}
	}
}
