package trust

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orch/roles/act/process"
)

// gitLimit only stops a git that hangs.
const gitLimit = time.Minute

// cameWith asks git which of the files came with a repository: they, or a link
// on the way to them, are tracked. Where there is no repository nothing is; of
// one that git can not read nothing is known, which is an error.
func cameWith(ctx context.Context, files []File) (map[string]bool, error) {
	ask := map[string][]string{} // repository → paths in it
	for _, f := range files {
		for _, p := range append(slices.Clone(f.links), f.real) {
			if top := repositoryOf(p); top != "" && !slices.Contains(ask[top], p) {
				ask[top] = append(ask[top], p)
			}
		}
	}
	tracked := map[string]bool{}
	for top, paths := range ask {
		if err := trackedOf(ctx, top, paths, tracked); err != nil {
			return nil, err
		}
	}
	came := map[string]bool{}
	for _, f := range files {
		if slices.ContainsFunc(append(slices.Clone(f.links), f.real), func(p string) bool { return tracked[p] }) {
			came[f.Path] = true
		}
	}
	return came, nil
}

// trackedOf adds those of the paths that a repository tracks. Case does not
// count: where the file system ignores it, a file may be tracked by another name.
func trackedOf(ctx context.Context, top string, paths []string, tracked map[string]bool) error {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	args := []string{"-C", top, "ls-files", "-z", "--"}
	byName := map[string][]string{}
	for _, p := range paths {
		rel, err := filepath.Rel(top, p)
		if err != nil {
			return fmt.Errorf("ask git which files came with the repository: %w", err)
		}
		rel = filepath.ToSlash(rel)
		byName[strings.ToLower(rel)] = append(byName[strings.ToLower(rel)], p)
		args = append(args, ":(literal,icase)"+rel)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = slices.DeleteFunc(process.WithoutKeys(os.Environ()), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	raw, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("ask git which files came with the repository: %w", err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00") {
		for _, p := range byName[strings.ToLower(name)] {
			tracked[p] = true
		}
	}
	return nil
}

// repositoryOf is the top of the repository that a path lies in; empty without one.
func repositoryOf(path string) string {
	for dir := filepath.Dir(path); ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
