package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard/message"
)

// Ids of tasks of one plan begin with the same time and may end alike.
func TestNoTwoTasksShareAWorktree(t *testing.T) {
	place := PlaceOf(t.TempDir(), "board")
	seen := map[string]message.TaskID{}
	for _, id := range []message.TaskID{"01a1fd41-ad8c-7cbb-891f-e84b39d45adf", "01a1fd41-ad8c-7cc6-bb8b-b3f7e03b54fd", "a-retry", "b-retry", "retry"} {
		for _, path := range []string{place.Coder("g", id, "coder-1", 1), place.Review("g", id, 1)} {
			if other, taken := seen[path]; taken {
				t.Errorf("%s and %s share %s", id, other, path)
			}
			seen[path] = id
		}
	}
}

// only is the need for one path.
func only(path string) Needed {
	return func(context.Context) (func(string) bool, error) {
		return func(p string) bool { return p == path }, nil
	}
}

// A claim may be made, and its workspace begun, while others are removed.
func TestTidyLeavesWhatIsMadeMeanwhile(t *testing.T) {
	p := newProject(t)
	place := PlaceOf(t.TempDir(), "board")
	put(t, place.Merge("g"), "half", "made")
	fresh := place.Coder("g", "t", "coder-1", 1)
	removed, err := place.Tidy(t.Context(), p.repo, "g", func(ctx context.Context) (func(string) bool, error) {
		err := p.repo.Make(ctx, fresh, Spec{Branch: "b", Commit: p.head(), Name: "c", Email: "c@example.org"}, nil)
		return func(string) bool { return false }, err
	}, Leftover{"left", "c", "c@example.org"})
	if err != nil || len(removed) != 1 || !Made(fresh) {
		t.Fatalf("removed %v, %v", removed, err)
	}
}

