package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Repo is a person's repository. Its working tree is read, never written.
type Repo struct {
	Dir    string // top of the working tree
	gitDir string // of this checkout
	common string // where objects and refs are
}

// Places are the directories that make up a checkout and its repository.
func (r Repo) Places() []string { return []string{r.Dir, r.gitDir, r.common} }

// Commit is the full hash of a commit.
type Commit string

// Head is where a checkout stands.
type Head struct {
	Commit Commit
	Branch string // refs/heads/…; empty when detached
}

// NotReadyError says why work can not start on a repository.
type NotReadyError struct{ What, Do string }

func (e *NotReadyError) Error() string { return e.What }

// Hint names what to do.
func (e *NotReadyError) Hint() string { return e.Do }

// Open finds the repository a directory is in.
func Open(ctx context.Context, dir string) (Repo, error) {
	out, err := git(ctx, dir, "rev-parse", "--is-bare-repository", "--absolute-git-dir", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		if strings.Contains(err.Error(), "not a git repository") {
			return Repo{}, &NotReadyError{dir + " is not in a git repository", "git init && git add -A && git commit -m start"}
		}
		return Repo{}, fmt.Errorf("find the repository: %w", err)
	}
	said := strings.Split(out, "\n")
	if len(said) != 3 {
		return Repo{}, fmt.Errorf("find the repository: git said %q", out)
	}
	if said[0] == "true" {
		return Repo{}, &NotReadyError{dir + " is a bare repository, without files to work on", "git clone it, and run orch there"}
	}
	top, err := git(ctx, dir, "rev-parse", "--path-format=absolute", "--show-toplevel")
	if err != nil {
		return Repo{}, fmt.Errorf("find the repository: %w", err)
	}
	return Repo{Dir: filepath.FromSlash(top), gitDir: filepath.FromSlash(said[1]), common: filepath.FromSlash(said[2])}, nil
}

