package playbook

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fitting are ordinary ways to ask for what the shipped playbooks do.
var fitting = map[string][]string{
	"tests-green": {
		"make the tests pass",
		"Make the tests pass.",
		"make all tests green",
		"get the test suite green again please",
		"fix the failing tests in ./pkg/foo",
		"fix the failing tests",
		"Fix failing unit tests in this repo",
		"the tests are red, fix them",
		"get the test suite passing again",
		"run the tests",
		"run go test and make it work",
		"please make `npm test` succeed",
		"pytest is failing",
		"make test fails",
		"CI is broken, get it green",
		"our specs fail since yesterday",
		"repair the broken test suite",
		"could you please make our tests pass once more?",
		"I'd like the project's tests to pass",
		"we need all of the tests in this repository to be green",
		"make sure that every test passes",
		"make the tests in internal/parser pass",
		"fix the tests, please",
		"make the tests pass with `make check`",
		"get the go tests passing",
		"fix the python tests in services/api/",
		"fix the tests in pkg/none",
		"make the tests pass without changing the tests",
		"fix only the failing tests",
		"make the tests pass only in ./pkg/foo",
		"try to get the tests back to green quickly",
		"THE TESTS FAIL: FIX THEM!!",
		"make the tests pass, thanks",
	},
	"repo-health": {
		"check the health of this repository",
		"repo health",
		"is this repo healthy?",
		"scan for secrets",
		"are any passwords or tokens committed?",
		"which license does this project have?",
		"find oversized blobs in git",
		"audit the git hygiene",
		"check the health of the repo and write it to health.md",
		"run the linter",
	},
}

// unfitting are wishes that hold the words of a playbook and ask for something
// else, with what keeps it from being taken.
var unfitting = []struct{ intent, against string }{
	// a negation, or a limit
	{"do not make the tests pass, only tell me which fail", `"not"`},
	{"don't make the tests pass", `"don't"`},
	{"Don’t fix the failing tests", `"don't"`},
	{"do not run the tests", `"not"`},
	{"never run the tests", `"never"`},
	{"make the tests pass without new dependencies", `"without"`},
	{"make the tests pass but leave the formatting alone", `"but"`},
	{"just run the tests", `"just"`},
	{"make the tests pass only on Mondays", `"only"`},
	{"make no test fail", `"no"`},
	{"fix the tests except the slow ones", `"except"`},
	{"stop fixing the tests, they pass", `"stop"`},
	{"the tests aren't red, fix nothing", `"aren't"`},
	{"make the tests pass with `make check`, not with make", `"not"`},
	// a second wish
	{"make the tests pass and delete them", `"delete" asks`},
	{"make the tests pass and then commit", `"commit" asks`},
	{"run the tests, then deploy", `"deploy" asks`},
	{"fix the failing tests and the linter", `"linter" asks`},
	{"make the tests pass or remove them", `"remove" asks`},
	{"run the tests, then push to main", `"push" asks`},
	{"check the health of the repo and commit it", `"commit" asks`},
	// the opposite, a question, another object
	{"make the tests fail", "fail"},
	{"fail the tests", "fail"},
	{"make all tests red", "red"},
	{"do the tests pass?", `"do the"`},
	{"why do the tests fail?", `"why"`},
	{"which tests fail", `"which"`},
	{"write tests for the parser that pass", "write"},
	{"delete the failing tests", "delete"},
	{"skip the broken tests", "skip"},
	{"disable all failing tests in the suite", "disable"},
	{"weaken the tests until they pass", "weaken"},
	{"run a load test against staging", "load test"},
	{"refactor the test suite so that it runs faster, it works", "refactor"},
	{"remove the secret from the repository history, check it", "remove"},
	// words it does not know: nothing speaks against it, and yet nobody may guess
	{"make the tests pass in production", ""},
	{"make the tests pass tomorrow", ""},
	{"fix the failing tests of the billing service", ""},
	{"make the integration tests pass", ""},
	{"fix the tests by hardcoding values", ""},
	{"if the tests fail, fix them", ""},
	{"make 3 tests pass", ""},
	{"make the tests pass using ChatGPT", ""},
	{"bitte die tests wieder fix machen", ""},
	{"die tests nicht fix machen", ""},
	{"сделай чтобы tests pass", ""},
	{"make the tests pass 不要", ""},
	{"make the tests\u200bx pass", ""},
	{"scan for secrets in the cloud account", ""},
	{"do-not make the tests pass", ""},
}

