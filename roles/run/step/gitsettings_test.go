package step

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhatMakesGitRunAProgramIsSeen: and what git changes by itself all the
// time is not.
func TestWhatMakesGitRunAProgramIsSeen(t *testing.T) {
	const before = "[core]\n\tbare = false\n[branch \"main\"]\n\tremote = origin\n"
	for _, c := range []struct {
		name, after string
		seen        bool
	}{
		{"nothing", before, false},
		{"a tracking branch", before + "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n", false},
		{"a remote", before + "[remote \"o\"]\n\turl = ../o\n\tfetch = +refs/heads/*:refs/remotes/o/*\n", false},
		{"who commits", before + "[user]\n\tname = x\n", false},
		{"hooks elsewhere", before + "[core]\n\thooksPath = evil\n", true},
		{"a monitor", "[core]\n\tbare = false\n\tfsmonitor = ./evil\n[branch \"main\"]\n\tremote = origin\n", true},
		{"an alias", before + "[alias]\n\tst = !evil\n", true},
		{"a filter", before + "[filter \"x\"]\n\tsmudge = evil\n", true},
		{"another file", before + "[include]\n\tpath = evil\n", true},
		{"a program of a remote", before + "[remote \"o\"]\n\tuploadpack = evil\n", true},
		{"an update of a submodule", before + "[submodule \"s\"]\n\tupdate = !evil\n", true},
		{"a line that goes on", before + "[remote \"o\"]\n\turl = x\\\n\tuploadpack = evil\n", true},
		{"a section on the line of its key", before + "[core] hooksPath = evil\n", true},
		{"a plain section that begins with a key", before + "[branch \"y\"] uploadpack = evil\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			take := func(config string) string {
				if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644); err != nil {
					t.Fatal(err)
				}
				f, err := SettingsOf(t.TempDir(), dir)()
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			if was, is := take(before), take(c.after); (was != is) != c.seen {
				t.Errorf("seen: %v", was != is)
			}
			was := take(before)
			if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
				t.Fatal(err)
			}
			if was == take(before) {
				t.Error("new hooks were not seen")
			}
		})
	}
}
