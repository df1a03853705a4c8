package step

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// addGit adds the hooks of a git directory, and of its configuration what is
// not about branches, remotes and names: all else can name a program, and git
// runs it the next time the person uses git.
func addGit(sum io.Writer, dir string) error {
	if err := addTree(sum, filepath.Join(dir, "hooks")); err != nil {
		return err
	}
	for _, name := range []string{"config", "config.worktree"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %q\n", name, programsOf(raw))
	}
	return nil
}

// plain are the keys of sections that git changes by itself all the time and
// that name no program.
var plain = map[string][]string{
	"branch":    {"remote", "merge", "rebase", "description", "pushremote"},
	"remote":    {"url", "pushurl", "fetch", "push", "tagopt", "mirror", "prune"},
	"submodule": {"url", "active", "branch"},
	"user":      {"name", "email", "signingkey"},
}

// programsOf are the lines of a git configuration but those that are plain.
// Where a line can not be told, it counts.
func programsOf(config []byte) []string {
	var kept []string
	section := ""
	for lines := bufio.NewScanner(bytes.NewReader(config)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(line[1:max(1, 1+strings.IndexAny(line[1:], " \t\".]"))])
			if _, known := plain[section]; known && strings.HasSuffix(line, "]") {
				continue
			}
		}
		key, _, _ := strings.Cut(line, "=")
		if !strings.HasSuffix(line, "\\") && slices.Contains(plain[section], strings.ToLower(strings.TrimSpace(key))) {
			continue
		}
		kept = append(kept, line)
	}
	return kept
}
