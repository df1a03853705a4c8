package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orch/roles/act/process"
)

// lfs is the filter of git-lfs. A repository that uses it and has no such filter
// holds pointers where its files should be.
const lfs = "lfs"

// filters lists the filters that files of the checkout go through, each with one
// of these files.
func (r Repo) filters(ctx context.Context) (map[string]string, error) {
	files, err := call{dir: r.Dir, args: []string{"ls-files", "-z"}}.run(ctx)
	if err != nil {
		return nil, err
	}
	out, err := call{dir: r.Dir, stdin: bytes.NewReader(files), args: []string{"check-attr", "-z", "--stdin", "filter"}}.run(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		name := fields[i+2]
		if _, known := found[name]; !known && !slices.Contains([]string{"unspecified", "unset", "set", ""}, name) {
			found[name] = fields[i]
		}
	}
	return found, nil
}

// Filtered tells, by a *NotReadyError, whether what a filter makes of files when
// they are checked out and committed can not be made in a workspace: every coder
// would fail, or work on something else than the files. Filters that nobody
// configured change nothing, but for git-lfs.
func (r Repo) Filtered(ctx context.Context, head Commit) error {
	found, err := r.filters(ctx)
	if err != nil {
		return fmt.Errorf("look for filters: %w", err)
	}
	var used []string
	for name, file := range found {
		set, err := r.filterSettings(ctx, name)
		if err != nil {
			return err
		}
		if len(set) > 0 {
			used = append(used, name)
		} else if name == lfs {
			return unfiltered(name, file, "git-lfs is not set up here, so that there is a pointer in its place")
		}
	}
	if len(used) == 0 {
		return nil
	}
	slices.Sort(used)
	for _, name := range used { // the one that fails is to be named
		if err := r.filterRuns(ctx, name, head, found[name]); err != nil {
			return err
		}
	}
	return r.tryFilters(ctx, head, used[0], found[used[0]])
}

// filterSettings are what git knows of a filter.
func (r Repo) filterSettings(ctx context.Context, name string) ([]string, error) {
	out, err := call{dir: r.Dir, args: []string{"config", "-z", "--name-only", "--get-regexp", `^filter\.`}}.run(ctx)
	if err != nil && !no(err) {
		return nil, fmt.Errorf("read the filters: %w", err)
	}
	return slices.DeleteFunc(paths(out), func(key string) bool {
		return !slices.Contains([]string{"filter." + name + ".clean", "filter." + name + ".smudge", "filter." + name + ".process"}, key)
	}), nil
}

// filterRuns sends one file through a filter, out and in again. What git says of
// a filter that fails and is not required is only a warning.
func (r Repo) filterRuns(ctx context.Context, name string, head Commit, file string) error {
	var warned bytes.Buffer
	out := call{dir: r.Dir, errs: &warned, args: []string{"cat-file", "--filters", string(head) + ":" + file}}
	text, err := out.run(ctx)
	if err == nil {
		in := call{dir: r.Dir, errs: &warned, stdin: bytes.NewReader(text), args: []string{"hash-object", "--stdin", "--path=" + file}}
		_, err = in.run(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if said := warned.String(); err != nil || strings.Contains(said, "external filter") {
		return unfiltered(name, file, "the filter does not run: "+inOneLine(said))
	}
	return nil
}

// tryFilters makes a workspace and compares it with its commit.
func (r Repo) tryFilters(ctx context.Context, head Commit, name, file string) error {
	dir, err := process.MakeTemp()
	if err != nil {
		return err
	}
	defer process.RemoveTree(dir)
	work := filepath.Join(dir, "work")
	err = r.Make(ctx, work, Spec{Commit: head}, nil)
	if err == nil {
		var differs bool
		if differs, err = r.Differs(ctx, work, head); err == nil && differs {
			err = errors.New("a fresh checkout differs from its commit")
		}
	}
	if err != nil && ctx.Err() == nil {
		return unfiltered(name, file, "a workspace can not be made with it: "+inOneLine(err.Error()))
	}
	return errors.Join(ctx.Err(), os.RemoveAll(work))
}

func unfiltered(name, file, why string) error {
	do := fmt.Sprintf("git config --get-regexp '^filter\\.%s\\.' shows what git runs: install it, or take the filter out of .gitattributes", name)
	if name == lfs {
		do = "install git-lfs, then: git lfs install && git lfs pull"
	}
	return &NotReadyError{fmt.Sprintf("%s goes through the filter %s, and %s", file, name, why), do}
}

// inOneLine is what git said, in one line of a bounded length.
func inOneLine(s string) string {
	return strings.ReplaceAll(firstLines([]byte(s)), "\n", "; ")
}