// Two runs that end at once both tidy up.
func TestTwoThatTidyAreNotInEachOthersWay(t *testing.T) {
	p := newProject(t)
	place := PlaceOf(t.TempDir(), "board")
	var paths []string
	for n := range 5 {
		path := place.Coder("g", "t", "coder-1", message.Fence(n))
		if err := p.repo.Make(t.Context(), path, Spec{Branch: "b", Commit: p.head(), Name: "c", Email: "c@example.org"}, nil); err != nil {
			t.Fatal(err)
		}
		put(t, path, "unfinished.txt", "half a thought\n")
		paths = append(paths, path)
	}
	errs, removed := make(chan error, 4), make(chan int, 4)
	for range 4 {
		go func() {
			gone, err := place.Tidy(t.Context(), p.repo, "g", only(""), Leftover{"left", "c", "c@example.org"})
			errs <- err
			removed <- len(gone)
		}()
	}
	n := 0
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
		n += <-removed
	}
	if n != len(paths) {
		t.Errorf("%d were removed, want %d", n, len(paths))
	}
	for _, path := range paths {
		if got := p.git("show", "refs/orch/g/left/"+filepath.Base(path)+":unfinished.txt"); got != "half a thought" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestTidyLosesNothing(t *testing.T) {
	p := newProject(t)
	place := PlaceOf(t.TempDir(), "board")
	workspace := func(path string) string {
		if err := p.repo.Make(t.Context(), path, Spec{Branch: "orch/g/t", Commit: p.head(), Name: "coder-1", Email: "c@example.org"}, nil); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kept := workspace(place.Coder("g", "0198c1d2-1111", "coder-1", 1))
	done := workspace(place.Coder("g", "0198c1d3-2222", "coder-2", 4))
	review := workspace(place.Review("g", "0198c1d3-2222", 2))
	put(t, done, "unfinished.txt", "half a thought\n")
	put(t, place.Merge("g"), "half", "made")
	removed, err := place.Tidy(t.Context(), p.repo, "g", only(kept), Leftover{"left", "coder-2", "c@example.org"})
	if err != nil || len(removed) != 3 || !Made(kept) {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if got := p.git("show", "refs/orch/g/left/"+filepath.Base(done)+":unfinished.txt"); got != "half a thought" {
		t.Errorf("%q", got)
	}
	if at, err := p.repo.At(t.Context(), "refs/orch/g/left/"+filepath.Base(review)); err != nil || at != "" {
		t.Errorf("a review was kept: %v", err)
	}
	if _, err := place.Tidy(t.Context(), p.repo, "g", only(""), Leftover{"left", "c", "c@example.org"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(place.Root); !missing(err) {
		t.Errorf("empty directories are left: %v", err)
	}
}

func TestAWorktreeThatCanNotBeReadIsLeftWhereItIs(t *testing.T) {
	p := newProject(t)
	place := PlaceOf(t.TempDir(), "board")
	path := place.Coder("g", "t", "coder-1", 1)
	if err := p.repo.Make(t.Context(), path, Spec{Branch: "b", Commit: p.head(), Name: "c", Email: "c@example.org"}, nil); err != nil {
		t.Fatal(err)
	}
	put(t, path, "work.txt", "x")
	put(t, path, ".git/HEAD", "nonsense")
	put(t, filepath.Dir(path), filepath.Base(path)+ready, "nonsense")
	removed, err := place.Tidy(t.Context(), p.repo, "g", only(""), Leftover{"left", "c", "c@example.org"})
	if err == nil || len(removed) > 0 {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if _, err := os.Lstat(filepath.Join(path, "work.txt")); err != nil {
		t.Errorf("the work is gone: %v", err)
	}
}

// What a coder committed beside its branch, and the files of a worktree whose
// own repository it broke, outlive the worktree.
// Every task leaves a worktree behind, and nearly always a merged one.
func TestTidyPinsNothingThatARefHoldsAlready(t *testing.T) {
	left := Leftover{"left", "c", "c@example.org"}
	for name, merged := range map[string]bool{"merged": true, "only pinned": false} {
		p := newProject(t)
		place := PlaceOf(t.TempDir(), "board")
		path := place.Coder("g", "t", "coder-1", 1)
		must(t, p.repo.Make(t.Context(), path, Spec{Branch: "b", Commit: p.head(), Name: "c", Email: "c@example.org"}, nil))
		put(t, path, "work.txt", "done")
		gitIn(t, path, "add", "-A")
		gitIn(t, path, "commit", "-q", "-m", "done")
		h, err := p.repo.Harvest(t.Context(), path, "refs/orch/g/t/1", p.head(), left)
		must(t, err)
		if merged {
			p.git("branch", "integration", string(h.Head))
		}
		removed, err := place.Tidy(t.Context(), p.repo, "g", only(""), left)
		if err != nil || len(removed) != 1 {
			t.Fatalf("%s: removed %v, %v", name, removed, err)
		}
		if got := p.git("for-each-ref", "--format=%(refname)", "refs/orch/"); got != "refs/orch/g/t/1" {
			t.Errorf("%s: refs are %s", name, got)
		}
	}
}

func TestTidyKeepsWhatIsBesideTheHead(t *testing.T) {
	left := Leftover{"left", "c", "c@example.org"}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, path string)
		// want is what a ref below left holds of work.txt, by the end of its name
		want map[string]string
	}{
		{"another branch", func(t *testing.T, path string) {
			gitIn(t, path, "checkout", "-q", "-b", "aside")
			put(t, path, "work.txt", "aside")
			gitIn(t, path, "add", "-A")
			gitIn(t, path, "commit", "-q", "-m", "aside")
			gitIn(t, path, "checkout", "-q", "-")
		}, map[string]string{"": "", "-1": "aside"}},
		{"a packed branch of a detached HEAD", func(t *testing.T, path string) {
			put(t, path, "work.txt", "aside")
			gitIn(t, path, "add", "-A")
			gitIn(t, path, "commit", "-q", "-m", "aside")
			gitIn(t, path, "pack-refs", "--all")
			gitIn(t, path, "checkout", "-q", "--detach", "HEAD~")
		}, map[string]string{"": "", "-1": "aside"}},
		{"a HEAD that is nonsense", func(t *testing.T, path string) {
			put(t, path, "work.txt", "committed")
			gitIn(t, path, "add", "-A")
			gitIn(t, path, "commit", "-q", "-m", "first")
			put(t, path, "work.txt", "as it lies")
			put(t, path, ".git/HEAD", "nonsense")
		}, map[string]string{"": "as it lies", "-1": "committed"}},
		{"no .git at all", func(t *testing.T, path string) {
			put(t, path, "work.txt", "as it lies")
			must(t, os.RemoveAll(filepath.Join(path, ".git")))
		}, map[string]string{"": "as it lies"}},
		{"a .git of its own making", func(t *testing.T, path string) {
			must(t, os.RemoveAll(filepath.Join(path, ".git")))
			put(t, path, "work.txt", "as it lies")
			gitIn(t, path, "init", "-q", "-b", "mine")
			gitIn(t, path, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "mine")
		}, map[string]string{"": "as it lies"}},
		{"objects are gone", func(t *testing.T, path string) {
			put(t, path, "work.txt", "committed")
			gitIn(t, path, "add", "-A")
			gitIn(t, path, "commit", "-q", "-m", "first")
			blob := gitIn(t, path, "rev-parse", "HEAD:work.txt")
			must(t, os.Remove(filepath.Join(path, ".git", "objects", blob[:2], blob[2:])))
		}, map[string]string{"": "committed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			place := PlaceOf(t.TempDir(), "board")
			path := place.Coder("g", "t", "coder-1", 1)
			must(t, p.repo.Make(t.Context(), path, Spec{Branch: "b", Commit: p.head(), Name: "c", Email: "c@example.org"}, nil))
			c.do(t, path)
			removed, err := place.Tidy(t.Context(), p.repo, "g", only(""), left)
			if err != nil || len(removed) != 1 {
				t.Fatalf("removed %v, %v", removed, err)
			}
			for end, want := range c.want {
				ref := "refs/orch/g/left/" + filepath.Base(path) + end
				got, _, err := p.repo.Show(t.Context(), Commit(ref), "work.txt")
				if err != nil || string(got) != want {
					t.Errorf("%s has %q, %v; want %q", ref, got, err, want)
				}
			}
			if n := len(strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/orch/"))); n != len(c.want) {
				t.Errorf("%d refs, want %d", n, len(c.want))
			}
			p.git("fsck", "--strict", "--connectivity-only")
		})
	}
}