// strangers hold the words of no playbook.
var strangers = []string{"", "hello", "translate the README to German", "deploy to production", "upgrade all dependencies", "schreibe ein Gedicht",
	"find the largest files", "list all TODOs", "check the links in the docs", "increase test coverage", "bake a cake", "テストを直して", "\x00\xff"}

func TestMatching(t *testing.T) {
	lib := shipped(t)
	for want, intents := range fitting {
		for _, intent := range intents {
			if p, err := lib.For("", intent); err != nil || p.Name != want {
				t.Errorf("%q: %v, want %s", intent, err, want)
			}
		}
	}
	for _, c := range unfitting {
		_, err := lib.For("", c.intent)
		var none *NoMatchError
		if !errors.As(err, &none) || len(none.Near) == 0 {
			t.Errorf("%q: err = %v, want a *NoMatchError that names what is near", c.intent, err)
			continue
		}
		doubtful, ask := none.Doubtful()
		if ask != (c.against == "") || ask && len(doubtful.Unknown) == 0 {
			t.Errorf("%q: a person is asked: %v (%v)", c.intent, ask, err)
		}
		if !strings.Contains(err.Error(), c.against) {
			t.Errorf("%q: %v, want it to name %s", c.intent, err, c.against)
		}
		if !strings.Contains(none.Hint(), "--playbook "+none.Near[0].Book.Name) || !strings.Contains(none.Hint(), none.Near[0].Book.Examples[0]) {
			t.Errorf("%q: the hint does not say what fits: %s", c.intent, none.Hint())
		}
	}
	for _, intent := range strangers {
		_, err := lib.For("", intent)
		var none *NoMatchError
		if !errors.As(err, &none) || len(none.Near) != 0 || len(none.Available) != len(lib.list) || none.Hint() == "" {
			t.Errorf("%q: err = %v, want a *NoMatchError that names all", intent, err)
		}
	}
	if fits, not := len(fitting["tests-green"])+len(fitting["repo-health"]), len(unfitting)+len(strangers); fits+not < 60 || not < fits {
		t.Errorf("%d phrasings that fit and %d that do not are too few", fits, not)
	}
}

// TestNothingSlipsIn: whatever a wish that fits is made longer by, a word that
// nobody declared keeps the playbook from being taken, wherever it stands.
func TestNothingSlipsIn(t *testing.T) {
	lib := shipped(t)
	list := fitting["tests-green"]
	rapid.Check(t, func(t *rapid.T) {
		words := strings.Fields(rapid.SampledFrom(list).Draw(t, "intent"))
		outside := func(at int) bool { return !insideValue(words, at) } // a word in quotes is part of a value
		at := rapid.IntRange(0, len(words)).Filter(outside).Draw(t, "at")
		more := rapid.OneOf(rapid.StringMatching(`[a-z]{4}x{3}[a-z]{3}`), rapid.SampledFrom([]string{"not", "never", "don't", "except", "nicht", "不"})).Draw(t, "word")
		intent := strings.Join(append(append(append([]string{}, words[:at]...), more), words[at:]...), " ")
		if p, err := lib.For("", intent); err == nil && !strings.Contains(intent, "only in "+more) && !strings.Contains(intent, "in "+more) {
			t.Fatalf("%q fits %s", intent, p.Name)
		}
	})
}

