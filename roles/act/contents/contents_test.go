package contents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const coder1 = "coder-1 <coder-1@orch.invalid>"

func TestInspect(t *testing.T) {
	file := func(e Entry) Change { return Change{Entries: []Entry{e}, Names: []string{e.Path}} }
	added := func(name string) Entry { return Entry{Path: name, Old: none, New: plain} }
	link := func(at, to string) Change {
		return file(Entry{Path: at, Old: none, New: symlink, Target: to, Bytes: int64(len(to))})
	}
	for _, c := range []struct {
		name   string
		change Change
		want   string // kind and file of each finding; an exclamation mark where it is sure
	}{
		{"nothing odd", file(added("lib/a.go")), ""},
		{"a file that is gone", file(Entry{Path: "a", Old: plain, New: none}), ""},
		{"a link inside", link("a/b/link", "../../lib/x"), ""},
		{"a link up and out", link("a/link", "../../etc"), "outside_link! a/link"},
		{"a link to the root", link("link", "/etc/passwd"), "outside_link! link"},
		{"a link on a drive", link("link", `C:\x`), "outside_link! link"},
		{"a link with backslashes", link("link", `..\x`), "outside_link! link"},
		{"a link into .git", link("a/link", "../.GIT/config"), "outside_link! a/link"},
		{"a link to the board", link("link", ".orch"), "outside_link! link"},
		{"a link to what begins like the board", link("link", ".orchard"), ""},
		{"a large link is no large file", link("link", strings.Repeat("x", 300)), ""},
		{"a submodule", file(Entry{Path: "sub", Old: none, New: gitlink}), "submodule! sub"},
		{"a directory that became a submodule", file(Entry{Path: "sub", Old: plain, New: gitlink}), "submodule! sub"},
		{"a submodule that moved", file(Entry{Path: "sub", Old: gitlink, New: gitlink}), "submodule sub"},
		{"a submodule that went", file(Entry{Path: "sub", Old: gitlink, New: none}), "submodule sub"},
		{"attributes", file(added("a/.gitattributes")), "git_file a/.gitattributes"},
		{"attributes that go", file(Entry{Path: ".gitattributes", Old: plain, New: none}), "git_file .gitattributes"},
		{"modules", file(Entry{Path: ".gitmodules", Old: plain, New: plain}), "git_file .gitmodules"},
		{"a workflow", file(added(".github/workflows/ci.yml")), "git_file .github/workflows/ci.yml"},
		{"ignored files", file(added(".gitignore")), ""},
		{"at the limit", file(Entry{Path: "a", Old: none, New: plain, Bytes: 200}), ""},
		{"large", file(Entry{Path: "a", Old: none, New: plain, Bytes: 201}), "large_file! a"},
		{"large and binary", file(Entry{Path: "a", Old: plain, New: plain, Bytes: 201, Binary: true}), "large_file! a"},
		{"binary", file(Entry{Path: "a.png", Old: none, New: plain, Bytes: 9, Binary: true}), "binary_file a.png"},
		{"a binary that went", file(Entry{Path: "a.png", Old: plain, New: none, Binary: true}), ""},
		{"large in passing", Change{Passing: []Entry{{Path: "a", Bytes: 201}, {Path: "a", Bytes: 300}, {Path: "b", Bytes: 200}}}, "large_file! a"},
		{"large in passing and in the end", Change{Entries: []Entry{{Path: "a", Old: none, New: plain, Bytes: 201}},
			Passing: []Entry{{Path: "a", Bytes: 300}}}, "large_file! a"},
		{"large in passing and small in the end", Change{Entries: []Entry{{Path: "a", Old: none, New: plain, Bytes: 2}},
			Passing: []Entry{{Path: "a", Bytes: 300}, {Path: "a", Bytes: 2}}}, "large_file! a"},
		{"executable now", file(Entry{Path: "a", Old: plain, New: executable}), "mode_change a"},
		{"executable no more", file(Entry{Path: "a", Old: executable, New: plain}), "mode_change a"},
		{"a new program", file(Entry{Path: "a", Old: none, New: executable}), ""},
		{"a file that became a link", file(Entry{Path: "a", Old: plain, New: symlink, Target: "b"}), "mode_change a"},
		{"a name that turns", file(added("a\u202egnp.exe")), "odd_name! a\u202egnp.exe"},
		{"a name with a line break", file(added("a\nb")), "odd_name! a\nb"},
		{"a name that is no text", file(added("a\xff")), "odd_name! a\xff"},
		{"a name for a device", file(added("x/Aux.c")), "odd_name x/Aux.c"},
		{"a name that ends with a dot", file(added("x./a")), "odd_name x./a"},
		{"an odd name that was there", file(Entry{Path: "a:b", Old: plain, New: plain}), ""},
		{"letters of any language", file(added("größe/名前.txt")), ""},
		{"one name in two cases", Change{Entries: []Entry{added("readme.md")}, Names: []string{"README.md", "readme.md"}}, "name_collides! readme.md"},
		{"a directory in two cases", Change{Entries: []Entry{added("Lib/b")}, Names: []string{"Lib/b", "lib/a"}}, "name_collides! Lib/b"},
		{"a file and a directory", Change{Entries: []Entry{added("LIB")}, Names: []string{"LIB", "lib/a"}}, "name_collides! LIB"},
		{"two cases that were there", Change{Entries: []Entry{added("x")}, Names: []string{"A", "a", "x"}}, ""},
		{"its own commits", Change{Commits: []Commit{{"1", coder1, coder1}}}, ""},
		{"commits of others", Change{Commits: []Commit{{"1", coder1, "P <p@x>"}, {"2", "P <p@x>", "P <p@x>"}}}, "foreign_author ."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range Inspect(c.change, func(who string) bool { return who == coder1 }, 200) {
				sure := ""
				if f.Sure {
					sure = "!"
				}
				got = append(got, fmt.Sprintf("%s%s %s", f.Kind, sure, f.File))
				if b := f.Blocker("spec.md"); b.Validate() != nil {
					t.Errorf("%+v says not what to do: %v", f, b.Validate())
				}
			}
			want := []string{}
			if c.want != "" {
				want = []string{c.want}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
