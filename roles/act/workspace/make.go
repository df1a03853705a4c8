package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orch/roles/act/confine"
	"orch/roles/act/process"
)

// Spec says what a workspace is made of.
type Spec struct {
	Branch   string // the branch its HEAD is on, without refs/heads/; empty: detached
	Commit   Commit // where it starts
	Name     string // author of what is committed in it
	Email    string
	Included bool // copy what .worktreeinclude names
	ReadOnly bool // nobody is meant to change it: its files lose their write permission
}

// ready is the file beside a workspace that says that it is whole.
const ready = ".ready"

// Made tells whether a workspace was made to its end.
func Made(path string) bool {
	_, err := os.Lstat(path + ready)
	return err == nil
}

// MadeAt is when a workspace was made to its end, if it was.
func MadeAt(path string) (at time.Time, made bool) {
	info, err := os.Lstat(path + ready)
	if err != nil {
		return at, false
	}
	return info.ModTime(), true
}

// SetupError says that a workspace could be made, but not what the project does
// to set it up.
type SetupError struct{ Cause error }

func (e *SetupError) Error() string { return "set the workspace up: " + e.Cause.Error() }

// Unwrap returns what failed.
func (e *SetupError) Unwrap() error { return e.Cause }

// Make makes a workspace: a repository of its own that borrows the objects of
// this one, so that nothing done in it can reach the refs, hooks or settings
// here. What a crash left half made is removed first. The path must be outside
// the repository. setup runs in it once; its failure undoes everything.
func (r Repo) Make(ctx context.Context, path string, s Spec, setup func(ctx context.Context, dir string) error) (err error) {
	if inside(r.Dir, path) || inside(r.common, path) {
		return fmt.Errorf("make workspace: %s is inside the repository", path)
	}
	if Made(path) {
		return fmt.Errorf("make workspace: %s is there already", path)
	}
	if err := removeAll(path); err != nil {
		return fmt.Errorf("make workspace: remove what was half made: %w", err)
	}
	defer func() {
		if err != nil {
			_ = removeAll(path) // what is left is removed before the next try
		}
	}()
	if err := r.populate(ctx, path, s); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	if s.Included {
		if err := r.include(ctx, path); err != nil {
			return fmt.Errorf("make workspace: copy what .worktreeinclude names: %w", err)
		}
	}
	if setup != nil {
		if err := setup(ctx, path); err != nil {
			return &SetupError{err}
		}
	}
	if s.ReadOnly {
		if err := lockFiles(path); err != nil {
			return fmt.Errorf("make workspace: %w", err)
		}
	}
	return MarkMade(path, s.Commit)
}

// MarkMade says that what was made at a path, from a commit, is whole.
func MarkMade(path string, from Commit) error {
	return os.WriteFile(path+ready, []byte(from+"\n"), 0o644)
}

// populate builds the repository by hand instead of cloning: a clone would
// carry a remote to push to, hooks from a template, and whatever a shallow or
// partial source asks for.
func (r Repo) populate(ctx context.Context, path string, s Spec) error {
	if err := mkdirAll(path); err != nil {
		return err
	}
	format, err := git(ctx, r.Dir, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	if _, err := git(ctx, path, "init", "--quiet", "--template=", "--object-format="+format); err != nil {
		return err
	}
	own := filepath.Join(path, ".git")
	if err := os.MkdirAll(filepath.Join(own, "objects", "info"), 0o755); err != nil {
		return err
	}
	borrow := filepath.Join(r.common, "objects") + "\n"
	if err := os.WriteFile(filepath.Join(own, "objects", "info", "alternates"), []byte(borrow), 0o644); err != nil {
		return err
	}
	if err := copyIfThere(filepath.Join(r.common, "shallow"), filepath.Join(own, "shallow")); err != nil {
		return err
	}
	if err := r.settings(ctx, path, s); err != nil {
		return err
	}
	if s.Branch == "" {
		_, err = git(ctx, path, "update-ref", "--no-deref", "HEAD", string(s.Commit))
	} else if _, err = git(ctx, path, "symbolic-ref", "HEAD", "refs/heads/"+s.Branch); err == nil {
		_, err = git(ctx, path, "update-ref", "refs/heads/"+s.Branch, string(s.Commit))
	}
	if err != nil {
		return err
	}
	if _, err := git(ctx, path, "reset", "--quiet", "--hard", string(s.Commit)); err != nil {
		return err
	}
	if err := hideBoard(ctx, call{dir: path}); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(path, ".orch"))
}

