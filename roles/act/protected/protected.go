package protected

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"orch/roles/act/weaken"
)

// Entry is the kind of a finding about a changed entry.
const Entry weaken.Kind = "protected_entry"

const fix = "leave it as it was: what runs when the project is tested is a person's to change"

// Project is what decides which entries count. Files are read by their path; ok
// is false where there is none.
type Project struct {
	Commands []string // that a person configured
	Tested   bool     // there were tests before: a new entry changes how they run
	Before   func(path string) (text []byte, ok bool)
	Now      func(path string) (text []byte, ok bool)
}

// file is a file that differs; nil where it is not there.
type file struct {
	path        string
	before, now []byte
}

func (p Project) file(name string) file {
	f := file{path: name}
	if text, ok := p.Before(name); ok {
		f.before = append([]byte{}, text...)
	}
	if text, ok := p.Now(name); ok {
		f.now = append([]byte{}, text...)
	}
	return f
}

// rule is how the entries of files of some name are read. A file that nobody
// tests by yet, in a folder of its own, is a new part of the project.
type rule struct {
	match func(name string) bool
	read  func(text []byte, r reached) (entries, error)
	part  bool // a new one below the top is part of something new
	fresh bool // a new one is looked at elsewhere
}

// entries are texts by the name of the entry.
type entries map[string]string

// wholeFile is the name of the entry that a file is as a whole.
const wholeFile = ""

func base(names ...string) func(string) bool {
	return func(p string) bool {
		b := path.Base(p)
		return slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(n, b); return ok })
	}
}

func below(folders ...string) func(string) bool {
	return func(p string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(p, f) })
	}
}

func either(a, b func(string) bool) func(string) bool {
	return func(p string) bool { return a(p) || b(p) }
}

func whole(text []byte, _ reached) (entries, error) { return entries{wholeFile: string(text)}, nil }

// rules is the one table of which files hold such entries, and how they are read.
var rules = sync.OnceValue(func() []rule {
	return []rule{
		{match: base("package.json"), read: packageJSON, part: true},
		{match: base("Makefile", "makefile", "GNUmakefile", "*.mk"), read: makefile, part: true},
		{match: base("pyproject.toml"), read: tomlOf("tool.pytest", "tool.tox", "tool.coverage", "tool.nox", "tool.hatch.envs", "tool.pdm.scripts", "tool.poe", "tool.taskipy", "tool.unittest"), part: true},
		{match: base("Cargo.toml"), read: cargo, part: true},
		{match: either(below(".cargo/"), base("nextest.toml")), read: whole},
		{match: base("pom.xml"), read: pom, part: true},
		{match: base("build.gradle", "build.gradle.kts"), read: gradle, part: true},
		{match: base("pytest.ini", ".pytest.ini"), read: whole},
		{match: base("tox.ini"), read: iniOf("tox", "testenv", "pytest", "coverage")},
		{match: base("setup.cfg"), read: iniOf("tool:pytest", "aliases", "coverage", "test", "tox", "testenv")},
		{match: base("conftest.py"), read: conftest},
		{match: base("sitecustomize.py", "usercustomize.py", "noxfile.py", ".coveragerc"), read: whole},
		{match: base("jest.config.*", "vitest.config.*", "vitest.workspace.*", ".mocharc*", "ava.config.*", "karma.conf.*", "playwright.config.*", "cypress.config.*", ".taprc", ".npmrc", ".yarnrc*"), read: whole},
		{match: base("vite.config.*"), read: vite},
		{match: either(below(".github/workflows/", ".github/actions/", ".circleci/", ".buildkite/", ".gitlab/"),
			base(".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", "Jenkinsfile", ".cirrus.yml")), read: whole, fresh: true},
	}
})

// Inspect lists the entries that a change of some files changes.
func Inspect(changed []string, p Project) (found []weaken.Finding) {
	r, rules := p.reach(), rules()
	for _, name := range changed {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.match(name) })
		if i < 0 && !r.scripts[name] {
			continue
		}
		f := p.file(name)
		switch {
		case r.scripts[name]:
			found = append(found, says(f, wholeFile))
		case f.before == nil && (!p.Tested || rules[i].fresh || rules[i].part && strings.Contains(name, "/")):
		default:
			for _, entry := range rules[i].differ(f, r) {
				found = append(found, says(f, entry))
			}
		}
	}
	return found
}

// differ names the entries of a file that are not what they were.
func (r rule) differ(f file, reached reached) (names []string) {
	before, err := r.entriesOf(f.before, reached)
	now, err2 := r.entriesOf(f.now, reached)
	if err != nil || err2 != nil {
		return []string{wholeFile}
	}
	for name, text := range now {
		if was, there := before[name]; !there || was != text {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r rule) entriesOf(text []byte, reached reached) (entries, error) {
	if text == nil {
		return nil, nil
	}
	return r.read(text, reached)
}

// says is the finding about one entry.
func says(f file, name string) weaken.Finding {
	what := "it decides what runs when the project is tested, and changed"
	if name != wholeFile {
		what = fmt.Sprintf("%q decides what runs when the project is tested, and changed", name)
	}
	return weaken.Finding{Kind: Entry, File: f.path, Subject: name, Line: lineOf(f.now, name), What: what, Sure: true, Fix: fix}
}

// lineOf is the first line that holds the last part of an entry's name.
func lineOf(text []byte, name string) int {
	name = strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "[]\"")
	if i := bytes.Index(text, []byte(name)); i > 0 && name != "" {
		return 1 + bytes.Count(text[:i], []byte("\n"))
	}
	return 1
}
