package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orch/roles/act/process"
)

// Harvested is what a workspace holds that its repository now holds too.
type Harvested struct {
	Head     Commit   // the last commit, leftovers included
	Left     bool     // a commit was made of what was not committed
	Commits  int      // from the base to the head
	Changed  []string // paths that differ between base and head
	Conflict bool     // something was half merged or rebased; its files were taken as they lay
}

// Leftover says how a commit is made of what a workspace holds uncommitted.
type Leftover struct {
	Message string
	Name    string
	Email   string
}

// Harvest brings everything a workspace holds into the repository and pins it
// under ref: its commits, and one more of what is not committed. The workspace
// is not trusted: its settings, hooks and filters are never read, because git
// runs on the repository's own and only borrows the workspace's objects and
// files. Nested repositories are left out. The workspace is not changed but
// for its branch and index, which follow the commit made of leftovers.
func (r Repo) Harvest(ctx context.Context, path, ref string, base Commit, left Leftover) (Harvested, error) {
	var h Harvested
	own, err := openOwn(path)
	if err != nil {
		return h, err
	}
	defer own.Close()
	head, branch, err := own.head()
	if err != nil {
		return h, err
	}
	h.Head, h.Conflict = head, own.halfDone()
	borrowed := call{dir: r.Dir, env: []string{borrowing(own.objects())}}
	have, err := borrowed.text(ctx, "rev-parse", "--verify", string(head)+"^{tree}")
	if err != nil && ctx.Err() == nil {
		return h, &TamperedError{path, fmt.Sprintf("its HEAD names %.12s, which is no commit", head)}
	}
	seen, err := r.look(ctx, path, borrowed.env, head)
	if err != nil {
		return h, r.whole(ctx, borrowed, path, head, fmt.Errorf("read what is in %s: %w", path, err))
	}
	defer seen.Close()
	if h.Left = have != seen.tree; h.Left {
		if h.Head, err = borrowed.commit(ctx, seen.tree, left, head); err != nil {
			return h, fmt.Errorf("commit what was left in %s: %w", path, err)
		}
	}
	if err := r.bring(ctx, borrowed, h.Head, beside(ref)); err != nil {
		return h, r.whole(ctx, borrowed, path, head, fmt.Errorf("bring the commits of %s over: %w", path, err))
	}
	if err := r.Pin(ctx, ref, h.Head); err != nil {
		return h, err
	}
	if h.Left {
		if err := own.follow(branch, h.Head, seen.index); err != nil {
			return h, fmt.Errorf("move the branch of %s: %w", path, err)
		}
	}
	return h, r.describe(ctx, base, &h)
}

// describe says how the head differs from the base.
func (r Repo) describe(ctx context.Context, base Commit, h *Harvested) error {
	if on, err := r.Contains(ctx, h.Head, base); err != nil {
		return err
	} else if !on {
		return &RewrittenError{base, h.Head}
	}
	n, err := git(ctx, r.Dir, "rev-list", "--count", string(base)+".."+string(h.Head))
	if err != nil {
		return fmt.Errorf("count the commits: %w", err)
	}
	if _, err := fmt.Sscan(n, &h.Commits); err != nil {
		return fmt.Errorf("count the commits: %w", err)
	}
	h.Changed, err = r.Changed(ctx, base, h.Head)
	return err
}

// Changed lists the paths that differ between two commits.
func (r Repo) Changed(ctx context.Context, from, to Commit) ([]string, error) {
	out, err := call{dir: r.Dir, args: []string{"diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", string(from), string(to)}}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s and %.12s: %w", from, to, err)
	}
	return paths(out), nil
}

// Differs tells whether the files of a workspace differ from a commit, without
// trusting the workspace.
func (r Repo) Differs(ctx context.Context, path string, c Commit) (bool, error) {
	own, err := openOwn(path)
	if err != nil {
		return true, err
	}
	defer own.Close()
	seen, err := r.look(ctx, path, []string{borrowing(own.objects())}, c)
	if err != nil {
		return false, fmt.Errorf("read what is in %s: %w", path, err)
	}
	defer seen.Close()
	want, err := r.Tree(ctx, c)
	return err == nil && seen.tree != want, err
}

// sight is what the files of a workspace come to.
type sight struct {
	tree  string
	index string // path of the index the tree was made from
}

// Close removes the index.
func (s sight) Close() error { return os.RemoveAll(filepath.Dir(s.index)) }

// look makes a tree of the files of a workspace, starting from a commit, on an
// index of its own. Ignored files, submodules, nested repositories and the
// board stay as they are in the commit. borrowed is the environment that adds
// the workspace's objects to those of the repository.
func (r Repo) look(ctx context.Context, path string, borrowed []string, from Commit) (s sight, err error) {
	dir, err := process.MakeTemp()
	if err != nil {
		return s, err
	}
	s.index = filepath.Join(dir, "index")
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	at := call{dir: path, env: append([]string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + path, "GIT_INDEX_FILE=" + s.index}, borrowed...)}
	if _, err := at.text(ctx, "read-tree", string(from)); err != nil {
		return s, err
	}
	if err := hideBoard(ctx, at); err != nil {
		return s, err
	}
	nested, err := nestedRepos(path)
	if err != nil {
		return s, err
	}
	specs, err := foreign(ctx, at, nested...)
	if err != nil {
		return s, err
	}
	add := at.with("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul")
	add.stdin = strings.NewReader(strings.Join(specs, "\x00"))
	if _, err := add.run(ctx); err != nil {
		return s, err
	}
	s.tree, err = at.text(ctx, "write-tree")
	return s, err
}

// foreign are the pathspecs of everything but the board, the submodules and
// the paths in but.
func foreign(ctx context.Context, at call, but ...string) ([]string, error) {
	out, err := at.with("ls-files", "-s", "-z").run(ctx)
	if err != nil {
		return nil, err
	}
	but = append([]string{".orch"}, but...)
	for _, entry := range paths(out) {
		if mode, name, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(mode, "160000 ") {
			but = append(but, name)
		}
	}
	// git add leaves out what is ignored anyway, and takes it for an error if it
	// is named all the same.
	ask := at.with("check-ignore", "-z", "--stdin")
	ask.stdin = strings.NewReader(strings.Join(but, "\x00"))
	out, err = ask.run(ctx)
	if err != nil && !no(err) {
		return nil, err
	}
	ignored := paths(out)
	specs := []string{"."}
	for _, name := range but {
		if !slices.Contains(ignored, name) {
			specs = append(specs, ":(exclude,top,literal)"+name)
		}
	}
	return specs, nil
}

// nestedRepos finds repositories inside a workspace: git would ask them about
// their state, on their own settings.
func nestedRepos(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() != ".git" || p == root {
			return nil
		}
		if dir := filepath.Dir(p); dir != root {
			rel, err := filepath.Rel(root, dir)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(rel))
		}
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return found, err
}

// commit makes a commit of a tree.
func (c call) commit(ctx context.Context, tree string, l Leftover, parents ...Commit) (Commit, error) {
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	with := c.with(append(args, "-F", "-")...)
	with.stdin = strings.NewReader(l.Message + "\n")
	with.env = append(with.env, "GIT_AUTHOR_NAME="+l.Name, "GIT_AUTHOR_EMAIL="+l.Email, "GIT_COMMITTER_NAME="+l.Name, "GIT_COMMITTER_EMAIL="+l.Email)
	out, err := with.run(ctx)
	return Commit(strings.TrimSpace(string(out))), err
}
