package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orch/blackboard/crash"
	"orch/roles/act/ledger"
)

// shims are the programs that a shim stands for, each with how it is called so
// that it says what it did. Nil: just as it was.
var shims = map[string]func(*call) func() int{
	"go": (*call).golang, "cargo": (*call).cargo, "node": (*call).node,
	"python": (*call).python, "python3": (*call).python, "pytest": (*call).python,
}

// Called tells whether this program was started as the shim of a runner.
func Called(argv0 string) bool {
	return supported && shims[filepath.Base(argv0)] != nil && os.Getenv(dirEnv) != ""
}

// call is one call of a runner.
type call struct {
	name string
	args []string
	env  []string
	dir  string // the channel's
	real string // the program itself
	only []ledger.Name
}

// Main is the whole of a shim. It returns the exit code to use, or never.
func Main(argv0 string, args []string) int {
	c := &call{name: filepath.Base(argv0), args: args, env: os.Environ(), dir: os.Getenv(dirEnv)}
	var err error
	if c.real, err = c.program(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: command not found\n", c.name)
		return 127
	}
	if raw, err := os.ReadFile(filepath.Join(c.dir, onlyFile)); err == nil {
		_ = json.Unmarshal(raw, &c.only) // what can not be read narrows nothing
	}
	if run := shims[c.name](c); run != nil {
		return run()
	}
	err = replace(c.real, append([]string{c.name}, c.args...), c.env)
	fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
	return 126
}

// program finds the real program behind the shims.
func (c *call) program() (string, error) {
	for _, dir := range filepath.SplitList(lookup(c.env, "PATH")) {
		if dir == "" {
			dir = "."
		}
		if filepath.Clean(dir) == filepath.Join(c.dir, binDir) {
			continue
		}
		path := filepath.Join(dir, c.name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Abs(path)
		}
	}
	return "", exec.ErrNotFound
}

// below is the environment of a runner: what it starts is not heard.
func (c *call) below(more ...string) []string {
	bin := filepath.Join(c.dir, binDir)
	dirs := slices.DeleteFunc(filepath.SplitList(lookup(c.env, "PATH")), func(d string) bool { return filepath.Clean(d) == bin })
	env := slices.DeleteFunc(slices.Clone(c.env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "PATH" || name == dirEnv || name == outEnv
	})
	return append(append(env, "PATH="+strings.Join(dirs, string(filepath.ListSeparator))), more...)
}

// say is a new file in the channel. One that can not be made is nil.
func (c *call) say(ext string) *os.File { return c.sayAs(c.name, ext) }

// sayAs is say for a runner that this program only starts.
func (c *call) sayAs(runner, ext string) *os.File {
	f, err := os.OpenFile(c.out(runner, ext), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil
	}
	return f
}

// out is the name of a file in the channel that only this process uses.
func (c *call) out(runner, ext string) string {
	return filepath.Join(c.dir, outDir, runner+"."+strconv.Itoa(os.Getpid())+ext)
}

// run runs the real program, and gives its outputs to writers; nil: as they are.
func (c *call) run(args []string, env []string, stdout, stderr io.Writer) int {
	cmd := exec.Command(c.real, args...)
	cmd.Args[0], cmd.Env = c.name, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if stderr != nil {
		cmd.Stderr = stderr
	}
	// Who ends the command ends the real program as well; the shim waits for it.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, asks...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
		return 126
	}
	ended := make(chan struct{})
	defer close(ended)
	crash.Go(func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // gone already
			case <-ended:
				return
			}
		}
	})
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitCode(exit.ProcessState)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
		return 126
	}
	return 0
}
