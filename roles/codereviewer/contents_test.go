package codereviewer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/roles/think"
)

// What a diff shows badly is shown by name: what can do harm is not approved
// unless the reviewer accepts it, and the rest is in the record.
func TestWhatADiffShowsBadlyIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		make     func(t *testing.T, dir string)
		accept   bool
		approved bool
		noted    string
	}{
		"a link out of the project": {func(t *testing.T, dir string) {
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
		}, false, false, ""},
		"a link that the task demands": {func(t *testing.T, dir string) {
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
		}, true, true, ""},
		"a binary": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "a.png"), []byte("\x00\x01"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, false, true, "a.png:1: binary_file"},
		"a line longer than any source": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(strings.Repeat("x", 17<<20)), 0o644); err != nil {
				t.Fatal(err)
			}
		}, false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := desk(t)
			d.Claim("coder-1")
			if err := code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
				d.Write(in.Dir, "a.txt", "done\n")
				c.make(t, in.Dir)
				return think.CodeReport{}, nil
			}); err != nil {
				t.Fatal(err)
			}
			if err := review(d, "code-reviewer-1", func(_ context.Context, in think.ReviewInput) (think.Review, error) {
				r := think.Review{Approved: true}
				for _, f := range in.Findings {
					if c.accept {
						r.Accepted = append(r.Accepted, think.Acceptance{Finding: f.ID, Reason: "the task demands it"})
					}
				}
				if len(in.Findings) != 1 {
					t.Errorf("found %+v", in.Findings)
				}
				return r, nil
			}); err != nil {
				t.Fatal(err)
			}
			now := d.Now()
			if got := now.Status == blackboard.Approved; got != c.approved {
				t.Errorf("it is %s: %+v", now.Status, now.Review.Pending)
			}
			if got := strings.Join(now.Review.Verdict.Noted, "\n"); !strings.HasPrefix(got, c.noted) || (got == "") != (c.noted == "") {
				t.Errorf("noted is %q, want %q", got, c.noted)
			}
		})
	}
}
