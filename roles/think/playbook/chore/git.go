package chore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// gitLimit bounds one question to git.
const gitLimit = 2 * time.Minute

// git asks a repository without changing it and without running what its
// configuration names.
type git struct{ dir string }

var errNoRepository = errors.New("this is not a git repository")

func (g git) open() error {
	if _, err := exec.LookPath("git"); err != nil {
		return errors.New("git is not installed")
	}
	if _, err := g.lines("rev-parse", "--git-dir"); err != nil {
		return errNoRepository
	}
	return nil
}

func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	base := []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"}
	cmd := exec.CommandContext(ctx, "git", append(base, args...)...)
	cmd.Dir = g.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// lines runs a command and splits its output at NULs, or at newlines when there are none.
func (g git) lines(args ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitLimit)
	defer cancel()
	out, err := g.command(ctx, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	sep := "\n"
	if bytes.IndexByte(out, 0) >= 0 {
		sep = "\x00"
	}
	var list []string
	for _, l := range strings.Split(string(out), sep) {
		if l != "" {
			list = append(list, l)
		}
	}
	return list, nil
}

// bigBlobs lists every blob of the history from a size on, with a name it had.
func (g git) bigBlobs(limit int64) ([]Item, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitLimit)
	defer cancel()
	list := g.command(ctx, "rev-list", "--objects", "--all")
	sizes := g.command(ctx, "cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)")
	names, err := list.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("list the history: %w", err)
	}
	sizes.Stdin = names
	out, err := sizes.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("list the history: %w", err)
	}
	if err := list.Start(); err != nil {
		return nil, fmt.Errorf("list the history: %w", err)
	}
	if err := sizes.Start(); err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("read the sizes of the history: %w", err), list.Wait())
	}
	var items []Item
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		fields := strings.SplitN(scanner.Text(), " ", 3)
		if len(fields) < 2 || fields[0] != "blob" {
			continue
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || size < limit {
			continue
		}
		it := Item{Size: size, What: "history", Text: "in the history"}
		if len(fields) == 3 {
			it.Path = Name(fields[2])
		}
		items = append(items, it)
	}
	err = scanner.Err()
	if err != nil {
		cancel() // nobody reads on: end both
	}
	return items, errors.Join(err, sizes.Wait(), list.Wait())
}
