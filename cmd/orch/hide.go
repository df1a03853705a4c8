package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"orch/blackboard"
	"orch/roles/act/confine"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
	"orch/roles/think/choose"
)

// ignoredKeys are the files of a project that are named as keys and that git
// ignores: what git tracks is no secret of the person's.
func ignoredKeys(ctx context.Context, root string) []string {
	found := confine.KeyFiles(root)
	if len(found) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, "git", "-C", root, "check-ignore", "-z", "--stdin")
	cmd.Env = process.ScrubEnv(os.Environ())
	cmd.Stdin = strings.NewReader(strings.Join(found, "\x00"))
	out, err := cmd.Output()
	if err != nil {
		return nil // none is ignored, or it is no repository
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

// hideEnv tells a step what its supervisor, which has all keys, found to hold one.
const hideEnv = "ORCH_HIDE"

// holding are the files of a home that hold the value of a key that this process
// or its supervisor knows.
func holding(home string) []string {
	if told, ok := os.LookupEnv(hideEnv); ok {
		return filepath.SplitList(told)
	}
	var values []string
	for _, name := range append(blackboard.KeysIn(os.Environ()), choose.KeyNames()...) {
		if v := os.Getenv(name); v != "" {
			values = append(values, v)
		}
	}
	if home == "" || len(values) == 0 {
		return nil
	}
	return confine.Holding(home, values)
}

// runLater are the settings by which agent programs run something later, where
// nobody confines them: hooks, plugins, servers. An agent may not write them.
func runLater(home string) (paths []string) {
	for _, p := range cli.Presets() {
		for _, name := range p.Keep {
			paths = append(paths, filepath.Join(home, name))
		}
	}
	return paths
}

// hidden are the paths that no command sees.
func (k *keeper) hidden() []string {
	if k == nil {
		return nil
	}
	return k.hide
}
