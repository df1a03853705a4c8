package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orch/roles/act/contents"
)

func TestContentsOfAChange(t *testing.T) {
	p := newProject(t)
	p.write("run.sh", "true\n")
	p.write("gone.txt", "x\n")
	base := p.save("base")
	p.write("passing.bin", strings.Repeat("x", 5000))
	p.save("too much")
	must(t, os.Remove(filepath.Join(p.dir, "passing.bin")))
	must(t, os.Remove(filepath.Join(p.dir, "gone.txt")))
	must(t, os.Chmod(filepath.Join(p.dir, "run.sh"), 0o755))
	must(t, os.Symlink("../ü out", filepath.Join(p.dir, "dir with space", "link")))
	p.write("a picture ü.png", "\x00\x01\x02")
	p.write("hidden.png", "\x00\x01")
	p.write(".gitattributes", "*.png diff\n")
	p.git("update-index", "--add", "--cacheinfo", "160000,"+string(base)+",sub")
	p.git("add", "-A", "--", ":!sub")
	p.git("-c", "user.name=Somebody Else", "-c", "user.email=else@example.org", "commit", "-q", "-m", "odd")
	head := p.head()
	c, err := p.repo.Contents(t.Context(), base, head, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []contents.Entry{
		{Path: ".gitattributes", Old: "000000", New: "100644", Bytes: 11},
		{Path: "a picture ü.png", Old: "000000", New: "100644", Bytes: 3, Binary: true},
		{Path: "dir with space/link", Old: "000000", New: "120000", Bytes: 9, Target: "../ü out"},
		{Path: "gone.txt", Old: "100644", New: "000000"},
		{Path: "hidden.png", Old: "000000", New: "100644", Bytes: 2, Binary: true},
		{Path: "run.sh", Old: "100644", New: "100755", Bytes: 5},
		{Path: "sub", Old: "000000", New: "160000"},
	}
	for i, e := range c.Entries {
		if (e.Old == "000000") != (strings.Trim(e.Was, "0") == "") || (e.New == "000000") != (strings.Trim(e.Is, "0") == "") {
			t.Errorf("%s: what it was, %s, and is, %s", e.Path, e.Was, e.Is)
		}
		c.Entries[i].Was, c.Entries[i].Is = "", ""
	}
	if !slices.Equal(c.Entries, want) {
		t.Errorf("entries\n%+v, want\n%+v", c.Entries, want)
	}
	if !slices.ContainsFunc(c.Passing, func(e contents.Entry) bool { return e.Path == "passing.bin" && e.Bytes == 5000 }) {
		t.Errorf("in passing: %+v", c.Passing)
	}
	if len(c.Commits) != 2 || c.Commits[0].Author != "Somebody Else <else@example.org>" || c.Commits[1].Committer != "a <a@example.org>" {
		t.Errorf("commits: %+v", c.Commits)
	}
	if !slices.Contains(c.Names, "dir with space/ü.txt") || slices.Contains(c.Names, "gone.txt") {
		t.Errorf("names: %q", c.Names)
	}
	// What came from the branch is no coder's.
	if c, err = p.repo.Contents(t.Context(), base, head, head); err != nil || len(c.Commits) > 0 || len(c.Passing) > 0 {
		t.Errorf("%d commits, %d files in passing, %v", len(c.Commits), len(c.Passing), err)
	}
}
