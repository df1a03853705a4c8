package playbook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestOwnPlaybooksHideShippedOnes(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	mine := strings.Replace(small, "a playbook for tests", "mine", 1)
	lib, err := Load(fstest.MapFS{"small.yaml": file(small), "alt.yaml": file(alternatives), "notes.txt": file("x")}, fstest.MapFS{"any-name.yml": file(mine)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := lib.Find("small")
	if err != nil || p.Describe != "mine" || !p.Own() || len(lib.List()) != 2 {
		t.Errorf("got %+v, %v of %v", p, err, lib.Names())
	}
	other, err := Decode("x", []byte(small))
	if err != nil || other.ID() == p.ID() {
		t.Errorf("%s and %s have the same content?", other.ID(), p.ID())
	}
	var bad *DecodeError
	if _, err := Load(nil, fstest.MapFS{"a.yaml": file(small), "b.yaml": file(small)}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "exists already in .orch/playbooks/a.yaml") {
		t.Errorf("err = %v", err)
	}
	if _, err := Load(fstest.MapFS{"small.yaml": file(small)}, fstest.MapFS{"b.yaml": file("name: B\n")}); !errors.As(err, &bad) || bad.File != ".orch/playbooks/b.yaml" {
		t.Errorf("err = %v", err)
	}
	if lib, err := Load(nil, os.DirFS(filepath.Join(t.TempDir(), "none"))); err != nil || len(lib.List()) != 0 {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

// TestMatchPrefersOwnThenName: ties have one answer, in any order of the list.
func TestMatchPrefersOwnThenName(t *testing.T) {
	make := func(name string, own bool) *Playbook {
		return &Playbook{Name: name, own: own, Match: Match{Words: []Strings{{"x"}}}}
	}
	a, b, c := make("a", false), make("b", false), make("c", true)
	for _, list := range [][]*Playbook{{a, b, c}, {c, b, a}, {b, c, a}} {
		if got := MatchIntent("x", list); len(got) != 3 || got[0].Book != c {
			t.Errorf("got %v", got)
		}
	}
	for _, list := range [][]*Playbook{{a, b}, {b, a}} {
		if got := MatchIntent("x", list); len(got) != 2 || got[0].Book != a {
			t.Errorf("got %v", got)
		}
	}
}

func TestWorkspaceFacts(t *testing.T) {
	dir := project(t, map[string]string{"go.mod": "module m\n", "a/b/x_test.go": "x", "node_modules/.bin/jest": "", ".git/config": "secret", "package.json": "{\n\"test\": \"x\"}"})
	outside := project(t, map[string]string{"secret": "s"})
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Logf("no symbolic links here: %v", err) // link then does not exist, as wanted below
	}
	f := Workspace(dir, func(name string) (string, error) {
		if name == "go" {
			return "/go", nil
		}
		return "", errors.New("not found")
	})
	for _, c := range []struct {
		when When
		want bool
	}{
		{When{}, true},
		{When{File: Strings{"go.mod", "a/b"}}, true},
		{When{File: Strings{"go.mod", "none"}}, false},
		{When{File: Strings{"../" + filepath.Base(outside) + "/secret"}}, false},
		{When{File: Strings{"link"}}, false},
		{When{Missing: Strings{"none"}}, true},
		{When{Missing: Strings{"go.mod"}}, false},
		{When{Glob: Strings{"**/*_test.go"}}, true},
		{When{Glob: Strings{"*_test.go"}}, false},
		{When{Glob: Strings{"node_modules/.bin/jest"}}, true},
		{When{Glob: Strings{"**/config"}}, false},
		{When{Command: Strings{"go"}}, true},
		{When{Command: Strings{"go", "npm"}}, false},
		{When{Contains: []FileMatches{{"package.json", `^"test"`}}}, true},
		{When{Contains: []FileMatches{{"package.json", "nope"}}}, false},
		{When{Contains: []FileMatches{{"none", "."}}}, false},
		{When{Param: []ParamIs{{"p", "^v$"}}}, true},
		{When{Param: []ParamIs{{"p", "w"}}}, false},
		{When{Any: []When{{File: Strings{"none"}}, {File: Strings{"go.mod"}}}}, true},
		{When{Any: []When{{File: Strings{"none"}}, {File: Strings{"none2"}}}}, false},
		{When{Not: &When{File: Strings{"none"}}}, true},
		{When{Not: &When{File: Strings{"go.mod"}}}, false},
	} {
		if got, why := c.when.Holds(f, Values{"p": {Text: "v"}}); got != c.want || got == (why != "") {
			t.Errorf("%s: %v (%q), want %v", c.when.describe(), got, why, c.want)
		}
	}
}

func TestDigestFollowsContent(t *testing.T) {
	dir := project(t, map[string]string{"a.txt": "1", "b.md": "1"})
	f := Workspace(dir, nil)
	first := f.Digest([]string{"*.txt"})
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("b.md", "2")
	if f.Digest([]string{"*.txt"}) != first {
		t.Error("another file changed the digest")
	}
	put("a.txt", "2")
	if f.Digest([]string{"*.txt"}) == first || f.Digest(nil) != "" {
		t.Error("the content did not change the digest")
	}
}
