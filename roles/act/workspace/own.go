package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ownGit is the .git of a workspace, which whoever worked there may have turned
// into anything. Everything in it is reached through an os.Root, so that no
// link leads out of it.
type ownGit struct {
	path string // of the workspace
	root *os.Root
}

// openOwn opens a workspace's .git, if it is still one of its own.
func openOwn(path string) (*ownGit, error) {
	dir := filepath.Join(path, ".git")
	for _, d := range []string{path, dir, filepath.Join(dir, "objects"), filepath.Join(dir, "refs")} {
		info, err := os.Lstat(d)
		if err != nil || !info.IsDir() {
			return nil, &TamperedError{path, d + " is not a directory any more"}
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &ownGit{path, root}, nil
}

// Close lets it go.
func (o *ownGit) Close() error { return o.root.Close() }

func (o *ownGit) objects() string { return filepath.Join(o.path, ".git", "objects") }

// head reads HEAD from the files: asking git would run on the workspace's
// settings. The branch is empty when HEAD is detached.
func (o *ownGit) head() (head Commit, branch string, err error) {
	raw, err := o.read("HEAD")
	if err != nil {
		return "", "", &TamperedError{o.path, "HEAD can not be read: " + err.Error()}
	}
	if ref, symbolic := strings.CutPrefix(raw, "ref: "); symbolic {
		if !strings.HasPrefix(ref, "refs/heads/") || strings.Contains(ref, "..") {
			return "", "", &TamperedError{o.path, fmt.Sprintf("HEAD names %q", ref)}
		}
		branch = ref
		raw, err = o.read(filepath.FromSlash(ref))
		if missing(err) {
			raw, err = o.packed(ref)
		}
		if err != nil {
			return "", "", &TamperedError{o.path, ref + " can not be read: " + err.Error()}
		}
	}
	if !isHash(raw) {
		return "", "", &TamperedError{o.path, fmt.Sprintf("HEAD is %q, no commit", firstLines([]byte(raw)))}
	}
	return Commit(raw), branch, nil
}

const smallBytes = 4 << 20

// read reads a file of a sane size.
func (o *ownGit) read(name string) (string, error) {
	info, err := o.root.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > smallBytes {
		return "", errors.New("it is no plain small file")
	}
	raw, err := o.root.ReadFile(name)
	return strings.TrimSpace(string(raw)), err
}

func (o *ownGit) packed(ref string) (string, error) {
	raw, err := o.read("packed-refs")
	if err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(raw, "\n") {
		if hash, name, ok := strings.Cut(line, " "); ok && name == ref {
			return hash, nil
		}
	}
	return "", errors.New("it is not there")
}

// mostTips bounds how many commits of a workspace are looked at.
const mostTips = 100

// tips lists what HEAD, ORIG_HEAD and the refs name, as far as they can be
// read; each once, and never more than mostTips.
func (o *ownGit) tips() (all []Commit) {
	add := func(hash string) {
		if isHash(hash) && len(all) < mostTips && !slices.Contains(all, Commit(hash)) {
			all = append(all, Commit(hash))
		}
	}
	for _, name := range []string{"HEAD", "ORIG_HEAD"} {
		raw, _ := o.read(name) // what can not be read names nothing
		add(raw)
	}
	_ = fs.WalkDir(o.root.FS(), "refs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			raw, _ := o.read(name)
			add(raw)
		}
		return nil
	})
	packed, _ := o.read("packed-refs")
	for line := range strings.Lines(packed) {
		hash, _, _ := strings.Cut(line, " ")
		add(hash)
	}
	return all
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// halfDone tells whether a merge or the like is going on.
func (o *ownGit) halfDone() bool {
	for file := range unfinished {
		if _, err := o.root.Lstat(file); err == nil {
			return true
		}
	}
	return false
}

// follow points the branch at a commit the repository has, and lets the index
// agree with it.
func (o *ownGit) follow(branch string, to Commit, index string) error {
	if branch == "" {
		branch = "HEAD"
	}
	if err := o.replace(filepath.FromSlash(branch), []byte(string(to)+"\n")); err != nil {
		return err
	}
	raw, err := os.ReadFile(index)
	if err != nil {
		return err
	}
	return o.replace("index", raw)
}

// replace writes a file that nobody else has open or linked.
func (o *ownGit) replace(name string, content []byte) error {
	if err := o.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	tmp := name + ".orch"
	if err := o.root.RemoveAll(tmp); err != nil {
		return err
	}
	if err := o.root.WriteFile(tmp, content, 0o644); err != nil {
		return err
	}
	return o.root.Rename(tmp, name)
}