// insideValue tells whether a quotation is open before the word.
func insideValue(words []string, at int) bool {
	return strings.Count(strings.Join(words[:at], " "), "`")%2 == 1
}

// TestAPlaybookDeclaresItsOwnWords: in any language, by words, stems, phrases and
// parameters.
func TestAPlaybookDeclaresItsOwnWords(t *testing.T) {
	text := strings.Replace(small, "match:\n  words: [[tidy], [room]]", `match:
  words: [[räum*, tidy], [zimmer, room, 部屋]]
  known: [bitte, mein, auf, '/\bnicht so spät\b/', "/を片付けて/"]
  unless: [nicht, keinesfalls]`, 1)
	p, err := Decode("small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for intent, want := range map[string]bool{
		"tidy the room":                          true,
		"tidy the room, noting \"do not enter\"": true,
		"tidy the room, noting do not enter":     false,
		"räume bitte mein Zimmer auf":            true,
		"räume bitte mein Zimmer schön auf":      false,
		"räume mein Zimmer nicht auf":            false,
		"räume mein Zimmer keinesfalls auf":      false,
		"tidy 部屋 を片付けて":                          true,
		"tidy my room in /attic":                 true,
		"tidy my room in the attic":              false,
		"tidy my rooms":                          false,
	} {
		if f := fit(p, intent); (f.score > 0 && f.Fits()) != want {
			t.Errorf("%q: %+v, want fits %v", intent, f, want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string]string{
		"Don’t run 'make' — the project's CI/CD": "don't run make the project ci cd",
		"naïve हिन्दी 2nd":                       "naïve हिन्दी 2nd",
		"tests' users":                           "tests users",
		"":                                       "",
	} {
		var got []string
		for _, w := range splitWords(text) {
			got = append(got, w.text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzMatchIntent(f *testing.F) {
	for _, s := range append(strangers, "make the tests pass", "İ don't ‘make’ the tests pass’s") {
		f.Add(s)
	}
	p, err := Decode("small.yaml", []byte(small))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, intent string) {
		for _, m := range MatchIntent(intent, []*Playbook{p}) {
			if m.score == 0 {
				t.Fatal("without a word of it")
			}
		}
	})
}

func TestByName(t *testing.T) {
	lib := shipped(t)
	if p, err := lib.For("repo-health", "do something"); err != nil || p.Name != "repo-health" {
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
	dir := project(t, map[string]string{"go.mod": goMod, "pkg/foo/x.go": "package foo\n", "a b/x.go": "package ab\n", "-rf/x.go": "package rf\n"})
	for _, c := range []struct{ intent, param, want string }{
		{"check the health of the repo and write it to health report.md", "out", ".orch/goals/g/files/report.md"},
		{`check the health of the repo and write it to "health report.md"`, "out", "health report.md"},
		{"check the health of the repo and write it to health.md", "out", "health.md"},
		{"check the health of the repo", "out", ".orch/goals/g/files/report.md"},
		{"make the tests pass", "test", "go test ./..."},
		{"make the tests pass", "in", ""},
		{"fix the tests in ./pkg/foo", "test", "cd pkg/foo && go test ./..."},
		{"fix the tests in pkg/foo/, please", "in", "pkg/foo"},
		{`fix the tests in "a b"`, "test", "cd 'a b' && go test ./..."},
		{"fix the tests in the folder -rf", "in", "./-rf"},
		{"make the tests pass with `npm run test:unit`", "test", "npm run test:unit"},
		{"make the tests pass with `x; rm -rf /`", "test", "x; rm -rf /"},
		{"please make `npm test` succeed", "test", "npm test"},
	} {
		p, err := lib.Find("tests-green")
		if strings.HasPrefix(c.intent, "check") {
			p, err = lib.Find("repo-health")
		}
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := p.values(c.intent, Workspace(dir, func(string) (string, error) { return "/bin/x", nil }), builtinValues{Orch: "/orch", Goal: "g", Home: "/home/p"})
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
