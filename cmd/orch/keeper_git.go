package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"orch/blackboard"
	"orch/roles/act/confine"
)

// protected is what stays read-only in a project although the project may be
// written: orch's own, and what decides which programs git runs.
func protected(root string) []string {
	out := []string{filepath.Join(root, blackboard.DirName)}
	dir, submodules := gitDirs(root)
	if dir != "" {
		out = append(out, confine.Git(dir, submodules)...)
	}
	return out
}

// gitDirs are the git directory inside a project, and those of its submodules.
// One that lies elsewhere can not be written anyway.
func gitDirs(root string) (dir string, submodules []string) {
	dir = filepath.Join(root, ".git")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", nil
	}
	heads, err := filepath.Glob(filepath.Join(dir, "modules", "*", "HEAD"))
	if err != nil {
		return dir, nil // only for a malformed pattern, and this one is not
	}
	for _, h := range heads {
		submodules = append(submodules, filepath.Dir(h))
	}
	return dir, submodules
}

// gitDirsOf lists the git directories inside a project.
func gitDirsOf(root string) []string {
	dir, submodules := gitDirs(root)
	if dir == "" {
		return nil
	}
	return append([]string{dir}, submodules...)
}

// makeHooks makes the directories of git's hooks that are missing: what is not
// there can not be kept read-only.
func makeHooks(root string) error {
	for _, d := range gitDirsOf(root) {
		err := os.Mkdir(filepath.Join(d, "hooks"), 0o755)
		readOnly := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) // then no command can make it either
		if err != nil && !errors.Is(err, fs.ErrExist) && !readOnly {
			return fmt.Errorf("make the directory of git's hooks: %w", err)
		}
	}
	return nil
}
