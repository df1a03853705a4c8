package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"orch/roles/act/process"
)

// harmless are the settings every call of git gets: no program a repository
// names is run, and nothing about how this checkout is stored leaks into trees
// that are made from it.
var harmless = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.sparseCheckout=false", "core.splitIndex=false",
	"core.untrackedCache=false", "index.sparse=false", "gc.auto=0", "maintenance.auto=false", "commit.gpgSign=false",
	"core.quotePath=false", "diff.noprefix=false", "diff.mnemonicPrefix=false", "merge.renames=true", "submodule.recurse=false",
	"advice.detachedHead=false", "protocol.ext.allow=never",
	"core.filesRefLockTimeout=5000", // ms; another process may be slow to move the same ref
}

// call is one run of git.
type call struct {
	dir   string   // where it runs
	env   []string // added to the scrubbed environment
	stdin io.Reader
	out   io.Writer // where its output goes, when it may be large; nil: it is returned
	errs  io.Writer // gets what git says beside its output; may be nil
	bare  bool      // look at commits alone: what a .gitattributes in a checkout says of files does not count
	args  []string
}

// git runs git with the harmless settings and returns its output as it is.
// An exit code of 1 comes back as the *exec.ExitError itself.
func (c call) run(ctx context.Context) ([]byte, error) {
	args := []string{"-C", c.dir}
	for _, s := range harmless {
		args = append(args, "-c", s)
	}
	if c.bare {
		args = append(args, "-c", "core.bare=true", "-c", "core.attributesFile=/dev/null")
	}
	cmd := exec.CommandContext(ctx, "git", append(args, c.args...)...)
	cmd.Env = append(slices.DeleteFunc(process.WithoutKeys(os.Environ()), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	cmd.Env = append(cmd.Env, c.env...)
	cmd.Stdin, cmd.WaitDelay = c.stdin, 10*time.Second
	cmd.Cancel = func() error { return end(cmd.Process) }
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if c.out != nil {
		cmd.Stdout = c.out
	}
	if c.errs != nil {
		cmd.Stderr = io.MultiWriter(&errs, c.errs)
	}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() != 1 {
		return nil, fmt.Errorf("git %s: %w: %s", c.args[0], err, firstLines(errs.Bytes()))
	}
	return out.Bytes(), err
}

// end asks git to end: then it takes its locks away, which would keep everybody
// out of the repository. What does not heed that is killed after the delay.
func end(p *os.Process) error {
	err := p.Signal(syscall.SIGTERM)
	if err == nil || errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.Kill() // a system without that signal
}

// with is the same call with other arguments.
func (c call) with(args ...string) call {
	c.args, c.env = args, slices.Clone(c.env)
	return c
}

// text runs a call with other arguments and returns its trimmed output.
func (c call) text(ctx context.Context, args ...string) (string, error) {
	out, err := c.with(args...).run(ctx)
	return strings.TrimSpace(string(out)), err
}

// borrowing names object directories in the form git's environment wants.
func borrowing(dirs ...string) string {
	quoted := make([]string, len(dirs))
	for i, d := range dirs {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(d) + `"`
	}
	return "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(quoted, string(os.PathListSeparator))
}

// git runs git in a directory and returns its trimmed output. An exit code of
// 1 comes back as the *exec.ExitError itself.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := call{dir: dir, args: args}.run(ctx)
	return strings.TrimSpace(string(out)), err
}

// no tells whether a call of git answered with exit code 1.
func no(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == 1
}

// firstLines bounds what an error quotes.
func firstLines(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) > 400 {
		b = append(slices.Clone(b[:400]), "…"...)
	}
	return string(b)
}

// paths splits output that ends every entry with NUL.
func paths(out []byte) []string {
	var all []string
	for p := range bytes.SplitSeq(out, []byte{0}) {
		if len(p) > 0 {
			all = append(all, string(p))
		}
	}
	return all
}