// mkdirAll makes a directory whose parents somebody else may just remove, as
// they do with empty ones.
func mkdirAll(path string) (err error) {
	for range 10 {
		if err = os.MkdirAll(path, 0o755); !missing(err) {
			return err
		}
	}
	return err
}

// hideBoard takes .orch out of an index without that being a change: a board
// that is committed belongs to the repository, not to its workspaces.
func hideBoard(ctx context.Context, at call) error {
	out, err := at.with("ls-files", "-z", "--", ":(top,literal).orch").run(ctx)
	if err != nil || len(out) == 0 {
		return err
	}
	hide := at.with("update-index", "--skip-worktree", "-z", "--stdin")
	hide.stdin = bytes.NewReader(out)
	_, err = hide.run(ctx)
	return err
}

// kept are the settings of the repository that decide what its files look like.
var kept = []string{"core.autocrlf", "core.eol", "core.safecrlf", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.filemode", "i18n.commitencoding"}

func (r Repo) settings(ctx context.Context, path string, s Spec) error {
	set := map[string]string{"user.name": s.Name, "user.email": s.Email, "gc.auto": "0", "maintenance.auto": "false", "commit.gpgSign": "false"}
	for _, key := range kept {
		v, err := git(ctx, r.Dir, "config", "--local", "--get", key)
		if err != nil && !no(err) {
			return err
		}
		if err == nil {
			set[key] = v
		}
	}
	// A filter that only this repository knows decides what its files are as well.
	filters, err := call{dir: r.Dir, args: []string{"config", "--local", "-z", "--get-regexp", `^filter\.`}}.run(ctx)
	if err != nil && !no(err) {
		return err
	}
	for _, entry := range paths(filters) {
		key, v, _ := strings.Cut(entry, "\n")
		set[key] = v
	}
	for key, v := range set {
		if v == "" {
			continue
		}
		if _, err := git(ctx, path, "config", key, v); err != nil {
			return err
		}
	}
	return nil
}

// include copies files git does not track and .worktreeinclude names into a
// workspace. One that is named as those that hold keys, such as .env, has to be
// named by its whole path.
func (r Repo) include(ctx context.Context, dir string) error {
	list := filepath.Join(r.Dir, ".worktreeinclude")
	if _, err := os.Lstat(list); missing(err) {
		return nil
	}
	out, err := call{dir: r.Dir, args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-from=" + list, "--", ".", ":(exclude,top).orch"}}.run(ctx)
	if err != nil {
		return err
	}
	literal, err := literals(list)
	if err != nil {
		return err
	}
	for _, name := range paths(out) {
		if confine.LooksLikeKey(path.Base(name)) && !slices.Contains(literal, name) {
			continue // a pattern is too easily meant for something else
		}
		from, to := filepath.Join(r.Dir, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
			continue // gone meanwhile, or not a file
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := copyIfThere(from, to); err != nil {
			return err
		}
	}
	return nil
}

// literals are the lines of a list that are no patterns.
func literals(list string) (names []string, err error) {
	raw, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.ContainsAny(line, "*?[!#\\") {
			names = append(names, strings.TrimPrefix(line, "/"))
		}
	}
	return names, nil
}

// copyIfThere copies a file with its permissions.
func copyIfThere(from, to string) error {
	in, err := os.Open(from)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// inside tells whether a path is a directory or below it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(resolved(dir), resolved(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved follows the links of the part of a path that exists.
func resolved(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// lockFiles takes the write permission from every file outside .git.
func lockFiles(root string) error {
	return eachFile(root, func(m os.FileMode) os.FileMode { return m &^ 0o222 })
}

func eachFile(root string, mode func(os.FileMode) os.FileMode) error {
	return filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(p, mode(info.Mode().Perm()))
	})
}

// removeAll removes a workspace with its mark, whatever permissions were left
// on its directories. The mark goes first, so that half of it is never used.
func removeAll(path string) error {
	if err := os.Remove(path + ready); err != nil && !missing(err) {
		return err
	}
	return process.RemoveTree(path)
}

// Remove removes a workspace. What it holds must have been harvested.
func Remove(path string) error {
	if err := removeAll(path); err != nil {
		return fmt.Errorf("remove workspace: %w", err)
	}
	return nil
}