// Head reads where the checkout stands.
func (r Repo) Head(ctx context.Context) (Head, error) {
	commit, err := git(ctx, r.Dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if no(err) {
		return Head{}, &NotReadyError{"the repository has no commit yet", "git add -A && git commit -m start"}
	}
	if err != nil {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	branch, err := git(ctx, r.Dir, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && !no(err) {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	return Head{Commit: Commit(commit), Branch: branch}, nil
}

// unfinished are the files git keeps while something is half done.
var unfinished = map[string]string{
	"MERGE_HEAD": "a merge", "rebase-merge": "a rebase", "rebase-apply": "a rebase", "CHERRY_PICK_HEAD": "a cherry-pick",
	"REVERT_HEAD": "a revert", "BISECT_LOG": "a bisection",
}

// Ready tells whether work can start with ref as the branch results go to. The
// error, if it is a *NotReadyError, says what a person has to do first. What
// is under .orch does not make a tree dirty.
func (r Repo) Ready(ctx context.Context, ref string) (Head, error) {
	if err := newEnough(ctx, r.Dir); err != nil {
		return Head{}, err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return head, err
	}
	for file, what := range unfinished {
		if _, err := os.Lstat(filepath.Join(r.gitDir, file)); err == nil {
			return head, &NotReadyError{what + " is going on in " + r.Dir, "finish it or give it up, then run again"}
		}
	}
	out, err := call{dir: r.Dir, args: []string{"status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--", ".", ":(exclude,top).orch"}}.run(ctx)
	if err != nil {
		if not, ok := errors.AsType[*NotReadyError](r.Filtered(ctx, head.Commit)); ok {
			return head, not // git sends files through it to compare them
		}
		return head, fmt.Errorf("look for changes: %w", err)
	}
	if dirty := paths(out); len(dirty) > 0 {
		return head, &NotReadyError{fmt.Sprintf("the tree has changes that are in no commit (%s)", some(dirty)),
			"git commit or git stash them first: workspaces are made from commits"}
	}
	return head, r.Free(ctx, ref)
}

// newEnough tells whether git can merge without a working tree, which it
// learned in 2.38.
func newEnough(ctx context.Context, dir string) error {
	out, err := git(ctx, dir, "version")
	if err != nil {
		return fmt.Errorf("ask git for its version: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(out, "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("ask git for its version: it said %q", out)
	}
	if major < 2 || major == 2 && minor < 38 {
		return &NotReadyError{out + " is too old to merge without touching a working tree", "install git 2.38 or newer"}
	}
	return nil
}

// checkedOut returns the working tree that has a branch checked out, or "".
func (r Repo) checkedOut(ctx context.Context, ref string) (string, error) {
	out, err := git(ctx, r.Dir, "worktree", "list", "--porcelain")
	if err != nil {
		return "", fmt.Errorf("list the worktrees: %w", err)
	}
	tree := ""
	for line := range strings.SplitSeq(out, "\n") {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			tree = path
		}
		if line == "branch "+ref {
			return tree, nil
		}
	}
	return "", nil
}

// EnsureBranch makes a branch at a commit if it is not there, and returns
// where it is.
func (r Repo) EnsureBranch(ctx context.Context, ref string, at Commit) (Commit, error) {
	if have, err := r.At(ctx, ref); err != nil || have != "" {
		return have, err
	}
	_, err := git(ctx, r.Dir, "update-ref", "-m", "orch: start", ref, string(at), zero(at))
	if err == nil {
		return at, nil
	}
	// Somebody else may have made it meanwhile.
	have, again := r.At(ctx, ref)
	if again != nil || have == "" {
		return "", fmt.Errorf("make %s: %w", short(ref), err)
	}
	return have, nil
}

// At returns the commit a ref names, or "" when it is not there.
func (r Repo) At(ctx context.Context, ref string) (Commit, error) {
	out, err := git(ctx, r.Dir, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if no(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	return Commit(out), nil
}

// Pin keeps a commit from being collected, under a name below refs/orch/.
func (r Repo) Pin(ctx context.Context, ref string, c Commit) error {
	if !strings.HasPrefix(ref, "refs/orch/") {
		return fmt.Errorf("pin %.12s: %q is not below refs/orch/", c, ref)
	}
	if _, err := git(ctx, r.Dir, "update-ref", ref, string(c)); err != nil {
		return fmt.Errorf("pin %.12s: %w", c, err)
	}
	return nil
}

// Contains tells whether a commit is reachable from another.
func (r Repo) Contains(ctx context.Context, from, c Commit) (bool, error) {
	return contains(ctx, r.Dir, string(from), string(c))
}

// Tree returns the tree of a commit.
func (r Repo) Tree(ctx context.Context, c Commit) (string, error) {
	tree, err := git(ctx, r.Dir, "rev-parse", "--verify", string(c)+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("read the tree of %.12s: %w", c, err)
	}
	return tree, nil
}

// Diff is the unified diff between two commits, without the programs a
// repository may name for it, and without what its attributes would hide.
func (r Repo) Diff(ctx context.Context, from, to Commit) ([]byte, error) {
	out, err := call{dir: r.common, bare: true, env: []string{"GIT_DIR=" + r.common}, args: []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", string(from), string(to)}}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s and %.12s: %w", from, to, err)
	}
	return out, nil
}

// Show returns a file as it is in a commit; ok is false when it is not there.
func (r Repo) Show(ctx context.Context, c Commit, path string) (content []byte, ok bool, err error) {
	out, err := call{dir: r.Dir, args: []string{"ls-tree", "-z", "--full-tree", string(c), "--", path}}.run(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("look for %s in %.12s: %w", path, c, err)
	}
	entries := paths(out)
	if len(entries) != 1 {
		return nil, false, nil
	}
	fields := strings.Fields(strings.SplitN(entries[0], "\t", 2)[0])
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, false, nil
	}
	out, err = call{dir: r.Dir, args: []string{"cat-file", "blob", fields[2]}}.run(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read %s in %.12s: %w", path, c, err)
	}
	return out, true, nil
}

// zero is the hash that stands for "not there", as long as another hash.
func zero(like Commit) string { return strings.Repeat("0", len(like)) }

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// some names the first few of many.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// missing tells whether an error says that a file is not there.
func missing(err error) bool { return errors.Is(err, os.ErrNotExist) }

// Author is who merges are committed as: the person the repository knows.
func (r Repo) Author(ctx context.Context) (name, email string) {
	name, err := git(ctx, r.Dir, "config", "--get", "user.name")
	if err != nil || name == "" {
		name = "orch"
	}
	email, err = git(ctx, r.Dir, "config", "--get", "user.email")
	if err != nil || email == "" {
		email = "orch@localhost"
	}
	return name, email
}
