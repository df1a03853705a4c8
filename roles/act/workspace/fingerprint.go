package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orch/roles/act/process"
)

// Fingerprint is the state of a person's checkout: what an agent must not
// change. Refs that orch itself moves, what was fetched, and the board are not
// part of it.
type Fingerprint struct {
	Head     string            // commit and branch
	Refs     map[string]string // all others, by name
	Index    string            // hash of what is staged
	Files    string            // tree of every file git would track
	Settings map[string]string // hashes of config, hooks and the like, by name
}

// Fingerprint reads the state of the checkout. own tells which refs orch moves.
func (r Repo) Fingerprint(ctx context.Context, own func(ref string) bool) (Fingerprint, error) {
	f := Fingerprint{Refs: map[string]string{}, Settings: map[string]string{}}
	head, err := r.Head(ctx)
	if err != nil {
		return f, err
	}
	f.Head = string(head.Commit) + " " + head.Branch
	kinds, err := r.kinds()
	if err != nil {
		return f, fmt.Errorf("read the refs: %w", err)
	}
	out, err := git(ctx, r.Dir, append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, kinds...)...)
	if err != nil {
		return f, fmt.Errorf("read the refs: %w", err)
	}
	for line := range strings.Lines(out) {
		name, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		// What was fetched is not the person's work, and editors fetch by themselves.
		if !strings.HasPrefix(name, "refs/orch/") && !strings.HasPrefix(name, "refs/remotes/") && !own(name) {
			f.Refs[name] = hash
		}
	}
	staged, err := call{dir: r.Dir, args: []string{"ls-files", "--stage", "-z", "--", ".", ":(exclude,top,literal).orch"}}.run(ctx)
	if err != nil {
		return f, fmt.Errorf("read the index: %w", err)
	}
	f.Index = digest(staged)
	if f.Files, err = r.files(ctx); err != nil {
		return f, fmt.Errorf("read the files: %w", err)
	}
	return f, r.readSettings(f.Settings)
}

// kinds are the names below refs that are not orch's own, of which there are
// some for each task: git is to read the others alone. Where refs are kept in
// another way than in files it lists none, and git reads all.
func (r Repo) kinds() ([]string, error) {
	if _, err := os.Lstat(filepath.Join(r.common, "reftable")); err == nil {
		return nil, nil
	}
	found := map[string]bool{"heads": true}
	for _, dir := range []string{r.common, r.gitDir} {
		entries, err := os.ReadDir(filepath.Join(dir, "refs"))
		if err != nil && !missing(err) {
			return nil, err
		}
		for _, e := range entries {
			found[e.Name()] = true
		}
	}
	packed, err := os.ReadFile(filepath.Join(r.common, "packed-refs"))
	if err != nil && !missing(err) {
		return nil, err
	}
	for line := range bytes.Lines(packed) {
		if _, name, ok := bytes.Cut(line, []byte(" refs/")); ok {
			kind, _, _ := bytes.Cut(bytes.TrimSpace(name), []byte("/"))
			found[string(kind)] = true
		}
	}
	delete(found, "orch")
	delete(found, "remotes") // nor what was fetched; see Fingerprint
	var all []string
	for kind := range found {
		all = append(all, "refs/"+kind)
	}
	slices.Sort(all)
	return all, nil
}

// files makes a tree of what is in the checkout, with the new objects kept out
// of the repository.
func (r Repo) files(ctx context.Context) (string, error) {
	dir, err := process.MakeTemp()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	index, objects := filepath.Join(dir, "index"), filepath.Join(dir, "objects")
	if err := os.Mkdir(objects, 0o700); err != nil {
		return "", err
	}
	// A copy of the index knows which files are unchanged without reading them.
	if err := copyIfThere(filepath.Join(r.gitDir, "index"), index); err != nil {
		return "", err
	}
	at := call{dir: r.Dir, env: []string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.Dir, "GIT_INDEX_FILE=" + index,
		"GIT_OBJECT_DIRECTORY=" + objects, borrowing(filepath.Join(r.common, "objects"))}}
	specs, err := foreign(ctx, at)
	if err != nil {
		return "", err
	}
	add := at.with("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul")
	add.stdin = strings.NewReader(strings.Join(specs, "\x00"))
	if _, err := add.run(ctx); err != nil {
		return "", err
	}
	// The board changes all the time, also where it is committed.
	if _, err := at.text(ctx, "rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", ":(top,literal).orch"); err != nil {
		return "", err
	}
	return at.text(ctx, "write-tree")
}

// readSettings hashes what decides how git acts in the repository.
func (r Repo) readSettings(into map[string]string) error {
	names := []string{"config", "config.worktree", "info/exclude", "info/attributes", "objects/info/alternates"}
	hooks, err := os.ReadDir(filepath.Join(r.common, "hooks"))
	if err != nil && !missing(err) {
		return fmt.Errorf("read the hooks: %w", err)
	}
	for _, h := range hooks {
		names = append(names, "hooks/"+h.Name())
	}
	for _, name := range names {
		path := filepath.Join(r.common, filepath.FromSlash(name))
		info, err := os.Stat(path)
		if missing(err) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		into[name] = info.Mode().Perm().String() + " " + digest(raw)
	}
	return nil
}

// Drift says in words how a later fingerprint differs; empty means not at all.
func (f Fingerprint) Drift(later Fingerprint) []string {
	var all []string
	note := func(differs bool, what string) {
		if differs {
			all = append(all, what)
		}
	}
	note(f.Head != later.Head, fmt.Sprintf("HEAD moved from %.12s to %.12s", f.Head, later.Head))
	all = append(all, differences("ref", f.Refs, later.Refs)...)
	note(f.Index != later.Index, "the index changed")
	note(f.Files != later.Files, "files of the main checkout changed")
	return append(all, differences(".git/", f.Settings, later.Settings)...)
}

func differences(kind string, before, after map[string]string) []string {
	var all []string
	for name, was := range before {
		if is, there := after[name]; !there {
			all = append(all, kind+" "+name+" is gone")
		} else if is != was {
			all = append(all, kind+" "+name+" changed")
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			all = append(all, kind+" "+name+" is new")
		}
	}
	slices.Sort(all)
	return all
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
